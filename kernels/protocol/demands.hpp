// SPDX-License-Identifier: Apache-2.0
/// @file demands.hpp
/// Passes the demands of a statement on its computation to a statement that computes a part of it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../core/resources.hpp"
#include "../../core/statement.hpp"

namespace sporos::detail {

/// The resources that are left for a part of a computation if `bytes` bytes are allocated besides.
template <class Space>
Resources<Space> besides(const Resources<Space>& resources, std::int64_t bytes) {
  if (resources.memory_limit() == Resources<Space>::unlimited) return resources;
  return resources.within(std::max<std::int64_t>(0, resources.memory_limit() - bytes));
}

/// An upper bound on the workspace of a part of a computation. Once the part has a plan, the plan is asked,
/// because another candidate may run it than the statement.
/// @param plan  std::optional or a pointer
template <class S, class PlanOfPart>
std::int64_t workspace_of_part(const S& part, const PlanOfPart& plan) {
  return plan ? plan->estimate().workspace : estimate(part).workspace;
}

/// The statement `part` with the resources of `whole`; deterministic, with constant operands, or allowing
/// tf32 if `whole` is or does.
/// @param bytes  bytes that the whole allocates besides the part
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
