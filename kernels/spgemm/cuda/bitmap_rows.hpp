// SPDX-License-Identifier: Apache-2.0
/// @file bitmap_rows.hpp
/// Rows of C = A B of many products where C has few columns: a bitmap of the row's columns in shared memory,
/// by one block a row. The rank of a column's bit is the place of its sum, so nothing is sorted, and no table
/// is probed.
#pragma once

#include <algorithm>
#include <cstdint>

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"
#include "balanced_products.hpp"
#include "row_config.hpp"

namespace sporos::gpu {

/// A kernel of `Threads` threads for a row, `Blocks` of which a multiprocessor should hold.
template <int Threads, int Blocks>
struct BitmapConfig {
  static constexpr int threads = Threads;
  static constexpr int blocks = Blocks;
  /// Of shared memory for bitmap and sums, beside what shares the products and counts bits.
  static constexpr std::int64_t bytes = (224 << 10) / Blocks - (12 << 10);
  /// So many words are cleared and counted in the time in which a product is added.
  static constexpr std::int64_t words_per_product = 4;
  /// A row's products are read again for each part of its columns that has room for sums: so often at most.
  static constexpr std::int64_t most_parts = 8;

  /// Words of a row's bitmap.
  static constexpr std::int64_t words(std::int64_t columns) { return ceil_div(columns, 32); }
  /// Whether rows of `least` products or more are better off with bitmaps: a quarter of the memory is left to
  /// sums.
  static constexpr bool suits(std::int64_t columns, std::int64_t least) {
    return words(columns) * 8 <= bytes / 4 * 3 && words(columns) <= words_per_product * least;
  }
  /// The same where sums of type Compute are made, for rows of up to `most` columns.
  template <class Compute>
  static constexpr bool suits_sums(std::int64_t columns, std::int64_t least, std::int64_t most) {
    return suits(columns, least) && sums<Compute>(columns, most) * most_parts >= most;
  }
  /// Sums that fit beside the bitmap; a row of more is summed part by part.
  template <class Compute>
  static constexpr std::int64_t sums(std::int64_t columns, std::int64_t most) {
    return std::min<std::int64_t>(most,
                                  (bytes - 8 * words(columns)) / std::max<std::int64_t>(sizeof(Compute), 4));
  }
};

namespace detail {

/// sizes[row] = the number of columns of the row of C.
template <class Config, class MatrixA, class MatrixB>
__global__ __launch_bounds__(Config::threads, Config::blocks) void count_bitmap_rows_kernel(
    const __grid_constant__ RowArguments<MatrixA, MatrixB> in, int words, std::int32_t* sizes) {
  using Products = BalancedProducts<Config::threads, MatrixA, MatrixB>;
  using Sum = cub::BlockReduce<std::int32_t, Config::threads>;
  __shared__ typename Sum::TempStorage scratch;
  extern __shared__ __align__(16) char memory[];
  auto* const bits = reinterpret_cast<std::uint32_t*>(memory + Products::bytes);  // [words]
  const auto thread = static_cast<int>(threadIdx.x);
  for (int word = thread; word < words; word += Config::threads) bits[word] = 0;
  __syncthreads();
  const std::int64_t row = in.members[blockIdx.x];
  std::int32_t mine = 0;
  Products(in.a, in.b, memory)
      .template for_each<false>(row, in.products[row], thread,
                                [&](std::uint32_t column, const auto&, const auto&, bool) {
                                  const std::uint32_t bit = 1u << column % 32;
                                  if ((bits[column / 32] & bit) == 0)
                                    mine += (::atomicOr(bits + column / 32, bit) & bit) == 0 ? 1 : 0;
                                });
  const std::int32_t sum = Sum(scratch).Sum(mine);
  if (thread == 0) sizes[row] = sum;
}

/// Writes columns and values of the rows of C, at C's positions.
///
/// @param capacity  sums that a block has memory for
template <class Config, class Compute, class MatrixA, class MatrixB, class MatrixC>
__global__ __launch_bounds__(Config::threads, Config::blocks) void fill_bitmap_rows_kernel(
    const __grid_constant__ RowArguments<MatrixA, MatrixB> in, const __grid_constant__ MatrixC c, int words,
    int capacity) {
  using Products = BalancedProducts<Config::threads, MatrixA, MatrixB>;
  using Scan = cub::BlockScan<std::uint32_t, Config::threads>;
  __shared__ typename Scan::TempStorage scratch;
  extern __shared__ __align__(16) char memory[];
  auto* const bits = reinterpret_cast<std::uint32_t*>(memory + Products::bytes);  // [words]
  auto* const before = bits + words;  // [words], bits set in those before
  // At a multiple of 16 bytes.
  auto* const sums = reinterpret_cast<Compute*>(bits + (words + 1) / 2 * 4);  // [capacity]
  auto* const list = reinterpret_cast<std::int32_t*>(sums);  // [capacity], columns, before the sums
  const auto thread = static_cast<int>(threadIdx.x);
  for (int word = thread; word < words; word += Config::threads) bits[word] = 0;
  __syncthreads();
  const std::int64_t row = in.members[blockIdx.x];
  const std::int64_t products = in.products[row];
  const Products of_row(in.a, in.b, memory);
  of_row.template for_each<false>(row, products, thread,
                                  [&](std::uint32_t column, const auto&, const auto&, bool) {
                                    const std::uint32_t bit = 1u << column % 32;
                                    if ((bits[column / 32] & bit) == 0) ::atomicOr(bits + column / 32, bit);
                                  });
  __syncthreads();

  const int each = (words + Config::threads - 1) / Config::threads;
  std::uint32_t mine = 0;
  for (int word = thread * each; word < (thread + 1) * each && word < words; ++word)
    mine += __popc(bits[word]);
  Scan(scratch).ExclusiveSum(mine, mine);
  for (int word = thread * each; word < (thread + 1) * each && word < words; ++word) {
    before[word] = mine;
    mine += __popc(bits[word]);
  }
  __syncthreads();
  const auto out = static_cast<std::int64_t>(c.positions[row]);
  const auto count = static_cast<int>(static_cast<std::int64_t>(c.positions[row + 1]) - out);
  for (int begin = 0; begin < count; begin += capacity) {
    const int part = count - begin < capacity ? count - begin : capacity;
    // Columns by thread and bit, to be stored together once they are in order.
    for (int word = thread; word < words; word += Config::threads) {
      int rank = static_cast<int>(before[word]) - begin;
      if (rank >= part) break;
      for (std::uint32_t rest = bits[word]; rest != 0; rest &= rest - 1, ++rank)
        if (rank >= 0 && rank < part) list[rank] = word * 32 + __ffs(static_cast<int>(rest)) - 1;
    }
    __syncthreads();
    for (int at = thread; at < part; at += Config::threads)
      c.coordinates[out + begin + at] = static_cast<typename MatrixC::coordinate_type>(list[at]);
    __syncthreads();
    for (int at = thread; at < part; at += Config::threads) sums[at] = Compute{};
    __syncthreads();
    of_row.template for_each<true>(
        row, products, thread, [&](std::uint32_t column, const auto& x, const auto& y, bool) {
          const int rank =
              static_cast<int>(before[column / 32] + __popc(bits[column / 32] & ((1u << column % 32) - 1)));
          if (rank >= begin && rank < begin + part)
            atomic_add(sums + (rank - begin), times(static_cast<Compute>(x), static_cast<Compute>(y)));
        });
    __syncthreads();
    for (int at = thread; at < part; at += Config::threads)
      c.values[out + begin + at] = static_cast<typename MatrixC::value_type>(sums[at]);
    __syncthreads();
  }
}

}  // namespace detail

/// sizes[row] = the number of columns of each row.
template <class Config, class MatrixA, class MatrixB>
void count_bitmap_rows(const Kokkos::Cuda& space, const detail::RowArguments<MatrixA, MatrixB>& rows,
                       std::int32_t* sizes) {
  using Products = detail::BalancedProducts<Config::threads, MatrixA, MatrixB>;
  const std::int64_t words = Config::words(rows.b.columns);
  launch(space, "sporos::spgemm count bitmap", &detail::count_bitmap_rows_kernel<Config, MatrixA, MatrixB>,
         rows.count, Config::threads, Products::bytes + words * 4, rows, static_cast<int>(words), sizes);
}

/// Writes columns and values of the rows, which have at most `most` columns, at C's positions.
template <class Config, class Compute, class MatrixA, class MatrixB, class MatrixC>
void fill_bitmap_rows(const Kokkos::Cuda& space, const detail::RowArguments<MatrixA, MatrixB>& rows,
                      std::int64_t most, const MatrixC& c) {
  using Products = detail::BalancedProducts<Config::threads, MatrixA, MatrixB>;
  const std::int64_t words = Config::words(c.columns);
  const std::int64_t sums = Config::template sums<Compute>(c.columns, most);
  launch(space, "sporos::spgemm fill bitmap",
         &detail::fill_bitmap_rows_kernel<Config, Compute, MatrixA, MatrixB, MatrixC>, rows.count,
         Config::threads,
         Products::bytes + (words + 1) / 2 * 16 + sums * std::max<std::int64_t>(sizeof(Compute), 4), rows, c,
         static_cast<int>(words), static_cast<int>(sums));
}

}  // namespace sporos::gpu
