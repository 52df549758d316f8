// SPDX-License-Identifier: Apache-2.0
/// @file sparse_times_dense.hpp
/// What the patterns of products of two factors, one of them dense, have in common.
#pragma once

#include <cstddef>

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

/// The base of a pattern whose `fits<C, A, B>()` says whether it takes the product of A and B, in any order,
/// into C.
/// @tparam Factors  where A and B are found: FactorsOfProduct or, if an epilogue surrounds the product,
///                  FactorsOfSums (kernels/epilogue/two_factors.hpp)
template <class Pattern, class Operands, class Factors>
struct ProductOfTwo {
  /// The places of A and B among the factors.
  template <class S>
  static constexpr auto places =
      places_of_factors<Pattern, Operands, S, 2, typename Factors::template list<S>>();
  template <class S>
  static constexpr bool matches = places<S>[0] >= 0;

 protected:
  /// Factor A if Which is 0, factor B if it is 1.
  template <std::size_t Which, class S>
  static const auto& the_factor(const S& statement) {
    return Factors::template at<places<S>[Which]>(statement);
  }
};

/// The base of a pattern that takes the product of a sparse A and a dense B.
template <class Pattern, class Operands, class Factors = FactorsOfProduct>
struct SparseTimesDense : ProductOfTwo<Pattern, Operands, Factors> {
  template <class S>
  static const auto& sparse(const S& statement) {
    return SparseTimesDense::template the_factor<0>(statement);
  }
  template <class S>
  static const auto& dense(const S& statement) {
    return SparseTimesDense::template the_factor<1>(statement);
  }
};

}  // namespace sporos
