// SPDX-License-Identifier: Apache-2.0
/// @file few.hpp
/// A row of at most eight products: sorted in registers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../../core/inline.hpp"

namespace sporos::detail {

template <class Key>
SPOROS_HOST_INLINE void order(Key& a, Key& b) {
  const Key low = a < b ? a : b;
  b = a < b ? b : a;
  a = low;
}

/// Sorts 4 keys by a network of 5 comparisons.
template <class Key>
SPOROS_HOST_INLINE void sort_4(Key* k) {
  order(k[0], k[1]);
  order(k[2], k[3]);
  order(k[0], k[2]);
  order(k[1], k[3]);
  order(k[1], k[2]);
}

/// Sorts 8 keys by a network of 19 comparisons (Knuth, The Art of Computer Programming 3, 5.3.4).
template <class Key>
SPOROS_HOST_INLINE void sort_8(Key* k) {
  order(k[0], k[2]), order(k[1], k[3]), order(k[4], k[6]), order(k[5], k[7]);
  order(k[0], k[4]), order(k[1], k[5]), order(k[2], k[6]), order(k[3], k[7]);
  order(k[0], k[1]), order(k[2], k[3]), order(k[4], k[5]), order(k[6], k[7]);
  order(k[2], k[4]), order(k[3], k[5]);
  order(k[1], k[4]), order(k[3], k[6]);
  order(k[1], k[2]), order(k[3], k[4]), order(k[5], k[6]);
}

/// The row that is the sum of a[k] times row a_columns[k] of `b`, at most 8 products in all. Sums are formed
/// in the order of k. Writes up to 8 elements.
/// @tparam Key  unsigned; holds 8 times the number of columns
/// @param brief  no row has more than 4 elements, and 4 can be read from where any of them begins
/// @return the number of elements
template <class Key, class Acc, class A, class B, class Value, class Coordinate>
SPOROS_HOST_INLINE std::int64_t multiply_few(const typename A::value_type* a,
                                             const typename A::coordinate_type* a_columns, std::int64_t count,
                                             const B& b, bool brief, Coordinate* columns, Value* values) {
  Key key[12] = {};
  Acc product[12];
  std::int64_t products = 0;
  // What is read too much may be any numbers: their product is not formed where it could overflow.
  if (brief && !std::is_integral_v<Acc>) {
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t begin = b.begin(a_columns[k]), length = b.length(a_columns[k]);
      const Acc factor = static_cast<Acc>(a[k]);
      for (int t = 0; t < 4; ++t) {
        key[products + t] = static_cast<Key>(b.coordinates[begin + t]);
        product[products + t] = factor * static_cast<Acc>(b.values[begin + t]);
      }
      products += length;
    }
  } else {
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t begin = b.begin(a_columns[k]), end = begin + b.length(a_columns[k]);
      const Acc factor = static_cast<Acc>(a[k]);
      for (std::int64_t q = begin; q < end; ++q, ++products) {
        key[products] = static_cast<Key>(b.coordinates[q]);
        product[products] = factor * static_cast<Acc>(b.values[q]);
      }
    }
  }
  // The slot behind the column keeps products of one column in their order, and says where the value is.
  Key sorted[8];
  for (int t = 0; t < 8; ++t)
    sorted[t] = t < products ? static_cast<Key>(key[t] << 3 | static_cast<Key>(t))
                             : static_cast<Key>(~Key{7} | static_cast<Key>(t));
  if (products <= 4)
    sort_4(sorted);
  else
    sort_8(sorted);
  std::int64_t last = -1;
  Key previous = ~Key{0};
  Acc sum{};
  for (std::int64_t t = 0; t < products; ++t) {
    const Key column = sorted[t] >> 3;
    const bool is_new = column != previous;
    last += is_new;
    sum = (is_new ? Acc{} : sum) + product[sorted[t] & 7];
    previous = column;
    columns[last] = static_cast<Coordinate>(column);
    values[last] = static_cast<Value>(sum);
  }
  return last + 1;
}

}  // namespace sporos::detail
