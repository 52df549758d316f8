// SPDX-License-Identifier: Apache-2.0
/// @file memory.hpp
/// What a statement does when memory is short: it throws MemoryError, with the bytes that it needs and what
/// to do about them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "../../core/error.hpp"
#include "../../core/pool.hpp"
#include "../../core/statement.hpp"
#include "../../formats/print.hpp"
#include "candidate.hpp"

namespace sporos::detail {

/// The first variable of a sparse result that no operand bounds: every coordinate of it is stored wherever
/// the other variables are present. A blank if there is none.
template <class S>
constexpr char unbounded_variable() {
  using Result = typename S::result_type;
  if constexpr (!Result::format::is_dense) {
    const auto bounds = [](char variable) {
      return [&]<class... A>(TypeList<A...>) {
        [[maybe_unused]] const auto walks = [&]<class One>(const One*) {
          for (int k = 0; k < One::level_names.size; ++k)
            if (One::level_names[k] == variable && !One::format::properties[static_cast<std::size_t>(k)].full)
              return true;
          return false;
        };
        return (walks(static_cast<const A*>(nullptr)) || ...);
      }(accesses_of<typename S::right_type>{});
    };
    for (int k = 0; k < Result::level_names.size; ++k)
      if (!Result::format::properties[static_cast<std::size_t>(k)].full && !bounds(Result::level_names[k]))
        return Result::level_names[k];
  }
  return ' ';
}

/// The extent of one of the result's variables.
template <class S>
std::int64_t extent_in_result(const S& statement, char variable) {
  return statement.result().tensor().extent(S::result_type::names.find(variable));
}

/// "8.0 TiB (8796093022208 bytes: …)"
inline std::string needed_text(std::int64_t result, std::int64_t workspace) {
  return text(bytes_text(result + workspace), " (", result + workspace, " bytes: ", result,
              " for the result, ", workspace, " of workspace)");
}

/// How to make a statement run in less memory.
template <class K>
std::string cure() {
  if constexpr (requires { K::less_memory; })
    return std::string(K::less_memory);
  else
    return "compute it in parts, or choose another loop order with .reorder(...)";
}

/// Throws MemoryError if a plan may need more memory than the statement's resources allow; or, if its sparse
/// result has a variable that no operand bounds, more than the machine has.
template <class K, class P, class S>
void expect_within_limit(const P& plan, const S& statement) {
  constexpr std::int64_t unlimited = Resources<typename S::space_type>::unlimited;
  constexpr char unbounded = unbounded_variable<S>();
  const std::int64_t limit = statement.resources().memory_limit();
  if (unbounded == ' ' && limit == unlimited) return;
  const Bytes bytes = plan.bytes();
  const std::int64_t result = S::result_type::format::is_dense ? 0 : bytes.result;
  // Both are bounds, which may be very large.
  const std::int64_t needed = result > unlimited - bytes.workspace ? unlimited : result + bytes.workspace;
  if (needed > limit)
    throw MemoryError(text(statement.str(), ": ", K::name, " needs up to ",
                           needed_text(result, bytes.workspace), ", but ", bytes_text(limit), " (", limit,
                           " bytes) are allowed: raise the bound of .on(resources.within(bytes)), or ",
                           cure<K>()));
  if constexpr (unbounded != ' ')
    if (result > Pool::machine_bytes())
      throw MemoryError(text(statement.str(), ": no operand that stores coordinates has the variable ",
                             unbounded, ", so each of its ", extent_in_result(statement, unbounded),
                             " coordinates is stored, which takes up to ",
                             needed_text(result, bytes.workspace), "; this machine has ",
                             bytes_text(Pool::machine_bytes()), ". Multiply by a sparse operand that has ",
                             unbounded, ", or compute it in parts"));
}

/// Calls f(), which runs a plan, and throws MemoryError where it runs out of memory.
template <class K, class P, class S, class F>
void within_memory(const P& plan, const S& statement, const F& f) {
  const auto refuse = [&] {
    std::string needs = "ran out of memory";
    try {
      const Bytes bytes = plan.bytes();
      needs = text("needs up to ",
                   needed_text(S::result_type::format::is_dense ? 0 : bytes.result, bytes.workspace),
                   ", which cannot be allocated");
    } catch (const std::bad_alloc&) {  // the bound needs memory too
    }
    throw MemoryError(text(statement.str(), ": ", K::name, ' ', needs, ": ", cure<K>()));
  };
  try {
    f();
  } catch (const std::bad_alloc&) {
    refuse();
  } catch (const std::length_error&) {  // a container of more elements than there are addresses
    refuse();
  }
}

}  // namespace sporos::detail
