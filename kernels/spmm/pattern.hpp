// SPDX-License-Identifier: Apache-2.0
/// @file pattern.hpp
/// The product of a sparse and a dense matrix as a pattern of statements.
#pragma once

#include <type_traits>

#include "../../formats/slice.hpp"
#include "../epilogue/two_factors.hpp"
#include "../protocol/sparse_times_dense.hpp"

namespace sporos {

/// C(i, j) = A(i, k) * B(k, j), A sparse, B and C dense, all stored by rows, factors in any order.
template <class Operands>
struct SpmmPattern : SparseTimesDense<SpmmPattern<Operands>, Operands> {
  template <class C, class A, class B>
  static constexpr bool fits() {
    if constexpr (Operands::template is_dense_by_rows<C> && Operands::template is_csr<A> &&
                  Operands::template is_dense_by_rows<B>)
      return binds<C, A, B>("ij", "ik", "kj");
    else
      return false;
  }
};

/// Such a product with A in CSR or CSC, B stored along either mode, or their transposes A(k, i) and B(j, k);
/// and epilogues of such products (kernels/epilogue/epilogue.hpp).
template <class Operands>
struct SpmmOfSumsPattern : SparseTimesDense<SpmmOfSumsPattern<Operands>, Operands, FactorsOfSums> {
  template <class C, class A, class B>
  static constexpr bool fits() {
    if constexpr (Operands::template is_dense_by_rows<C> && Operands::template is_csr<A> &&
                  is_dense_matrix<B>)
      return binds<C, A, B>("ij", "ik", "kj") || binds<C, A, B>("ij", "ik", "jk") ||
             binds<C, A, B>("ij", "ki", "kj") || binds<C, A, B>("ij", "ki", "jk");
    else
      return false;
  }
};

/// Such a product, or batches of them, C(b, i, j) = A(i, k) * B(b, k, j), A(b, i, k) * B(b, k, j) or A(b, i,
/// k) * B(k, j), whose matrices B and C are stored by rows, one after another, and A, if there is one for
/// each batch, in CSR.
/// @tparam TakesPairs  whether each batch may have an A and a B of its own
template <class Operands, bool TakesPairs = true>
struct SpmmOfRowsPattern
    : SparseTimesDense<SpmmOfRowsPattern<Operands, TakesPairs>, Operands, FactorsOfSums> {
  template <class C, class A, class B>
  static constexpr bool fits() {
    if constexpr (!std::is_same_v<typename C::format, DenseTensor<3>>) {
      return SpmmOfSumsPattern<Operands>::template fits<C, A, B>();
    } else if constexpr (!is_tensor_v<typename A::tensor_type> || !is_tensor_v<typename B::tensor_type>) {
      return false;
    } else if constexpr (BatchTraits<typename A::format>::is) {
      if constexpr (detail::are_batches_by_rows<typename A::format>)
        return (TakesPairs && std::is_same_v<typename B::format, DenseTensor<3>> &&
                binds<C, A, B>("bij", "bik", "bkj")) ||
               (std::is_same_v<typename B::format, DenseMatrix<>> && binds<C, A, B>("bij", "bik", "kj"));
      else
        return false;
    } else if constexpr (Operands::template is_csr<A> && std::is_same_v<typename B::format, DenseTensor<3>>) {
      return binds<C, A, B>("bij", "ik", "bkj") || binds<C, A, B>("bij", "ki", "bkj");
    } else {
      return false;
    }
  }
};

/// Such a product if the rows of A do not correspond to contiguous lines of C: C(i, j) = B(i, k) * A(j, k)
/// with C by rows, and all products into a C by columns.
template <class Operands>
struct SpmmIntoColumnsPattern : SparseTimesDense<SpmmIntoColumnsPattern<Operands>, Operands, FactorsOfSums> {
  template <class C, class A, class B>
  static constexpr bool fits() {
    if constexpr (is_dense_matrix<C> && Operands::template is_csr<A> && is_dense_matrix<B>) {
      constexpr bool is_of_rows = binds<C, A, B>("ij", "ik", "kj") || binds<C, A, B>("ij", "ik", "jk") ||
                                  binds<C, A, B>("ij", "ki", "kj") || binds<C, A, B>("ij", "ki", "jk");
      constexpr bool is_of_columns = binds<C, A, B>("ij", "jk", "ki") || binds<C, A, B>("ij", "jk", "ik") ||
                                     binds<C, A, B>("ij", "kj", "ki") || binds<C, A, B>("ij", "kj", "ik");
      return is_of_columns || (is_of_rows && !Operands::template is_dense_by_rows<C>);
    } else {
      return false;
    }
  }
};

/// All of these products, into a C stored along either mode.
template <class Operands>
struct SpmmInAnyLayoutPattern : SparseTimesDense<SpmmInAnyLayoutPattern<Operands>, Operands, FactorsOfSums> {
  template <class C, class A, class B>
  static constexpr bool fits() {
    return SpmmOfSumsPattern<Operands>::template fits<C, A, B>() ||
           SpmmIntoColumnsPattern<Operands>::template fits<C, A, B>();
  }
};

}  // namespace sporos
