// SPDX-License-Identifier: Apache-2.0
/// @file statement.hpp
/// Which statements the product by rows computes.
#pragma once

#include <string_view>
#include <type_traits>

#include "../../core/statement.hpp"
#include "../compute_type.hpp"
#include "../lower.hpp"
#include "../spgemm.hpp"

namespace sporos {

namespace detail {

/// Whether A = B * C, accesses of matrices, is the product of sparse matrices by rows.
template <class A, class B, class C>
constexpr bool is_product_by_rows() {
  using TensorA = typename A::tensor_type;
  using TensorB = typename B::tensor_type;
  using TensorC = typename C::tensor_type;
  if constexpr (SparseRowsMatrix<TensorA> && SparseRowsMatrix<TensorB> && SparseRowsMatrix<TensorC>)
    return A::names[0] == B::names[0] && B::names[1] == C::names[0] && C::names[1] == A::names[1] &&
           A::names[0] != A::names[1] && !A::names.contains(B::names[1]);
  else
    return false;
}

/// Of a right side that is the product of two accesses: which of them is the left matrix, 0 or 1; else -1.
template <class Result, class Right>
struct LeftOfProductByRows {
  static constexpr int place = -1;
};
template <class Result, class T, char... Names, class U, char... OtherNames>
struct LeftOfProductByRows<Result, Product<Access<T, Names...>, Access<U, OtherNames...>>> {
  using First = Access<T, Names...>;
  using Second = Access<U, OtherNames...>;
  static constexpr int place = is_product_by_rows<Result, First, Second>()   ? 0
                               : is_product_by_rows<Result, Second, First>() ? 1
                                                                             : -1;
};

}  // namespace detail

/// A(i, j) = B(i, k) * C(k, j), all in CSR in host memory, the loops in the order i, k, j: spgemm.hpp.
struct SpgemmStatement {
  static constexpr std::string_view name = "SpGEMM";
  static constexpr bool is_deterministic = true;

  template <class S>
  static constexpr bool computes() {
    using Result = typename S::result_type;
    using Right = typename S::right_type;
    if constexpr (detail::LeftOfProductByRows<Result, Right>::place >= 0) {
      constexpr NameList order = S::order::names;
      return order[0] == Result::names[0] && order[2] == Result::names[1] &&
             is_complex_v<compute_t<Result, Right>> == is_complex_v<typename Result::value_type>;
    } else {
      return false;
    }
  }
  template <class S>
  static constexpr bool matches = computes<S>();

  template <class S>
  static bool run(const S& statement) {
    using Of = detail::LeftOfProductByRows<typename S::result_type, typename S::right_type>;
    bounds_of(statement);  // what does not fit is named by its variable
    const auto& product = statement.right();
    if constexpr (Of::place == 0)
      spgemm(statement.result().tensor(), product.left.tensor(), product.right.tensor());
    else
      spgemm(statement.result().tensor(), product.right.tensor(), product.left.tensor());
    return true;
  }
};

}  // namespace sporos
