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

#include <type_traits>

#include "../../core/expression.hpp"
#include "../../core/inline.hpp"

namespace sporos::stream {

/// No value: the neutral element of a sum, the absorbing one of a product.
struct Absent {};

/// A number.
template <class T>
struct Loaded {
  T value;
};

template <class L, class R>
struct Mul {
  L left;
  R right;
};
template <class L, class R>
struct Add {
  L left;
  R right;
};
template <class E>
struct Neg {
  E operand;
};

template <class E>
inline constexpr bool is_absent = std::is_same_v<E, Absent>;
template <class E>
inline constexpr bool is_loaded = false;
template <class T>
inline constexpr bool is_loaded<Loaded<T>> = true;
template <class E>
inline constexpr bool is_add = false;
template <class L, class R>
inline constexpr bool is_add<Add<L, R>> = true;

/// l * r, folded where a side is absent or both are numbers.
template <class L, class R>
SPOROS_INLINE auto multiply(const L& l, const R& r) {
  if constexpr (is_absent<L> || is_absent<R>)
    return Absent{};
  else if constexpr (is_loaded<L> && is_loaded<R>) {
    using T = decltype(l.value);
    if constexpr (std::is_same_v<T, bool>)
      return Loaded<bool>{l.value && r.value};
    else
      return Loaded<T>{static_cast<T>(l.value * r.value)};
  } else
    return Mul<L, R>{l, r};
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

/// -e, folded likewise.
template <class E>
SPOROS_INLINE auto negate(const E& e) {
  if constexpr (is_absent<E>)
    return e;
  else if constexpr (is_loaded<E>) {
    static_assert(!std::is_same_v<decltype(e.value), bool>,
                  "a bool has no negative: bool tensors know * and + only");
    return E{static_cast<decltype(e.value)>(-e.value)};
  } else
    return Neg<E>{e};
}

}  // namespace sporos::stream
