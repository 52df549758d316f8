// SPDX-License-Identifier: Apache-2.0
/// @file row_strategy.hpp
/// The ways in which a row of the product can be computed, and the choice among them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../../core/inline.hpp"
#include "../../host/packet.hpp"
#include "few.hpp"
#include "reach.hpp"

namespace sporos::detail {

/// A way to compute one row of the product, or several at once.
///
/// If most rows are short and gathers are fast, multiply_few_in_lanes (few_in_lanes.hpp) is tried before a
/// strategy is chosen. It computes a row without a branch, or declines it because it has too many products;
/// the mispredicted branches of a choice would cost more than the products of a short row.
enum class RowStrategy : std::uint8_t {
  empty,     ///< no products
  scaled,    ///< one row of B times a number (scaled.hpp)
  shifted,   ///< rows whose columns shift by one from row to row, by one program (diagonals.hpp)
  plain,     ///< about ten to thirty or sixty products, if most rows are like that (plain.hpp)
  few,       ///< few products, sorted in registers (few.hpp)
  alike,     ///< rows of A with the same columns, one row per lane, in a dense accumulator (scatter.hpp)
  scattered  ///< one row in a dense accumulator (scatter.hpp)
};

/// Lanes of the widest packets in which rows with the same columns are gathered: as many doubles as a vector
/// register has, and at least 4, since even two registers are faster than one row at a time.
inline constexpr int most_alike_lanes = vector_bytes == 64 ? 8 : 4;
/// The widest window, in columns, in which rows with the same columns are gathered: with a packet for each
/// column, a wider one would not stay in a core's private caches.
inline constexpr std::int64_t widest_alike_window = 1 << 14;

/// The strategy of a row: the first in this list that fits, cheapest questions first.
/// @param row  what the choice depends on; each item is computed only when it is asked for:
///             count        elements of the row of A
///             shifted()    how many rows from here on a DiagonalProduct can multiply together
///             plain        whether most rows have some ten to thirty or sixty products, and B is not too
///             wide look_at_b()  the row's Reach, which requires reading where the rows of B begin and end
///             alike()      how many rows of A from here on have the same columns
template <class Row>
SPOROS_HOST_INLINE RowStrategy strategy_of(Row& row) {
  using enum RowStrategy;
  if (row.count == 0) return empty;
  if (row.count == 1) return scaled;      // its columns are already in order
  if (row.shifted() > 0) return shifted;  // one symbolic pass for many rows, and sums in registers
  if (row.plain && row.alike() == 1) return RowStrategy::plain;
  const Reach& reach = row.look_at_b();
  if (reach.products == 0) return empty;
  if (reach.products <= row_of_few_products) return few;  // sorting is faster than gathering
  if (row.alike() > 1 && reach.window <= widest_alike_window) return alike;
  return scattered;
}

/// How many of `alike` rows are gathered at once. With 4 lanes, 5 or 6 rows are gathered as 3 and the rest,
/// so that no packet is mostly empty.
constexpr int rows_at_once(int alike, int most_lanes = most_alike_lanes) {
  if (alike <= 4) return alike;
  if (most_lanes >= 8) return std::min(alike, 8);
  return alike <= 6 ? 3 : 4;
}

}  // namespace sporos::detail
