// SPDX-License-Identifier: Apache-2.0
/// @file operands.hpp
/// Functions of several values in index notation: `map(f, A(i, j), B(i, j), ...)`.
///
/// The operands of a function stand side by side in nodes of their own, which say where the function is
/// applied, depending on what it declares (map.hpp). A scalar is present at every coordinate, so the other
/// operands decide where the function is applied.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "expression.hpp"
#include "map.hpp"

namespace sporos {

/// L, R: two operands of a function F; either may be an Operands node that holds several.
template <class L, class R, Presence Where, class F>
struct Operands : ExpressionBase {
  static constexpr Presence presence = Where;
  static constexpr bool is_number = L::is_number && R::is_number;

  L left;
  R right;

  Operands(L l, R r) : left(std::move(l)), right(std::move(r)) {}
  template <class A, class B>
  static Operands<A, B, Where, F> with(const A& l, const B& r) {
    return {l, r};
  }
  static std::string notation(const Phrase* of) {
    if constexpr (requires { F::infix; })
      if (F::infix)
        return of[0].within(Binding::sum) + " " + std::string(F::name()) + " " + of[1].within(Binding::sum);
    return of[0].text + ", " + of[1].text;
  }
};

namespace detail {

template <class E>
inline constexpr bool is_operands = false;
template <class L, class R, Presence Where, class F>
inline constexpr bool is_operands<Operands<L, R, Where, F>> = true;

/// The number of operands in a node.
template <class E>
constexpr int count_operands() {
  if constexpr (is_operands<E>)
    return count_operands<decltype(E::left)>() + count_operands<decltype(E::right)>();
  else
    return 1;
}

/// Whether all operands in a node are scalars.
template <class E>
constexpr bool are_scalars() {
  if constexpr (is_operands<E>)
    return are_scalars<decltype(E::left)>() && are_scalars<decltype(E::right)>();
  else
    return AnyLiteral<E>;
}
/// Whether at least one operand in a node is a scalar.
template <class E>
constexpr bool has_scalar_operand() {
  if constexpr (is_operands<E>)
    return has_scalar_operand<decltype(E::left)>() || has_scalar_operand<decltype(E::right)>();
  else
    return AnyLiteral<E>;
}

/// L and R side by side as operands of F, present where both, either or the first of them is. If one is a
/// scalar, the other alone decides.
template <class F, Presence Where, class L, class R>
auto beside(const L& left, const R& right) {
  constexpr Presence presence = are_scalars<R>()   ? Presence::first
                                : are_scalars<L>() ? Presence::second
                                                   : Where;
  return Operands<L, R, presence, F>(left, right);
}

/// Stands for no zeros: nothing is added to an operand.
struct NoZeros {};

/// An operand, made present at every coordinate of `zeros`.
template <class Zeros, class E>
auto filled_up(const E& operand, const Zeros& zeros) {
  if constexpr (std::is_same_v<Zeros, NoZeros> || are_scalars<E>())
    return operand;
  else if constexpr (is_present_everywhere<E>() && free_variables<E>().size == Zeros::names.size)
    return operand;
  else
    return Sum(operand, zeros);
}

/// All operands of F side by side, of which `left` holds the first ones. The first operand that is not a
/// scalar is filled up with zeros.
template <class F, Presence Where, class Zeros, class L, class R, class... Rest>
auto all_beside(const Zeros& zeros, const L& left, const R& right, const Rest&... rest) {
  const auto next = [&] {
    if constexpr (are_scalars<L>())
      return filled_up(right, zeros);
    else
      return right;
  }();
  const auto both = beside<F, Where>(left, next);
  if constexpr (sizeof...(Rest) == 0)
    return both;
  else
    return all_beside<F, Where>(zeros, both, rest...);
}

/// Where a function of several values is applied, given what it declares about zero.
constexpr Presence presence_at(AtZero at_zero) {
  switch (at_zero) {
    case AtZero::annihilates:
    case AtZero::skipped_unless_all:
      return Presence::all;
    case AtZero::applied:
      return Presence::first;  // which is filled up with zeros
    default:
      return Presence::any;
  }
}

template <class F, class... E>
auto map_all(const F& function, const E&... operands) {
  constexpr AtZero at_zero = at_zero_of<F>();
  constexpr Presence where = presence_at(at_zero);
  if constexpr (at_zero == AtZero::applied) {
    using Plain = decltype(all_beside<F, where>(NoZeros{}, operands...));
    const auto zeros = zeros_of<Plain>();
    return [&]<class First, class... Rest>(const First& first, const Rest&... rest) {
      return Mapped(all_beside<F, where>(zeros, filled_up(first, zeros), rest...), function);
    }(operands...);
  } else {
    return Mapped(all_beside<F, where>(NoZeros{}, operands...), function);
  }
}

template <class T>
concept ExpressionOrScalar = Expression<T> || ScalarValue<T>;

}  // namespace detail

/// f(E, G, ...) for a function f of several values, which takes the operands in this order. At least one of
/// them is not a scalar. On a device, f is a functor with device code.
///
/// Unless f declares another intention (map.hpp), it keeps zero at zero, f(0, 0, ...) = 0, and is applied
/// where any operand is present, with zero in place of the others: running the statement calls f once with
/// zeros, and with its scalars, on the host, if there may be coordinates at which no operand is present.
///
///     C(i, j) = map([](double a, double b) { return std::hypot(a, b); }, A(i, j), B(i, j))
template <class F, detail::ExpressionOrScalar First, detail::ExpressionOrScalar Second,
          detail::ExpressionOrScalar... Rest>
  requires(Expression<First> || Expression<Second> || (Expression<Rest> || ...))
auto map(F function, const First& first, const Second& second, const Rest&... rest) {
  return detail::map_all(function, as_expression(first), as_expression(second), as_expression(rest)...);
}

}  // namespace sporos
