// SPDX-License-Identifier: Apache-2.0
/// @file expression.hpp
/// An expression inside the loop nest: operands bound level by level, until nothing but numbers is left.
///
/// The nodes mirror core/expression.hpp, but hold views and positions instead of tensors, and live on the
/// device. An operand starts as a `Leaf` above its first level (leaf.hpp) and moves down as loops bind its
/// variables; below its last level it becomes `Loaded`: its value in a register, read once. An operand that
/// is known not to be there is `Absent`.
///
/// Everything else is an operation on one or two expressions, `Unary` or `Binary`. Operations fold: numbers
/// become one number, and what is absent is dropped, so that a loop in which one side of a sum is missing
/// does not mention that side. core/tree.hpp says how a question walks the nodes.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "../../../core/expression.hpp"
#include "../../../core/inline.hpp"
#include "../../../core/presence.hpp"
#include "../../../core/semiring.hpp"

namespace sporos::stream {

/// No value: the neutral element of a sum, the absorbing element of a product.
struct Absent {
  using compute = void;
};

/// A number.
template <class T>
struct Loaded {
  using compute = T;
  T value;
};

/// The zero at every coordinate of some variables, until loops have bound them all.
/// @tparam Z      names the variables
/// @tparam Bound  bit n: whether variable n is bound
template <class Z, class Compute, unsigned Bound = 0>
struct Zero {
  using compute = Compute;
  static constexpr NameList names = Z::names;

  static constexpr bool waits_for(char variable) {
    return names.contains(variable) && (Bound >> names.find(variable) & 1u) == 0;
  }
  /// What remains of it inside the first `Depth` loops.
  template <class Order, int Depth>
  SPOROS_INLINE static auto bind() {
    constexpr unsigned bound = [] {
      unsigned bits = Bound;
      for (int at = 0; at < names.size; ++at)
        if (Order::names.find(names[at]) < Depth) bits |= 1u << at;
      return bits;
    }();
    if constexpr (bound + 1 == 1u << names.size)
      return Loaded<Compute>{};
    else
      return Zero<Z, Compute, bound>{};
  }
};

template <class E>
inline constexpr bool is_loaded = false;
template <class T>
inline constexpr bool is_loaded<Loaded<T>> = true;

template <class E>
inline constexpr bool is_zero = false;
template <class Z, class Compute, unsigned Bound>
inline constexpr bool is_zero<Zero<Z, Compute, Bound>> = true;

/// The type of the values of an operation on E: that of E, unless the operation names another.
template <class Operation, class E>
struct ComputeOfUnary {
  using type = typename E::compute;
};
template <class Operation, class E>
  requires(requires { typename Operation::compute; } && !std::is_void_v<typename Operation::compute>)
struct ComputeOfUnary<Operation, E> {
  using type = typename Operation::compute;
};

/// An operation on one expression: `operation(e)` makes the node, or what it folds to.
template <class Operation, class E>
struct Unary {
  using compute = typename ComputeOfUnary<Operation, E>::type;
  using operation_type = Operation;
  E operand;
  Operation operation;
};

template <class E>
inline constexpr bool is_absent = std::is_same_v<E, Absent>;

/// An operation, without state, on two expressions: `combine<Operation>(l, r)` makes the node, or what it
/// folds to.
template <class Operation, class L, class R>
struct Binary {
  using compute = typename std::conditional_t<is_absent<L>, R, L>::compute;
  using operation_type = Operation;
  L left;
  R right;
};

/// l op r, folded if a side is absent or both are numbers. An operation with a `presence` keeps its sides,
/// even absent ones: function.hpp.
template <class Operation, class L, class R>
SPOROS_INLINE auto combine(const L& l, const R& r) {
  if constexpr (!is_present(presence_of<Operation>(), !is_absent<L>, !is_absent<R>)) {
    return Absent{};
  } else if constexpr (has_presence<Operation>) {
    if constexpr (requires { Operation::template fold<L, R>(); })
      return Operation::template fold<L, R>();
    else
      return Binary<Operation, L, R>{l, r};
  } else if constexpr (is_absent<L>) {
    return r;
  } else if constexpr (is_absent<R>) {
    return l;
  } else if constexpr (is_loaded<L> && is_loaded<R>) {
    return Loaded<decltype(l.value)>{Operation::of(l.value, r.value)};
  } else {
    return Binary<Operation, L, R>{l, r};
  }
}

/// L + R
struct Addition {
  static constexpr bool is_sum = true;  ///< true: present where either side is; false: where both are
  template <class T>
  SPOROS_INLINE static T of(const T& a, const T& b) {
    return plus(a, b);
  }
};

/// L * R
struct Multiplication {
  static constexpr bool is_sum = false;
  template <class T>
  SPOROS_INLINE static T of(const T& a, const T& b) {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else
      return static_cast<T>(a * b);
  }
};

/// L / R. Of integers also where C++ leaves it undefined, as in MATLAB and GraphBLAS: x / 0 is the largest or
/// the smallest number of the type, 0 / 0 is 0, and the smallest number / -1 is the largest.
struct Division {
  static constexpr bool is_sum = false;
  template <class T>
  SPOROS_INLINE static T of(const T& a, const T& b) {
    static_assert(!is_semiring_element_v<T>, "a semiring has no division: it adds and multiplies");
    static_assert(!std::is_same_v<T, bool>, "bool tensors know * and + only");
    if constexpr (is_semiring_element_v<T>)
      return a;
    else if constexpr (std::is_integral_v<T>)
      return of_integers(a, b);
    else
      return static_cast<T>(a / b);
  }

 private:
  template <class T>
  SPOROS_INLINE static T of_integers(T a, T b) {
    constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    if (b == 0) {
      if (a == 0) return 0;
      return a < 0 ? least : most;
    }
    if constexpr (std::is_signed_v<T>)
      if (b == -1 && a == least) return most;
    return static_cast<T>(a / b);
  }
};

/// -x, as a function of one value.
struct Minus {
  template <class T>
  SPOROS_INLINE T operator()(const T& a) const {
    static_assert(!is_semiring_element_v<T>, "a semiring has no subtraction: it adds and multiplies");
    static_assert(!std::is_same_v<T, bool>, "a bool has no negative: bool tensors know * and + only");
    if constexpr (is_semiring_element_v<T>)
      return a;
    else
      return static_cast<T>(-a);
  }
};

template <class F, class As = void>
struct Function;

/// The sum of E over variables of its own, each of which runs from 0 to its extent. It becomes a number once
/// the loops have bound E's other variables (`sum_into` in stream.hpp).
template <char... Names>
struct SumOver {
  static constexpr NameList names = NameList::of(Names...);
  std::int64_t extents[sizeof...(Names)];

  template <class E>
  SPOROS_INLINE auto operator()(const E& e) const {
    if constexpr (is_absent<E>)
      return e;
    else
      return Unary<SumOver, E>{e, *this};
  }
};

template <class E>
inline constexpr bool is_product = false;
template <class L, class R>
inline constexpr bool is_product<Binary<Multiplication, L, R>> = true;
template <class E>
inline constexpr bool is_add = false;
template <class L, class R>
inline constexpr bool is_add<Binary<Addition, L, R>> = true;
template <class E>
inline constexpr bool is_quotient = false;
template <class L, class R>
inline constexpr bool is_quotient<Binary<Division, L, R>> = true;
template <class E>
inline constexpr bool is_negation = false;
template <class E>
inline constexpr bool is_negation<Unary<Function<Minus>, E>> = true;
template <class E>
inline constexpr bool is_reduce = false;
template <class E, char... Names>
inline constexpr bool is_reduce<Unary<SumOver<Names...>, E>> = true;

/// A product without factors: the number 1, of any type.
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

/// The product of those factors of e that are numbers already, or of those that are not: e is the product of
/// both.
template <bool Numbers, class E>
SPOROS_INLINE auto factors_of(const E& e) {
  if constexpr (is_product<E>)
    return times(factors_of<Numbers>(e.left), factors_of<Numbers>(e.right));
  else if constexpr (is_loaded<E> == Numbers)
    return e;
  else
    return One{};
}

}  // namespace sporos::stream
