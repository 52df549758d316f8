// SPDX-License-Identifier: Apache-2.0
/// @file sddmm.hpp
/// Sampled dense-dense products on the GPU: A(i, j) = B(i, j) * (sum over k of C(i, k) D(j, k)) where B, in
/// CSR, stores a value.
///
/// A warp takes 32 neighbouring nonzeros at a time. A group of its lanes reads rows of D, one after another,
/// in 16-byte pieces, as many rows as the group has lanes, and keeps the row of C in registers as long as
/// nonzeros lie in the same row. The group's sums are then transposed as they are added, so that each lane
/// ends with the sum of one nonzero and stores it beside its neighbours'. The work is balanced by nonzeros;
/// rows are found from positions as the warp proceeds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"

namespace sporos::gpu {

/// Shape of the SDDMM kernel for values of type T: `Lanes` lanes work on a nonzero; `Pieces` loads of `Count`
/// values per lane hold a row of C; `Exact` says that this is exactly the inner extent.
template <class T, int Lanes, int Count, int Pieces, bool Exact>
struct SddmmConfig {
  static constexpr bool exact = Exact;
  static constexpr int threads = 256;
  static constexpr int lanes = Lanes;  ///< per nonzero
  static constexpr int pack = Count;   ///< values per load
  static constexpr int pieces = Pieces;
  static constexpr int step = lanes * pack;    ///< part of the inner extent that a group loads at a time
  static constexpr int inner = step * pieces;  ///< part of it that the registers hold
  static constexpr int together =
      pieces >= 4 ? 1 : 4 / pieces;  ///< rows of D loaded before the first is used
  /// Registers that a thread needs for rows and sums, and how many blocks a multiprocessor can then hold.
  static constexpr int words = ((1 + together) * pieces * pack * static_cast<int>(sizeof(T)) +
                                lanes * static_cast<int>(sizeof(accumulate_t<T>))) /
                               4;
  static constexpr int blocks = !exact ? 1 : words <= 28 ? 5 : words <= 40 ? 3 : words <= 80 ? 2 : 1;
  static_assert((lanes & (lanes - 1)) == 0 && lanes <= warp_size, "a warp divides into groups of 2^n lanes");
  static_assert(lanes % together == 0, "a group's rows of D are loaded in equal batches");
};

/// The arguments of the product. C is [rows, inner] and D [columns, inner], row-major.
/// @tparam E  the epilogue: a SampledEpilogue
template <class Value, class T, class Position, class Coordinate, class E>
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
  E epilogue;
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

/// How many elements of T one 32-bit word holds if a lane reads words: two of 16 bits, each of which the
/// compiler would otherwise keep in a separate register.
template <class Config, class T>
inline constexpr int sddmm_elements_of_word = is_narrow_float_v<T> && Config::pack % 2 == 0 ? 2 : 1;

/// A lane's pieces of one row, from `first` on; zeros after the end.
template <class Config, class T>
struct SddmmRow {
  static constexpr int in_word = sddmm_elements_of_word<Config, T>;
  using Word = std::conditional_t<in_word == 2, std::uint32_t, T>;
  using Piece = Pack<Word, Config::pack / in_word>;
  Piece piece[Config::pieces];  // [pieces, pack]

  __device__ __forceinline__ void load(const T* row, int first, std::int64_t inner) {
#pragma unroll
    for (int p = 0; p < Config::pieces; ++p) {
      const int k = first + p * Config::step;
      piece[p] = Config::exact || k < inner ? *reinterpret_cast<const Piece*>(row + k) : Piece{};
    }
  }
  template <class Compute>
  __device__ __forceinline__ Compute dot(const SddmmRow& other) const {
    Compute sum{};
#pragma unroll
    for (int p = 0; p < Config::pieces; ++p)
#pragma unroll
      for (int w = 0; w < Config::pack / in_word; ++w)
#pragma unroll
        for (int e = 0; e < in_word; ++e)
          sum = plus(sum, times(element<Compute>(p, w, e), other.template element<Compute>(p, w, e)));
    return sum;
  }

 private:
  template <class Compute>
  __device__ __forceinline__ Compute element(int p, int w, int e) const {
    if constexpr (in_word == 2) {
      T narrow;
      narrow.bits = static_cast<std::uint16_t>(piece[p].at[w] >> (16 * e));
      return static_cast<Compute>(narrow);
    } else {
      return static_cast<Compute>(piece[p].at[w]);
    }
  }
};

template <class Config, class Value, class T, class Position, class Coordinate, class E>
__global__ __launch_bounds__(Config::threads, Config::blocks) void sddmm_kernel(
    const __grid_constant__ SddmmArguments<Value, T, Position, Coordinate, E> in, int of_warp) {
  using Compute = typename E::compute;
  const std::int64_t inner = Config::exact ? Config::inner : in.inner;
  constexpr int lanes = Config::lanes;
  const std::int64_t warp =
      (static_cast<std::int64_t>(blockIdx.x) * Config::threads + threadIdx.x) / warp_size;
  const std::int64_t begin = warp * of_warp;
  if (begin >= in.nonzeros) return;
  const std::int64_t end = begin + of_warp < in.nonzeros ? begin + of_warp : in.nonzeros;
  const int group = lane_id() / lanes * lanes;  // the first lane of this lane's group
  const int first = lane_id() % lanes * Config::pack;

  ParentFinder<Position> row_of(in.positions, in.rows);
  for (std::int64_t base = begin; base < end; base += warp_size) {
    const std::int64_t mine = base + lane_id();
    const std::int64_t q = mine < end ? mine : end - 1;
    const auto column = static_cast<std::uint32_t>(in.coordinates[q]);  // [32 nonzeros]
    const auto row = static_cast<std::uint32_t>(row_of(q));             // [32 nonzeros]
    Compute sums[lanes];                                                // [lanes nonzeros]
#pragma unroll
    for (int at = 0; at < lanes; ++at) sums[at] = Compute{};
    for (std::int64_t from = 0; from < inner; from += Config::inner) {
      const std::int64_t left = inner - from;
      SddmmRow<Config, T> c;
      std::uint32_t held = 0xffffffffu;
#pragma unroll
      for (int at = 0; at < lanes; at += Config::together) {
        SddmmRow<Config, T> d[Config::together];
#pragma unroll
        for (int k = 0; k < Config::together; ++k)
          d[k].load(in.d + shuffle(column, group + at + k) * inner + from, first, left);
#pragma unroll
        for (int k = 0; k < Config::together; ++k) {
          const std::uint32_t wanted = shuffle(row, group + at + k);
          if (wanted != held) c.load(in.c + wanted * inner + from, first, left);
          held = wanted;
          sums[at + k] = plus(sums[at + k], c.template dot<Compute>(d[k]));
        }
      }
    }
    const Compute sum = transpose_sum(sums);  // [32 nonzeros]
    if (mine < end)
      in.result[q] =
          static_cast<Value>(in.epilogue(times(static_cast<Compute>(in.scale[q]), sum), row, column));
  }
}

}  // namespace detail

/// How many nonzeros a warp takes, a multiple of 32. Finding its first row takes a search, which pays off
/// with many nonzeros; but too few warps leave the GPU idle.
inline int sddmm_nonzeros_of_warp(const Kokkos::Cuda& space, std::int64_t nonzeros) {
  constexpr std::int64_t warps_of_multiprocessor = 64, most = 256;
  const std::int64_t share =
      ceil_div(nonzeros, space.cuda_device_prop().multiProcessorCount * warps_of_multiprocessor);
  return static_cast<int>(std::clamp<std::int64_t>(ceil_div(share, warp_size) * warp_size, warp_size, most));
}

/// A(i, j) = B(i, j) * sum over k of C(i, k) D(j, k), on B's pattern, in the order of the stream of `space`.
///
/// Products and sums are formed in the epilogue's type.
/// @throws RangeError if a row or column number does not fit in 32 bits
/// Cost: one kernel; it reads a row of D per nonzero, and a row of C whenever the row changes, from the
/// caches where possible.
template <class Value, class T, class Position, class Coordinate, class E>
void sddmm(const Kokkos::Cuda& space, const SddmmArguments<Value, T, Position, Coordinate, E>& arguments) {
  narrow<std::uint32_t>(arguments.rows, "the number of rows of a sampled product on the GPU");
  const int of_warp = sddmm_nonzeros_of_warp(space, arguments.nonzeros);
  const auto run = [&]<int Lanes, int Count, int Pieces, bool Exact>() {
    using Config = SddmmConfig<T, Lanes, Count, Pieces, Exact>;
    launch(space, "sporos::sddmm", &detail::sddmm_kernel<Config, Value, T, Position, Coordinate, E>,
           ceil_div(ceil_div(arguments.nonzeros, of_warp) * warp_size, Config::threads), Config::threads, 0,
           arguments, of_warp);
  };
  constexpr int wide = widest_pack<T>;
  const auto start = [&]<int Lanes, int Pieces>() {
    if (arguments.inner == SddmmConfig<T, Lanes, wide, Pieces, true>::inner)
      run.template operator()<Lanes, wide, Pieces, true>();
    else
      run.template operator()<Lanes, wide, Pieces, false>();
  };
  if (arguments.inner % wide != 0 || !is_aligned<Pack<T, wide>>(arguments.c) ||
      !is_aligned<Pack<T, wide>>(arguments.d))
    run.template operator()<8, 1, 4, false>();
  else if (arguments.inner <= 4 * wide && sizeof(T) <= 2)
    start.template operator()<4, 1>();
  else if (arguments.inner <= 8 * wide && sizeof(T) <= 4)
    start.template operator()<8, 1>();
  else if (arguments.inner <= 8 * wide)
    start.template operator()<4, 2>();
  else if (arguments.inner <= 16 * wide)
    start.template operator()<4, 4>();
  else if (arguments.inner <= 32 * wide)
    start.template operator()<8, 4>();
  else
    start.template operator()<8, 8>();
}

}  // namespace sporos::gpu
