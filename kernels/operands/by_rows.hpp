// SPDX-License-Identifier: Apache-2.0
/// @file by_rows.hpp
/// The two operands of a kernel that makes a matrix by rows.
#pragma once

namespace sporos {

/// The operands of a pattern with left() and right(), in the order in which a kernel by rows reads them: that
/// of the statement, or the other way round if it makes the transpose of the result.
template <class Pattern, bool IsTransposed>
struct OperandsByRows {
  static constexpr bool is_transposed = IsTransposed;

  template <class S>
  static const auto& first(const S& statement) {
    if constexpr (is_transposed)
      return Pattern::right(statement).tensor();
    else
      return Pattern::left(statement).tensor();
  }
  template <class S>
  static const auto& second(const S& statement) {
    return OperandsByRows<Pattern, !IsTransposed>::first(statement);
  }
};

}  // namespace sporos
