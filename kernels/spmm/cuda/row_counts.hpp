// SPDX-License-Identifier: Apache-2.0
/// @file row_counts.hpp
/// How long the rows of a sparse matrix are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cub/block/block_reduce.cuh>

#include "../../cuda/csr.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"

namespace sporos::gpu {

/// How uneven the lengths of a matrix's rows are.
struct RowLengths {
  static constexpr std::int64_t window = 8;  ///< rows

  std::int64_t longest = 0;  ///< nonzeros; 0 if rows were not counted
  std::int64_t waited = 0;   ///< the nonzeros if every row were as long as the longest of its window

  /// By what factor windows take longer than if their rows were equally long.
  double unevenness(std::int64_t nonzeros) const {
    return static_cast<double>(waited) / static_cast<double>(nonzeros);
  }
};

/// How many groups of lanes share a row, for rows in the order of their lengths.
struct RowParts {
  static constexpr int classes = 4;
  std::int32_t rows[classes] = {};  ///< shared by 1, 2, 4 and 8 groups

  /// The blocks of rows that are shared by 2^bits groups.
  /// @param lanes_of_group  2^of these, at most a warp together with those that share a row
  KOKKOS_INLINE_FUNCTION std::int32_t blocks(int bits, int lanes_of_group, int threads_of_block) const {
    const int rows_of_block = threads_of_block >> (lanes_of_group + bits);
    return (rows[bits] + rows_of_block - 1) / rows_of_block;
  }
};

/// How many steps of four nonzeros the rows of a matrix have, in total and at most, and how many rows have
/// 2^b steps or more but fewer than 2^(b + 1).
struct RowSteps {
  static constexpr int of_step = 4;  ///< nonzeros
  static constexpr int sizes = 30;
  std::int32_t steps = 0, most = 0, rows[sizes] = {};

  /// Rows of 2^size steps or more are shared by two groups of lanes, of twice as many by four, of four times
  /// as many by eight.
  /// @param most_bits  at most 2^most_bits groups share a row
  RowParts parts_from(int size, int most_bits, std::int64_t all_rows) const {
    RowParts out;
    auto left = static_cast<std::int32_t>(all_rows);
    for (int b = size; b < sizes; ++b) {
      out.rows[std::min(b - size + 1, most_bits)] += rows[b];
      left -= rows[b];
    }
    out.rows[0] += left;
    return out;
  }
  /// The most steps of a group of lanes.
  std::int64_t most_of_group(int size, int most_bits) const {
    std::int64_t out = 0;
    for (int b = 0; b < sizes; ++b) {
      if (rows[b] == 0) continue;
      const std::int64_t longest = std::min((std::int64_t{2} << b) - 1, std::int64_t{most});
      out = std::max(out, ceil_div(longest, std::int64_t{1} << std::clamp(b - size + 1, 0, most_bits)));
    }
    return out;
  }
};

struct RowCounts {
  RowLengths lengths;
  RowSteps steps;
};

namespace detail {

inline constexpr int row_counts_threads = 256;  ///< per block, each with a row at a time

template <class A>
__device__ __forceinline__ std::int32_t steps_of_row(const A& a, std::int64_t row) {
  return static_cast<std::int32_t>(
      (static_cast<std::int64_t>(a.positions[row + 1] - a.positions[row]) + RowSteps::of_step - 1) /
      RowSteps::of_step);
}

/// Each eight neighbouring lanes take a window of rows.
template <class A>
__global__ __launch_bounds__(row_counts_threads) void count_rows_kernel(A a, RowCounts* to) {
  using Count = unsigned long long;
  using Reduce = cub::BlockReduce<Count, row_counts_threads>;
  __shared__ typename Reduce::TempStorage scratch[3];
  __shared__ std::int32_t of_sizes[RowSteps::sizes];
  if (threadIdx.x < RowSteps::sizes) of_sizes[threadIdx.x] = 0;
  __syncthreads();
  Count longest = 0, waited = 0, steps = 0;
  const std::int64_t stride = std::int64_t{gridDim.x} * row_counts_threads;
  for (std::int64_t first = std::int64_t{blockIdx.x} * row_counts_threads; first < a.rows; first += stride) {
    const std::int64_t row = first + threadIdx.x;
    Count most = row < a.rows ? static_cast<Count>(a.positions[row + 1] - a.positions[row]) : 0;
    if (most > 0) {
      const Count of_row = (most + RowSteps::of_step - 1) / RowSteps::of_step;
      steps += of_row;
      atomicAdd(of_sizes + ::min(63 - __clzll(static_cast<long long>(of_row)), RowSteps::sizes - 1), 1);
    }
    for (int apart = 1; apart < RowLengths::window; apart *= 2) most = ::max(most, shuffle_xor(most, apart));
    longest = ::max(longest, most);
    if (row < a.rows) waited += most;
  }
  longest = Reduce(scratch[0]).Reduce(longest, [](Count x, Count y) { return ::max(x, y); });
  waited = Reduce(scratch[1]).Sum(waited);
  steps = Reduce(scratch[2]).Sum(steps);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicMax(reinterpret_cast<Count*>(&to->lengths.longest), longest);
    atomicAdd(reinterpret_cast<Count*>(&to->lengths.waited), waited);
    atomicAdd(&to->steps.steps, static_cast<std::int32_t>(steps));
    atomicMax(&to->steps.most,
              static_cast<std::int32_t>((longest + RowSteps::of_step - 1) / RowSteps::of_step));
  }
  if (threadIdx.x < RowSteps::sizes && of_sizes[threadIdx.x] > 0)
    atomicAdd(to->steps.rows + threadIdx.x, of_sizes[threadIdx.x]);
}

}  // namespace detail

/// Starts counting the rows of a matrix.
/// @param a   by rows; if it has 2^33 nonzeros or more, the steps are not right
/// @param to  zeros, in the GPU's memory
template <class A>
void start_counting_rows(const Kokkos::Cuda& space, const A& a, RowCounts* to) {
  constexpr int blocks = 4;  // of a multiprocessor
  launch(space, "sporos::count_rows", &detail::count_rows_kernel<A>,
         Grid(std::min<std::int64_t>(ceil_div(a.rows, detail::row_counts_threads),
                                     blocks * space.cuda_device_prop().multiProcessorCount)),
         detail::row_counts_threads, 0, a, to);
}

}  // namespace sporos::gpu
