// SPDX-License-Identifier: Apache-2.0
/// @file store_packs.hpp
/// How a lane stores the neighbouring elements of a product that it has the sums of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "../../cuda/tiled_product.hpp"
#include "../../cuda/warp.hpp"
#include "sum_of_nonzeros.hpp"

namespace sporos::gpu::detail {

/// The largest finite sum.
template <class Sum>
inline constexpr Sum largest_sum = std::numeric_limits<Sum>::max();

/// Stores neighbouring elements by one instruction, which the compiler would divide otherwise.
/// @tparam Streams  whether they leave the L2 cache to what is read again
template <bool Streams = false, class Out, class Sum, int Count>
__device__ __forceinline__ void store_at_once(Out* to, const Sum (&values)[Count]) {
  constexpr int count = Count * static_cast<int>(sizeof(Out)) / 4;
  std::uint32_t words[count];
  if constexpr (is_narrow_float_v<Out>) {
#pragma unroll
    for (int w = 0; w < count; ++w) words[w] = narrowed<Out>(values[w * 2], values[w * 2 + 1]);
  } else {
    memcpy(words, values, sizeof words);
  }
  const auto store = [&](auto* at, const auto& value) {
    if constexpr (Streams)
      __stcs(at, value);
    else
      __stwb(at, value);
  };
  if constexpr (count == 4)
    store(reinterpret_cast<uint4*>(to), make_uint4(words[0], words[1], words[2], words[3]));
  else if constexpr (count == 2)
    store(reinterpret_cast<uint2*>(to), make_uint2(words[0], words[1]));
  else
    store(reinterpret_cast<unsigned*>(to), words[0]);
}

/// Stores neighbouring elements of D, computed from their sums, where rows of D begin and end at multiples of
/// 16 bytes. The first of them must be one of D; others may lie behind its last column.
/// @tparam Product  a TiledProduct
/// @tparam Streams  as above
template <bool Streams = false, class Product, class Sum, int Count>
__device__ __forceinline__ void store_aligned_pack_of_sums(const Product& product, std::int64_t row,
                                                           std::int64_t column,
                                                           const Pack<Sum, Count>& sums) {
  using Out = typename Product::value_type;
  constexpr int at_once = std::min(Count, 16 / static_cast<int>(sizeof(Out)));
  Out* const to = product.d + row * product.n + column;
#pragma unroll
  for (int first = 0; first < Count; first += at_once) {
    if (first > 0 && column + first >= product.n) break;
    Sum values[at_once];
#pragma unroll
    for (int e = 0; e < at_once; ++e)
      values[e] = product.epilogue(sums.at[first + e], row, column + first + e);
    if (product.accumulates) {
      const auto before = load_words(reinterpret_cast<const Pack<Out, at_once>*>(to + first),
                                     [](const auto* word) { return *word; });
#pragma unroll
      for (int e = 0; e < at_once; ++e) values[e] += static_cast<Sum>(before.at[e]);
    }
    store_at_once<Streams>(to + first, values);
  }
}

/// The same for any rows of D, and for columns behind its last, where nothing is stored.
/// @tparam Product  its `has_packs` says whether rows of D begin and end at multiples of 16 bytes
template <class Product, class Sum, int Count>
__device__ __forceinline__ void store_pack_of_sums(const Product& product, std::int64_t row,
                                                   std::int64_t column, const Pack<Sum, Count>& sums) {
  using Out = typename Product::value_type;
  if (column >= product.n) return;
  if (product.has_packs) return store_aligned_pack_of_sums(product, row, column, sums);
  Out* const to = product.d + row * product.n + column;
#pragma unroll
  for (int e = 0; e < Count; ++e) {
    if (column + e >= product.n) break;
    Sum value = product.epilogue(sums.at[e], row, column + e);
    if (product.accumulates) value += static_cast<Sum>(to[e]);
    to[e] = static_cast<Out>(value);
  }
}

/// Computes neighbouring elements of D anew, from nonzeros of A alone, and stores them.
/// @tparam Product  as above, with A and B as `sum_of_nonzeros` takes them
template <class Sum, int Count, class Product>
__device__ __forceinline__ void store_pack_from_nonzeros(const Product& product, std::int64_t row,
                                                         std::int64_t column) {
  Pack<Sum, Count> sums{};
  for (int e = 0; e < Count && column + e < product.n; ++e)
    sums.at[e] = sum_of_nonzeros<Sum>(product, row, column + e);
  store_pack_of_sums(product, row, column, sums);
}

}  // namespace sporos::gpu::detail
