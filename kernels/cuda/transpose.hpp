// SPDX-License-Identifier: Apache-2.0
/// @file transpose.hpp
/// Transposes of dense matrices on the GPU.
#pragma once

#include <cstdint>

#include "launch.hpp"
#include "warp.hpp"

namespace sporos::gpu {

namespace detail {

/// Stores an element of a transpose: to[c, r], rows `stride` elements apart.
template <class T, class To = T>
struct StoreTransposed {
  To* to;
  std::int64_t stride;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t c, std::int64_t r, const T& value) const {
    to[c * stride + r] = static_cast<To>(static_cast<accumulate_t<T>>(value));
  }
};

/// Calls store(c, r, from[r, c]) for the elements of a 32 x 32 tile of [rows, columns], by 256 threads
/// through shared memory; neighbouring lanes have neighbouring r.
/// @param tile  [32, 32 + 1] in shared memory
template <class T, class Store>
__device__ void transpose_tile(std::int64_t rows, std::int64_t columns, const T* from, const Store& store,
                               std::int64_t row, std::int64_t column, T* tile) {
  const int x = lane_id();
  for (int y = static_cast<int>(threadIdx.x) / 32; y < 32; y += 8)
    if (row + y < rows && column + x < columns) tile[y * 33 + x] = from[(row + y) * columns + column + x];
  __syncthreads();
  for (int y = static_cast<int>(threadIdx.x) / 32; y < 32; y += 8)
    if (row + x < rows && column + y < columns) store(column + y, row + x, tile[x * 33 + y]);
}

template <class T, class Store>
__global__ __launch_bounds__(256) void transpose_kernel(std::int64_t rows, std::int64_t columns,
                                                        const T* from, const Store store,
                                                        std::int64_t column_tiles) {
  __shared__ alignas(16) char memory[sizeof(T) * 32 * 33];
  transpose_tile(rows, columns, from, store, blockIdx.x / column_tiles * 32, blockIdx.x % column_tiles * 32,
                 reinterpret_cast<T*>(memory));
}

}  // namespace detail

/// Calls store(c, r, from[r, c]) for all elements of `from`, [rows, columns] row-major, in any order.
template <class T, class Store>
void for_each_transposed(const Kokkos::Cuda& space, std::int64_t rows, std::int64_t columns, const T* from,
                         const Store& store) {
  const std::int64_t column_tiles = ceil_div(columns, 32);
  launch(space, "sporos::transpose", &detail::transpose_kernel<T, Store>, ceil_div(rows, 32) * column_tiles,
         256, 0, rows, columns, from, store, column_tiles);
}

/// to = the transpose of `from`; `from` is [rows, columns], row-major.
template <class T>
void transpose(const Kokkos::Cuda& space, std::int64_t rows, std::int64_t columns, const T* from, T* to) {
  for_each_transposed(space, rows, columns, from, detail::StoreTransposed<T>{to, rows});
}

}  // namespace sporos::gpu
