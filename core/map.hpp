// SPDX-License-Identifier: Apache-2.0
/// @file map.hpp
/// Functions of values in index notation: `map(f, A(i, j))`, and what they make of coordinates that are not
/// stored.
///
/// What a tensor does not store is zero, so a function that makes something else of zero would give different
/// results for different formats. By default, therefore, a function keeps zero at zero; that is checked
/// before the statement runs. A function that does not says what it means:
///
///     map([](double x) { return 2 * x; }, A(i, j))                    keeps zero
///     map(everywhere([](double x) { return x + 1; }), A(i, j))        applied to every coordinate
///     map(where_stored([](double) { return 1; }), A(i, j))            1 where A stores a value, and only
///     there
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>

#include "expression.hpp"
#include "inline.hpp"

namespace sporos {

/// What a function does at coordinates that its operand does not store.
enum class AtZero {
  kept,     ///< f(0) = 0, so there is nothing to do
  applied,  ///< they take the value f(0)
  skipped   ///< nothing, whatever f(0) is: the result depends on what is stored
};

namespace detail {

template <class F, AtZero At>
struct DeclaredFunction {
  static constexpr AtZero at_zero = At;
  F function;

  SPOROS_MAY_CALL_HOST
  template <class T>
  SPOROS_INLINE auto operator()(const T& value) const {
    return function(value);
  }
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

/// Whether a node has a value at every coordinate, by type.
template <class E>
constexpr bool is_present_everywhere() {
  if constexpr (AnyAccess<E>)
    return E::format::is_dense;
  else if constexpr (!has_children<E>)
    return true;
  else
    return fold<E>([]<class... C>(TypeList<C...>) {
      return E::is_sum ? (is_present_everywhere<C>() || ...) : (is_present_everywhere<C>() && ...);
    });
}

/// The variables that an expression is indexed by: those of its tensors, less those that it sums over itself.
template <class E>
constexpr NameList free_variables() {
  NameList out;
  if constexpr (AnyAccess<E>) {
    for (int at = 0; at < E::names.size; ++at) out.push_new(E::names[at]);
  } else {
    const NameList all = fold<E>([]<class... C>(TypeList<C...>) {
      NameList names;
      [[maybe_unused]] const auto add = [&](const NameList& more) {
        for (int at = 0; at < more.size; ++at) names.push_new(more[at]);
      };
      (add(free_variables<C>()), ...);
      return names;
    });
    for (int at = 0; at < all.size; ++at) {
      if constexpr (requires { E::names; })
        if (E::names.contains(all[at])) continue;
      out.push(all[at]);
    }
  }
  return out;
}

template <class E, std::size_t... At>
auto with_zeros(const E& e, std::index_sequence<At...>) {
  return Sum(e, ZeroAt<free_variables<E>()[static_cast<int>(At)]...>());
}

}  // namespace detail

/// The function f, applied to every coordinate: what is not stored takes the value f(0).
template <class F>
auto everywhere(F f) {
  return detail::DeclaredFunction<F, AtZero::applied>{std::move(f)};
}

/// The function f, applied to what is stored, whatever f(0) is. The result depends on the format: a dense
/// tensor stores every value, a blocked one its padding.
template <class F>
auto where_stored(F f) {
  return detail::DeclaredFunction<F, AtZero::skipped>{std::move(f)};
}

/// f(E) for a function f of one value; on a device, f is a functor with device code. Unless it declares
/// another intention (`everywhere`, `where_stored`), f keeps zero at zero: running the statement calls f once
/// with zero on the host if its operand may lack coordinates.
template <class F, Expression E>
auto map(F function, const E& operand) {
  if constexpr (detail::at_zero_of<F>() == AtZero::applied && !detail::is_present_everywhere<E>())
    return Mapped(
        detail::with_zeros(
            operand, std::make_index_sequence<static_cast<std::size_t>(detail::free_variables<E>().size)>{}),
        std::move(function));
  else
    return Mapped(operand, std::move(function));
}

}  // namespace sporos
