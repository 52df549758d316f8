// SPDX-License-Identifier: Apache-2.0
/// @file zero_kept.hpp
/// Checks that functions of values that may be missing keep zero at zero: core/map.hpp.
#pragma once

#include <string>
#include <type_traits>

#include "../../core/error.hpp"
#include "../../core/map.hpp"
#include "../../core/statement.hpp"
#include "compute_type.hpp"

namespace sporos {

namespace detail {

template <class E>
inline constexpr bool is_mapped = false;
template <class E, class F>
inline constexpr bool is_mapped<Mapped<E, F>> = true;

/// Whether a node calls a function that has to keep zero and does not say that it does.
template <class E>
constexpr bool needs_zero_kept() {
  if constexpr (is_mapped<E>)
    return !DeclaresZero<decltype(E::function)> && !is_present_everywhere<decltype(E::operand)>();
  else
    return false;
}
template <class E>
constexpr bool any_needs_zero_kept() {
  return needs_zero_kept<E>() ||
         fold<E>([]<class... C>(TypeList<C...>) { return (any_needs_zero_kept<C>() || ...); });
}

[[noreturn, gnu::cold]] inline void refuse_function(const std::string& statement, const std::string& zero) {
  throw ExpressionError(
      text(statement, ": the function f of map(f, ...) makes something else of ", zero,
           ", which is the value where nothing is stored. Write map(everywhere(f), ...) to apply it to every "
           "coordinate, or map(where_stored(f), ...) to apply it to what is stored alone"));
}

template <class Compute, class S, class E>
void expect_zero_kept_in(const S& statement, const E& e) {
  if constexpr (needs_zero_kept<E>()) {
    const Compute zero{};
    const auto& number = number_of(zero);
    using Number = std::remove_cvref_t<decltype(number)>;
    if (!(static_cast<Number>(e.function(number)) == number))
      refuse_function(statement.str(), is_semiring_element_v<Compute> ? "the semiring's zero" : "zero");
  }
  if constexpr (has_one_child<E>) {
    expect_zero_kept_in<Compute>(statement, e.operand);
  } else if constexpr (has_two_children<E>) {
    expect_zero_kept_in<Compute>(statement, e.left);
    expect_zero_kept_in<Compute>(statement, e.right);
  }
}

}  // namespace detail

/// Throws ExpressionError if a function that is mapped over values that may be missing makes something else
/// of zero, and does not declare that it does.
template <class S>
void expect_zero_kept(const S& statement) {
  using Result = typename S::result_type;
  using Right = typename S::right_type;
  if constexpr (detail::any_needs_zero_kept<Right>())
    detail::expect_zero_kept_in<compute_over_t<Result, Right, typename S::schedule::semiring>>(
        statement, statement.right());
}

}  // namespace sporos
