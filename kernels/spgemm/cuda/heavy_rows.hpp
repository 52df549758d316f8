// SPDX-License-Identifier: Apache-2.0
/// @file heavy_rows.hpp
/// Rows of C = A B that are too large for shared memory: a bitmap of their columns in device memory, filled
/// by the whole GPU. The number of bits set is the row's size, and the rank of a bit is the place of its
/// value, so nothing is sorted.
#pragma once

#include <algorithm>
#include <cstdint>

#include <cub/block/block_scan.cuh>

#include "../../cuda/csr.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"
#include "row_config.hpp"

namespace sporos::gpu {

/// Shape of the kernels over heavy rows.
struct HeavyConfig {
  static constexpr int threads = 256;                   ///< per block
  static constexpr std::int64_t blocks = 8192;          ///< per batch of rows, approximately
  static constexpr std::int64_t most_blocks = 128;      ///< per row
  static constexpr std::int64_t most_bytes = 64 << 20;  ///< for bitmaps and ranks, unless one row takes more
};

/// Bitmaps for a batch of rows, and for each word the number of bits set before it in its row.
struct HeavyRows {
  std::int64_t words = 0;          ///< per row
  std::int64_t capacity = 0;       ///< rows per batch
  std::uint32_t* bits = nullptr;   ///< [capacity, words]
  std::int32_t* before = nullptr;  ///< [capacity, words]

  /// Takes memory for `count` rows of `columns` columns, in a product of matrices with `products` products of
  /// elements.
  static HeavyRows take(Layout& layout, std::int64_t columns, std::int64_t count, std::int64_t products) {
    HeavyRows out;
    if (count == 0) return out;
    out.words = ceil_div(columns, 32);
    const std::int64_t row_bytes =
        out.words * static_cast<std::int64_t>(sizeof(std::uint32_t) + sizeof(std::int32_t));
    const std::int64_t budget =
        std::min(HeavyConfig::most_bytes, 2 * products);  // no more than the work justifies
    out.capacity = std::clamp<std::int64_t>(budget / row_bytes, 1, count);
    out.bits = layout.take<std::uint32_t>(out.capacity * out.words);
    out.before = layout.take<std::int32_t>(out.capacity * out.words);
    return out;
  }
};

namespace detail {

/// Calls visit(column, value of A, value of B) for this block's share of a heavy row's products; gridDim.y
/// blocks share them, and as many lanes take a row of B as it has entries on average, at most a warp.
template <bool Values, class MatrixA, class MatrixB, class Visit>
__device__ __forceinline__ void for_each_heavy_product(const RowArguments<MatrixA, MatrixB>& in,
                                                       std::int64_t row, const Visit& visit) {
  using A = std::remove_const_t<typename MatrixA::value_type>;
  using B = std::remove_const_t<typename MatrixB::value_type>;
  const auto begin = static_cast<std::int64_t>(in.a.positions[row]);
  const auto end = static_cast<std::int64_t>(in.a.positions[row + 1]);
  const std::int64_t mean = in.products[row] / (end - begin);
  int width = 1;
  while (width < warp_size && width * 2 <= mean + 1) width *= 2;
  const std::int64_t groups = gridDim.y * HeavyConfig::threads / width;
  const auto thread = static_cast<std::int64_t>(blockIdx.y) * HeavyConfig::threads + threadIdx.x;
  std::int64_t next = 0;
  std::int64_t next_end = 0;
  A next_x{};
  const auto ask = [&](std::int64_t at) {
    if (at >= end) return;
    const auto k = static_cast<std::int64_t>(in.a.coordinates[at]);
    next = in.b.positions[k];  // used as late as possible: whatever uses it waits for it
    next_end = in.b.positions[k + 1];
    if constexpr (Values) next_x = in.a.values[at];
  };
  std::int64_t at = begin + thread / width;
  ask(at);
  while (at < end) {
    const std::int64_t row_end = next_end;
    const A x = next_x;
    std::int64_t q = next + thread % width;
    at += groups;
    ask(at);
    for (; q < row_end; q += width) {
      B y{};
      if constexpr (Values) y = in.b.values[q];
      visit(static_cast<std::uint32_t>(in.b.coordinates[q]), x, y);
    }
  }
}

/// Sets the bits of a row's columns, with gridDim.y blocks per row.
template <class MatrixA, class MatrixB>
__global__ __launch_bounds__(HeavyConfig::threads) void mark_heavy_kernel(
    const __grid_constant__ RowArguments<MatrixA, MatrixB> in, HeavyRows heavy) {
  std::uint32_t* const bits = heavy.bits + blockIdx.x * heavy.words;  // [words]
  for_each_heavy_product<false>(in, in.members[blockIdx.x],
                                [&](std::uint32_t column, const auto&, const auto&) {
                                  const std::uint32_t bit = 1u << column % 32;
                                  if ((load_fresh(bits + column / 32) & bit) == 0)
                                    ::atomicOr(bits + column / 32, bit);
                                });
}

/// Computes before[word] and the size of the row, with one block per row.
template <class Size>
__global__ __launch_bounds__(HeavyConfig::threads) void rank_heavy_kernel(const std::int32_t* members,
                                                                          HeavyRows heavy, Size* sizes) {
  using Scan = cub::BlockScan<std::int32_t, HeavyConfig::threads>;
  __shared__ typename Scan::TempStorage scratch;
  const std::uint32_t* const bits = heavy.bits + blockIdx.x * heavy.words;  // [words]
  std::int32_t* const before = heavy.before + blockIdx.x * heavy.words;     // [words]
  std::int32_t carry = 0;
  for (std::int64_t base = 0; base < heavy.words; base += HeavyConfig::threads) {
    const std::int64_t word = base + threadIdx.x;
    const std::int32_t mine = word < heavy.words ? __popc(bits[word]) : 0;  // [threads words]
    std::int32_t below = 0;
    std::int32_t total = 0;
    Scan(scratch).ExclusiveSum(mine, below, total);
    if (word < heavy.words) before[word] = carry + below;
    carry += total;
    __syncthreads();  // before the scan's memory is used again
  }
  if (threadIdx.x == 0 && sizes) sizes[members[blockIdx.x]] = carry;
}

/// Writes the columns of the rows in order, and zeros as their values.
template <class MatrixC>
__global__ __launch_bounds__(HeavyConfig::threads) void emit_heavy_kernel(const std::int32_t* members,
                                                                          HeavyRows heavy,
                                                                          const __grid_constant__ MatrixC c) {
  const auto out = static_cast<std::int64_t>(c.positions[members[blockIdx.x]]);
  for (std::int64_t word = static_cast<std::int64_t>(blockIdx.y) * HeavyConfig::threads + threadIdx.x;
       word < heavy.words; word += static_cast<std::int64_t>(gridDim.y) * HeavyConfig::threads) {
    std::uint32_t bits = heavy.bits[blockIdx.x * heavy.words + word];       // [32 columns]
    std::int64_t at = out + heavy.before[blockIdx.x * heavy.words + word];  // its first column's position
    for (; bits != 0; bits &= bits - 1, ++at) {
      c.coordinates[at] =
          static_cast<typename MatrixC::coordinate_type>(word * 32 + __ffs(static_cast<int>(bits)) - 1);
      c.values[at] = typename MatrixC::value_type{};
    }
  }
}

/// Adds each product to the value of its column; the rank of the column's bit is the value's place.
template <class Compute, class MatrixA, class MatrixB, class MatrixC>
__global__ __launch_bounds__(HeavyConfig::threads) void add_heavy_kernel(
    const __grid_constant__ RowArguments<MatrixA, MatrixB> in, HeavyRows heavy,
    const __grid_constant__ MatrixC c) {
  const std::int64_t row = in.members[blockIdx.x];
  const auto out = static_cast<std::int64_t>(c.positions[row]);
  const std::uint32_t* const bits = heavy.bits + blockIdx.x * heavy.words;     // [words]
  const std::int32_t* const before = heavy.before + blockIdx.x * heavy.words;  // [words]
  for_each_heavy_product<true>(in, row, [&](std::uint32_t column, const auto& x, const auto& y) {
    const int rank = __popc(bits[column / 32] & ((1u << column % 32) - 1));
    atomic_add(c.values + out + before[column / 32] + rank,
               times(static_cast<Compute>(x), static_cast<Compute>(y)));
  });
}

/// Makes the bitmaps of as many rows as there is memory for, runs work(these rows, grid), and goes on to the
/// next rows.
///
/// @param sizes  [rows of C], set for the rows; null if they are known
template <class MatrixA, class MatrixB, class Work>
void for_each_heavy_batch(const Kokkos::Cuda& space, const RowArguments<MatrixA, MatrixB>& rows,
                          const HeavyRows& heavy, std::int32_t* sizes, const Work& work) {
  for (std::int64_t begin = 0; begin < rows.count; begin += heavy.capacity) {
    auto batch = rows;
    batch.members += begin;
    batch.count = std::min(heavy.capacity, rows.count - begin);
    const Grid grid(batch.count,
                    std::clamp<std::int64_t>(HeavyConfig::blocks / batch.count, 1, HeavyConfig::most_blocks));
    zero(space, heavy.bits, batch.count * heavy.words);
    launch(space, "sporos::spgemm mark", &mark_heavy_kernel<MatrixA, MatrixB>, grid, HeavyConfig::threads, 0,
           batch, heavy);
    launch(space, "sporos::spgemm rank", &rank_heavy_kernel<std::int32_t>, batch.count, HeavyConfig::threads,
           0, batch.members, heavy, sizes);
    work(batch, grid);
  }
}

}  // namespace detail

/// sizes[row] = the number of columns of each row.
template <class MatrixA, class MatrixB>
void count_heavy_rows(const Kokkos::Cuda& space, const detail::RowArguments<MatrixA, MatrixB>& rows,
                      const HeavyRows& heavy, std::int32_t* sizes) {
  detail::for_each_heavy_batch(space, rows, heavy, sizes, [](const auto&, const Grid&) {});
}

/// Writes columns and values of the rows, at C's positions.
template <class Compute, class MatrixA, class MatrixB, class MatrixC>
void fill_heavy_rows(const Kokkos::Cuda& space, const detail::RowArguments<MatrixA, MatrixB>& rows,
                     const HeavyRows& heavy, const MatrixC& c) {
  detail::for_each_heavy_batch(space, rows, heavy, nullptr,
                               [&](const detail::RowArguments<MatrixA, MatrixB>& batch, const Grid& grid) {
                                 launch(space, "sporos::spgemm emit", &detail::emit_heavy_kernel<MatrixC>,
                                        grid, HeavyConfig::threads, 0, batch.members, heavy, c);
                                 launch(space, "sporos::spgemm add",
                                        &detail::add_heavy_kernel<Compute, MatrixA, MatrixB, MatrixC>, grid,
                                        HeavyConfig::threads, 0, batch, heavy, c);
                               });
}

}  // namespace sporos::gpu
