// SPDX-License-Identifier: Apache-2.0
/// @file window_columns.hpp
/// Finds the distinct columns of a window of rows of a sparse matrix, in ascending order, by one block:
/// shared memory has a bit for each column, and for each word of 32 bits the number of columns before it.
#pragma once

#include <cstdint>

#include "warp.hpp"

namespace sporos::gpu {

/// The most columns that a matrix can have: shared memory holds a bit for each and a number for every 32.
inline constexpr std::int64_t most_window_columns = 32 * 12'000;

namespace detail {

/// Sets a bit for each column of the window of this block; all threads of the block call it.
/// @param a          a CsrView
/// @param rows       rows per window
/// @param are_there  [words] in shared memory
template <class A>
__device__ __forceinline__ void mark_columns_of_window(const A& a, int rows, int words,
                                                       std::uint32_t* are_there) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int at = thread; at < words; at += threads) are_there[at] = 0;
  __syncthreads();
  const std::int64_t first_row = std::int64_t{blockIdx.x} * rows;
  const std::int64_t end_row = ::min(first_row + rows, a.rows);
  const auto begin = static_cast<std::int64_t>(a.positions[first_row]),
             end = static_cast<std::int64_t>(a.positions[end_row]);
  for (std::int64_t q = begin + thread; q < end; q += threads) {
    const auto column = static_cast<std::uint32_t>(a.coordinates[q]);
    atomicOr(are_there + column / 32, 1U << column % 32);
  }
  __syncthreads();
}

/// The sum of `x` over the threads of a block, returned to all of them.
/// @param sums  [warps] in shared memory
__device__ __forceinline__ int sum_of_block(int x, int* sums) {
  const int warps = static_cast<int>(blockDim.x) / warp_size;
  x = group_sum(x, warp_size);
  if (lane_id() == 0) sums[threadIdx.x / warp_size] = x;
  __syncthreads();
  int all = 0;
  for (int w = 0; w < warps; ++w) all += sums[w];
  __syncthreads();
  return all;
}

/// How many columns the window of this block has, returned to all of its threads.
/// @param sums  [warps] in shared memory
__device__ __forceinline__ int count_columns(int words, const std::uint32_t* are_there, int* sums) {
  int columns = 0;
  for (int at = static_cast<int>(threadIdx.x); at < words; at += static_cast<int>(blockDim.x))
    columns += __popc(are_there[at]);
  return sum_of_block(columns, sums);
}

/// Counts the columns of the window before each word; all threads of the block call it.
/// @param before  [words] in shared memory
/// @param sums    [warps] in shared memory
__device__ __forceinline__ void count_columns_before(int words, const std::uint32_t* are_there,
                                                     std::int32_t* before, int* sums) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int share = (words + threads - 1) / threads;
  const int first = ::min(thread * share, words), last = ::min(first + share, words);
  int of_thread = 0;
  for (int at = first; at < last; ++at) of_thread += __popc(are_there[at]);
  int sum = of_thread;
#pragma unroll
  for (int step = 1; step < warp_size; step *= 2) {
    const int other = __shfl_up_sync(all_lanes, sum, static_cast<unsigned>(step));
    if (lane_id() >= step) sum += other;
  }
  if (lane_id() == warp_size - 1) sums[thread / warp_size] = sum;
  __syncthreads();
  for (int w = 0; w < thread / warp_size; ++w) sum += sums[w];
  sum -= of_thread;
  for (int at = first; at < last; ++at) {
    before[at] = sum;
    sum += __popc(are_there[at]);
  }
  __syncthreads();
}

/// The index of `column`, one of the window's columns, among them.
__device__ __forceinline__ int number_of_column(std::uint32_t column, const std::uint32_t* are_there,
                                                const std::int32_t* before) {
  return before[column / 32] + __popc(are_there[column / 32] & ((1U << column % 32) - 1));
}

}  // namespace detail
}  // namespace sporos::gpu
