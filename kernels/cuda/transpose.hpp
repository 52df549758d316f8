// SPDX-License-Identifier: Apache-2.0
/// @file transpose.hpp
/// Transposes of dense matrices on the GPU.
#pragma once

#include <cstdint>

#include "launch.hpp"
#include "warp.hpp"

namespace sporos::gpu {

namespace detail {

/// Columns of [rows, columns] become rows: to[c, r] = from[r, c], by tiles of 32 x 32 through shared memory.
template <class T>
__global__ __launch_bounds__(256) void transpose_kernel(std::int64_t rows, std::int64_t columns,
                                                        const T* from, T* to, std::int64_t column_tiles) {
  __shared__ alignas(16) char memory[sizeof(T) * 32 * 33];
  auto* const tile = reinterpret_cast<T*>(memory);  // [32, 32 + 1]
  const std::int64_t row = blockIdx.x / column_tiles * 32;
  const std::int64_t column = blockIdx.x % column_tiles * 32;
  const int x = lane_id();
  for (int y = static_cast<int>(threadIdx.x) / 32; y < 32; y += 8)
    if (row + y < rows && column + x < columns) tile[y * 33 + x] = from[(row + y) * columns + column + x];
  __syncthreads();
  for (int y = static_cast<int>(threadIdx.x) / 32; y < 32; y += 8)
    if (row + x < rows && column + y < columns) to[(column + y) * rows + row + x] = tile[x * 33 + y];
}

}  // namespace detail

/// to = the transpose of `from`, [rows, columns] row-major.
template <class T>
void transpose(const Kokkos::Cuda& space, std::int64_t rows, std::int64_t columns, const T* from, T* to) {
  const std::int64_t column_tiles = ceil_div(columns, 32);
  launch(space, "sporos::transpose", &detail::transpose_kernel<T>, ceil_div(rows, 32) * column_tiles, 256, 0,
         rows, columns, from, to, column_tiles);
}

}  // namespace sporos::gpu
