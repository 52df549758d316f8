// SPDX-License-Identifier: Apache-2.0
/// @file memory.hpp
/// What a statement does when memory is short: it throws MemoryError, with the bytes that it needs and what
/// to do about them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "../../core/error.hpp"
#include "../../core/function_ref.hpp"
#include "../../core/pool.hpp"
#include "../../core/statement.hpp"
#include "../../formats/print.hpp"
#include "../../workspace/memory_budget.hpp"
#include "../protocol/candidate.hpp"

namespace sporos::detail {

/// Whether an expression is present only at stored coordinates of a variable: in a product, one such factor
/// is enough; in a sum, every term must be such.
template <class E>
constexpr bool is_sparse_in(char variable) {
  if constexpr (AnyAccess<E>) {
    for (int k = 0; k < E::level_names.size; ++k)
      if (E::level_names[k] == variable && !E::format::properties[static_cast<std::size_t>(k)].full)
        return true;
    return false;
  } else if constexpr (!has_children<E>) {
    return false;
  } else {
    return fold<E>([&]<class... C>(TypeList<C...>) {
      const bool in[] = {is_sparse_in<C>(variable)..., false};
      return sizeof...(C) == 1 ? in[0] : is_bounded_by(presence_of<E>(), in[0], in[1]);
    });
  }
}

/// The variables of a sparse result that nothing on the right side bounds, so that all of their coordinates
/// are stored wherever the other variables are present.
template <class S>
constexpr NameList unbounded_variables() {
  using Result = typename S::result_type;
  NameList out;
  for (int k = 0; k < Result::level_names.size; ++k)
    if (!Result::format::properties[static_cast<std::size_t>(k)].full &&
        !is_sparse_in<typename S::right_type>(Result::level_names[k]))
      out.push_new(Result::level_names[k]);
  return out;
}

/// "8.0 TiB (8796093022208 bytes: …)"
inline std::string needed_text(std::int64_t result, std::int64_t workspace) {
  return text(bytes_text(result + workspace), " (", result + workspace, " bytes: ", result,
              " for the result, ", workspace, " of workspace)");
}

/// The bytes that a plan may allocate: its workspace, and its result's arrays if run() makes them, which it
/// does only if the result is sparse. Both are upper bounds, which may be very large.
inline std::int64_t most_allocated(const Bytes& bytes, bool makes_result) {
  constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
  const std::int64_t result = makes_result ? bytes.result : 0;
  return result > unlimited - bytes.workspace ? unlimited : result + bytes.workspace;
}

/// How to make a statement run in less memory.
template <class K>
std::string cure() {
  if constexpr (requires { K::less_memory; })
    return std::string(K::less_memory);
  else
    return "compute it in parts, or choose another loop order with .reorder(...)";
}

/// What the checks of memory know about a plan and its statement, in one type for all plans.
struct PlanMemory {
  StatementText statement;
  std::string_view candidate;
  std::string (*cure)();
  FunctionRef<Bytes()> bytes;  ///< the plan's own bound
  bool makes_result;           ///< whether run() makes the result's arrays: only if it is sparse

  template <class K, class S>
  static PlanMemory of(const StatementText& statement, const FunctionRef<Bytes()>& bytes) {
    return {statement, K::name, &sporos::detail::cure<K>, bytes, !S::result_type::format::is_dense};
  }
  std::int64_t result(const Bytes& of) const { return makes_result ? of.result : 0; }
};

/// The bytes that a plan allocates to find the bound on what it allocates.
template <class P>
std::int64_t bytes_to_plan(const P& plan) {
  if constexpr (requires { plan.bytes_to_plan(); })
    return plan.bytes_to_plan();
  else
    return 0;
}

/// Throws MemoryError for a plan whose own making needs more memory than is allowed.
[[noreturn, gnu::cold]] inline void refuse_to_plan(const StatementText& statement, std::string_view candidate,
                                                   std::int64_t bytes, std::int64_t limit,
                                                   const std::string& cure) {
  throw MemoryError(text(statement.str(), ": ", candidate, " needs up to ", bytes_text(bytes), " (", bytes,
                         " bytes) before it can tell how much its result takes, but ", bytes_text(limit),
                         " (", limit,
                         " bytes) are allowed: raise the bound of .on(resources.within(bytes)), or ", cure));
}

/// Variables of a sparse result that nothing on the right side bounds, and their extents.
struct Unbounded {
  NameList variables;
  std::array<std::int64_t, NameList::capacity> extents{};
};

/// Throws a MemoryError for a sparse result with unbounded variables.
[[noreturn, gnu::cold]] inline void refuse_unbounded(const PlanMemory& plan, const Unbounded& unbounded,
                                                     const std::string& bytes) {
  const bool one = unbounded.variables.size == 1;
  std::string extents;
  for (int at = 0; at < unbounded.variables.size; ++at)
    extents += text(at ? " x " : "", unbounded.extents[static_cast<std::size_t>(at)]);
  throw MemoryError(text(
      plan.statement.str(), ": nothing on the right side bounds the variable", one ? " " : "s ",
      unbounded.variables.str(), ", so each of ", one ? "its " : "their ", extents,
      " coordinates is stored, which takes ", bytes, "; this machine has ", bytes_text(Pool::machine_bytes()),
      ". Multiply by a sparse operand that has ", unbounded.variables.str(), ", or compute it in parts"));
}

/// Throws MemoryError if a plan may need more than `limit` bytes, or than the machine has for unbounded
/// variables.
/// @param value_bytes  bytes of one value of the result
inline void expect_within_limit(const PlanMemory& plan, std::int64_t limit, const Unbounded& unbounded,
                                std::size_t value_bytes) {
  const bool is_unbounded = unbounded.variables.size > 0;
  // Computing the plan's own bound may take a loop over these variables.
  double values = static_cast<double>(value_bytes);
  for (int at = 0; at < unbounded.variables.size; ++at)
    values *= static_cast<double>(unbounded.extents[static_cast<std::size_t>(at)]);
  if (is_unbounded && values > static_cast<double>(Pool::machine_bytes()))
    refuse_unbounded(plan, unbounded, "more than there is");
  const Bytes bytes = plan.bytes();
  const std::int64_t result = plan.result(bytes);
  if (most_allocated(bytes, plan.makes_result) > limit)
    throw MemoryError(text(plan.statement.str(), ": ", plan.candidate, " needs up to ",
                           needed_text(result, bytes.workspace), ", but ", bytes_text(limit), " (", limit,
                           " bytes) are allowed: raise the bound of .on(resources.within(bytes)), or ",
                           plan.cure()));
  // Bounds count arrays that grow several times over. What is certain to be there at once is the result and
  // the pieces that it is joined from.
  const double peak = static_cast<double>(result) + static_cast<double>(std::min(bytes.workspace, result));
  if (is_unbounded && peak > static_cast<double>(Pool::machine_bytes()))
    refuse_unbounded(plan, unbounded, "up to " + needed_text(result, bytes.workspace));
}

/// Throws MemoryError if a plan may need more memory, for its result and its workspace, than the statement's
/// resources allow; or, if its sparse result has variables that nothing bounds, and it would fill the
/// machine's.
template <class K, class P, class S>
void expect_within_limit(const P& plan, const S& statement) {
  static_assert(Resources<typename S::space_type>::unlimited == std::numeric_limits<std::int64_t>::max());
  constexpr NameList variables = unbounded_variables<S>();
  const std::int64_t limit = statement.resources().memory_limit();
  if (variables.size == 0 && limit == Resources<typename S::space_type>::unlimited) return;
  Unbounded unbounded{variables};
  for (int at = 0; at < variables.size; ++at)
    unbounded.extents[static_cast<std::size_t>(at)] =
        statement.result().tensor().extent(S::result_type::names.find(variables[at]));
  if (const std::int64_t to_plan = bytes_to_plan(plan); to_plan > limit)
    refuse_to_plan(statement, K::name, to_plan, limit, cure<K>());
  const auto bytes = [&] { return plan.bytes(); };
  expect_within_limit(PlanMemory::of<K, S>(statement, bytes), limit, unbounded,
                      sizeof(typename S::result_type::value_type));
}

/// Throws MemoryError in place of the exception that is being handled, if that one says that memory ran out.
[[noreturn, gnu::cold]] inline void refuse_exhausted(const PlanMemory& plan) {
  const auto refuse = [&] {
    std::string needs = "ran out of memory";
    try {
      const Bytes bytes = plan.bytes();
      needs = text("needs up to ", needed_text(plan.result(bytes), bytes.workspace),
                   ", which cannot be allocated");
    } catch (const std::bad_alloc&) {  // the bound needs memory too
    }
    throw MemoryError(text(plan.statement.str(), ": ", plan.candidate, ' ', needs, ": ", plan.cure()));
  };
  try {
    throw;
  } catch (const std::bad_alloc&) {
    refuse();
  } catch (const std::length_error&) {  // a container with more elements than there are addresses
    refuse();
  }
  throw;
}

/// Throws MemoryError for a workspace that has exceeded the memory limit in its settings.
/// @param enough  a limit that is enough for the statement
[[noreturn, gnu::cold]] inline void refuse_limit(const StatementText& statement, std::string_view candidate,
                                                 std::int64_t limit, std::int64_t enough,
                                                 const std::string& cure) {
  throw MemoryError(text(statement.str(), ": ", candidate, " needs up to ", enough,
                         " bytes for each workspace, and the memory limit of .workspace(...) allows ", limit,
                         " bytes: set memory_limit to as many as are needed, or ", cure));
}

/// Calls f(), which runs a plan, and throws MemoryError if it runs out of memory.
template <class K, class P, class S, class F>
void within_memory(const P& plan, const S& statement, const F& f) {
  try {
    f();
  } catch (const WorkspaceLimitError& error) {
    if constexpr (requires { plan.enough_limit(); })
      refuse_limit(statement, K::name, error.limit(), plan.enough_limit(), cure<K>());
    throw;
  } catch (const std::exception&) {
    const auto bytes = [&] { return plan.bytes(); };
    refuse_exhausted(PlanMemory::of<K, S>(statement, bytes));
  }
}

}  // namespace sporos::detail
