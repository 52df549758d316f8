// SPDX-License-Identifier: Apache-2.0
/// @file demands.hpp
/// Passes on what a statement demands of its computation to a statement that computes a part of it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../core/resources.hpp"
#include "../../core/statement.hpp"

namespace sporos::detail {

/// What remains of resources for a part of a computation, besides which so many bytes are allocated.
template <class Space>
Resources<Space> besides(const Resources<Space>& resources, std::int64_t bytes) {
  if (resources.memory_limit() == Resources<Space>::unlimited) return resources;
  return resources.within(std::max<std::int64_t>(0, resources.memory_limit() - bytes));
}

/// An upper bound on the workspace of a part of a computation: of its plan once there is one, which another
/// candidate may run than the statement.
/// @param plan  std::optional or a pointer
template <class S, class PlanOfPart>
std::int64_t workspace_of_part(const S& part, const PlanOfPart& plan) {
  return plan ? plan->estimate().workspace : estimate(part).workspace;
}

/// The statement `part` with the resources of another one; deterministic, with constant operands, and
/// allowing tf32, where that is or does.
/// @param bytes  that the whole allocates besides the part
template <class S, class Part>
auto with_demands_of(const S& whole, const Part& part, std::int64_t bytes = 0) {
  const auto with_determinism = [](const auto& statement) {
    if constexpr (S::schedule::is_deterministic)
      return statement.deterministic();
    else
      return statement;
  };
  const auto with_constants = [](const auto& statement) {
    if constexpr (S::schedule::has_constant_operands)
      return statement.with_constant_operands();
    else
      return statement;
  };
  const auto with_precision = [](const auto& statement) {
    if constexpr (S::schedule::allows_tf32)
      return statement.allow_tf32();
    else
      return statement;
  };
  return with_precision(with_constants(with_determinism(part.on(besides(whole.resources(), bytes)))));
}

}  // namespace sporos::detail
