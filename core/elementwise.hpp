// SPDX-License-Identifier: Apache-2.0
/// @file elementwise.hpp
/// Named functions of elements in index notation: min, max, abs, real, imag, conj, comparisons, and, or,
/// select.
///
///     function              is applied                      where an operand is not stored
///     min(A, B), max(A, B)  where A or B stores a value     the other is compared with 0
///     A < B, A > B, A != B  where A or B stores a value     the other is compared with 0
///     A == B, <=, >=        at every coordinate             0 == 0 is true
///     A && B                where both store a value        false
///     A || B                where A or B stores a value     whether the other is nonzero
///     select(c, A, B)       where A or B stores a value     0
///     abs(A)                where A stores a value
///     real(A), imag(A)      where A stores a value
///     conj(A)               where A stores a value
///
/// Next to a scalar, a function is applied where the other operand stores a value, provided that it is zero
/// or false at zero: `A < 0.5` is not, and is refused with an ExpressionError unless A is dense. To apply any
/// of them elsewhere, write `map(everywhere(LessThan{}), A(i, j), 0.5)` or `map(where_stored(EqualTo{}), A(i,
/// j), B(i, j))`.
///
/// Of complex numbers, `abs`, `real`, `imag` and conditions are real, and so may be the result.
///
/// Conditions are 1 or 0 in the type in which a statement computes, and true or false in a result of bool.
/// Over a semiring they are its one or its zero, and only the semiring's zero counts as zero.
#pragma once

#include <Kokkos_Core.hpp>
#include <string_view>
#include <type_traits>

#include "operands.hpp"
#include "semiring.hpp"

namespace sporos {

namespace detail {

/// The defaults of the functions below: they keep zero, and their names stand before their operands.
struct NamedFunction {
  static constexpr AtZero at_zero = AtZero::kept;
  static constexpr bool infix = false;
};
/// A condition between its operands: 1 or 0, of complex numbers as well.
struct InfixFunction : NamedFunction {
  static constexpr bool infix = true, gives_real = true;
};

template <class T>
KOKKOS_INLINE_FUNCTION bool is_nan(const T& x) {
  if constexpr (std::is_floating_point_v<T>)
    return x != x;
  else
    return false;
}
/// Whether a number is the zero of the type in which a statement computes.
template <class T>
KOKKOS_INLINE_FUNCTION bool is_zero_value(const T& x) {
  return number_of(x) == number_of(T{});
}

}  // namespace detail

/// The smaller of two values; NaN if one of them is, like `minimum` of IEEE 754-2019 and of NumPy.
struct MinimumOf : detail::NamedFunction {
  static constexpr std::string_view name() { return "min"; }
  static constexpr std::string_view functor() { return "MinimumOf{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(const T& a, const T& b) const {
    static_assert(!is_complex_v<T>, "complex numbers are not ordered, so there is no smaller one");
    if constexpr (is_complex_v<T>)
      return a;
    else
      return a < b || detail::is_nan(a) ? a : b;
  }
};

/// The larger of two values; NaN if one of them is, like `maximum` of IEEE 754-2019 and of NumPy.
struct MaximumOf : detail::NamedFunction {
  static constexpr std::string_view name() { return "max"; }
  static constexpr std::string_view functor() { return "MaximumOf{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(const T& a, const T& b) const {
    static_assert(!is_complex_v<T>, "complex numbers are not ordered, so there is no larger one");
    if constexpr (is_complex_v<T>)
      return a;
    else
      return a > b || detail::is_nan(a) ? a : b;
  }
};

/// |x|; for a complex number, its modulus.
struct AbsoluteValue {
  static constexpr bool infix = false, gives_real = true;
  static constexpr std::string_view name() { return "abs"; }
  static constexpr std::string_view functor() { return "AbsoluteValue{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION auto operator()(const T& x) const {
    if constexpr (std::is_unsigned_v<T>)
      return x;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(x < 0 ? -x : x);
    else
      return Kokkos::abs(x);
  }
};

/// The real part of x.
struct RealPart : detail::NamedFunction {
  static constexpr bool gives_real = true;
  static constexpr std::string_view name() { return "real"; }
  static constexpr std::string_view functor() { return "RealPart{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION auto operator()(const T& x) const {
    if constexpr (is_complex_v<T>)
      return x.real();
    else
      return x;
  }
};
/// The imaginary part of x; 0 for a real number.
struct ImaginaryPart : detail::NamedFunction {
  static constexpr bool gives_real = true;
  static constexpr std::string_view name() { return "imag"; }
  static constexpr std::string_view functor() { return "ImaginaryPart{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION auto operator()(const T& x) const {
    if constexpr (is_complex_v<T>)
      return x.imag();
    else
      return T{};
  }
};
/// The complex conjugate of x.
struct Conjugate : detail::NamedFunction {
  static constexpr std::string_view name() { return "conj"; }
  static constexpr std::string_view functor() { return "Conjugate{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(const T& x) const {
    if constexpr (is_complex_v<T>)
      return T(x.real(), -x.imag());
    else
      return x;
  }
};

/// The square root of x: 0 for 0, NaN for negative numbers.
struct SquareRoot {
  static constexpr bool infix = false;
  static constexpr std::string_view name() { return "sqrt"; }
  static constexpr std::string_view functor() { return "SquareRoot{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION auto operator()(const T& x) const {
    static_assert(!std::is_integral_v<T>,
                  "the square roots of integers are no integers: compute in tensors of float or double");
    if constexpr (std::is_integral_v<T>)
      return x;
    else
      return Kokkos::sqrt(x);
  }
};

/// a < b, where NaN compares as in C++.
struct LessThan : detail::InfixFunction {
  static constexpr std::string_view name() { return "<"; }
  static constexpr std::string_view functor() { return "LessThan{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION bool operator()(const T& a, const T& b) const {
    static_assert(!is_complex_v<T>,
                  "complex numbers are not ordered: they can be compared by == and != only");
    if constexpr (is_complex_v<T>)
      return false;
    else
      return a < b;
  }
};
/// a > b
struct GreaterThan : detail::InfixFunction {
  static constexpr std::string_view name() { return ">"; }
  static constexpr std::string_view functor() { return "GreaterThan{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION bool operator()(const T& a, const T& b) const {
    return LessThan{}(b, a);
  }
};
/// a != b
struct NotEqualTo : detail::InfixFunction {
  static constexpr std::string_view name() { return "!="; }
  static constexpr std::string_view functor() { return "NotEqualTo{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION bool operator()(const T& a, const T& b) const {
    return !(a == b);
  }
};
/// a == b
struct EqualTo : detail::InfixFunction {
  static constexpr std::string_view name() { return "=="; }
  static constexpr std::string_view functor() { return "EqualTo{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION bool operator()(const T& a, const T& b) const {
    return a == b;
  }
};
/// a <= b
struct AtMost : detail::InfixFunction {
  static constexpr std::string_view name() { return "<="; }
  static constexpr std::string_view functor() { return "AtMost{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION bool operator()(const T& a, const T& b) const {
    return LessThan{}(a, b) || a == b;
  }
};
/// a >= b
struct AtLeast : detail::InfixFunction {
  static constexpr std::string_view name() { return ">="; }
  static constexpr std::string_view functor() { return "AtLeast{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION bool operator()(const T& a, const T& b) const {
    return LessThan{}(b, a) || a == b;
  }
};

/// Whether both values are nonzero.
struct BothNonzero : detail::InfixFunction {
  static constexpr AtZero at_zero = AtZero::annihilates;
  static constexpr bool takes_elements = true;
  static constexpr std::string_view name() { return "&&"; }
  static constexpr std::string_view functor() { return "BothNonzero{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION bool operator()(const T& a, const T& b) const {
    return !detail::is_zero_value(a) && !detail::is_zero_value(b);
  }
};
/// Whether one of two values is nonzero.
struct EitherNonzero : detail::InfixFunction {
  static constexpr bool takes_elements = true;
  static constexpr std::string_view name() { return "||"; }
  static constexpr std::string_view functor() { return "EitherNonzero{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION bool operator()(const T& a, const T& b) const {
    return !detail::is_zero_value(a) || !detail::is_zero_value(b);
  }
};

/// a where the condition is nonzero, else b.
struct Selection : detail::NamedFunction {
  static constexpr bool takes_elements = true;
  static constexpr int linear_from = 1;  ///< the first of its operands in which it is linear
  static constexpr std::string_view name() { return "select"; }
  static constexpr std::string_view functor() { return "Selection{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(const T& condition, const T& a, const T& b) const {
    return detail::is_zero_value(condition) ? b : a;
  }
};

namespace detail {

/// A comparison that is true of two zeros.
template <class F>
struct AppliedEverywhere : F {
  static constexpr AtZero at_zero = AtZero::applied;
};

/// F of two operands, one of which may be a scalar. A function that is true of two zeros is applied
/// everywhere, except next to a scalar, whose value decides what the function is at zero.
template <class F, bool TrueOfZeros, class L, class R>
auto elementwise(const L& left, const R& right) {
  if constexpr (TrueOfZeros && Expression<L> && Expression<R>)
    return map_all(AppliedEverywhere<F>{}, left, right);
  else
    return map_all(F{}, as_expression(left), as_expression(right));
}

}  // namespace detail

/// The smaller of two values, element by element; an operand that is not stored counts as 0. NaN if one of
/// them is.
template <class L, class R>
  requires ExpressionOperands<L, R>
auto min(const L& left, const R& right) {
  return detail::elementwise<MinimumOf, false>(left, right);
}
/// The larger of two values, element by element; an operand that is not stored counts as 0. NaN if one of
/// them is.
template <class L, class R>
  requires ExpressionOperands<L, R>
auto max(const L& left, const R& right) {
  return detail::elementwise<MaximumOf, false>(left, right);
}
// For operands of one type, these are preferred to Kokkos' functions of the same names, which
// argument-dependent lookup finds as well.
template <Expression E>
auto min(const E& left, const E& right) {
  return detail::elementwise<MinimumOf, false>(left, right);
}
template <Expression E>
auto max(const E& left, const E& right) {
  return detail::elementwise<MaximumOf, false>(left, right);
}

/// The absolute value of each element.
template <Expression E>
auto abs(const E& operand) {
  return Mapped(operand, AbsoluteValue{});
}

/// The real part of each element, a real number.
template <Expression E>
auto real(const E& operand) {
  return Mapped(operand, RealPart{});
}
/// The imaginary part of each element, a real number.
template <Expression E>
auto imag(const E& operand) {
  return Mapped(operand, ImaginaryPart{});
}
/// The complex conjugate of each element.
template <Expression E>
auto conj(const E& operand) {
  return Mapped(operand, Conjugate{});
}

/// The square root of each element.
template <Expression E>
auto sqrt(const E& operand) {
  return Mapped(operand, SquareRoot{});
}

/// Comparisons, element by element: 1 where they hold.
template <class L, class R>
  requires ExpressionOperands<L, R>
auto operator<(const L& left, const R& right) {
  return detail::elementwise<LessThan, false>(left, right);
}
template <class L, class R>
  requires ExpressionOperands<L, R>
auto operator>(const L& left, const R& right) {
  return detail::elementwise<GreaterThan, false>(left, right);
}
template <class L, class R>
  requires ExpressionOperands<L, R>
auto operator!=(const L& left, const R& right) {
  return detail::elementwise<NotEqualTo, false>(left, right);
}
template <class L, class R>
  requires ExpressionOperands<L, R>
auto operator==(const L& left, const R& right) {
  return detail::elementwise<EqualTo, true>(left, right);
}
template <class L, class R>
  requires ExpressionOperands<L, R>
auto operator<=(const L& left, const R& right) {
  return detail::elementwise<AtMost, true>(left, right);
}
template <class L, class R>
  requires ExpressionOperands<L, R>
auto operator>=(const L& left, const R& right) {
  return detail::elementwise<AtLeast, true>(left, right);
}

/// 1 where both operands are nonzero.
template <Expression L, Expression R>
auto operator&&(const L& left, const R& right) {
  return detail::elementwise<BothNonzero, false>(left, right);
}
/// 1 where either operand is nonzero.
template <Expression L, Expression R>
auto operator||(const L& left, const R& right) {
  return detail::elementwise<EitherNonzero, false>(left, right);
}

/// a where the condition is nonzero, else b, element by element; a and b may be scalars.
///
///     select(B(i, j) < C(i, j), B(i, j), C(i, j))
///
/// It is applied where one of the values that it can select is stored: where a or b is; if b is a scalar,
/// which must then be 0, where the condition and a are; and if a is a scalar, where the condition or b is.
template <Expression C, detail::ExpressionOrScalar A, detail::ExpressionOrScalar B>
auto select(const C& condition, const A& a, const B& b) {
  using detail::beside;
  using F = Selection;
  const auto left = as_expression(a);
  const auto right = as_expression(b);
  if constexpr (Expression<A> && Expression<B>)
    return Mapped(beside<F, Presence::second>(condition, beside<F, Presence::any>(left, right)), F{});
  else if constexpr (Expression<A>)
    return Mapped(beside<F, Presence::all>(beside<F, Presence::all>(condition, left), right), F{});
  else
    return Mapped(beside<F, Presence::any>(beside<F, Presence::any>(condition, left), right), F{});
}

}  // namespace sporos
