// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The sum of two scaled sparse matrices on the GPU, as a candidate for statements.
#pragma once

#include <string_view>
#include <type_traits>

#include "../../operands/cuda/operands.hpp"
#include "../../protocol/candidate.hpp"
#include "../pattern.hpp"
#include "add.hpp"
#include "two_pass.hpp"

namespace sporos::gpu {

/// A(i, j) = ± b * B(i, j) ± c * C(i, j) with optional scalars b and c, all in CSR, by add.hpp.
struct SparseSumByMatches {
  using Pattern = AddPattern<GpuOperands>;
  static constexpr std::string_view name = "sparse sum by matches";
  static constexpr std::string_view takes =
      "A(i, j) = b * B(i, j) + c * C(i, j), with either sign, with scalars or without, all in CSR in the "
      "memory of the GPU";
  static constexpr bool deterministic = true;
  static constexpr bool replaces_nest = true;
  static constexpr double seconds_of_launch = 3e-5;
  static constexpr double seconds_of_term = 5e-12;

  template <class S>
  static constexpr bool matches =
      Pattern::matches<S> && !std::is_same_v<typename S::result_type::value_type, bool> &&
      detail::is_made_of_segments<typename S::result_type::format>;

  template <class S>
  static constexpr bool is_transposed = false;
  template <class Compute, class B, class C, class New>
  using Passes = SparseSum<Compute, B, C, New>;
  using PassesWorkspace = Workspace;
  static constexpr const char* fence_name = "sporos::add";
  static constexpr std::string_view explanation =
      "which nonzeros are in both operands, then columns and values";

  template <class S, class Sum, class To>
  static void fill(const S& statement, const Sum& sum, const To& to) {
    using Compute = detail::compute_of<S>;
    sum.fill(to, Pattern::template left_coefficient<Compute>(statement),
             Pattern::template right_coefficient<Compute>(statement));
  }

  template <class S>
  using Plan = TwoPassPlan<SparseSumByMatches, S>;
};

}  // namespace sporos::gpu
