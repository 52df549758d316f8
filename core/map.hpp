// SPDX-License-Identifier: Apache-2.0
/// @file map.hpp
/// Functions of values in index notation, `map(f, A(i, j))` and `map(f, A(i, j), B(i, j))`, and how they
/// treat coordinates that are not stored.
///
/// What a tensor does not store is zero, so a function that maps zero to something else would give different
/// results for different formats. By default, therefore, a function must keep zero at zero, which is checked
/// before the statement runs. A function that does not says what it means:
///
///     map([](double x) { return 2 * x; }, A(i, j))                    keeps zero
///     map(everywhere([](double x) { return x + 1; }), A(i, j))        applied to every coordinate
///     map(where_stored([](double) { return 1; }), A(i, j))            1 where A stores a value
///
/// A function of several values that keeps zero, f(0, 0) = 0, is applied where any of its operands stores a
/// value, with zero in place of those that do not. If it promises more about zero, fewer coordinates are
/// visited, or it is called less often:
///
///     map(f, A(i, j), B(i, j))                          f(0, 0) = 0              where A or B stores a value
///     map(annihilated_by_zero(f), A(i, j), B(i, j))     f(x, 0) = f(0, y) = 0    where both do
///     map(zero_is_identity(f), A(i, j), B(i, j))        f(x, 0) = x, f(0, y) = y where A or B does; f is
///                                                                                called where both do
///     map(everywhere(f), A(i, j), B(i, j))              anything                 at every coordinate
///     map(where_stored(f), A(i, j), B(i, j))            anything                 where A or B does
///     map(where_all_stored(f), A(i, j), B(i, j))        anything                 where both do
///
/// A function should not throw. If it does, on the host, the statement ends with its exception, whichever
/// thread met it. A sparse result is then as it was, but what is written in place holds old values, new ones
/// and parts of sums: a dense result, and the values that a plan computes anew in the pattern of a sparse
/// one.
///
/// Inside a functor with `static constexpr bool gives_real = true`, whose values are real numbers, complex
/// operands are computed with as such, and the result may be real.
///
/// After Henry, Hsu, Yadav, Chou, Olukotun, Amarasinghe, Kjolstad, *Compilation of Sparse Array Programming
/// Models* (OOPSLA 2021), section 4, whose annihilators and identities are zeros here.
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>

#include "expression.hpp"
#include "inline.hpp"

namespace sporos {

/// What a function does at coordinates that its operand does not store.
enum class AtZero {
  kept,     ///< f(0, 0) = 0, so there is nothing to do where no operand is stored
  applied,  ///< coordinates that are not stored take the value f(0, 0)
  skipped,  ///< nothing where no operand is stored, whatever f(0, 0) is: the result depends on what is stored
  // For functions of several values:
  annihilates,        ///< f is zero wherever one of its operands is
  identity,           ///< f(x, 0) = x and f(0, y) = y, so that f need not be called
  skipped_unless_all  ///< nothing unless all operands are stored, whatever f makes of zero
};

namespace detail {

template <class F, AtZero At>
struct DeclaredFunction {
  static constexpr AtZero at_zero = At;
  F function;

  SPOROS_MAY_CALL_HOST
  template <class... T>
  SPOROS_INLINE auto operator()(const T&... values) const {
    return function(values...);
  }
};

/// A function that is applied where any operand is stored, with `fill` in place of those that are not.
template <class F, class T>
struct FilledFunction : DeclaredFunction<F, AtZero::skipped> {
  T fill;
};

/// Whether a function declares what it does at zero. A functor may do so itself, with a member `at_zero`.
template <class F>
concept DeclaresZero = requires {
  { F::at_zero } -> std::convertible_to<AtZero>;
};
template <class F>
constexpr AtZero at_zero_of() {
  if constexpr (DeclaresZero<F>)
    return F::at_zero;
  else
    return AtZero::kept;
}

/// Whether a node may be absent where its operands are present.
template <class E>
inline constexpr bool drops_values = requires { requires E::drops_values; };

/// Whether a node has a value at every coordinate, by type.
template <class E>
constexpr bool is_present_everywhere() {
  if constexpr (AnyAccess<E>)
    return E::format::is_dense;
  else if constexpr (!has_children<E>)
    return true;
  else
    return fold<E>([]<class... C>(TypeList<C...>) {
      const bool of[] = {is_present_everywhere<C>()..., true};
      return !drops_values<E> && (sizeof...(C) == 1 ? of[0] : is_present(presence_of<E>(), of[0], of[1]));
    });
}

/// The node that is zero at every coordinate of the free variables of E.
template <class E>
auto zeros_of() {
  return []<std::size_t... At>(std::index_sequence<At...>) {
    return ZeroAt<free_variables<E>()[static_cast<int>(At)]...>();
  }(std::make_index_sequence<static_cast<std::size_t>(free_variables<E>().size)>{});
}

}  // namespace detail

/// The function f, applied to every coordinate: what is not stored takes the value f(0).
template <class F>
auto everywhere(F f) {
  return detail::DeclaredFunction<F, AtZero::applied>{std::move(f)};
}

/// The function f, applied to what is stored, whatever f(0) is. The result depends on the format: a dense
/// tensor stores every value, a blocked one its padding.
///
/// A function of several values is applied where any of its operands is stored; those that are not are zero.
template <class F>
auto where_stored(F f) {
  return detail::DeclaredFunction<F, AtZero::skipped>{std::move(f)};
}
/// The function f of several values, applied where any operand is stored, with `fill` in place of the others.
template <class F, ScalarValue T>
auto where_stored(F f, T fill) {
  return detail::FilledFunction<F, T>{{std::move(f)}, fill};
}

/// The function f of several values, applied where all its operands are stored, whatever it makes of zero.
template <class F>
auto where_all_stored(F f) {
  return detail::DeclaredFunction<F, AtZero::skipped_unless_all>{std::move(f)};
}

/// The function f of several values, which is zero if any of them is: it is applied where all operands are
/// stored, as a product is. The caller promises this; it is not checked.
template <class F>
auto annihilated_by_zero(F f) {
  return detail::DeclaredFunction<F, AtZero::annihilates>{std::move(f)};
}

/// The function f of several values, with f(x, 0) = x and f(0, y) = y: where one operand alone is stored, its
/// value is the result, and f is not called. The caller promises this; it is not checked.
template <class F>
auto zero_is_identity(F f) {
  return detail::DeclaredFunction<F, AtZero::identity>{std::move(f)};
}

/// f(E) for a function f of one value; on a device, f is a functor with device code. Unless it declares
/// another intention (`everywhere`, `where_stored`), f keeps zero at zero: running the statement calls f once
/// with zero on the host if its operand may lack coordinates.
template <class F, Expression E>
auto map(F function, const E& operand) {
  if constexpr (detail::at_zero_of<F>() == AtZero::applied && !detail::is_present_everywhere<E>())
    return Mapped(Sum(operand, detail::zeros_of<E>()), std::move(function));
  else
    return Mapped(operand, std::move(function));
}

}  // namespace sporos
