// SPDX-License-Identifier: Apache-2.0
/// @file mask.hpp
/// Masks in index notation: `!M(i, j)`, where M is zero, and `pattern(M(i, j))`, where M stores a value.
///
///     A(i, j) = !M(i, j) * (B(i, k) * C(k, j))              the product where M is zero or stores nothing
///     A(i, j) = !pattern(M(i, j)) * (B(i, k) * C(k, j))     where M stores nothing
///     A(i, j) = pattern(M(i, j)) * (B(i, k) * C(k, j))      where M stores a value
///     A(i, j) = M(i, j) * (B(i, k) * C(k, j))               the same if M is of bool and stores only true
///
/// A mask is 1 where it is present; over a semiring, it is the neutral element of its multiplication.
/// Likewise, true in a tensor of bool is that neutral element, and false is the semiring's zero.
///
/// A complement is *absent* where its operand is nonzero: a product with it is not computed there, and a
/// sparse result stores nothing there. It visits no coordinates of its own: other factors choose them, and
/// the operand is looked up at each. (These are the masks of Buluç, Mattson, McMillan, Moreira, Yang, *The
/// GraphBLAS C API Specification*, sections 2.5.4, 2.5.5: by value, or structural.)
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "map.hpp"

namespace sporos {

/// !E: 1 where E is zero, and absent elsewhere; or, structurally, 1 where E is absent.
/// @tparam Zeros  ZeroAt the variables of E
template <class Zeros, class E, bool Structural>
struct Complement : Node<Complement<Zeros, E, Structural>, E::is_number, E> {
  static constexpr Presence presence = Presence::first;
  static constexpr bool drops_values = true;
  static constexpr bool gives_real = true;
  /// Whether the values of E decide where the node is present, and not its pattern alone.
  static constexpr bool reads_values = !Structural;

  Zeros left;
  E right;

  Complement(Zeros l, E r) : left(l), right(std::move(r)) {}
  template <class A, class B>
  static Complement<A, B, Structural> with(const A& l, const B& r) {
    return {l, r};
  }
  static std::string notation(const Phrase* of) {
    return (Structural ? "!pattern(" : "!") + (Structural ? of[1].text : of[1].within(Binding::whole)) +
           (Structural ? ")" : "");
  }
};

namespace detail {

/// Returns true for every value.
struct Stored {
  static constexpr AtZero at_zero = AtZero::skipped;
  static constexpr bool infix = false, gives_real = true;
  static constexpr std::string_view name() { return "pattern"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION bool operator()(const T&) const {
    return true;
  }
};

template <bool Structural, class E>
auto complement(const E& operand) {
  using Zeros = decltype(zeros_of<E>());
  return Complement<Zeros, E, Structural>(Zeros(), operand);
}

/// Whether the values of operands decide where an expression is present, and not their patterns alone.
template <class E>
constexpr bool is_present_by_value() {
  if constexpr (requires { E::reads_values; })
    if (E::reads_values) return true;
  return fold<E>([]<class... C>(TypeList<C...>) { return (is_present_by_value<C>() || ... || false); });
}

}  // namespace detail

/// 1 where an expression stores a value, whatever it is: where a tensor stores one, or where both factors of
/// a product do. The result depends on the format: a dense tensor stores every value, a blocked one its
/// padding.
template <Expression E>
auto pattern(const E& operand) {
  return Mapped(operand, detail::Stored{});
}

/// 1 where an expression is zero, stored or not; absent where it is anything else, NaN included.
template <Expression E>
auto operator!(const E& operand) {
  return detail::complement<false>(operand);
}
/// 1 where an expression stores nothing; absent where it stores a value, even if that is zero.
template <Expression E>
auto operator!(const Mapped<E, detail::Stored>& mask) {
  return detail::complement<true>(mask.operand);
}

}  // namespace sporos
