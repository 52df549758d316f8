// SPDX-License-Identifier: Apache-2.0
/// @file sparse_times_dense.hpp
/// What the patterns of products of a sparse and a dense factor have in common.
#pragma once

#include "factors.hpp"

namespace sporos {

/// The factors of a right side that is a product and nothing else.
struct FactorsOfProduct {
  template <class S>
  using list = factor_list<S>;
  template <int K, class S>
  static const auto& at(const S& statement) {
    return factor<K>(statement.right());
  }
};

/// A pattern, derived from this, whose `fits<C, A, B>()` says whether it takes the product of a sparse A and
/// a dense B, in any order, into C.
/// @tparam Factors  where A and B are found: FactorsOfProduct, or with an epilogue around the product
///                  FactorsOfSums (kernels/epilogue/two_factors.hpp)
template <class Pattern, class Operands, class Factors = FactorsOfProduct>
struct SparseTimesDense {
  /// The places of A and B among the factors.
  template <class S>
  static constexpr auto places =
      places_of_factors<Pattern, Operands, S, 2, typename Factors::template list<S>>();
  template <class S>
  static constexpr bool matches = places<S>[0] >= 0;

  template <class S>
  static const auto& sparse(const S& statement) {
    return Factors::template at<places<S>[0]>(statement);
  }
  template <class S>
  static const auto& dense(const S& statement) {
    return Factors::template at<places<S>[1]>(statement);
  }
};

}  // namespace sporos
