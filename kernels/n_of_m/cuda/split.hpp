// SPDX-License-Identifier: Apache-2.0
/// @file split.hpp
/// Represents floats as sums of two halfs, so that three products on tensor cores give one product of floats;
/// or as one half each, where the precision of tf32 is enough.
///
/// Each row of A and each column of B is scaled by a power of two, so that its largest element lies in [2^14,
/// 2^15). Each element x is then high + low, both halfs, with an error of at most 2^-22 |x| or, if it is
/// tiny, 2^-25: 2^-39 of the largest of its row or column. The product of two elements is low * high + high *
/// low + high * high; the omitted term, low * low, is at most 2^-22 of it.
///
/// For tf32, only the high parts are multiplied. A half has tf32's 11 bits; it lacks tf32's range of
/// exponents, for which the scale of rows and columns makes up. Each element has an error of at most 2^-11
/// |x| or, if it is tiny, 2^-25, that is 2^-39 of the largest of its row or column.
///
/// If that loses what a float holds - infinities, NaN, rows whose largest element dwarfs most others - the
/// kernels here say so in device memory, and the product is computed on CUDA cores instead.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "../../../core/value.hpp"
#include "../../cuda/cluster.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"
#include "../view.hpp"
#include "k_major_traits.hpp"

namespace sporos::gpu {

/// Whether elements of a type are scaled for tensor cores, and what they become: a number of *planes* of
/// `packed_t`. Floats have a high and a low plane, or only the high one if tf32 is allowed.
template <class T>
inline constexpr bool is_scaled = std::is_same_v<T, float>;
template <class T>
using packed_t = std::conditional_t<is_scaled<T>, half, T>;
template <class T, bool AllowsTf32 = false>
inline constexpr int planes_of = is_scaled<T> && !AllowsTf32 ? 2 : 1;

namespace detail {

/// If this many or more of 8 neighbours are tiny, their range is too wide to be split.
inline constexpr int most_tiny = 4;

/// Marks a row that holds infinities or NaN, in place of its exponent.
inline constexpr int no_exponent = std::numeric_limits<int>::min();

/// The exponent for a row or column with this largest magnitude: x * 2^-exponent is below 2^15.
__device__ __forceinline__ int exponent_for(unsigned largest_bits) {
  return largest_bits == 0 ? 0 : static_cast<int>(largest_bits >> 23) - 126 - 15;
}
/// x * 2^exponent, for exponents of any size.
__device__ __forceinline__ float scaled(float x, int exponent) { return ::scalbnf(x, exponent); }

/// Splits x; returns 1 if it is so small that the low part loses bits.
__device__ __forceinline__ int split(float x, int exponent, half& high, half& low) {
  const float y = scaled(x, -exponent);
  high = half(y);
  low = half(y - static_cast<float>(high));
  return y != 0 && ::fabsf(y) < 0.25f ? 1 : 0;
}
/// Computes only the high part of x; returns 1 if x is so small that it loses bits.
__device__ __forceinline__ int round_to_half(float x, int exponent, half& high) {
  const float y = scaled(x, -exponent);
  high = half(y);
  return y != 0 && ::fabsf(y) < 0x1p-14f ? 1 : 0;
}

/// The exponent of a row of A, or no_exponent.
__device__ __forceinline__ int exponent_of_row(int largest_bits) {
  return largest_bits >= 0x7f800000 ? no_exponent : exponent_for(static_cast<unsigned>(largest_bits));
}

/// Converts the bits of the largest magnitudes of B's columns to exponents.
template <class Unused = void>
__global__ __launch_bounds__(256) void exponents_kernel(std::int64_t count, int* bits, int* too_wide) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * 256 + threadIdx.x;
  if (at >= count) return;
  if (bits[at] >= 0x7f800000) *too_wide = 1;
  bits[at] = exponent_for(static_cast<unsigned>(bits[at]));
}

/// Does the same for rows of A; the next kernel may begin.
template <class Unused = void>
__global__ __launch_bounds__(256) void exponents_of_largest_kernel(std::int64_t rows, int* bits,
                                                                   const int* is_b_too_wide, int* too_wide) {
#if __CUDA_ARCH__ >= 900
  ptx::let_next_kernel_begin();
#endif
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * 256 + threadIdx.x;
  if (at == 0) *too_wide = *is_b_too_wide;
  if (at < rows) bits[at] = exponent_of_row(bits[at]);
}

/// Finds the exponents of the rows of a row-major matrix, each by one warp or by all eight of a block; the
/// next kernel may begin.
template <class Unused = void>
__global__ __launch_bounds__(256) void exponents_of_rows_kernel(const float* a, std::int64_t rows,
                                                                std::int64_t columns, int warps_of_row,
                                                                int* exponents, const int* is_b_too_wide,
                                                                int* too_wide) {
#if __CUDA_ARCH__ >= 900
  ptx::let_next_kernel_begin();
#endif
  __shared__ int largest_of[8];
  const int warp = static_cast<int>(threadIdx.x) / warp_size, part = warp % warps_of_row;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * (8 / warps_of_row) + warp / warps_of_row;
  const bool has_packs = columns % 4 == 0 && reinterpret_cast<std::uintptr_t>(a) % 16 == 0;
  int most = 0;
  if (row < rows) {
    const float* const from = a + row * columns;
#pragma unroll 4
    for (std::int64_t column = (part * warp_size + lane_id()) * 4; column < columns;
         column += warps_of_row * warp_size * 4) {
      float values[4] = {};
      if (has_packs) {
        const float4 pack = *reinterpret_cast<const float4*>(from + column);
        values[0] = pack.x, values[1] = pack.y, values[2] = pack.z, values[3] = pack.w;
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          if (column + e < columns) values[e] = from[column + e];
      }
#pragma unroll
      for (int e = 0; e < 4; ++e) most = ::max(most, __float_as_int(::fabsf(values[e])));
    }
  }
  most = __reduce_max_sync(~0u, most);
  if (warps_of_row > 1) {
    if (lane_id() == 0) largest_of[warp] = most;
    __syncthreads();
    most = 0;
#pragma unroll
    for (int other = 0; other < 8; ++other) most = ::max(most, largest_of[other]);
  }
  if (row < rows && part == 0 && lane_id() == 0) exponents[row] = exponent_of_row(most);
  if (blockIdx.x == 0 && threadIdx.x == 0) *too_wide = *is_b_too_wide;
}
/// largest[i] = the bits of the largest magnitude in row i of a k-major matrix; each thread takes 64 k.
/// (Blocks along k are the grid's x, since x can have more of them.)
template <class Unused = void>
__global__ __launch_bounds__(256) void largest_of_k_major_kernel(const float* a, KMajorBatches stored,
                                                                 std::int64_t rows, int* largest) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * 256 + threadIdx.x;
  if (row >= rows) return;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * 64;
  const float* const from = a + stored.place(first, row);
  const int count = static_cast<int>(stored.k - first < 64 ? stored.k - first : 64);
  int most = 0;
#pragma unroll 8
  for (int at = 0; at < count; ++at) most = ::max(most, __float_as_int(::fabsf(from[at * stored.stride])));
  atomicMax(largest + row, most);
}
/// Does the same for columns of an N:M matrix; each thread takes `part` windows of one column.
template <class Unused = void>
__global__ __launch_bounds__(256) void largest_of_units_kernel(NmView<float> b, std::int64_t part,
                                                               int* largest) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.y) * 256 + threadIdx.x;
  if (column >= b.columns) return;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * part,
                     windows = ceil_div(b.rows, b.window);
  int most = 0;
  for (std::int64_t w = first; w < first + part && w < windows; ++w)
#pragma unroll 4
    for (int slot = 0; slot < b.kept; ++slot)
      most = ::max(most, __float_as_int(::fabsf(
                             b.values[(b.position(w, column / b.unit) + slot) * b.unit + column % b.unit])));
  atomicMax(largest + column, most);
}

}  // namespace detail

/// Finds exponents[r] for each row r of A, stored by rows or k-major; for rows that cannot be split,
/// no_exponent. The next kernel of the stream may begin early.
/// @param stored         the layout of A if it is k-major
/// @param is_b_too_wide  the initial value of too_wide, which copy_k_major sets if A is too wide as well
inline void exponents_of_rows(const Kokkos::Cuda& space, const float* a, std::int64_t rows,
                              std::int64_t columns, bool is_k_major, const KMajorBatches& stored,
                              int* exponents, const int* is_b_too_wide, int* too_wide) {
  if (is_k_major) {
    zero(space, exponents, rows);
    launch(space, "sporos::largest", &detail::largest_of_k_major_kernel<>,
           Grid(ceil_div(columns, 64), ceil_div(rows, 256)), 256, 0, a, stored, rows, exponents);
    launch(space, "sporos::exponents", &detail::exponents_of_largest_kernel<>, ceil_div(rows, 256), 256, 0,
           rows, exponents, is_b_too_wide, too_wide);
  } else {
    constexpr std::int64_t most_columns_of_warp = 512;
    const int warps_of_row = columns <= most_columns_of_warp ? 1 : 8;
    launch(space, "sporos::exponents", &detail::exponents_of_rows_kernel<>, ceil_div(rows * warps_of_row, 8),
           256, 0, a, rows, columns, warps_of_row, exponents, is_b_too_wide, too_wide);
  }
}
/// Finds exponents[j] for each column j of an N:M matrix.
inline void exponents_of_columns(const Kokkos::Cuda& space, const NmView<float>& b, int* exponents,
                                 int* too_wide) {
  zero(space, exponents, b.columns);
  const std::int64_t part = ceil_div(32, b.kept);  // windows, so that there are 32 values or more
  launch(space, "sporos::largest", &detail::largest_of_units_kernel<>,
         Grid(ceil_div(ceil_div(b.rows, b.window), part), ceil_div(b.columns, 256)), 256, 0, b, part,
         exponents);
  launch(space, "sporos::exponents", &detail::exponents_kernel<>, ceil_div(b.columns, 256), 256, 0, b.columns,
         exponents, too_wide);
}

}  // namespace sporos::gpu
