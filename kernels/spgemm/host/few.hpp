// SPDX-License-Identifier: Apache-2.0
/// @file few.hpp
/// A row of few products, sorted in registers.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "../../../core/inline.hpp"

namespace sporos::detail {

/// The most products for which a row is sorted: as many keys as a network sorts in registers, and fewer than
/// would be worth opening and emptying an accumulator.
inline constexpr std::int64_t row_of_few_products = 8;
/// Bits of a key that number these products.
inline constexpr int product_bits = 3;
static_assert(row_of_few_products == 1 << product_bits);

/// In matrices with fewer columns than this, keys have room for product_bits, and there are keys larger than
/// any that is used.
template <class Key>
inline constexpr std::int64_t few_columns =
    std::int64_t{1} << (std::numeric_limits<Key>::digits - product_bits - 1);

/// The number of elements of B that are read at once if none of its rows is longer, without a branch on their
/// length.
inline constexpr std::int64_t brief_row = 4;

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

/// Computes the row that is the sum of a[k] times row a_columns[k] of `b`. There may be at most
/// row_of_few_products products in total, and so it writes at most that many elements. Sums are formed in the
/// order of k.
/// @tparam Key   unsigned; there are at most few_columns<Key> columns
/// @param brief  whether no row has more than brief_row elements, and that many can be read from the
///               beginning of any of them
/// @return the number of elements
template <class Key, class Acc, class A, class B, class Value, class Coordinate>
SPOROS_HOST_INLINE std::int64_t multiply_few(const typename A::value_type* a,
                                             const typename A::coordinate_type* a_columns, std::int64_t count,
                                             const B& b, bool brief, Coordinate* columns, Value* values) {
  Key key[row_of_few_products + brief_row] = {};
  Acc product[row_of_few_products + brief_row];
  std::int64_t products = 0;
  // Elements of the next rows are read as well, and may be any numbers: products of integers could overflow.
  if (brief && !std::is_integral_v<Acc>) {
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t begin = b.begin(a_columns[k]), length = b.length(a_columns[k]);
      const Acc factor = static_cast<Acc>(a[k]);
      for (int t = 0; t < brief_row; ++t) {
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
  // The product's number, in the lowest bits of a key after the column, keeps products of one column in order
  // and says where the value is. Keys that stand for no product are the largest.
  constexpr Key number_mask = row_of_few_products - 1;
  Key sorted[row_of_few_products];
  for (int t = 0; t < row_of_few_products; ++t)
    sorted[t] = t < products ? static_cast<Key>(key[t] << product_bits | static_cast<Key>(t))
                             : static_cast<Key>(~number_mask | static_cast<Key>(t));
  if (products <= 4)
    sort_4(sorted);
  else
    sort_8(sorted);
  std::int64_t last = -1;
  Key previous = ~Key{0};
  Acc sum{};
  for (std::int64_t t = 0; t < products; ++t) {
    const Key column = sorted[t] >> product_bits;
    const bool is_new = column != previous;
    last += is_new;
    sum = (is_new ? Acc{} : sum) + product[sorted[t] & number_mask];
    previous = column;
    columns[last] = static_cast<Coordinate>(column);
    values[last] = static_cast<Value>(sum);
  }
  return last + 1;
}

}  // namespace sporos::detail
