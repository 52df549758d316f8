// SPDX-License-Identifier: Apache-2.0
/// @file two_factors.hpp
/// What the patterns of products of a sparse and a dense matrix with an epilogue have in common.
#pragma once

#include "epilogue.hpp"

namespace sporos {

/// A pattern, derived from this, whose `fits<C, A, B>()` says whether it takes the product of a sparse A and
/// a dense B, in any order, into C; what else the right side consists of is an epilogue.
template <class Pattern, class Operands>
struct SparseTimesDense {
  /// The places of A and B among the factors.
  template <class S>
  static constexpr auto places = places_of_factors<Pattern, Operands, S, 2, factors_of_sums<S>>();
  template <class S>
  static constexpr bool matches = places<S>[0] >= 0;

  template <class S>
  static const auto& sparse(const S& statement) {
    return factor_of_sums<places<S>[0]>(statement);
  }
  template <class S>
  static const auto& dense(const S& statement) {
    return factor_of_sums<places<S>[1]>(statement);
  }
};

/// Whether an access is to a dense matrix that is stored by rows or by columns.
template <class A>
inline constexpr bool is_dense_matrix =
    A::format::is_dense && A::format::order == 2 && !A::format::is_blocked;

}  // namespace sporos
