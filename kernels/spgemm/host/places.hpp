// SPDX-License-Identifier: Apache-2.0
/// @file places.hpp
/// Where in a row of the result, whose pattern is known, each product is added.
///
/// A row that is summed in a dense accumulator has to be read from it and cleared after all products are
/// added. If the products' places are known, they are added directly to the result. That pays off if sums
/// have few products: reading a place takes as long as reading a column.
#pragma once

#include <cstdint>

#include "../../../core/inline.hpp"
#include "../../host/packet.hpp"

namespace sporos::detail {

/// The index of an element within its row.
using PlaceInRow = std::uint16_t;
inline constexpr std::int64_t most_elements_with_places = std::int64_t{1} << 16;  ///< in one row

/// The most products per element of the result, on average, with which places save time.
inline constexpr double most_products_of_place = 2.75;

/// Finds the places of the products of row `row` of A * B, in the order in which refill_row_by_places() needs
/// them.
/// @param columns   the columns of the row of the result, `count` of them
/// @param place_of  [columns of B], zero before and after
/// @return the end of `places`
template <class A, class B, class Coordinate>
SPOROS_HOST_INLINE PlaceInRow* find_places_of_row(const A& a, std::int64_t row, const B& b,
                                                  const Coordinate* columns, std::int64_t count,
                                                  PlaceInRow* place_of, PlaceInRow* places) {
  for (std::int64_t t = 0; t < count; ++t) place_of[columns[t]] = static_cast<PlaceInRow>(t);
  for (std::int64_t k = a.begin(row); k < a.begin(row + 1); ++k) {
    const std::int64_t first = b.begin(a.coordinates[k]), last = first + b.length(a.coordinates[k]);
    for (std::int64_t q = first; q < last; ++q) *places++ = place_of[b.coordinates[q]];
  }
  for (std::int64_t t = 0; t < count; ++t) place_of[columns[t]] = 0;
  return places;
}

/// Adds the products of row `row` of A * B to their places.
/// @param values  those of the row of the result; zero before
/// @return the places of the next row
template <class A, class B, class Value>
SPOROS_HOST_INLINE const PlaceInRow* refill_row_by_places(const A& a, std::int64_t row, const B& b,
                                                          const PlaceInRow* __restrict places,
                                                          Value* __restrict values) {
  for (std::int64_t k = a.begin(row); k < a.begin(row + 1); ++k) {
    const std::int64_t first = b.begin(a.coordinates[k]), last = first + b.length(a.coordinates[k]);
    Packet<Value, 1> factor;
    factor.set(0, static_cast<Value>(a.values[k]));
    for (std::int64_t q = first; q < last; ++q) {
      Packet<Value, 1> sum;
      sum.set(0, values[*places]);
      sum.add_product(factor, static_cast<Value>(b.values[q]));
      values[*places++] = sum.get(0);
    }
  }
  return places;
}

}  // namespace sporos::detail
