// SPDX-License-Identifier: Apache-2.0
/// @file demands.hpp
/// Passes on what a statement demands of its computation to a statement that computes a part of it.
#pragma once

#include "../../core/statement.hpp"

namespace sporos::detail {

/// The statement `part` with the resources of another one; deterministic, and with constant operands, where
/// that is.
template <class S, class Part>
auto with_demands_of(const S& whole, const Part& part) {
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
  return with_constants(with_determinism(part.on(whole.resources())));
}

}  // namespace sporos::detail
