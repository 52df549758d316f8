// SPDX-License-Identifier: Apache-2.0
/// @file shared_columns_candidate.hpp
/// The product of a sparse matrix and a vector on the host, for plans in which rows with the same columns
/// share them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "../../nest/work.hpp"
#include "../../protocol/candidate.hpp"
#include "candidate.hpp"
#include "copied_matrix_plan.hpp"
#include "shared_columns.hpp"

namespace sporos {

/// y(i) = A(i, j) * x(j), with A in CSR, x and y dense, all in host memory, in plans of statements with
/// `.with_constant_operands()`: the first run copies A into groups of rows with the same columns
/// (shared_columns.hpp). The vectors may change.
struct SpmvBySharedColumns : detail::SpmvOfCopiedMatrix<detail::SharedColumns> {
  static constexpr std::string_view name = "SpMV by shared columns";

  /// The copy pays off only in plans, and only if enough rows are alike: a column of a group takes as long as
  /// an element of a row by itself.
  template <class S>
  static Offer cost(const S& statement, const Resources<typename S::space_type>& resources, Use use) {
    constexpr std::int64_t fewest_nonzeros = 1024;
    constexpr double most_columns = 0.8, least_time = 0.3, seconds_of_copying = 3e-9;
    const auto a = detail::sparse_rows(Pattern::sparse(statement).tensor());
    const double by_rows = detail::expected_terms(statement) * SpmvByRows::seconds_of_term;
    const double copying = static_cast<double>(a.nnz()) * seconds_of_copying;
    if (use == Use::once) return Cost{by_rows + copying};
    const auto size = Copy<S>::size_of(a);
    if (Copy<S>::most_bytes(a, size) > resources.memory_limit())
      return Declined{"a copy of the matrix does not fit into the memory that is allowed"};
    const double columns =
        static_cast<double>(size.columns) / static_cast<double>(std::max<std::int64_t>(a.nnz(), 1));
    const bool pays = a.nnz() >= fewest_nonzeros && columns <= most_columns;
    return Cost{by_rows + copying, by_rows * (pays ? least_time + (1 - least_time) * columns : 1.2)};
  }
};

}  // namespace sporos
