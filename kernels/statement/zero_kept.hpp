// SPDX-License-Identifier: Apache-2.0
/// @file zero_kept.hpp
/// Checks that functions of values that may be missing keep zero at zero: core/map.hpp.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "../../core/error.hpp"
#include "../../core/number_type.hpp"
#include "../../core/operands.hpp"
#include "../../core/statement.hpp"
#include "../nest/stream/function.hpp"
#include "../protocol/compute_type.hpp"

namespace sporos {

namespace detail {

template <class E>
inline constexpr bool is_mapped = false;
template <class E, class F>
inline constexpr bool is_mapped<Mapped<E, F>> = true;

/// Whether a node calls a function that must keep zero, and that does not say that it does. What a function
/// returns for zeros and a scalar is known only by calling it.
template <class E>
constexpr bool needs_zero_kept() {
  if constexpr (is_mapped<E>) {
    using F = decltype(E::function);
    using Operand = decltype(E::operand);
    if (is_present_everywhere<Operand>()) return false;
    if (is_operands<Operand> && has_scalar_operand<Operand>())
      return at_zero_of<F>() == AtZero::kept || at_zero_of<F>() == AtZero::identity;
    return !DeclaresZero<F>;
  } else {
    return false;
  }
}
template <class E>
constexpr bool any_needs_zero_kept() {
  return needs_zero_kept<E>() ||
         fold<E>([]<class... C>(TypeList<C...>) { return (any_needs_zero_kept<C>() || ...); });
}

/// Throws the ExpressionError for a function that does not keep zero.
/// @param function  "the function f of map(f, ...)"
/// @param f         the function as it is passed to map
[[noreturn, gnu::cold]] inline void refuse_function(const std::string& statement, std::string_view function,
                                                    std::string_view f, std::string_view zero) {
  throw ExpressionError(text(statement, ": ", function, " makes something else of ", zero,
                             ", which is the value where nothing is stored. Write map(everywhere(", f,
                             "), ...) to apply it to every coordinate, or map(where_stored(", f,
                             "), ...) to apply it to what is stored alone"));
}

/// The operands of a function where none of them is present: zeros and scalars.
template <class Compute, class E>
auto operands_at_zero(const E& e) {
  if constexpr (is_operands<E>)
    return std::tuple_cat(operands_at_zero<Compute>(e.left), operands_at_zero<Compute>(e.right));
  else if constexpr (AnyLiteral<E>)
    return std::tuple(static_cast<Compute>(e.value));
  else
    return std::tuple(Compute{});
}

template <class Compute, class S, class E>
void expect_zero_kept_in(const S& statement, const E& e) {
  using Inside = std::conditional_t<E::gives_real, type_inside_t<Compute, E>, Compute>;
  if constexpr (needs_zero_kept<E>()) {
    const auto value = std::apply(
        [&](const auto&... operands) { return stream::value_of_function<Compute>(e.function, operands...); },
        operands_at_zero<Inside>(e.operand));
    if (!(number_of(value) == number_of(Compute{}))) {
      constexpr std::string_view zero = is_semiring_element_v<Compute> ? "the semiring's zero" : "zero";
      using F = decltype(E::function);
      if constexpr (requires { F::functor(); })
        refuse_function(statement.str(), F::name(), F::functor(), zero);
      else
        refuse_function(statement.str(), "the function f of map(f, ...)", "f", zero);
    }
  }
  if constexpr (has_one_child<E>) {
    expect_zero_kept_in<Inside>(statement, e.operand);
  } else if constexpr (has_two_children<E>) {
    expect_zero_kept_in<Inside>(statement, e.left);
    expect_zero_kept_in<Inside>(statement, e.right);
  }
}

}  // namespace detail

/// Throws ExpressionError if a function is mapped over values that may be missing, and maps zero to something
/// else without declaring that it does.
template <class S>
void expect_zero_kept(const S& statement) {
  using Result = typename S::result_type;
  using Right = typename S::right_type;
  if constexpr (detail::any_needs_zero_kept<Right>())
    detail::expect_zero_kept_in<compute_over_t<Result, Right, typename S::schedule::semiring>>(
        statement, statement.right());
}

}  // namespace sporos
