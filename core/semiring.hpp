// SPDX-License-Identifier: Apache-2.0
/// @file semiring.hpp
/// Semirings: other operations in the places of + and *, named by the two of them.
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "error.hpp"
#include "value.hpp"

namespace sporos {

/// An associative operation with a neutral element, by name: what a semiring adds and multiplies with. An
/// operation of the user's own is a type with the same three members.
///
///     name()            how it is called in print
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

/// The smaller of a and b; neutral is infinity, or the largest number of an integer type.
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
    static_assert(!is_complex_v<T>, "complex numbers have no order, and so no smallest");
    return b < a ? b : a;
  }
};

/// The larger of a and b; neutral is minus infinity, or the smallest number of an integer type.
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
    static_assert(!is_complex_v<T>, "complex numbers have no order, and so no largest");
    return a < b ? b : a;
  }
};

/// Whether a or b is other than zero, as 1 or 0.
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

/// Whether both a and b are other than zero, as 1 or 0.
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

/// What a statement computes with: + stands for `Add` and * for `Multiply`, and what is not stored is the
/// neutral element of `Add`, which `Multiply` has to keep: Multiply(neutral, x) = neutral.
///
///     assign(D(i, j), A(i, k) * B(k, j)).over(MinPlus{}).run();    // D = the shortest way by one k
///
/// (Kepner, Gilbert (eds.), *Graph Algorithms in the Language of Linear Algebra*, SIAM 2011, chapter 2.)
template <SemiringOperation Add_, SemiringOperation Multiply_>
struct Semiring {
  using Add = Add_;
  using Multiply = Multiply_;

  /// "min-plus"
  static std::string str() { return text(Add::name(), '-', Multiply::name()); }
};

/// Numbers as they are added and multiplied.
using Arithmetic = Semiring<Plus, Times>;
/// Shortest ways.
using MinPlus = Semiring<Min, Plus>;
/// Longest ways.
using MaxPlus = Semiring<Max, Plus>;
/// Most reliable ways, of numbers that are not negative.
using MaxTimes = Semiring<Max, Times>;
/// What can be reached.
using OrAnd = Semiring<Or, And>;

/// A number that a statement over `Ring` computes with: its + and * are the semiring's, and it is the neutral
/// element of + unless it is given a value.
template <class T, class Ring>
struct SemiringElement {
  using number_type = T;
  T number = Ring::Add::template neutral<T>();

  SemiringElement() = default;
  KOKKOS_INLINE_FUNCTION explicit SemiringElement(const T& x) : number(x) {}
  template <class To>
  KOKKOS_INLINE_FUNCTION explicit operator To() const {
    return static_cast<To>(number);
  }

  KOKKOS_INLINE_FUNCTION friend SemiringElement operator+(const SemiringElement& a,
                                                          const SemiringElement& b) {
    return SemiringElement(typename Ring::Add{}(a.number, b.number));
  }
  KOKKOS_INLINE_FUNCTION friend SemiringElement operator*(const SemiringElement& a,
                                                          const SemiringElement& b) {
    return SemiringElement(typename Ring::Multiply{}(a.number, b.number));
  }
};
template <class T, class Ring>
inline constexpr bool is_semiring_element_v<SemiringElement<T, Ring>> = true;

/// The number in an element; numbers are their own.
template <class T>
KOKKOS_INLINE_FUNCTION const T& number_of(const T& number) {
  return number;
}
template <class T, class Ring>
KOKKOS_INLINE_FUNCTION const T& number_of(const SemiringElement<T, Ring>& element) {
  return element.number;
}

}  // namespace sporos
