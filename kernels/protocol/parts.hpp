// SPDX-License-Identifier: Apache-2.0
/// @file parts.hpp
/// What a candidate may ask of the layer above about a statement that computes a part of its own: its cost,
/// its memory, a plan of it, and the candidate that will run it. Defined in kernels/statement/.
#pragma once

#include <cstdint>

#include "../../core/statement.hpp"
#include "candidate.hpp"

namespace sporos {

struct Estimate;

template <class S>
class Plan;

template <class S>
Cost least_cost(const S& statement);

// R has no default: nvcc would write it once more where the function is defined.
template <class R, class S, class F>
R with_candidate(const S& statement, Use use, const F& f);

template <class Result, class Right, class Order, class Options>
Estimate estimate(const Statement<Result, Right, Order, Options>& statement);

namespace detail {

/// An upper bound on the workspace of a part of a computation: of its plan once there is one, which another
/// candidate may run than the statement.
/// @param plan  std::optional or a pointer
template <class S, class PlanOfPart>
std::int64_t workspace_of_part(const S& part, const PlanOfPart& plan) {
  return plan ? plan->estimate().workspace : estimate(part).workspace;
}

}  // namespace detail

}  // namespace sporos
