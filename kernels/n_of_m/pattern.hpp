// SPDX-License-Identifier: Apache-2.0
/// @file pattern.hpp
/// The product of a dense and an N:M sparse matrix as a pattern of statements.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "../../formats/named.hpp"
#include "../epilogue/in_batches.hpp"
#include "../epilogue/two_factors.hpp"

namespace sporos {

/// C(i, j) = A(i, k) * B(k, j) or A(i, k) * B(j, k), factors in any order; A dense and stored along either
/// mode, B in `NM<…>` with windows along k, C dense and row-major, or as Operands admit it.
template <class Operands>
struct NmPattern : SparseTimesDense<NmPattern<Operands>, Operands, FactorsOfSums> {
  template <class C, class B, class A>
  static constexpr bool fits() {
    if constexpr (Operands::template is_result<C> && is_dense_matrix<A> && NmTraits<typename B::format>::is &&
                  Operands::template computes<C, A, B>)
      return NmTraits<typename B::format>::along == 0
                 ? binds<C, A, B>("ij", "ik", "kj") || binds<C, A, B>("ij", "ki", "kj")
                 : binds<C, A, B>("ij", "ik", "jk") || binds<C, A, B>("ij", "ki", "jk");
    else
      return false;
  }
};

/// C(b, i, j) = A(b, k, i) * B(k, j) or A(b, k, i) * B(j, k), factors in any order: batches of such products
/// whose dense matrices are stored k-major or, with an epilogue, row-major, A(b, i, k). (Without an epilogue,
/// row-major batches are the rows of one product of matrices: kernels/batches/candidate.hpp.)
template <class Operands>
struct NmBatchPattern : SparseTimesDense<NmBatchPattern<Operands>, Operands, FactorsOfSums> {
  using Base = SparseTimesDense<NmBatchPattern<Operands>, Operands, FactorsOfSums>;

  template <class S>
  static constexpr bool matches = [] {
    if constexpr (Base::template matches<S>)
      return has_epilogue<S>() ||
             std::remove_cvref_t<decltype(Base::dense(std::declval<const S&>()))>::level_names[2] ==
                 S::result_type::names[1];
    else
      return false;
  }();

  template <class C, class B, class A>
  static constexpr bool fits() {
    if constexpr (std::is_same_v<typename C::format, DenseTensor<3>> &&
                  std::is_same_v<typename A::format, DenseTensor<3>> &&
                  is_tensor_v<typename A::tensor_type> && NmTraits<typename B::format>::is &&
                  Operands::template computes<C, A, B>)
      return NmTraits<typename B::format>::along == 0
                 ? binds<C, A, B>("bij", "bki", "kj") || binds<C, A, B>("bij", "bik", "kj")
                 : binds<C, A, B>("bij", "bki", "jk") || binds<C, A, B>("bij", "bik", "jk");
    else
      return false;
  }
};

/// The one of the two patterns that a statement matches, if any.
template <class Operands, class S>
using NmPatternOf = std::conditional_t<NmBatchPattern<Operands>::template matches<S>,
                                       NmBatchPattern<Operands>, NmPattern<Operands>>;

}  // namespace sporos
