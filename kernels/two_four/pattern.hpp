// SPDX-License-Identifier: Apache-2.0
/// @file pattern.hpp
/// The product of a 2:4 sparse and a dense matrix as a pattern of statements.
#pragma once

#include <type_traits>

#include "../../formats/named.hpp"
#include "../epilogue/in_batches.hpp"
#include "../epilogue/two_factors.hpp"

namespace sporos {

/// C(i, j) = A(i, k) * B(k, j) or A(j, k) * B(k, i), where B may also be B(j, k) or B(i, k), factors in any
/// order; A in TwoFour, B dense and stored along either mode, C dense and row-major.
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

/// C(b, i, j) = f(B(b, i, k) * A(j, k)) with an epilogue f, factors in any order: batches whose rows are
/// those of one product. (Without an epilogue: kernels/batches/candidate.hpp.)
template <class Operands>
struct TwoFourBatchPattern : SparseTimesDense<TwoFourBatchPattern<Operands>, Operands, FactorsOfSums> {
  using Base = SparseTimesDense<TwoFourBatchPattern<Operands>, Operands, FactorsOfSums>;

  template <class S>
  static constexpr bool matches = Base::template matches<S> && has_epilogue<S>();

  template <class C, class A, class B>
  static constexpr bool fits() {
    if constexpr (std::is_same_v<typename C::format, DenseTensor<3>> &&
                  std::is_same_v<typename A::format, TwoFour> &&
                  std::is_same_v<typename B::format, DenseTensor<3>> &&
                  is_tensor_v<typename B::tensor_type> && Operands::template computes<C, A, B>)
      return binds<C, A, B>("bij", "jk", "bik");
    else
      return false;
  }
};

/// The one of the two patterns that a statement matches, if any.
template <class Operands, class S>
using TwoFourPatternOf = std::conditional_t<TwoFourBatchPattern<Operands>::template matches<S>,
                                            TwoFourBatchPattern<Operands>, TwoFourPattern<Operands>>;

}  // namespace sporos
