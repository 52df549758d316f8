// SPDX-License-Identifier: Apache-2.0
/// @file pattern.hpp
/// The product of a sparse matrix and a vector as a pattern of statements.
#pragma once

#include "../protocol/sparse_times_dense.hpp"

namespace sporos {

/// y(i) = A(i, j) * x(j), A sparse and stored by rows, x and y dense, factors in any order.
template <class Operands>
struct SpmvPattern : SparseTimesDense<SpmvPattern<Operands>, Operands> {
  template <class Y, class A, class X>
  static constexpr bool fits() {
    if constexpr (Operands::template is_dense_vector<Y> && Operands::template is_csr<A> &&
                  Operands::template is_dense_vector<X>)
      return binds<Y, A, X>("i", "ij", "j");
    else
      return false;
  }
};

}  // namespace sporos
