// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// Which statements the product of a sparse matrix and a vector computes.
#pragma once

#include <cstdint>
#include <string_view>

#include "../../host/product.hpp"
#include "../../host/row_chunks.hpp"
#include "../../nest/lower.hpp"
#include "rows.hpp"

namespace sporos {

/// y(i) = A(i, j) * x(j), A in CSR, x and y dense, all in host memory: rows.hpp.
struct SpmvStatement {
  static constexpr std::string_view name = "SpMV";
  static constexpr bool is_deterministic = true;

  template <class Result, class A, class X>
  static constexpr bool fits() {
    if constexpr (detail::is_dense_vector<Result> && detail::is_sparse_by_rows<A> &&
                  detail::is_dense_vector<X>)
      return A::names[0] == Result::names[0] && A::names[1] == X::names[0] && A::names[0] != A::names[1];
    else
      return false;
  }
  /// Which of two factors is the matrix; -1 where the product is no such one.
  template <class S>
  static constexpr int matrix_place() {
    if constexpr (detail::is_host_product<S>())
      return detail::places_of_factors<SpmvStatement, S, 2>()[0];
    else
      return -1;
  }
  template <class S>
  static constexpr bool matches = matrix_place<S>() >= 0;

  template <class S>
  static bool run(const S& statement) {
    constexpr int place = matrix_place<S>();
    if (detail::reads_result(statement)) return false;
    bounds_of(statement);  // what does not fit is named by its variable
    const auto a = detail::sparse_rows(detail::factor<place>(statement.right()).tensor());
    const auto* const x = detail::factor<1 - place>(statement.right()).tensor().values().data();
    auto* const y = statement.result().tensor().values().data();
    const bool accumulates = statement.accumulates();
    detail::for_each_row_chunk<typename S::result_type::tensor_type::space_type>(
        a, 1, [=](std::int64_t begin, std::int64_t end) {
          detail::multiply_vector_rows(a, x, y, begin, end, accumulates);
        });
    return true;
  }
};

}  // namespace sporos
