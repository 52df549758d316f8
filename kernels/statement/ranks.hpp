// SPDX-License-Identifier: Apache-2.0
/// @file ranks.hpp
/// The steps of a statement: how they run on one process, and where statements on tensors that are
/// distributed over several processes take a path of their own.
#pragma once

#include <cstdint>
#include <new>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/expression.hpp"
#include "../../core/pool.hpp"
#include "../../core/statement.hpp"
#include "../../formats/print.hpp"

namespace sporos {

/// Whether a tensor of the statement is distributed.
template <class S>
inline constexpr bool is_distributed_statement =
    detail::any_is_distributed(accesses_of<typename S::right_type>{} + TypeList<typename S::result_type>{});

/// What distributed/statement.hpp defines for such statements:
///
///     candidates                  the TypeList of the candidates that run them
///     jointly(statement, f)       calls f(), which fails on all ranks if on any
///     explain(statement)          what `explain` says of them
template <class S>
struct AcrossRanks;

namespace detail {

[[noreturn, gnu::cold]] inline void refuse_without_memory(const StatementText& statement,
                                                          std::span<const AccessView> tensors) {
  const std::int64_t bytes = operand_bytes(tensors);
  throw MemoryError(text(statement.str(), ": there is no memory to plan it beside its tensors, of ",
                         bytes_text(bytes), " (", bytes, " bytes); this machine has ",
                         bytes_text(Pool::machine_bytes()), ". Free some memory, or compute it in parts"));
}

/// Calls f(), a step of a statement.
/// @throws MemoryError if memory cannot be allocated for anything but a candidate's plan
template <class S, class F>
decltype(auto) step_of(const S& statement, F&& f) {
  if constexpr (is_distributed_statement<S>) {
    return AcrossRanks<S>::jointly(statement, std::forward<F>(f));
  } else {
    try {
      return std::forward<F>(f)();
    } catch (const std::bad_alloc&) {
      refuse_without_memory(statement, views_of_tensors(statement));
    } catch (const std::length_error&) {
      refuse_without_memory(statement, views_of_tensors(statement));
    }
  }
}

}  // namespace detail

}  // namespace sporos
