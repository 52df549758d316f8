// SPDX-License-Identifier: Apache-2.0
/// @file pattern.hpp
/// The product of a sparse matrix and a vector as a pattern of statements.
#pragma once

#include "../statement/factors.hpp"

namespace sporos {

/// y(i) = A(i, j) * x(j), A sparse and stored by rows, x and y dense, factors in any order.
template <class Operands>
struct SpmvPattern {
  template <class Y, class A, class X>
  static constexpr bool fits() {
    if constexpr (Operands::template is_dense_vector<Y> && Operands::template is_csr<A> &&
                  Operands::template is_dense_vector<X>)
      return binds<Y, A, X>("i", "ij", "j");
    else
      return false;
  }
  /// The places of A and x in the product.
  template <class S>
  static constexpr auto places = places_of_factors<SpmvPattern, Operands, S, 2>();
  template <class S>
  static constexpr bool matches = places<S>[0] >= 0;

  template <class S>
  static const auto& matrix(const S& statement) {
    return factor<places<S>[0]>(statement.right());
  }
  template <class S>
  static const auto& vector(const S& statement) {
    return factor<places<S>[1]>(statement.right());
  }
};

}  // namespace sporos
