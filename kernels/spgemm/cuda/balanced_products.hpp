// SPDX-License-Identifier: Apache-2.0
/// @file balanced_products.hpp
/// How a warp or a block shares the products of one row of A with rows of B, however different B's rows are:
/// these are cut into segments of up to 32 products, and each warp takes as many segments.
///
///     rows of B, of    5, 0, 9 and 2 products, in segments of 4
///     segments         0 0 | 2 2 2 | 3
///     two warps        0 0 2 | 2 2 3
#pragma once

#include <cstdint>
#include <type_traits>

#include <cub/block/block_scan.cuh>

#include "../../cuda/warp.hpp"

namespace sporos::gpu::detail {

/// Visits the products of a row of A, by the `Threads` threads of a warp or a block.
template <int Threads, class MatrixA, class MatrixB>
class BalancedProducts {
  using A = std::remove_const_t<typename MatrixA::value_type>;
  using B = std::remove_const_t<typename MatrixB::value_type>;
  using PositionA = std::remove_const_t<typename MatrixA::position_type>;
  using PositionB = std::remove_const_t<typename MatrixB::position_type>;
  static constexpr bool in_warp = Threads == warp_size;
  static constexpr int warps = Threads / warp_size;
  static constexpr int chunk = Threads < 256 ? Threads : 256;  ///< nonzeros of A at a time
  using Scan = cub::BlockScan<int, Threads>;
  static constexpr std::int64_t aligned(std::int64_t bytes) { return (bytes + 15) / 16 * 16; }

  static constexpr std::int64_t factors_at = 0;
  static constexpr std::int64_t firsts_at = aligned(factors_at + chunk * sizeof(A));
  static constexpr std::int64_t sizes_at = aligned(firsts_at + chunk * sizeof(PositionB));
  static constexpr std::int64_t starts_at = sizes_at + chunk * sizeof(int);
  static constexpr std::int64_t scratch_at = aligned(starts_at + chunk * sizeof(int));

 public:
  /// Shared memory for each row, at a multiple of 16 bytes.
  static constexpr std::int64_t bytes =
      in_warp ? scratch_at : aligned(scratch_at + sizeof(typename Scan::TempStorage));

  __device__ __forceinline__ BalancedProducts(const MatrixA& a, const MatrixB& b, char* memory)
      : a_(a),
        b_(b),
        memory_(memory),
        factors_(reinterpret_cast<A*>(memory + factors_at)),
        firsts_(reinterpret_cast<PositionB*>(memory + firsts_at)),
        sizes_(reinterpret_cast<int*>(memory + sizes_at)),
        starts_(reinterpret_cast<int*>(memory + starts_at)) {}

  /// Calls visit(column, value of A, value of B, alone); without Values, with zeros for values. `alone` is
  /// true if all other lanes visit the same row of B, whose columns differ, and wait for one another between
  /// visits.
  ///
  /// @param products  of the row; more than zero
  template <bool Values, class Visit>
  __device__ __forceinline__ void for_each(std::int64_t row, std::int64_t products, int thread,
                                           const Visit& visit) const {
    const PositionA begin = a_.positions[row];
    const PositionA end = a_.positions[row + 1];
    const std::int64_t mean = products / static_cast<std::int64_t>(end - begin);
    int shift = 0;  // segments have 2^shift products
    while ((1 << shift) < warp_size && (1 << shift) < mean) ++shift;
    for (PositionA base = begin; base < end; base += static_cast<PositionA>(chunk)) {
      const int count = end - base < static_cast<PositionA>(chunk) ? static_cast<int>(end - base) : chunk;
      const int segments = read_rows<Values>(base, count, thread, shift);
      const int each = (segments + warps - 1) / warps;
      const int from = thread / warp_size * each;
      const int to = from + each < segments ? from + each : segments;
      for (int first = from; first < to; first += warp_size)
        visit_segments<Values>(first, to, count, shift, visit);
      sync();  // before the next rows of B take their place
    }
  }

 private:
  __device__ __forceinline__ static void sync() {
    if constexpr (in_warp)
      __syncwarp();
    else
      __syncthreads();
  }

  /// Puts what is known of `count` rows of B into shared memory, and returns the number of their segments.
  template <bool Values>
  __device__ __forceinline__ int read_rows(PositionA base, int count, int thread, int shift) const {
    int size = 0;
    if (thread < count) {
      const PositionA at = base + static_cast<PositionA>(thread);
      const auto k = static_cast<std::int64_t>(a_.coordinates[at]);
      const PositionB first = b_.positions[k];
      size = static_cast<int>(b_.positions[k + 1] - first);
      firsts_[thread] = first;
      sizes_[thread] = size;
      if constexpr (Values) factors_[thread] = a_.values[at];
    }
    const int mine = (size + (1 << shift) - 1) >> shift;
    int start = 0;
    int total = 0;
    if constexpr (in_warp) {
      const int upto = inclusive_sum<warp_size>(mine, thread);
      start = upto - mine;
      total = shuffle(upto, warp_size - 1);
    } else {
      Scan(*reinterpret_cast<typename Scan::TempStorage*>(memory_ + scratch_at))
          .ExclusiveSum(mine, start, total);
    }
    if (thread < count) starts_[thread] = start;
    sync();
    return total;
  }

  /// Visits the warp's segments from the first on, at most one a lane. A lane finds one of them, and all
  /// fetch the products of the next ones before they visit these.
  template <bool Values, class Visit>
  __device__ __forceinline__ void visit_segments(int first, int to, int count, int shift,
                                                 const Visit& visit) const {
    const int lane = lane_id();
    PositionB begin{};
    int size = 0;
    A factor{};
    if (first + lane < to) {
      const int segment = first + lane;
      int row = 0;  // the last that starts at the segment or before
      for (int above = count; above - row > 1;) {
        const int middle = (row + above) / 2;
        if (starts_[middle] <= segment)
          row = middle;
        else
          above = middle;
      }
      const int offset = (segment - starts_[row]) << shift;
      const int rest = sizes_[row] - offset;
      begin = firsts_[row] + static_cast<PositionB>(offset);
      size = rest < 1 << shift ? rest : 1 << shift;
      if constexpr (Values) factor = factors_[row];
    }
    struct Product {
      bool there;
      std::uint32_t column;
      A x;
      B y;
    };
    const int within = lane & ((1 << shift) - 1);
    const auto fetch = [&](int step) {
      const int of = step * (warp_size >> shift) + (lane >> shift);
      const PositionB q = shuffle(begin, of) + static_cast<PositionB>(within);
      Product out{within < shuffle(size, of), 0, A{}, B{}};
      if constexpr (Values) out.x = shuffle(factor, of);
      if (out.there) {
        out.column = static_cast<std::uint32_t>(b_.coordinates[q]);
        if constexpr (Values) out.y = b_.values[q];
      }
      return out;
    };
    const int found = to - first < warp_size ? to - first : warp_size;
    const int steps = (found + (warp_size >> shift) - 1) >> (5 - shift);
    const bool alone = in_warp && (1 << shift) == warp_size;
    Product product = fetch(0);
    for (int step = 0; step < steps; ++step) {
      Product next{};
      if (step + 1 < steps) next = fetch(step + 1);
      if (product.there) visit(product.column, product.x, product.y, alone);
      if (alone) __syncwarp();
      product = next;
    }
  }

  const MatrixA& a_;
  const MatrixB& b_;
  char* memory_;
  A* factors_;         // [chunk]
  PositionB* firsts_;  // [chunk], where rows of B begin
  int* sizes_;         // [chunk], of rows of B
  int* starts_;        // [chunk], segments of the rows before
};

}  // namespace sporos::gpu::detail
