// SPDX-License-Identifier: Apache-2.0
/// @file memory.hpp
/// What a statement does when memory is short: it throws MemoryError, with the bytes that it needs and what
/// to do about them.
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

#include "../../core/error.hpp"
#include "../../core/pool.hpp"
#include "../../core/statement.hpp"
#include "../../formats/print.hpp"
#include "candidate.hpp"

namespace sporos::detail {

/// Whether an expression is present at stored coordinates of a variable only: where it is a product, one
/// factor is enough; where it is a sum, every term has to be.
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

/// The variables of a sparse result of which every coordinate is stored wherever the other variables are
/// present, since nothing on the right side bounds them.
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

/// Throws the MemoryError for a sparse result with unbounded variables.
template <class S>
[[noreturn]] void refuse_unbounded(const S& statement, const std::string& bytes) {
  constexpr NameList unbounded = unbounded_variables<S>();
  constexpr bool one = unbounded.size == 1;
  std::string extents;
  for (int at = 0; at < unbounded.size; ++at)
    extents += text(at ? " x " : "", extent_in_result(statement, unbounded[at]));
  throw MemoryError(text(statement.str(), ": nothing on the right side bounds the variable", one ? " " : "s ",
                         unbounded.str(), ", so each of ", one ? "its " : "their ", extents,
                         " coordinates is stored, which takes ", bytes, "; this machine has ",
                         bytes_text(Pool::machine_bytes()), ". Multiply by a sparse operand that has ",
                         unbounded.str(), ", or compute it in parts"));
}

/// Throws MemoryError if a plan may need more memory than the statement's resources allow; or, if its sparse
/// result has variables that nothing bounds, more than the machine has.
template <class K, class P, class S>
void expect_within_limit(const P& plan, const S& statement) {
  constexpr std::int64_t unlimited = Resources<typename S::space_type>::unlimited;
  constexpr NameList unbounded = unbounded_variables<S>();
  const std::int64_t limit = statement.resources().memory_limit();
  if (unbounded.size == 0 && limit == unlimited) return;
  if constexpr (unbounded.size > 0) {
    // The plan's own bound may take a loop over these variables.
    double values = sizeof(typename S::result_type::value_type);
    for (int at = 0; at < unbounded.size; ++at)
      values *= static_cast<double>(extent_in_result(statement, unbounded[at]));
    if (values > static_cast<double>(Pool::machine_bytes()))
      refuse_unbounded(statement, "more than there is");
  }
  const Bytes bytes = plan.bytes();
  const std::int64_t result = S::result_type::format::is_dense ? 0 : bytes.result;
  // Both are bounds, which may be very large.
  const std::int64_t needed = result > unlimited - bytes.workspace ? unlimited : result + bytes.workspace;
  if (needed > limit)
    throw MemoryError(text(statement.str(), ": ", K::name, " needs up to ",
                           needed_text(result, bytes.workspace), ", but ", bytes_text(limit), " (", limit,
                           " bytes) are allowed: raise the bound of .on(resources.within(bytes)), or ",
                           cure<K>()));
  if constexpr (unbounded.size > 0)
    if (result > Pool::machine_bytes())
      refuse_unbounded(statement, "up to " + needed_text(result, bytes.workspace));
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
