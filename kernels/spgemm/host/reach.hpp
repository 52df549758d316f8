// SPDX-License-Identifier: Apache-2.0
/// @file reach.hpp
/// What a row of the product can reach: how many products it has, and the range of columns in which they lie.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../../core/inline.hpp"
#include "few.hpp"

namespace sporos::detail {

/// What the rows of B that a row of A refers to say about the row of the product.
struct Reach {
  std::int64_t products = 0;
  std::int64_t first = 0;   ///< the first column
  std::int64_t window = 0;  ///< number of columns from the first to the last
};

/// The length of B's longest row if rows are short and on average at least a third as long, as in incidence
/// matrices, on grids and in interpolations; otherwise 0. If it is known, it bounds the products of a row
/// without looking at the rows of B.
template <class B>
std::int64_t short_length(const B& b) {
  constexpr std::int64_t short_row = 8;
  if (b.nnz() > short_row * b.rows) return 0;
  std::int64_t longest = 0;
  for (std::int64_t row = 0; row < b.rows; ++row) longest = std::max(longest, b.length(row));
  return longest <= short_row && 3 * b.nnz() >= longest * b.rows ? longest : 0;
}

/// Examines the rows of B that a row of A refers to.
/// @param longest  short_length of b; if it is not 0, `products` is an upper bound
template <class B, class Coordinate>
SPOROS_HOST_INLINE Reach reach_of(const Coordinate* a_columns, std::int64_t count, const B& b,
                                  std::int64_t longest) {
  // If B has no more than this many columns per row, the window is all columns: emptying it costs less than
  // reading the first and last column of each row.
  constexpr std::int64_t columns_for_a_row = 128;
  Reach reach;
  if (b.columns <= columns_for_a_row * count) {
    if (longest * count > row_of_few_products) {
      reach.products = longest * count;
      reach.window = b.columns;
      return reach;
    }
    for (std::int64_t k = 0; k < count; ++k) reach.products += b.length(a_columns[k]);
    reach.window = b.columns;
    return reach;
  }
  std::int64_t last = -1;
  reach.first = b.columns;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t begin = b.begin(a_columns[k]), length = b.length(a_columns[k]);
    if (length == 0) continue;
    reach.products += length;
    reach.first = std::min(reach.first, static_cast<std::int64_t>(b.coordinates[begin]));
    last = std::max(last, static_cast<std::int64_t>(b.coordinates[begin + length - 1]));
  }
  reach.window = last - reach.first + 1;
  return reach;
}

}  // namespace sporos::detail
