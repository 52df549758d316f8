// SPDX-License-Identifier: Apache-2.0
/// @file expression.hpp
/// An expression inside the loop nest: operands bound level by level, until nothing but numbers is left.
///
/// The nodes mirror core/expression.hpp, but hold views and positions instead of tensors, and live on the
/// device. An operand starts as a `Leaf` above its first level and moves down as loops bind its variables;
/// below its last level it becomes `Loaded`: its value in a register, read once. An operand that is known not
/// to be there is `Absent`, and products and sums fold around it, so that a loop in which one side of a sum
/// is missing does not mention that side.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../../core/expression.hpp"
#include "../../../core/inline.hpp"
#include "../../../core/semiring.hpp"

namespace sporos::stream {

/// No value: the neutral element of a sum, the absorbing one of a product.
struct Absent {};

/// A number.
template <class T>
struct Loaded {
  T value;
};

/// The operations that are absent where a side is: L * R and L / R.
struct Multiplication {
  template <class T>
  SPOROS_INLINE T operator()(const T& a, const T& b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else
      return static_cast<T>(a * b);
  }
};
struct Division {
  template <class T>
  SPOROS_INLINE T operator()(const T& a, const T& b) const {
    static_assert(!is_semiring_element_v<T>, "a semiring has no division: it adds and multiplies");
    static_assert(!std::is_same_v<T, bool>, "bool tensors know * and + only");
    return static_cast<T>(a / b);
  }
};

/// The functions of one value that keep zero at zero: negation, and the user's.
struct Minus {
  template <class T>
  SPOROS_INLINE T operator()(const T& a) const {
    static_assert(!is_semiring_element_v<T>, "a semiring has no subtraction: it adds and multiplies");
    static_assert(!std::is_same_v<T, bool>, "a bool has no negative: bool tensors know * and + only");
    return static_cast<T>(-a);
  }
};

template <class L, class R, class Operation = Multiplication>
struct Mul {
  using operation = Operation;
  L left;
  R right;
};
template <class L, class R>
struct Add {
  L left;
  R right;
};
template <class E, class F>
struct Apply {
  using function_type = F;
  E operand;
  F function;
};

template <class E, char... Names>
struct Reduce;

/// The variables of an explicit sum, and how far each runs.
template <char... Names>
struct SumOver {
  std::int64_t extents[sizeof...(Names)];

  /// The sum of an operand, folded where it is absent.
  template <class E>
  SPOROS_INLINE auto operator()(const E& e) const;
};

/// The sum of E over variables of its own, which becomes a number once the loops have bound E's others.
template <class E, char... Names>
struct Reduce {
  static constexpr NameList names = NameList::of(Names...);
  E operand;
  SumOver<Names...> over;
};

template <class E>
inline constexpr bool is_absent = std::is_same_v<E, Absent>;
template <class E>
inline constexpr bool is_loaded = false;
template <class T>
inline constexpr bool is_loaded<Loaded<T>> = true;
template <class E>
inline constexpr bool is_reduce = false;
template <class E, char... Names>
inline constexpr bool is_reduce<Reduce<E, Names...>> = true;
template <class E>
inline constexpr bool is_product = false;
template <class L, class R>
inline constexpr bool is_product<Mul<L, R, Multiplication>> = true;
template <class E>
inline constexpr bool is_add = false;
template <class L, class R>
inline constexpr bool is_add<Add<L, R>> = true;
/// -(L + R): a negation that may be taken into the terms of a sum.
template <class E>
inline constexpr bool is_negated_add = false;
template <class E>
inline constexpr bool is_negated_add<Apply<E, Minus>> = is_add<E>;

/// l * r or l / r, folded where a side is absent or both are numbers.
template <class Operation, class L, class R>
SPOROS_INLINE auto combine(const L& l, const R& r) {
  if constexpr (is_absent<L> || is_absent<R>)
    return Absent{};
  else if constexpr (is_loaded<L> && is_loaded<R>)
    return Loaded<decltype(l.value)>{Operation{}(l.value, r.value)};
  else
    return Mul<L, R, Operation>{l, r};
}

/// The number 1, of whichever type: what a product without factors is.
struct One {};

/// l * r, where a side may be One.
template <class L, class R>
SPOROS_INLINE auto times(const L& l, const R& r) {
  if constexpr (std::is_same_v<L, One>)
    return r;
  else if constexpr (std::is_same_v<R, One>)
    return l;
  else
    return combine<Multiplication>(l, r);
}

/// l + r, folded likewise.
template <class L, class R>
SPOROS_INLINE auto add(const L& l, const R& r) {
  if constexpr (is_absent<L>)
    return r;
  else if constexpr (is_absent<R>)
    return l;
  else if constexpr (is_loaded<L> && is_loaded<R>)
    return Loaded<decltype(l.value)>{plus(l.value, r.value)};
  else
    return Add<L, R>{l, r};
}

/// f(x); a function of the user's is given the number in an element of a semiring.
template <class F, class T>
SPOROS_INLINE auto call(const F& f, const T& x) {
  if constexpr (std::is_same_v<F, Minus>)
    return f(x);
  else
    return f(number_of(x));
}

/// The product of those factors of e that are numbers already, and the product of the others: e is both
/// together.
template <class E>
SPOROS_INLINE auto numbers_of(const E& e) {
  if constexpr (is_loaded<E>)
    return e;
  else if constexpr (is_product<E>)
    return times(numbers_of(e.left), numbers_of(e.right));
  else
    return One{};
}
template <class E>
SPOROS_INLINE auto others_of(const E& e) {
  if constexpr (is_loaded<E>)
    return One{};
  else if constexpr (is_product<E>)
    return times(others_of(e.left), others_of(e.right));
  else
    return e;
}

/// f(e), folded likewise.
template <class E, class F>
SPOROS_INLINE auto apply(const E& e, const F& f) {
  if constexpr (is_absent<E>)
    return e;
  else if constexpr (is_loaded<E>)
    return E{static_cast<decltype(e.value)>(call(f, e.value))};
  else
    return Apply<E, F>{e, f};
}

/// The function of an operand as `apply` folds it.
template <class F>
struct FunctionOf {
  F function;

  template <class E>
  SPOROS_INLINE auto operator()(const E& e) const {
    return apply(e, function);
  }
};

template <char... Names>
template <class E>
SPOROS_INLINE auto SumOver<Names...>::operator()(const E& e) const {
  if constexpr (is_absent<E>)
    return e;
  else
    return Reduce<E, Names...>{e, *this};
}

}  // namespace sporos::stream
