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

  /// The copy pays off only in plans.
  template <class S>
  static Offer cost(const S& statement, const Resources<typename S::space_type>& resources, Use use) {
    constexpr std::int64_t fewest_nonzeros = 1024;
    constexpr double seconds_of_copying = 3e-9;
    const auto a = detail::sparse_rows(Pattern::sparse(statement).tensor());
    if (a.rows > detail::most_rows_in_slices) return Declined{"the matrix has too many rows"};
    const double by_rows = detail::expected_terms(statement) * SpmvByRows::seconds_of_term;
    const double copying = static_cast<double>(a.nnz()) * seconds_of_copying;
    if (use == Use::once) return Cost{by_rows + copying};
    const std::int64_t padded = Copy<S>::padded_elements(a);
    if (Copy<S>::bytes(a.rows, padded) > resources.memory_limit())
      return Declined{"a copy of the matrix does not fit into the memory that is allowed"};
    const double most_padding = detail::slice_form().rows == 8 ? 1.5 : 1.2;
    const bool is_small = static_cast<double>(padded) <= most_padding * static_cast<double>(a.nnz());
    return Cost{by_rows + copying,
                by_rows * (is_small && a.nnz() >= fewest_nonzeros ? share_of_time(a) : not_chosen)};
  }

 private:
  static constexpr double not_chosen = 1.1;

  /// The time of a product by slices, as a share of that by rows.
  template <class Rows>
  static double share_of_time(const Rows& a) {
    using Sum = detail::ScalarRowSum<typename Rows::value_type, typename Rows::coordinate_type>;
    constexpr std::int64_t bytes = sizeof(*a.values) + sizeof(*a.coordinates);
    constexpr std::int64_t near_bytes = std::int64_t{3} << 20;
    const bool is_near = a.nnz() * bytes <= near_bytes;
    // Where eight elements are gathered at once, slices save the sum of a row's lanes. Rows of one or two
    // elements are gathered eight at a time without being copied (LaneSums::store_short_rows).
    const detail::SliceForm form = detail::slice_form();
    if (form.rows == 8) return is_near && a.nnz() >= 3 * a.rows ? 0.65 : not_chosen;
    constexpr std::int64_t long_row = 48;
    if (form.gathers && is_near) return a.nnz() < long_row * a.rows ? 0.8 : not_chosen;
    // Elsewhere they save the mispredicted branch of a short row, or forming all products of a block of rows
    // before the sums. On AMD's processors with AVX-512, small matrices' rows are remembered.
    if (a.nnz() >= Sum::least_in_lanes * a.rows) return not_chosen;
    if (detail::has_regular_rows(a)) return detail::gathers_slowly() && is_near ? 0.9 : not_chosen;
    constexpr std::int64_t most_remembered = 8192;
    return detail::gathers_slowly() && detail::gathers_far_fast() && a.rows <= most_remembered ? not_chosen
                                                                                               : 0.9;
  }
};

}  // namespace sporos
