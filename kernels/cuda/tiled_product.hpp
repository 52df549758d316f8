// SPDX-License-Identifier: Apache-2.0
/// @file tiled_product.hpp
/// A product whose result is computed in tiles by matrix instructions, and how sums that threads hold in
/// registers, and lines that lie in shared memory, become elements of the result.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "../../core/value.hpp"

namespace sporos::gpu {

/// D = f(A B).
/// @tparam E  the epilogue f: kernels/epilogue/epilogue.hpp
template <class Out, class E>
struct TiledProduct {
  using value_type = Out;
  static constexpr bool epilogue_is_identity = E::is_identity;
  std::int64_t m = 0, n = 0, k = 0;
  Out* d = nullptr;          ///< [m, n], or [n, m] where it is stored by columns
  bool accumulates = false;  ///< D += f(A B)
  E epilogue;                ///< takes coordinates in the order in which D is stored
};

namespace detail {

/// Two floats as neighbouring 16-bit floats, the first in the lower half.
template <class Out>
__device__ __forceinline__ std::uint32_t narrowed(float first, float second) {
  std::uint32_t out;
  if constexpr (std::is_same_v<Out, half>)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
  else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
  return out;
}

/// Adds what the result holds to sums of a tile.
/// @param row, column  where the tile begins in the result
/// @param place_of     the row and column in the tile of a sum, by its number
template <bool DIsByRows, class Product, class PlaceOf, int Count>
__device__ __forceinline__ void add_result_at(const Product& product, std::int64_t row, std::int64_t column,
                                              const PlaceOf& place_of, float (&sums)[Count]) {
#pragma unroll
  for (int r = 0; r < Count; ++r) {
    const auto place = place_of(r);
    const std::int64_t i = row + place.row, j = column + place.column;
    if (i < product.m && j < product.n)
      sums[r] += static_cast<float>(product.d[DIsByRows ? i * product.n + j : j * product.m + i]);
  }
}

/// The lines of a result: its rows, or its columns where it is stored by columns.
template <class Out>
struct ResultLines {
  static constexpr int in_piece = 16 / static_cast<int>(sizeof(Out));  ///< elements of 16 bytes
  std::int64_t count, length;
  bool are_aligned;  ///< whether they consist of whole pieces at multiples of 16 bytes

  template <bool DIsByRows, class Product>
  __device__ __forceinline__ static ResultLines of(const Product& product) {
    const std::int64_t count = DIsByRows ? product.m : product.n, length = DIsByRows ? product.n : product.m;
    return {count, length, length % in_piece == 0 && reinterpret_cast<std::uintptr_t>(product.d) % 16 == 0};
  }
};

/// Stores a part of the result that lies in shared memory; each thread stores 16 bytes of a line at a time.
/// What lies outside the result is left out. An epilogue is applied here, and what the result holds is added
/// to it; without one, the elements are stored as they are.
/// @tparam Lines, Length  of the part
/// @tparam Pitch          elements from one line to the next in shared memory
/// @tparam Threads        number of threads that call it
/// @param staged          sums if there is an epilogue, otherwise elements of the result
/// @param first_line, first_place  where the part begins in the result
template <int Lines, int Length, int Pitch, int Threads, class Product, class Staged>
__device__ __forceinline__ void store_lines(const Product& product,
                                            const ResultLines<typename Product::value_type>& all,
                                            const Staged* staged, std::int64_t first_line,
                                            std::int64_t first_place, int thread) {
  using Out = typename Product::value_type;
  constexpr bool has_epilogue = !Product::epilogue_is_identity;
  static_assert(std::is_same_v<Staged, std::conditional_t<has_epilogue, float, Out>>);
  constexpr int in_piece = ResultLines<Out>::in_piece;
  constexpr int pieces = Length / in_piece;  // pieces per line
#pragma unroll(has_epilogue ? 1 : 4)
  for (int piece = thread; piece < Lines * pieces; piece += Threads) {
    const std::int64_t line = first_line + piece / pieces, place = first_place + piece % pieces * in_piece;
    if (line >= all.count || place >= all.length) continue;
    const Staged* const staged_piece = staged + piece / pieces * Pitch + piece % pieces * in_piece;
    Out* const to = product.d + line * all.length + place;
    if constexpr (has_epilogue) {
      const auto value = [&](int e) {
        float out = product.epilogue(staged_piece[e], line, place + e);
        if (product.accumulates) out += static_cast<float>(to[e]);
        return static_cast<Out>(out);
      };
      if (all.are_aligned) {  // and so whole: without a branch, all that the epilogue reads is loaded
                              // together
        alignas(16) Out values[in_piece];
#pragma unroll
        for (int e = 0; e < in_piece; ++e) values[e] = value(e);
        *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(values);
      } else {
#pragma unroll 1
        for (int e = 0; e < in_piece && place + e < all.length; ++e) to[e] = value(e);
      }
    } else if (all.are_aligned) {
      *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(staged_piece);
    } else {
      for (int e = 0; e < in_piece && place + e < all.length; ++e) to[e] = staged_piece[e];
    }
  }
}

}  // namespace detail

}  // namespace sporos::gpu
