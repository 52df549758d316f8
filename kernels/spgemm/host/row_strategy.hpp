// SPDX-License-Identifier: Apache-2.0
/// @file row_strategy.hpp
/// The ways in which a row of the product can be computed, and which of them a row takes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../../core/inline.hpp"
#include "../../host/packet.hpp"
#include "few.hpp"
#include "reach.hpp"

namespace sporos::detail {

/// A way in which a row of the product, or several at once, is computed.
///
/// Where most rows are short and the processor gathers fast, multiply_few_in_lanes (few_in_lanes.hpp) is
/// tried before a strategy is chosen. It computes a row without a branch or declines it because it has too
/// many products; the mispredicted branches of a choice would cost a short row more than its products do.
enum class RowStrategy : std::uint8_t {
  empty,     ///< there are no products
  scaled,    ///< one row of B times a number (scaled.hpp)
  shifted,   ///< rows whose columns shift by one from row to row, by one program (diagonals.hpp)
  plain,     ///< some ten to thirty products, as most rows have (plain.hpp)
  few,       ///< few products, sorted in registers (few.hpp)
  alike,     ///< rows of A with the same columns, a row to a lane, in a dense accumulator (scatter.hpp)
  scattered  ///< one row in a dense accumulator (scatter.hpp)
};

/// Lanes of the widest packets in which rows alike are gathered: as many doubles as a vector register has,
/// and at least 4, where two registers still beat a row at a time.
inline constexpr int most_alike_lanes = vector_bytes == 64 ? 8 : 4;
/// The widest window in which rows alike are gathered, in columns: with a packet for each, a wider one would
/// not stay in a core's own caches.
inline constexpr std::int64_t widest_alike_window = 1 << 14;

/// The strategy of a row: the first in this list that fits. Cheaper questions come first.
/// @param row  what the choice depends on, looked up only when it is asked for:
///             count        elements of the row of A
///             shifted()    how many rows from here on DiagonalProduct can multiply together
///             plain        whether most rows have some ten to thirty products, and B is not too wide
///             look_at_b()  the row's Reach: where the rows of B begin and end has to be read for it
///             alike()      how many rows of A from here on have the same columns
template <class Row>
SPOROS_HOST_INLINE RowStrategy strategy_of(Row& row) {
  using enum RowStrategy;
  if (row.count == 0) return empty;
  if (row.count == 1) return scaled;      // its columns are in order already
  if (row.shifted() > 0) return shifted;  // one symbolic pass for many rows, and sums in registers
  if (row.plain && row.alike() == 1) return RowStrategy::plain;
  const Reach& reach = row.look_at_b();
  if (reach.products == 0) return empty;
  if (reach.products <= row_of_few_products) return few;  // sorted faster than gathered
  if (row.alike() > 1 && reach.window <= widest_alike_window) return alike;
  return scattered;
}

/// How many of `alike` rows are gathered at once. In 4 lanes, 5 and 6 rows are gathered as 3 and the rest, so
/// that no packet is mostly empty.
constexpr int rows_at_once(int alike, int most_lanes = most_alike_lanes) {
  if (alike <= 4) return alike;
  if (most_lanes >= 8) return std::min(alike, 8);
  return alike <= 6 ? 3 : 4;
}

}  // namespace sporos::detail
