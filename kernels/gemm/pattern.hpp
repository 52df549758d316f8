// SPDX-License-Identifier: Apache-2.0
/// @file pattern.hpp
/// The product of two dense matrices as a pattern of statements.
#pragma once

#include "../epilogue/two_factors.hpp"

namespace sporos {

/// C(i, j) = A(i, k) * B(k, j), all dense, each stored along either mode; and batches of such products,
/// C(b, i, j) = A(b, i, k) * B(b, k, j), where the batch is the first level of the result and of one factor
/// or both.
template <class Operands>
struct GemmPattern : ProductOfTwo<GemmPattern<Operands>, Operands, FactorsOfSums> {
  /// The left factor is the one with the variable of C's last level, which is contiguous in C.
  template <class C, class Left, class Right>
  static constexpr bool fits() {
    if constexpr (is_dense_batch<C> && is_dense_batch<Left> && is_dense_batch<Right> &&
                  Operands::template computes<C, Left, Right>) {
      constexpr int of_batch = C::level_names.size - 2;
      const char batch = of_batch == 1 ? C::level_names[0] : none;
      const Matrix c = matrix(C::level_names, batch), left = matrix(Left::level_names, batch),
                   right = matrix(Right::level_names, batch);
      if (!c.is_one || !left.is_one || !right.is_one) return false;
      if (of_batch == 1 && !left.has_batch && !right.has_batch) return false;
      const char inner = left.other_than(c.columns);
      return inner != none && inner != c.rows && right.other_than(c.rows) == inner;
    } else {
      return false;
    }
  }

  template <class S>
  static const auto& left(const S& statement) {
    return GemmPattern::template the_factor<0>(statement);
  }
  template <class S>
  static const auto& right(const S& statement) {
    return GemmPattern::template the_factor<1>(statement);
  }

 private:
  static constexpr char none = ' ';

  /// The variables of a matrix, or of the matrices of a batch, by level.
  struct Matrix {
    bool is_one;  ///< has two different variables, neither of them the batch
    bool has_batch;
    char rows, columns;

    /// The variable other than `name`, or none.
    constexpr char other_than(char name) const {
      return rows == name ? columns : columns == name ? rows : none;
    }
  };
  static constexpr Matrix matrix(const NameList& levels, char batch) {
    const bool has_batch = batch != none && levels[0] == batch;
    if (levels.size != (has_batch ? 3 : 2)) return {false, has_batch, none, none};
    const char rows = levels[levels.size - 2], columns = levels[levels.size - 1];
    return {rows != columns && rows != batch && columns != batch, has_batch, rows, columns};
  }

  template <class A>
  static constexpr bool is_dense_batch =
      A::format::is_dense && !A::format::is_blocked && (A::level_names.size == 2 || A::level_names.size == 3);
};

}  // namespace sporos
