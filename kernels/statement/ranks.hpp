// SPDX-License-Identifier: Apache-2.0
/// @file ranks.hpp
/// Statements on tensors that are distributed over processes: where they leave the path of all others.
#pragma once

#include <type_traits>
#include <utility>

#include "../../core/expression.hpp"
#include "../../core/statement.hpp"

namespace sporos {

/// Whether a tensor of the statement is distributed.
template <class S>
inline constexpr bool is_distributed_statement =
    detail::any_is_distributed(accesses_of<typename S::right_type>{} + TypeList<typename S::result_type>{});

/// What distributed/statement.hpp defines for such statements:
///
///     candidates                  the TypeList of the candidates that run them
///     jointly(statement, f)       f(), which fails on all ranks if on one
///     explain(statement)          what `explain` says of them
template <class S>
struct AcrossRanks;

namespace detail {

/// f(), a step of a statement.
template <class S, class F>
decltype(auto) step_of(const S& statement, F&& f) {
  if constexpr (is_distributed_statement<S>)
    return AcrossRanks<S>::jointly(statement, std::forward<F>(f));
  else
    return std::forward<F>(f)();
}

}  // namespace detail

}  // namespace sporos
