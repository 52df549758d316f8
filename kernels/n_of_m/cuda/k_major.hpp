// SPDX-License-Identifier: Apache-2.0
/// @file k_major.hpp
/// The dense factor of an N:M product, stored k-major, as the tensor cores' kernel reads it.
#pragma once

#include <cstdint>

#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"

namespace sporos::gpu {

namespace detail {

/// to[c, r] = from[r, c] for elements of 16 bits, by tiles of 64 x 64 through shared memory, 16 bytes of a row
/// at a time.
template <class T>
__global__ __launch_bounds__(256) void transpose_halves_kernel(const T* from, std::int64_t rows,
                                                               std::int64_t columns, T* to,
                                                               std::int64_t stride, bool is_aligned) {
  constexpr int tile = 64, pack = 8, pitch = tile + 2;
  __shared__ alignas(16) std::uint16_t elements[tile * pitch];  // [columns, rows]
  const std::int64_t row_0 = static_cast<std::int64_t>(blockIdx.y) * tile;
  const std::int64_t column_0 = static_cast<std::int64_t>(blockIdx.x) * tile;
  const int piece = static_cast<int>(threadIdx.x) % pack, line_0 = static_cast<int>(threadIdx.x) / pack;
  for (int line = line_0; line < tile; line += 32) {
    const std::int64_t row = row_0 + line, column = column_0 + piece * pack;
    alignas(16) T held[pack] = {};
    if (row < rows) {
      if (is_aligned && column + pack <= columns) {
        *reinterpret_cast<uint4*>(held) = *reinterpret_cast<const uint4*>(from + row * columns + column);
      } else {
        for (int e = 0; e < pack; ++e)
          if (column + e < columns) held[e] = from[row * columns + column + e];
      }
    }
#pragma unroll
    for (int e = 0; e < pack; ++e) elements[(piece * pack + e) * pitch + line] = held[e].bits;
  }
  __syncthreads();
  for (int line = line_0; line < tile; line += 32) {
    const std::int64_t column = column_0 + line, row = row_0 + piece * pack;
    if (column >= columns || row >= stride) continue;
    alignas(16) std::uint32_t held[pack / 2];
#pragma unroll
    for (int e = 0; e < pack / 2; ++e)
      held[e] = *reinterpret_cast<const std::uint32_t*>(&elements[line * pitch + piece * pack + e * 2]);
    *reinterpret_cast<uint4*>(to + column * stride + row) = *reinterpret_cast<const uint4*>(held);
  }
}

}  // namespace detail

/// to[c, r] = from[r, c]: [columns, stride] from [rows, columns], 16-bit elements; zero in columns from `rows`
/// on. Needs a multiple of 8 for `stride`, and `to` aligned to 16 bytes.
template <class T>
void transpose_halves(const Kokkos::Cuda& space, const T* from, std::int64_t rows, std::int64_t columns, T* to,
                      std::int64_t stride) {
  static_assert(sizeof(T) == 2);
  const bool is_aligned = columns % 8 == 0 && reinterpret_cast<std::uintptr_t>(from) % 16 == 0;
  launch(space, "sporos::transpose", &detail::transpose_halves_kernel<T>,
         Grid(ceil_div(columns, 64), ceil_div(rows, 64)), 256, 0, from, rows, columns, to, stride, is_aligned);
}

}  // namespace sporos::gpu
