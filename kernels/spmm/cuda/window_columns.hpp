// SPDX-License-Identifier: Apache-2.0
/// @file window_columns.hpp
/// Finds the distinct columns of a window of rows of a sparse matrix, in ascending order, by one block:
/// shared memory has a bit for each column, and for each word of 32 bits the number of columns before it.
#pragma once

#include <cstdint>

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

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

/// How many columns the window of this block has, returned to its first thread; all threads of the block call
/// it.
/// @tparam Threads  the threads of a block
template <int Threads>
__device__ __forceinline__ int count_columns(int words, const std::uint32_t* are_there) {
  using Reduce = cub::BlockReduce<int, Threads>;
  __shared__ typename Reduce::TempStorage scratch;
  int columns = 0;
  for (int at = static_cast<int>(threadIdx.x); at < words; at += Threads) columns += __popc(are_there[at]);
  return Reduce(scratch).Sum(columns);
}

/// Counts the columns of the window before each word; all threads of the block call it.
/// @tparam Threads  the threads of a block
/// @param before    [words] in shared memory
template <int Threads>
__device__ __forceinline__ void count_columns_before(int words, const std::uint32_t* are_there,
                                                     std::int32_t* before) {
  using Scan = cub::BlockScan<std::int32_t, Threads, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename Scan::TempStorage scratch;
  const int share = (words + Threads - 1) / Threads;
  const int first = ::min(static_cast<int>(threadIdx.x) * share, words), last = ::min(first + share, words);
  std::int32_t of_thread = 0;
  for (int at = first; at < last; ++at) of_thread += __popc(are_there[at]);
  std::int32_t sum = 0;
  Scan(scratch).ExclusiveSum(of_thread, sum);
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
