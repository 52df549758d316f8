// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// Which statements the product of a sparse and a dense matrix computes.
#pragma once

#include <cstdint>
#include <string_view>

#include "../../host/product.hpp"
#include "../../host/row_chunks.hpp"
#include "../../nest/lower.hpp"
#include "rows.hpp"

namespace sporos {

/// C(i, j) = A(i, k) * B(k, j), A in CSR, B and C dense and row-major, all in host memory: rows.hpp.
struct SpmmStatement {
  static constexpr std::string_view name = "SpMM";
  static constexpr bool is_deterministic = true;

  template <class Result, class A, class B>
  static constexpr bool fits() {
    if constexpr (detail::is_dense_by_rows<Result> && detail::is_sparse_by_rows<A> &&
                  detail::is_dense_by_rows<B>)
      return A::names[0] == Result::names[0] && A::names[1] == B::names[0] &&
             B::names[1] == Result::names[1] && Result::names[0] != Result::names[1] &&
             !Result::names.contains(A::names[1]);
    else
      return false;
  }
  /// Which of two factors is the sparse matrix; -1 where the product is no such one.
  template <class S>
  static constexpr int sparse_place() {
    if constexpr (detail::is_host_product<S>())
      return detail::places_of_factors<SpmmStatement, S, 2>()[0];
    else
      return -1;
  }
  template <class S>
  static constexpr bool matches = sparse_place<S>() >= 0;

  /// Bytes of B from which on its rows are asked for ahead, and of one of its rows: those of two cache lines
  /// or four come early enough by themselves.
  static constexpr std::int64_t most_near = std::int64_t{2} << 20;
  static constexpr std::int64_t least_row = 512;

  /// Bytes of a result from which on it goes past the caches, which could not keep it.
  static constexpr std::int64_t most_kept = std::int64_t{16} << 20;

  template <class S>
  static bool run(const S& statement) {
    constexpr int place = sparse_place<S>();
    if (detail::reads_result(statement)) return false;
    bounds_of(statement);  // what does not fit is named by its variable
    const auto& result = statement.result().tensor();
    using Result = std::remove_cvref_t<decltype(result)>;
    using T = typename Result::value_type;
    const auto a = detail::sparse_rows(detail::factor<place>(statement.right()).tensor());
    const T* const b = detail::factor<1 - place>(statement.right()).tensor().values().data();
    T* const c = result.values().data();
    const std::int64_t width = result.extent(1);
    const auto run_as = [&]<detail::Store How, int Ahead>() {
      detail::for_each_row_chunk<typename Result::space_type>(
          a, width, [=](std::int64_t begin, std::int64_t end) {
            detail::multiply_matrix_rows<How, Ahead>(a, b, c, width, begin, end);
          });
    };
    constexpr std::int64_t bytes = sizeof(T);
    const bool is_far = a.columns * width * bytes > most_near && width * bytes >= least_row;
    if (statement.accumulates())
      run_as.template operator()<detail::Store::add, 4>();
    else if (result.nnz() * bytes > most_kept && is_far)
      run_as.template operator()<detail::Store::write_past, 4>();
    else if (result.nnz() * bytes > most_kept)
      run_as.template operator()<detail::Store::write_past, 0>();
    else if (is_far)
      run_as.template operator()<detail::Store::write, 4>();
    else
      run_as.template operator()<detail::Store::write, 0>();
    return true;
  }
};

}  // namespace sporos
