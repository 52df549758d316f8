// SPDX-License-Identifier: Apache-2.0
/// @file pattern.hpp
/// The product of two sparse matrices as a pattern of statements.
#pragma once

#include "../protocol/factors.hpp"

namespace sporos {

/// A(i, j) = B(i, k) * C(k, j), all sparse and stored by rows, factors in any order.
template <class Operands>
struct SpgemmPattern {
  template <class A, class B, class C>
  static constexpr bool fits() {
    if constexpr (Operands::template is_csr<A> && Operands::template is_csr<B> &&
                  Operands::template is_csr<C>)
      return binds<A, B, C>("ij", "ik", "kj");
    else
      return false;
  }
  /// The indices of B and C among the factors.
  template <class S>
  static constexpr auto places = places_of_factors<SpgemmPattern, Operands, S, 2>();
  template <class S>
  static constexpr bool matches = places<S>[0] >= 0;

  template <class S>
  static const auto& left(const S& statement) {
    return factor<places<S>[0]>(statement.right());
  }
  template <class S>
  static const auto& right(const S& statement) {
    return factor<places<S>[1]>(statement.right());
  }
};

}  // namespace sporos
