// SPDX-License-Identifier: Apache-2.0
/// @file count_products.hpp
/// How many products each row of C = A B has: the sum of the sizes of the rows of B that its nonzeros name.
#pragma once

#include <algorithm>
#include <cstdint>

#include <cub/block/block_reduce.cuh>

#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"

namespace sporos::gpu {

/// Shape of the kernels that count products.
struct CountProductsConfig {
  static constexpr int threads = 256;          ///< per block
  static constexpr int mean_each = 4;          ///< nonzeros of a row of A for each lane, on average
  static constexpr int most_each = 32;         ///< the same at most; longer rows are taken by many blocks
  static constexpr std::int64_t blocks = 264;  ///< for long rows at the same time
  static constexpr std::int64_t pieces = 4;    ///< of a long row
};

namespace detail {

/// The size of the row of B that a nonzero of A names.
template <class MatrixA, class MatrixB>
__device__ __forceinline__ std::int64_t products_of(const MatrixA& a, const MatrixB& b,
                                                    std::int64_t nonzero) {
  const auto k = static_cast<std::int64_t>(a.coordinates[nonzero]);
  return static_cast<std::int64_t>(b.positions[k + 1]) - static_cast<std::int64_t>(b.positions[k]);
}

/// Writes products[row], with `lanes` neighbouring threads for each row, and adds all to the total. Lists
/// long rows, with 0 products so far.
template <class MatrixA, class MatrixB>
__global__ __launch_bounds__(CountProductsConfig::threads) void count_products_kernel(
    const __grid_constant__ MatrixA a, const __grid_constant__ MatrixB b, int lanes, std::int64_t* products,
    std::int64_t* total, std::int32_t* long_rows, std::int64_t* long_row_count) {
  using Config = CountProductsConfig;
  using BlockSum = cub::BlockReduce<std::int64_t, Config::threads>;
  __shared__ typename BlockSum::TempStorage scratch;
  const std::int64_t row = (static_cast<std::int64_t>(blockIdx.x) * Config::threads + threadIdx.x) / lanes;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  std::int64_t sum = 0;
  if (row < a.rows) {
    const auto begin = static_cast<std::int64_t>(a.positions[row]);
    const auto end = static_cast<std::int64_t>(a.positions[row + 1]);
    if (end - begin > lanes * Config::most_each) {
      if (lane == 0) {
        long_rows[Kokkos::atomic_fetch_add(long_row_count, std::int64_t{1})] = static_cast<std::int32_t>(row);
      }
    } else {
      for (std::int64_t at = begin + lane; at < end; at += lanes) sum += products_of(a, b, at);
    }
  }
  const std::int64_t of_block = BlockSum(scratch).Sum(sum);
  if (threadIdx.x == 0 && of_block > 0) atomic_add(total, of_block);
  sum = group_sum(sum, lanes);
  if (row < a.rows && lane == 0) products[row] = sum;
}

/// Adds the products of the listed rows, with gridDim.y blocks for each.
template <class MatrixA, class MatrixB>
__global__ __launch_bounds__(CountProductsConfig::threads) void count_long_rows_kernel(
    const __grid_constant__ MatrixA a, const __grid_constant__ MatrixB b, std::int64_t* products,
    std::int64_t* total, const std::int32_t* long_rows, const std::int64_t* long_row_count) {
  using Config = CountProductsConfig;
  using BlockSum = cub::BlockReduce<std::int64_t, Config::threads>;
  __shared__ typename BlockSum::TempStorage scratch;
  for (std::int64_t listed = blockIdx.x; listed < *long_row_count; listed += gridDim.x) {
    const std::int64_t row = long_rows[listed];
    const auto end = static_cast<std::int64_t>(a.positions[row + 1]);
    std::int64_t sum = 0;
    for (std::int64_t at =
             static_cast<std::int64_t>(a.positions[row]) + blockIdx.y * Config::threads + threadIdx.x;
         at < end; at += gridDim.y * Config::threads)
      sum += products_of(a, b, at);
    sum = BlockSum(scratch).Sum(sum);
    if (threadIdx.x == 0 && sum > 0) {
      atomic_add(products + row, sum);
      atomic_add(total, sum);
    }
    __syncthreads();  // before the sum's memory is used again
  }
}

}  // namespace detail

/// Writes products[row], and adds their sum to the total.
///
/// @param products        [rows of A]
/// @param long_rows       [rows of A], memory to list rows in
/// @param long_row_count  0 before
template <class MatrixA, class MatrixB>
void count_products(const Kokkos::Cuda& space, const MatrixA& a, const MatrixB& b, std::int64_t* products,
                    std::int64_t* total, std::int32_t* long_rows, std::int64_t* long_row_count) {
  using Config = CountProductsConfig;
  int lanes = 1;
  while (lanes < warp_size && a.nonzeros > a.rows * lanes * Config::mean_each) lanes *= 2;
  launch(space, "sporos::spgemm products", &detail::count_products_kernel<MatrixA, MatrixB>,
         ceil_div(a.rows * lanes, Config::threads), Config::threads, 0, a, b, lanes, products, total,
         long_rows, long_row_count);
  if (a.nonzeros > lanes * Config::most_each)
    launch(space, "sporos::spgemm products of long rows", &detail::count_long_rows_kernel<MatrixA, MatrixB>,
           Grid(std::min(Config::blocks, a.rows), Config::pieces), Config::threads, 0, a, b, products, total,
           long_rows, long_row_count);
}

}  // namespace sporos::gpu
