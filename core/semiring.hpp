// SPDX-License-Identifier: Apache-2.0
/// @file semiring.hpp
/// Semirings: pairs of operations that replace + and *.
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "error.hpp"
#include "value.hpp"

namespace sporos {

/// An associative operation with a neutral element: the addition or the multiplication of a semiring. A
/// user-defined operation is a type with the same three members.
///
///     name()            its name in messages
///     neutral<T>()      the e with operation(e, x) = x
///     operator()(a, b)  the operation, in device code
template <class Operation>
concept SemiringOperation = requires(const Operation& operation, double a) {
  { Operation::name() } -> std::convertible_to<std::string_view>;
  { Operation::template neutral<double>() } -> std::same_as<double>;
  { operation(a, a) } -> std::convertible_to<double>;
};

/// a + b
struct Plus {
  static constexpr std::string_view name() { return "plus"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION static constexpr T neutral() {
    return T(0);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(const T& a, const T& b) const {
    return plus(a, b);
  }
};

/// a * b
struct Times {
  static constexpr std::string_view name() { return "times"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION static constexpr T neutral() {
    return T(1);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(const T& a, const T& b) const {
    return static_cast<T>(a * b);
  }
};

/// The smaller of a and b; the neutral element is infinity, or the largest value of an integer type.
struct Min {
  static constexpr std::string_view name() { return "min"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION static constexpr T neutral() {
    if constexpr (std::is_floating_point_v<T>)
      return Kokkos::Experimental::infinity_v<T>;
    else
      return Kokkos::Experimental::finite_max_v<T>;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(const T& a, const T& b) const {
    static_assert(!is_complex_v<T>, "complex numbers are not ordered, so there is no smaller one");
    return b < a ? b : a;
  }
};

/// The larger of a and b; the neutral element is minus infinity, or the smallest value of an integer type.
struct Max {
  static constexpr std::string_view name() { return "max"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION static constexpr T neutral() {
    if constexpr (std::is_floating_point_v<T>)
      return -Kokkos::Experimental::infinity_v<T>;
    else
      return Kokkos::Experimental::finite_min_v<T>;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(const T& a, const T& b) const {
    static_assert(!is_complex_v<T>, "complex numbers are not ordered, so there is no larger one");
    return a < b ? b : a;
  }
};

/// Logical or: 1 if a or b is nonzero, else 0.
struct Or {
  static constexpr std::string_view name() { return "or"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION static constexpr T neutral() {
    return T(0);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(const T& a, const T& b) const {
    return T(a != T(0) || b != T(0));
  }
};

/// Logical and: 1 if both a and b are nonzero, else 0.
struct And {
  static constexpr std::string_view name() { return "and"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION static constexpr T neutral() {
    return T(1);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(const T& a, const T& b) const {
    return T(a != T(0) && b != T(0));
  }
};

/// The operations that a statement computes with: + stands for `Add` and * for `Multiply`. A value that is
/// not stored is the zero of the semiring, the neutral element of `Add`. For every type, a product with a
/// zero factor is zero: the largest integer, "no path" over MinPlus, stays the same when a length is added to
/// it.
///
/// Formats that store padding next to their entries, such as BCSR, fill it with 0. If 0 is not the semiring's
/// zero, a stored 0 in such an operand counts as not stored.
///
///     // D = shortest paths through one vertex k
///     assign(D(i, j), A(i, k) * B(k, j)).over(MinPlus{}).run();
///
/// (Kepner, Gilbert (eds.), *Graph Algorithms in the Language of Linear Algebra*, SIAM 2011, chapter 2.)
template <SemiringOperation Add_, SemiringOperation Multiply_>
struct Semiring {
  using Add = Add_;
  using Multiply = Multiply_;

  /// "min-plus"
  static std::string str() { return text(Add::name(), '-', Multiply::name()); }
};

/// Ordinary addition and multiplication.
using Arithmetic = Semiring<Plus, Times>;
/// Shortest paths.
using MinPlus = Semiring<Min, Plus>;
/// Longest paths.
using MaxPlus = Semiring<Max, Plus>;
/// Most reliable paths; values must not be negative.
using MaxTimes = Semiring<Max, Times>;
/// Reachability.
using OrAnd = Semiring<Or, And>;

namespace detail {

/// Whether the product of a semiring is zero by itself if a factor is, so that factors need not be checked.
template <class Ring>
inline constexpr bool zero_absorbs =
    std::is_same_v<Ring, Semiring<Plus, Times>> || std::is_same_v<Ring, Semiring<Or, And>>;

template <class T>
inline constexpr bool is_integer_v = std::is_integral_v<T> && !std::is_same_v<T, bool>;

/// The number, converted to another type. The neutral element of `Add` may be another number in that type:
/// infinity in one, the largest value of an integer type in the other.
template <class To, class Add, class From>
KOKKOS_INLINE_FUNCTION constexpr To number_as(const From& x) {
  if constexpr (!std::is_same_v<To, From> && std::is_arithmetic_v<To> && std::is_arithmetic_v<From> &&
                (is_integer_v<To> || is_integer_v<From>) && !std::is_same_v<To, bool> &&
                !std::is_same_v<From, bool>)
    if (x == Add::template neutral<From>()) return Add::template neutral<To>();
  return static_cast<To>(x);
}

}  // namespace detail

/// A number whose + and * are those of the semiring `Ring`. Default-constructed, it is the semiring's zero. A
/// bool converts to the semiring's one or zero, unless its numbers are bools; converted to bool, an element
/// tells whether it is nonzero.
template <class T, class Ring>
struct SemiringElement {
  T number = zero();

  SemiringElement() = default;
  template <class From>
  KOKKOS_INLINE_FUNCTION explicit SemiringElement(const From& x) : number(of(x)) {}
  template <class To>
  KOKKOS_INLINE_FUNCTION explicit operator To() const {
    if constexpr (std::is_same_v<To, bool> && !std::is_same_v<T, bool>)
      return number != zero();
    else
      return detail::number_as<To, typename Ring::Add>(number);
  }

  /// The neutral element of +.
  KOKKOS_INLINE_FUNCTION static constexpr T zero() { return Ring::Add::template neutral<T>(); }

  KOKKOS_INLINE_FUNCTION friend SemiringElement operator+(const SemiringElement& a,
                                                          const SemiringElement& b) {
    return SemiringElement(typename Ring::Add{}(a.number, b.number));
  }
  KOKKOS_INLINE_FUNCTION friend SemiringElement operator*(const SemiringElement& a,
                                                          const SemiringElement& b) {
    if constexpr (!detail::zero_absorbs<Ring>)
      if (a.number == zero() || b.number == zero()) return {};
    return SemiringElement(typename Ring::Multiply{}(a.number, b.number));
  }

 private:
  template <class From>
  KOKKOS_INLINE_FUNCTION static T of(const From& x) {
    if constexpr (std::is_same_v<From, bool> && !std::is_same_v<T, bool>)
      return x ? Ring::Multiply::template neutral<T>() : zero();
    else
      return detail::number_as<T, typename Ring::Add>(x);
  }
};
template <class T, class Ring>
inline constexpr bool is_semiring_element_v<SemiringElement<T, Ring>> = true;

/// The number in an element; a plain number is returned unchanged.
template <class T>
KOKKOS_INLINE_FUNCTION const T& number_of(const T& number) {
  return number;
}
template <class T, class Ring>
KOKKOS_INLINE_FUNCTION const T& number_of(const SemiringElement<T, Ring>& element) {
  return element.number;
}

}  // namespace sporos
