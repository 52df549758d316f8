// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of a sparse matrix and a vector by rows, on the host.
#pragma once

#include <cstdint>
#include <string_view>

#include "../../host/operands.hpp"
#include "../../host/row_chunks.hpp"
#include "../../nest/lower.hpp"
#include "../pattern.hpp"
#include "rows.hpp"

namespace sporos {

/// y(i) = A(i, j) * x(j), A in CSR, x and y dense, all in host memory: rows.hpp.
struct SpmvByRows {
  using Pattern = SpmvPattern<RealHostOperands>;
  static constexpr std::string_view name = "SpMV";
  static constexpr bool is_deterministic = true;

  template <class S>
  static constexpr bool matches = Pattern::matches<S>;

  template <class S>
  static bool run(const S& statement) {
    if (detail::reads_result(statement)) return false;
    bounds_of(statement);  // what does not fit is named by its variable
    const auto a = detail::sparse_rows(Pattern::matrix(statement).tensor());
    const auto* const x = Pattern::vector(statement).tensor().values().data();
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
