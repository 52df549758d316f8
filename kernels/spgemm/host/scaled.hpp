// SPDX-License-Identifier: Apache-2.0
/// @file scaled.hpp
/// A row of the product that is one row of B times a number.
#pragma once

#include <cstdint>

#include "../../../core/inline.hpp"

namespace sporos::detail {

/// Computes the row that is `factor` times row `row` of `b`.
/// @return the number of elements
template <class Acc, class B, class Value, class Coordinate>
SPOROS_HOST_INLINE std::int64_t multiply_scaled(Acc factor, std::int64_t row, const B& b, Coordinate* columns,
                                                Value* values) {
  const std::int64_t begin = b.begin(row), length = b.length(row);
  for (std::int64_t t = 0; t < length; ++t) columns[t] = static_cast<Coordinate>(b.coordinates[begin + t]);
  for (std::int64_t t = 0; t < length; ++t)
    values[t] = static_cast<Value>(factor * static_cast<Acc>(b.values[begin + t]));
  return length;
}

}  // namespace sporos::detail
