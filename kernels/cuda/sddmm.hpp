// SPDX-License-Identifier: Apache-2.0
/// @file sddmm.hpp
/// Sampled dense-dense products on the GPU: A(i, j) = B(i, j) * (sum over k of C(i, k) D(j, k)) where B, in CSR,
/// stores something.
///
/// A warp takes 32 neighbouring nonzeros at a time. A group of its lanes reads one row of C and one of D in
/// 16-byte pieces, one nonzero after the other, as many as the group has lanes; then the group's sums are
/// transposed as they are added, so that each lane ends with the sum of one nonzero, which it stores beside its
/// neighbours'. Balanced by nonzeros; rows are found from positions as the warp goes.
#pragma once

#include <cstdint>

#include "launch.hpp"
#include "warp.hpp"

namespace sporos::cuda {

/// Shape of the SDDMM kernel for values of T, `Lanes` lanes a nonzero.
template <class T, int Lanes, bool Packed>
struct SddmmConfig {
  static constexpr int threads = 256;
  static constexpr int lanes = Lanes;
  static constexpr int groups = warp_size / Lanes;           ///< a warp
  static constexpr int pack = Packed ? widest_pack<T> : 1;   ///< values a load
  static constexpr int piece = lanes * pack;                 ///< of the inner extent, a group at a time
  static constexpr int nonzeros = 128;                       ///< a warp
  static_assert((Lanes & (Lanes - 1)) == 0 && Lanes <= warp_size, "a warp divides into groups of 2^n lanes");
  static_assert(nonzeros % warp_size == 0, "a warp takes 32 nonzeros at a time");
};

/// The product by address. C is [rows, inner] and D [columns, inner], row-major.
template <class Value, class T, class Position, class Coordinate>
struct SddmmArguments {
  std::int64_t rows;
  std::int64_t nonzeros;
  std::int64_t inner;
  const Position* positions;      ///< [rows + 1]
  const Coordinate* coordinates;  ///< [nonzeros]
  const Value* scale;             ///< [nonzeros], B's values
  const T* c;
  const T* d;
  Value* result;  ///< [nonzeros]
};

namespace detail {

/// Adds up `sums` over a group of `Lanes` lanes: lane l of the group gets the total of sums[l].
template <int Lanes, class T>
__device__ __forceinline__ T transpose_sum(T (&sums)[Lanes]) {
  const int lane = lane_id();
#pragma unroll
  for (int half = Lanes / 2; half > 0; half /= 2) {
    const bool upper = (lane & half) != 0;
#pragma unroll
    for (int at = 0; at < half; ++at) {
      const T sent = upper ? sums[at] : sums[at + half];
      const T kept = upper ? sums[at + half] : sums[at];
      sums[at] = plus(kept, shuffle_xor(sent, half));
    }
  }
  return sums[0];
}

template <class Config, class Compute, class Arguments, class T>
__device__ __forceinline__ Compute sddmm_dot(const Arguments& in, const T* c, const T* d, int first) {
  using Piece = Pack<T, Config::pack>;
  Compute sum{};
#pragma unroll 4
  for (std::int64_t k = first; k < in.inner; k += Config::piece) {
    const Piece x = *reinterpret_cast<const Piece*>(c + k);   // [pack]
    const Piece y = *reinterpret_cast<const Piece*>(d + k);   // [pack]
#pragma unroll
    for (int p = 0; p < Config::pack; ++p)
      sum = plus(sum, times(static_cast<Compute>(x.at[p]), static_cast<Compute>(y.at[p])));
  }
  return sum;
}

template <class Config, class Compute, class Value, class T, class Position, class Coordinate>
__global__ __launch_bounds__(Config::threads) void sddmm_kernel(
    const __grid_constant__ SddmmArguments<Value, T, Position, Coordinate> in) {
  constexpr int lanes = Config::lanes;
  const std::int64_t warp =
      (static_cast<std::int64_t>(blockIdx.x) * Config::threads + threadIdx.x) / warp_size;
  const std::int64_t begin = warp * Config::nonzeros;
  if (begin >= in.nonzeros) return;
  const std::int64_t end = begin + Config::nonzeros < in.nonzeros ? begin + Config::nonzeros : in.nonzeros;
  const int group = lane_id() / lanes * lanes;  // the first lane of this lane's group
  const int first = lane_id() % lanes * Config::pack;

  ParentFinder<Position> row_of(in.positions, in.rows);
  for (std::int64_t base = begin; base < end; base += warp_size) {
    const std::int64_t mine = base + lane_id();
    const std::int64_t q = mine < end ? mine : end - 1;
    const std::int64_t row = row_of(q);                                           // [32 nonzeros]
    const auto column = static_cast<std::int64_t>(in.coordinates[q]);             // [32 nonzeros]
    Compute sums[lanes];                                                          // [lanes nonzeros]
#pragma unroll
    for (int at = 0; at < lanes; ++at) {
      const T* const c = in.c + shuffle(row, group + at) * in.inner;              // [inner]
      const T* const d = in.d + shuffle(column, group + at) * in.inner;           // [inner]
      sums[at] = sddmm_dot<Config, Compute>(in, c, d, first);
    }
    const Compute sum = transpose_sum(sums);                                      // [32 nonzeros]
    if (mine < end)
      in.result[q] = static_cast<Value>(times(static_cast<Compute>(in.scale[q]), sum));
  }
}

/// Columns of [rows, columns] become rows: to[c, r] = from[r, c], by tiles of 32 x 32 through shared memory.
template <class T>
__global__ __launch_bounds__(256) void transpose_kernel(std::int64_t rows, std::int64_t columns, const T* from,
                                                        T* to, std::int64_t column_tiles) {
  __shared__ alignas(16) char memory[sizeof(T) * 32 * 33];
  auto* const tile = reinterpret_cast<T*>(memory);                                // [32, 32 + 1]
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

/// A(i, j) = B(i, j) * sum over k of C(i, k) D(j, k), on B's pattern, in the order of the stream of `space`.
///
/// @tparam Compute  the type that products and sums are formed in
/// Cost: one kernel; 2 inner values are read a nonzero, from the caches where rows repeat.
template <class Compute, class Value, class T, class Position, class Coordinate>
void sddmm(const Kokkos::Cuda& space, const SddmmArguments<Value, T, Position, Coordinate>& arguments) {
  const auto start = [&]<int Lanes, bool Packed>() {
    using Config = SddmmConfig<T, Lanes, Packed>;
    launch(space, "sporos::sddmm", &detail::sddmm_kernel<Config, Compute, Value, T, Position, Coordinate>,
           ceil_div(ceil_div(arguments.nonzeros, Config::nonzeros) * warp_size, Config::threads),
           Config::threads, 0, arguments);
  };
  const auto aligned = [](const T* at) {
    return reinterpret_cast<std::uintptr_t>(at) % sizeof(Pack<T, widest_pack<T>>) == 0;
  };
  const std::int64_t packs = arguments.inner / widest_pack<T>;
  if (arguments.inner % widest_pack<T> == 0 && aligned(arguments.c) && aligned(arguments.d)) {
    if (packs <= 4)
      start.template operator()<4, true>();
    else
      start.template operator()<8, true>();
  } else {
    start.template operator()<8, false>();
  }
}

}  // namespace sporos::cuda
