// SPDX-License-Identifier: Apache-2.0
/// @file slices_candidate.hpp
/// The product of a sparse matrix and a vector on the host, for plans that keep the matrix in slices.
#pragma once

#include <cstdint>
#include <string_view>

#include "../../nest/work.hpp"
#include "../../protocol/candidate.hpp"
#include "candidate.hpp"
#include "copied_matrix_plan.hpp"
#include "form.hpp"
#include "row_sums.hpp"
#include "slices.hpp"

namespace sporos {

/// y(i) = A(i, j) * x(j), with A in CSR, x and y dense, all in host memory, in plans of statements with
/// `.with_constant_operands()`: the first run copies A into slices (slices.hpp). The vectors may change.
struct SpmvBySlices : detail::SpmvOfCopiedMatrix<detail::Slices> {
  static constexpr std::string_view name = "SpMV by slices";

  /// The copy pays off only in plans, and only if slices have little padding and rows are short and of
  /// unpredictable lengths: slices save one mispredicted branch per row, or forming all products of a block
  /// of rows before the sums. If gathering eight elements is fast, SpmvByRows sums rows of any length without
  /// branches and without padding.
  template <class S>
  static Offer cost(const S& statement, const Resources<typename S::space_type>& resources, Use use) {
    constexpr std::int64_t fewest_nonzeros = 1024;
    constexpr std::int64_t long_row =
        detail::ScalarRowSum<typename Matrix<S>::value_type,
                             typename Matrix<S>::coordinate_type>::least_in_lanes;
    constexpr double most_padding = 1.2, seconds_of_copying = 3e-9;
    const auto a = detail::sparse_rows(Pattern::sparse(statement).tensor());
    if (a.rows > detail::most_rows_in_slices) return Declined{"the matrix has too many rows"};
    const double by_rows = detail::expected_terms(statement) * SpmvByRows::seconds_of_term;
    const double copying = static_cast<double>(a.nnz()) * seconds_of_copying;
    if (use == Use::once) return Cost{by_rows + copying};
    const std::int64_t padded = Copy<S>::padded_elements(a);
    if (Copy<S>::bytes(a.rows, padded) > resources.memory_limit())
      return Declined{"a copy of the matrix does not fit into the memory that is allowed"};
    const bool pays = a.nnz() >= fewest_nonzeros && a.nnz() < long_row * a.rows &&
                      !detail::has_regular_rows(a) && !detail::gathers_eight_fast() &&
                      static_cast<double>(padded) <= most_padding * static_cast<double>(a.nnz());
    return Cost{by_rows + copying, by_rows * (pays ? 0.9 : 1.1)};
  }
};

}  // namespace sporos
