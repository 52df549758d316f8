// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of a sparse and a dense matrix by rows, on the host.
#pragma once

#include <cstdint>
#include <string_view>

#include "../../host/operands.hpp"
#include "../../host/row_chunks.hpp"
#include "../../nest/lower.hpp"
#include "../pattern.hpp"
#include "rows.hpp"

namespace sporos {

/// C(i, j) = A(i, k) * B(k, j), A in CSR, B and C dense and row-major, all in host memory: rows.hpp.
struct SpmmByRows {
  using Pattern = SpmmPattern<RealHostOperands>;
  static constexpr std::string_view name = "SpMM";
  static constexpr bool is_deterministic = true;

  template <class S>
  static constexpr bool matches = Pattern::matches<S>;

  /// Bytes of B from which on its rows are asked for ahead, and of one of its rows: those of two cache lines
  /// or four come early enough by themselves.
  static constexpr std::int64_t most_near = std::int64_t{2} << 20;
  static constexpr std::int64_t least_row = 512;

  /// Bytes of a result from which on it goes past the caches, which could not keep it.
  static constexpr std::int64_t most_kept = std::int64_t{16} << 20;

  template <class S>
  static bool run(const S& statement) {
    if (detail::reads_result(statement)) return false;
    bounds_of(statement);  // what does not fit is named by its variable
    const auto& result = statement.result().tensor();
    using Result = std::remove_cvref_t<decltype(result)>;
    using T = typename Result::value_type;
    const auto a = detail::sparse_rows(Pattern::sparse(statement).tensor());
    const T* const b = Pattern::dense(statement).tensor().values().data();
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
