// SPDX-License-Identifier: Apache-2.0
/// @file tree.hpp
/// Trees of types: how a question about an expression asks the expression's children.
///
/// A node with children has
///
///     using child_types = TypeList<L, R>;    the types of its children, from the left
///     children(f)                            f(left, right)
///     with(l, r)                             the same node around other children
///
/// and a leaf has none of them. A question about a type is a constexpr function that answers for the nodes
/// that differ and folds the answers of the children for all others:
///
///     template <class E>
///     constexpr int leaves_of() {
///       if constexpr (!has_children<E>) return 1;
///       return fold<E>([]<class... C>(TypeList<C...>) { return (0 + ... + leaves_of<C>()); });
///     }
///
/// A question about a value, and whatever makes another tree of one, calls `children` and `with` likewise:
///
///     return e.children([&](const auto&... child) { return e.with(simplified(child)...); });
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

/// A node of a tree that is not a leaf.
template <class E>
concept has_children = requires { typename E::child_types; };

/// f(TypeList<the children of E>); the list of a leaf is empty.
template <class E, class F>
constexpr auto fold(const F& f) {
  if constexpr (has_children<E>)
    return f(typename E::child_types{});
  else
    return f(TypeList<>{});
}

}  // namespace sporos
