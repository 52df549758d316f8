// SPDX-License-Identifier: Apache-2.0
/// @file pattern.hpp
/// The product of a 2:4 sparse and a dense matrix as a pattern of statements.
#pragma once

#include <type_traits>

#include "../../formats/named.hpp"
#include "../epilogue/two_factors.hpp"

namespace sporos {

/// C(i, j) = A(i, k) * B(k, j), or A(j, k) * B(k, i), B also as B(j, k) or B(i, k), factors in any order;
/// A in TwoFour, B dense and stored along either mode, C dense and row-major.
template <class Operands>
struct TwoFourPattern : SparseTimesDense<TwoFourPattern<Operands>, Operands, FactorsOfSums> {
  template <class C, class A, class B>
  static constexpr bool fits() {
    if constexpr (Operands::template is_dense_by_rows<C> && std::is_same_v<typename A::format, TwoFour> &&
                  is_dense_matrix<B> && Operands::template computes<C, A, B>)
      return binds<C, A, B>("ij", "ik", "kj") || binds<C, A, B>("ij", "ik", "jk") ||
             binds<C, A, B>("ij", "jk", "ki") || binds<C, A, B>("ij", "jk", "ik");
    else
      return false;
  }
};

}  // namespace sporos
