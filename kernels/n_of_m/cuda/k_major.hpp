// SPDX-License-Identifier: Apache-2.0
/// @file k_major.hpp
/// The dense factor of an N:M product as the tensor cores' kernel reads it: k-major, floats split in halfs.
#pragma once

#include <cstdint>

#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"
#include "split.hpp"

namespace sporos::gpu {

namespace detail {

/// Copies tiles of 64 x 64, 8 elements of a row at a time, through shared memory where they are transposed.
template <class T, bool Transposed>
__global__ __launch_bounds__(256) void k_major_kernel(const T* from, std::int64_t rows, std::int64_t columns,
                                                      packed_t<T>* high, packed_t<T>* low,
                                                      std::int64_t stride, bool is_aligned,
                                                      const int* exponents, int* too_wide) {
  using Packed = packed_t<T>;
  constexpr int tile = 64, pack = 8, pitch = tile + 2, planes = planes_of<T>;
  __shared__ alignas(16) std::uint16_t elements[Transposed ? planes : 1][Transposed ? tile * pitch : 1];
  const std::int64_t row_0 = static_cast<std::int64_t>(blockIdx.y) * tile;
  const std::int64_t column_0 = static_cast<std::int64_t>(blockIdx.x) * tile;
  const int piece = static_cast<int>(threadIdx.x) % pack, line_0 = static_cast<int>(threadIdx.x) / pack;
  int most = 0;
  for (int line = line_0; line < tile; line += 32) {
    const std::int64_t row = row_0 + line, column = column_0 + piece * pack;
    alignas(16) T held[pack] = {};  // [8 columns]
    if (row < rows) {
      if (is_aligned && column + pack <= columns) {
#pragma unroll
        for (int part = 0; part < static_cast<int>(sizeof(held)) / 16; ++part)
          reinterpret_cast<uint4*>(held)[part] =
              reinterpret_cast<const uint4*>(from + row * columns + column)[part];
      } else {
        for (int e = 0; e < pack; ++e)
          if (column + e < columns) held[e] = from[row * columns + column + e];
      }
    }
    alignas(16) Packed highs[pack], lows[pack];
    if constexpr (is_split<T>) {
      int tiny = 0;
#pragma unroll
      for (int e = 0; e < pack; ++e) {
        // The mode of A that k is not.
        const std::int64_t in_m = Transposed ? row : column + e;
        const int exponent = in_m < (Transposed ? rows : columns) ? exponents[in_m] : 0;
        tiny += split(held[e], exponent, highs[e], lows[e]);
      }
      most = ::max(most, tiny);
    } else {
#pragma unroll
      for (int e = 0; e < pack; ++e) highs[e] = held[e];
    }
    if constexpr (Transposed) {
#pragma unroll
      for (int e = 0; e < pack; ++e) {
        elements[0][(piece * pack + e) * pitch + line] = highs[e].bits;
        if constexpr (is_split<T>) elements[1][(piece * pack + e) * pitch + line] = lows[e].bits;
      }
    } else if (row < rows && column < stride) {
      *reinterpret_cast<uint4*>(high + row * stride + column) = *reinterpret_cast<const uint4*>(highs);
      if constexpr (is_split<T>)
        *reinterpret_cast<uint4*>(low + row * stride + column) = *reinterpret_cast<const uint4*>(lows);
    }
  }
  if (is_split<T> && most >= most_tiny) *too_wide = 1;
  if constexpr (Transposed) {
    __syncthreads();
#pragma unroll
    for (int plane = 0; plane < planes; ++plane)
      for (int line = line_0; line < tile; line += 32) {
        const std::int64_t column = column_0 + line, row = row_0 + piece * pack;
        if (column >= columns || row >= stride) continue;
        alignas(16) std::uint32_t held[pack / 2];  // [8 rows]
#pragma unroll
        for (int e = 0; e < pack / 2; ++e)
          held[e] =
              *reinterpret_cast<const std::uint32_t*>(&elements[plane][line * pitch + piece * pack + e * 2]);
        *reinterpret_cast<uint4*>((plane == 0 ? high : low) + column * stride + row) =
            *reinterpret_cast<const uint4*>(held);
      }
  }
}

}  // namespace detail

/// A k-major: high[k, i] = A[i, k], rows `stride` elements apart, or the high and low parts of
/// A[i, k] * 2^-exponents[i]; zero in columns from m on.
///
/// @param from        A, [m, k] or, if it is k-major, [k, m]
/// @param stride      a multiple of 8, at least m
/// @param high, low   [k, stride], aligned to 16 bytes; `low` where floats are split
/// @param too_wide    set where splitting loses too much
template <class T>
void copy_k_major(const Kokkos::Cuda& space, const T* from, std::int64_t m, std::int64_t k, bool is_k_major,
                  packed_t<T>* high, packed_t<T>* low, std::int64_t stride, const int* exponents,
                  int* too_wide) {
  const std::int64_t rows = is_k_major ? k : m, columns = is_k_major ? m : k;
  const bool is_aligned = columns % 8 == 0 && reinterpret_cast<std::uintptr_t>(from) % 16 == 0;
  launch(space, "sporos::k_major",
         is_k_major ? &detail::k_major_kernel<T, false> : &detail::k_major_kernel<T, true>,
         Grid(ceil_div(columns, 64), ceil_div(rows, 64)), 256, 0, from, rows, columns, high, low, stride,
         is_aligned, exponents, too_wide);
}

}  // namespace sporos::gpu
