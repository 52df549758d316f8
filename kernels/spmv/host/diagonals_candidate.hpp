// SPDX-License-Identifier: Apache-2.0
/// @file diagonals_candidate.hpp
/// The product of a sparse matrix and a vector on the host, for plans that keep the matrix in diagonals.
#pragma once

#include <cstdint>
#include <string_view>

#include "../../nest/work.hpp"
#include "../../protocol/candidate.hpp"
#include "block_diagonals.hpp"
#include "candidate.hpp"
#include "copied_matrix_plan.hpp"

namespace sporos {

/// y(i) = A(i, j) * x(j), with A in CSR, x and y dense, all in host memory, in plans of statements with
/// `.with_constant_operands()`: the first run copies A into diagonals of blocks of rows
/// (block_diagonals.hpp). The vectors may change.
struct SpmvByDiagonals : detail::SpmvOfCopiedMatrix<detail::BlockDiagonals> {
  static constexpr std::string_view name = "SpMV by diagonals";

  /// The copy pays off only in plans. Blocks of few diagonals, such as all those of a matrix from a grid,
  /// take two thirds of the memory, half of it in float, and no element is gathered.
  template <class S>
  static Offer cost(const S& statement, const Resources<typename S::space_type>& resources, Use use) {
    constexpr std::int64_t fewest_nonzeros = 1024;
    constexpr double least_share = 0.05, saved = 0.5, seconds_of_copying = 4e-9;
    const auto a = detail::sparse_rows(Pattern::sparse(statement).tensor());
    const double by_rows = detail::expected_terms(statement) * SpmvByRows::seconds_of_term;
    const double copying = static_cast<double>(a.nnz()) * seconds_of_copying;
    if (use == Use::once) return Cost{by_rows + copying};
    if (Copy<S>::most_bytes(a) > resources.memory_limit())
      return Declined{"a copy of the matrix does not fit into the memory that is allowed"};
    const double share = a.nnz() >= fewest_nonzeros ? Copy<S>::share_in_diagonals(a) : 0;
    // With too few nonzeros in diagonals, the cost exceeds that of SpmvByRows, so that this is not chosen.
    return Cost{by_rows + copying, by_rows * (share >= least_share ? 1 - saved * share : 1.2)};
  }
};

}  // namespace sporos
