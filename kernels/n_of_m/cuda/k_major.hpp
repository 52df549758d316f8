// SPDX-License-Identifier: Apache-2.0
/// @file k_major.hpp
/// The dense factor of an N:M product in the form that the tensor cores' kernel reads: k-major, floats split
/// into halfs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../cuda/cluster.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/mma.hpp"
#include "../../cuda/warp.hpp"
#include "k_major_traits.hpp"
#include "split.hpp"

namespace sporos::gpu {

namespace detail {

/// Copies tiles of 64 x 64, 8 elements of a row at a time, transposing them through shared memory if
/// necessary.
template <class T, int Planes, bool Transposed>
__global__ __launch_bounds__(256) void k_major_kernel(const T* from, std::int64_t rows, std::int64_t columns,
                                                      KMajorBatches stored, packed_t<T>* high,
                                                      packed_t<T>* low, std::int64_t stride, bool is_aligned,
                                                      const int* exponents, int* too_wide) {
  using Packed = packed_t<T>;
  using Tile = TransposedTile;
  constexpr int tile = Tile::size, pack = Tile::pack, planes = Planes;
  __shared__ alignas(16) char elements[Transposed ? planes : 1][Transposed ? Tile::bytes : 16];
  const std::int64_t column_tiles = ceil_div(columns, tile);
  const std::int64_t row_0 = blockIdx.x / column_tiles * tile, column_0 = blockIdx.x % column_tiles * tile;
#if __CUDA_ARCH__ >= 900
  ptx::let_next_kernel_begin();
  if (is_scaled<T>) ptx::wait_for_kernel_before();  // the one that finds the exponents
#endif
  const int piece = static_cast<int>(threadIdx.x) % pack, line_0 = static_cast<int>(threadIdx.x) / pack;
  int most = 0;
  const std::int64_t column = column_0 + piece * pack;
  const T* const of_column = from + (Transposed ? column : stored.place(0, column));
  const std::int64_t next_row = Transposed ? columns : stored.stride;
  // Whether the columns of a thread lie in one batch.
  const bool is_together = Transposed || column % stored.rows + pack <= stored.rows;
#pragma unroll
  for (int line = line_0; line < tile; line += 32) {
    const std::int64_t row = row_0 + line;
    const T* const at = of_column + row * next_row;
    alignas(16) T held[pack] = {};  // [8 columns]
    if (row < rows) {
      if (is_aligned && column + pack <= columns) {
#pragma unroll
        for (int part = 0; part < static_cast<int>(sizeof(held)) / 16; ++part)
          reinterpret_cast<uint4*>(held)[part] = reinterpret_cast<const uint4*>(at)[part];
      } else {
        for (int e = 0; e < pack; ++e)
          if (column + e < columns) held[e] = is_together ? at[e] : from[stored.place(row, column + e)];
      }
    }
    alignas(16) Packed highs[pack] = {}, lows[pack] = {};
    if constexpr (is_scaled<T>) {
      int tiny = 0;
#pragma unroll
      for (int e = 0; e < pack; ++e) {
        // The index in the mode of A other than k.
        const std::int64_t in_m = Transposed ? row : column + e;
        const int exponent = in_m < (Transposed ? rows : columns) ? exponents[in_m] : 0;
        if (exponent == no_exponent)
          most = most_tiny;
        else if constexpr (planes == 2)
          tiny += split(held[e], exponent, highs[e], lows[e]);
        else
          tiny += round_to_half(held[e], exponent, highs[e]);
      }
      most = ::max(most, tiny);
    } else {
#pragma unroll
      for (int e = 0; e < pack; ++e) highs[e] = held[e];
    }
    if constexpr (Transposed) {
      *reinterpret_cast<uint4*>(&elements[0][Tile::place(line, piece)]) =
          *reinterpret_cast<const uint4*>(highs);
      if constexpr (planes == 2)
        *reinterpret_cast<uint4*>(&elements[1][Tile::place(line, piece)]) =
            *reinterpret_cast<const uint4*>(lows);
    } else if (row < rows && column < stride) {
      *reinterpret_cast<uint4*>(high + row * stride + column) = *reinterpret_cast<const uint4*>(highs);
      if constexpr (planes == 2)
        *reinterpret_cast<uint4*>(low + row * stride + column) = *reinterpret_cast<const uint4*>(lows);
    }
  }
  if (is_scaled<T> && most >= most_tiny) *too_wide = 1;
  if constexpr (Transposed) {
    __syncthreads();
    // A warp takes 8 columns. A lane holds 8 of the first 32 rows of one of them, and 8 of the other rows;
    // two lanes exchange theirs, so that whole cache lines are stored.
    const int of_warp = static_cast<int>(threadIdx.x) / warp_size, is_odd = lane_id() / 4 % 2;
    const std::int64_t row = row_0 + is_odd * 32 + lane_id() % 4 * 8;
#pragma unroll
    for (int plane = 0; plane < planes; ++plane) {
      std::uint32_t pairs[2][4];  // [2][8 rows]
#pragma unroll
      for (int part = 0; part < 2; ++part)
        ptx::load_matrices_transposed(
            ptx::shared_address(&elements[plane][Tile::place(
                part * 32 + Tile::row_of_matrix(lane_id() / 8, lane_id() % 8), of_warp)]),
            pairs[part]);
      std::uint32_t others[4];
#pragma unroll
      for (int pair = 0; pair < 4; ++pair)
        others[pair] = __shfl_xor_sync(~0u, is_odd ? pairs[0][pair] : pairs[1][pair], 4);
#pragma unroll
      for (int which = 0; which < 2; ++which) {
        const std::int64_t column = column_0 + of_warp * 8 + lane_id() / 8 * 2 + which;
        if (column >= columns || row >= stride) continue;
        const bool is_own = which == is_odd;
        std::uint32_t out[4];
#pragma unroll
        for (int pair = 0; pair < 4; ++pair)
          out[pair] = is_own ? (is_odd ? pairs[1][pair] : pairs[0][pair]) : others[pair];
        *reinterpret_cast<uint4*>((plane == 0 ? high : low) + column * stride + row) =
            make_uint4(out[0], out[1], out[2], out[3]);
      }
    }
  }
}

}  // namespace detail

/// Makes a k-major copy of A. The next kernel of the stream may begin early.
///
/// high[k, i] = A[i, k], with rows `stride` elements apart; or high and low are the two parts of A[i, k] *
/// 2^-exponents[i]. Columns from m on are zero.
///
/// @param from        A, [m, k] or, if it is k-major, in the layout `stored`
/// @param stride      a multiple of 8, at least m
/// @tparam Planes     1, or 2 if floats are split
/// @param high, low   [k, stride], aligned to 16 bytes; `low` only if there are two planes
/// @param too_wide    set if splitting loses too much
/// @param begins      `early` if it follows `exponents_of_rows`
template <int Planes, class T>
void copy_k_major(const Kokkos::Cuda& space, const T* from, std::int64_t m, std::int64_t k, bool is_k_major,
                  const KMajorBatches& stored, packed_t<T>* high, packed_t<T>* low, std::int64_t stride,
                  const int* exponents, int* too_wide, Begins begins = Begins::behind) {
  const std::int64_t rows = is_k_major ? k : m, columns = is_k_major ? m : k;
  const bool is_aligned =
      (is_k_major ? stored.rows : k) % 8 == 0 && reinterpret_cast<std::uintptr_t>(from) % 16 == 0;
  launch_clusters(
      begins, space, "sporos::k_major",
      is_k_major ? &detail::k_major_kernel<T, Planes, false> : &detail::k_major_kernel<T, Planes, true>,
      ceil_div(columns, 64) * ceil_div(rows, 64), 1, 256, 0, from, rows, columns, stored, high, low, stride,
      is_aligned, exponents, too_wide);
}

namespace detail {

/// Each thread copies some k of one row of the product.
template <class T, class To>
__global__ __launch_bounds__(256) void join_batches_kernel(const T* from, KMajorBatches stored,
                                                           std::int64_t stride, To* to) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * 256 + threadIdx.x;
#if __CUDA_ARCH__ >= 900
  ptx::let_next_kernel_begin();
#endif
  if (row >= stride) return;
  const bool is_there = row < stored.rows * stored.batches;
  const T* const of_row = from + (is_there ? stored.place(0, row) : 0);
#pragma unroll 8
  for (std::int64_t k = blockIdx.y; k < stored.k; k += gridDim.y)
    to[k * stride + row] =
        is_there ? static_cast<To>(static_cast<accumulate_t<T>>(of_row[k * stored.stride])) : To{};
}

}  // namespace detail

/// to[k, i] = A[i, k] for the rows of all batches, and zero after the last. The next kernel of the stream may
/// begin early.
/// @param to  [stored.k, stride]
template <class T, class To>
void join_batches(const Kokkos::Cuda& space, const T* from, const KMajorBatches& stored, std::int64_t stride,
                  To* to) {
  constexpr std::int64_t most = 8192;  // blocks along k; a thread that has 8 k loads them together
  const std::int64_t parts = std::min(ceil_div(stored.k, 8), most);
  launch(space, "sporos::join_batches", &detail::join_batches_kernel<T, To>,
         Grid(ceil_div(stride, 256), parts), 256, 0, from, stored, stride, to);
}

}  // namespace sporos::gpu
