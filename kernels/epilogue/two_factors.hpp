// SPDX-License-Identifier: Apache-2.0
/// @file two_factors.hpp
/// What the patterns of products of a sparse and a dense matrix with an epilogue have in common.
#pragma once

#include "../protocol/sparse_times_dense.hpp"
#include "epilogue.hpp"

namespace sporos {

/// The factors of the product whose sums make up, with an epilogue, the right side of a statement.
struct FactorsOfSums {
  template <class S>
  using list = factors_of_sums<S>;
  template <int K, class S>
  static const auto& at(const S& statement) {
    return factor_of_sums<K>(statement);
  }
};

/// Whether an access is to a dense matrix that is stored by rows or by columns.
template <class A>
inline constexpr bool is_dense_matrix =
    A::format::is_dense && A::format::order == 2 && !A::format::is_blocked;

}  // namespace sporos
