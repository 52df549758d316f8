// SPDX-License-Identifier: Apache-2.0
/// @file tree.hpp
/// Expressions as trees: how a question about a node asks the node's children.
///
/// A node has one child, its member `operand`, or two, `left` and `right`; a leaf has none. A question about
/// a type is a constexpr function that has answers of its own for some nodes, and folds the children's
/// answers for all others:
///
///     template <class E>
///     constexpr int leaves_of() {
///       if constexpr (!has_children<E>) return 1;
///       return fold<E>([]<class... C>(TypeList<C...>) { return (0 + ... + leaves_of<C>()); });
///     }
///
/// Code that walks or rebuilds a value has a case for each number of children, so that it is one function per
/// node: a lambda over the children would make it three, and compile time depends on their number.
#pragma once

namespace sporos {

/// A compile-time list of types.
template <class... Types>
struct TypeList {
  static constexpr int size = static_cast<int>(sizeof...(Types));
};
template <class... A, class... B>
constexpr TypeList<A..., B...> operator+(TypeList<A...>, TypeList<B...>) {
  return {};
}

template <class E>
concept has_one_child = requires(const E& e) { e.operand; };
template <class E>
concept has_two_children = requires(const E& e) { e.left, e.right; };
template <class E>
concept has_children = has_one_child<E> || has_two_children<E>;

/// f(TypeList<the types of E's children, from the left>); the list of a leaf is empty.
template <class E, class F>
constexpr auto fold(const F& f) {
  if constexpr (has_one_child<E>)
    return f(TypeList<decltype(E::operand)>{});
  else if constexpr (has_two_children<E>)
    return f(TypeList<decltype(E::left), decltype(E::right)>{});
  else
    return f(TypeList<>{});
}

}  // namespace sporos
