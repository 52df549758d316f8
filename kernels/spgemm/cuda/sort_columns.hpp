// SPDX-License-Identifier: Apache-2.0
/// @file sort_columns.hpp
/// Sorts the columns of one row by lanes of a warp, in registers.
#pragma once

#include <cstdint>

#include "../../cuda/warp.hpp"
#include "column_table.hpp"
#include "row_config.hpp"

namespace sporos::gpu::detail {

/// Sorts the columns held by `Lanes` neighbouring lanes, `Each` per lane, those of one lane after those of
/// the lane before. All lanes of the warp call it. The sort is bitonic; each merge begins by comparing a
/// block of columns with its own mirror image, so that all exchanges go in one direction.
template <int Lanes, int Each>
__device__ __forceinline__ void sort_in_registers(std::uint32_t (&column)[Each]) {
  const int lane = lane_id() % Lanes;
  const auto order = [](std::uint32_t& low, std::uint32_t& high) {
    const std::uint32_t smaller = ::min(low, high);
    high = ::max(low, high);
    low = smaller;
  };
#pragma unroll
  for (int size = 2; size <= Lanes * Each; size *= 2) {
    // Compare each column of a block of `size` with its mirror image.
    if (size <= Each) {
#pragma unroll
      for (int k = 0; k < Each; ++k) {
        const int other = k / size * size + size - 1 - k % size;
        if (k < other) order(column[k], column[other]);
      }
    } else {
      const int lanes = size / Each;
      const bool upper = (lane & (lanes / 2)) != 0;
      std::uint32_t theirs[Each];
#pragma unroll
      for (int k = 0; k < Each; ++k) theirs[k] = __shfl_xor_sync(all_lanes, column[Each - 1 - k], lanes - 1);
#pragma unroll
      for (int k = 0; k < Each; ++k)
        column[k] = upper ? ::max(column[k], theirs[k]) : ::min(column[k], theirs[k]);
    }
    // Then compare it with the one `step` places after it.
#pragma unroll
    for (int step = size / 4; step > 0; step /= 2) {
      if (step < Each) {
#pragma unroll
        for (int k = 0; k < Each; ++k)
          if ((k & step) == 0) order(column[k], column[k + step]);
      } else {
        const bool upper = (lane & (step / Each)) != 0;
#pragma unroll
        for (int k = 0; k < Each; ++k) {
          const std::uint32_t theirs = __shfl_xor_sync(all_lanes, column[k], step / Each);
          column[k] = upper ? ::max(column[k], theirs) : ::min(column[k], theirs);
        }
      }
    }
  }
}

}  // namespace sporos::gpu::detail
