// SPDX-License-Identifier: Apache-2.0
/// @file add.hpp
/// C = alpha A + beta B on the GPU, all in CSR, in two passes balanced by nonzeros.
///
/// The first pass looks up each nonzero of A in the same row of B and notes in a bit whether it is there.
/// With M(p) the number of bits set before nonzero p of A, every nonzero's place follows by arithmetic: row i
/// of C starts at positions_A[i] + positions_B[i] - M(positions_A[i]); nonzero p of A goes to p + b - M(p),
/// where b is the first nonzero in its row of B whose column is not smaller; nonzero q of B that A lacks goes
/// to q + a - M(a), with a defined likewise.
#pragma once

#include <cstdint>

#include "../../cuda/csr.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/scan.hpp"
#include "../../cuda/warp.hpp"

namespace sporos::gpu {

/// Shape of the kernels of a sparse sum.
struct AddConfig {
  static constexpr int threads = 256;
  static constexpr int nonzeros = 128;  ///< per warp
  static_assert(nonzeros % warp_size == 0, "a warp takes 32 nonzeros at a time");
};

namespace detail {

/// Which nonzeros of A are in B too.
struct Matches {
  std::uint32_t* bits;   // [words]
  std::int64_t* before;  // [words + 1]

  /// The number of matches before nonzero p of A.
  __device__ __forceinline__ std::int64_t count_before(std::int64_t p) const {
    const std::uint32_t below = (1u << p % 32) - 1;
    return before[p / 32] + (below ? __popc(bits[p / 32] & below) : 0);
  }
  __device__ __forceinline__ bool at(std::int64_t p) const { return (bits[p / 32] >> p % 32 & 1u) != 0; }
};

/// The first nonzero of `row` of a matrix whose column is not below `column`.
template <class Matrix>
__device__ __forceinline__ std::int64_t lower_bound(const Matrix& matrix, std::int64_t row,
                                                    std::int64_t column) {
  return partition_point(
      static_cast<std::int64_t>(matrix.positions[row]), static_cast<std::int64_t>(matrix.positions[row + 1]),
      [&](std::int64_t q) { return static_cast<std::int64_t>(matrix.coordinates[q]) < column; });
}

/// Calls visit(position, row, column, there) for the nonzeros of a matrix, 32 neighbours at a time. All lanes
/// call it; lanes past the end pass there = false.
template <class Matrix, class Visit>
__device__ __forceinline__ void for_each_nonzero(const Matrix& matrix, const Visit& visit) {
  const std::int64_t warp =
      (static_cast<std::int64_t>(blockIdx.x) * AddConfig::threads + threadIdx.x) / warp_size;
  const std::int64_t begin = warp * AddConfig::nonzeros;
  if (begin >= matrix.nonzeros) return;
  const std::int64_t end =
      begin + AddConfig::nonzeros < matrix.nonzeros ? begin + AddConfig::nonzeros : matrix.nonzeros;
  ParentFinder<std::remove_const_t<std::remove_pointer_t<decltype(matrix.positions)>>> row_of(
      matrix.positions, matrix.rows);
  for (std::int64_t base = begin; base < end; base += warp_size) {
    const std::int64_t mine = base + lane_id();
    const std::int64_t q = mine < end ? mine : end - 1;
    const std::int64_t row = row_of(q);
    visit(q, row, static_cast<std::int64_t>(matrix.coordinates[q]), mine < end);
  }
}

template <class MatrixA, class MatrixB>
__global__ __launch_bounds__(AddConfig::threads) void match_kernel(const __grid_constant__ MatrixA a,
                                                                   const __grid_constant__ MatrixB b,
                                                                   Matches matches) {
  for_each_nonzero(a, [&](std::int64_t p, std::int64_t row, std::int64_t column, bool there) {
    const std::int64_t q = lower_bound(b, row, column);
    const bool found = there && q < static_cast<std::int64_t>(b.positions[row + 1]) &&
                       static_cast<std::int64_t>(b.coordinates[q]) == column;
    const std::uint32_t bits = __ballot_sync(all_lanes, found);
    if (lane_id() == 0) matches.bits[p / 32] = bits;
  });
}

/// The number of bits set in a word, used as the size of a segment.
struct BitCount {
  std::uint32_t bits = 0;
  KOKKOS_INLINE_FUNCTION explicit operator std::int64_t() const { return Kokkos::popcount(bits); }
};

template <class MatrixA, class MatrixB, class Position>
__global__ void add_positions_kernel(const __grid_constant__ MatrixA a, const __grid_constant__ MatrixB b,
                                     Matches matches, Position* positions, std::int64_t* total) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row > a.rows) return;
  const auto p = static_cast<std::int64_t>(a.positions[row]);
  const std::int64_t start = p + static_cast<std::int64_t>(b.positions[row]) - matches.count_before(p);
  positions[row] = static_cast<Position>(start);
  if (row == a.rows) *total = start;
}

template <class Compute, class MatrixA, class MatrixB, class MatrixC>
__global__ __launch_bounds__(AddConfig::threads) void add_left_kernel(const __grid_constant__ MatrixA a,
                                                                      const __grid_constant__ MatrixB b,
                                                                      const __grid_constant__ MatrixC c,
                                                                      Matches matches, Compute alpha,
                                                                      Compute beta) {
  for_each_nonzero(a, [&](std::int64_t p, std::int64_t row, std::int64_t column, bool there) {
    if (!there) return;
    const std::int64_t q = lower_bound(b, row, column);
    const std::int64_t at = p + q - matches.count_before(p);
    Compute value = times(alpha, static_cast<Compute>(a.values[p]));
    if (matches.at(p)) value = plus(value, times(beta, static_cast<Compute>(b.values[q])));
    c.coordinates[at] = static_cast<typename MatrixC::coordinate_type>(column);
    c.values[at] = static_cast<typename MatrixC::value_type>(value);
  });
}

template <class Compute, class MatrixA, class MatrixB, class MatrixC>
__global__ __launch_bounds__(AddConfig::threads) void add_right_kernel(const __grid_constant__ MatrixA a,
                                                                       const __grid_constant__ MatrixB b,
                                                                       const __grid_constant__ MatrixC c,
                                                                       Matches matches, Compute beta) {
  for_each_nonzero(b, [&](std::int64_t q, std::int64_t row, std::int64_t column, bool there) {
    if (!there) return;
    const std::int64_t p = lower_bound(a, row, column);
    if (p < static_cast<std::int64_t>(a.positions[row + 1]) &&
        static_cast<std::int64_t>(a.coordinates[p]) == column)
      return;  // it is added to A's
    const std::int64_t at = q + p - matches.count_before(p);
    c.coordinates[at] = static_cast<typename MatrixC::coordinate_type>(column);
    c.values[at] = static_cast<typename MatrixC::value_type>(times(beta, static_cast<Compute>(b.values[q])));
  });
}

}  // namespace detail

/// The sum of two sparse matrices in two passes.
///
///     SparseSum<Compute, A, B, C> sum(space, a, b, workspace);
///     c.nonzeros = sum.count(c.positions);   // waits for the GPU
///     … memory for c.coordinates, c.values …
///     sum.fill(c, alpha, beta);              // as often as values change
template <class Compute, class MatrixA, class MatrixB, class MatrixC>
class SparseSum {
 public:
  using Position = typename MatrixC::position_type;

  SparseSum(const Kokkos::Cuda& space, const MatrixA& a, const MatrixB& b, Workspace& workspace)
      : space_(space), a_(a), b_(b), workspace_(workspace) {
    const std::int64_t words = ceil_div(a.nonzeros, 32);
    scratch_bytes_ = sizes_to_positions_bytes<detail::BitCount, std::int64_t>(space, words);
    const auto cut = [&](char* memory) {
      Layout layout(memory);
      total_ = layout.take<std::int64_t>(1);
      matches_.bits = layout.take<std::uint32_t>(words + 1);
      matches_.before = layout.take<std::int64_t>(words + 1);
      scratch_ = layout.take<char>(scratch_bytes_);
      return layout.bytes();
    };
    cut(workspace.reserve(cut(nullptr)));
  }

  /// Takes new arrays of the operands, whose patterns must be the same.
  void read(const MatrixA& a, const MatrixB& b) {
    a_ = a;
    b_ = b;
  }

  /// Writes C's positions, [rows + 1], and returns the number of C's nonzeros.
  /// @throws RangeError if C's positions cannot hold it
  std::int64_t count(Position* positions) {
    const std::int64_t words = ceil_div(a_.nonzeros, 32);
    launch(space_, "sporos::add match", &detail::match_kernel<MatrixA, MatrixB>, blocks(a_),
           AddConfig::threads, 0, a_, b_, matches_);
    sizes_to_positions(space_, words, reinterpret_cast<const detail::BitCount*>(matches_.bits),
                       matches_.before, static_cast<std::int64_t*>(nullptr), scratch_, scratch_bytes_);
    launch(space_, "sporos::add positions", &detail::add_positions_kernel<MatrixA, MatrixB, Position>,
           ceil_div(a_.rows + 1, 256), 256, 0, a_, b_, matches_, positions, total_);
    const std::int64_t nonzeros = read_back(space_, total_);
    narrow<Position>(nonzeros, "the number of nonzeros of a sum");
    return nonzeros;
  }

  /// Writes C's columns and values; its positions must be those from count().
  void fill(const MatrixC& c, Compute alpha, Compute beta) const {
    launch(space_, "sporos::add left", &detail::add_left_kernel<Compute, MatrixA, MatrixB, MatrixC>,
           blocks(a_), AddConfig::threads, 0, a_, b_, c, matches_, alpha, beta);
    launch(space_, "sporos::add right", &detail::add_right_kernel<Compute, MatrixA, MatrixB, MatrixC>,
           blocks(b_), AddConfig::threads, 0, a_, b_, c, matches_, beta);
  }

  /// The most bytes that the workspace takes.
  std::int64_t most_workspace_bytes() const { return workspace_.size(); }

 private:
  template <class Matrix>
  static std::int64_t blocks(const Matrix& matrix) {
    return ceil_div(ceil_div(matrix.nonzeros, AddConfig::nonzeros) * warp_size, AddConfig::threads);
  }

  Kokkos::Cuda space_;
  MatrixA a_;
  MatrixB b_;
  const Workspace& workspace_;
  detail::Matches matches_{};
  std::int64_t* total_ = nullptr;
  char* scratch_ = nullptr;  // for the scan
  std::int64_t scratch_bytes_ = 0;
};

}  // namespace sporos::gpu
