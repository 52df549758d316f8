// SPDX-License-Identifier: Apache-2.0
/// @file questions.hpp
/// What loops ask about the type of an expression: which variables its operands still have, and what its
/// presence depends on.
#pragma once

#include <cstddef>

#include "function.hpp"
#include "leaf.hpp"

namespace sporos::stream {

/// Whether an expression has the variable in a level that is not bound yet.
template <class E>
constexpr bool mentions(char variable) {
  if constexpr (AnyLeaf<E>) {
    for (int k = E::bound_levels; k < E::levels; ++k)
      if (E::access::level_names[k] == variable) return true;
    return false;
  } else if constexpr (is_zero<E>) {
    return E::waits_for(variable);
  } else {
    if constexpr (is_reduce<E>)
      if (E::operation_type::names.contains(variable)) return false;
    return fold<E>([&]<class... C>(TypeList<C...>) { return (mentions<C>(variable) || ...); });
  }
}

/// Whether loops from `Depth` on must bind variables other than `own` before an expression can be summed over
/// its own variables.
template <class Order, int Depth, class E>
constexpr bool waits(NameList own = {}) {
  if constexpr (is_zero<E>) {
    for (int at = 0; at < E::names.size; ++at)
      if (E::waits_for(E::names[at]) && !own.contains(E::names[at]) &&
          Order::names.find(E::names[at]) >= Depth)
        return true;
    return false;
  } else if constexpr (AnyLeaf<E>) {
    for (int k = E::bound_levels; k < E::levels; ++k) {
      const char variable = E::access::level_names[k];
      if (variable != no_variable && !own.contains(variable) && Order::names.find(variable) >= Depth)
        return true;
    }
    return false;
  } else {
    if constexpr (is_reduce<E>) own.push(E::operation_type::names);
    return fold<E>([&]<class... C>(TypeList<C...>) { return (waits<Order, Depth, C>(own) || ...); });
  }
}

/// Whether it is known only at run time what remains of an expression inside the bound loops. That is so if
/// an operand's next level is searched, because it stores coordinates of a variable that a loop has bound
/// already, as in A(i, i), or of none, as in A(i, 3); or if a sum inside the expression is computed here,
/// whose terms may all be absent.
template <class Order, int Depth, class E>
constexpr bool searches() {
  if constexpr (AnyLeaf<E>) {
    for (int k = E::bound_levels; k < E::levels; ++k) {
      const char variable = E::access::level_names[k];
      if (variable != no_variable && Order::names.find(variable) >= Depth) return false;
      if (!E::access::format::properties[static_cast<std::size_t>(k)].full) return true;
    }
    return false;
  } else {
    if constexpr (is_reduce<E> || is_complement_by_value<E>)
      if (!waits<Order, Depth, E>()) return true;
    return fold<E>([]<class... C>(TypeList<C...>) { return (searches<Order, Depth, C>() || ...); });
  }
}

/// Whether a node is present at exactly those coordinates of a variable at which its children are: either all
/// children that decide its presence mention the variable, or none does.
template <class E>
constexpr bool is_whole_in(char variable) {
  if constexpr (is_add<E> || has_presence<typename E::operation_type>) {
    const bool left = mentions<decltype(E::left)>(variable), right = mentions<decltype(E::right)>(variable);
    if (is_absent<decltype(E::left)> || is_absent<decltype(E::right)>) return true;
    return is_bounded_by(presence_of<typename E::operation_type>(), left, right) == (left || right);
  } else {
    return true;
  }
}

/// Whether the variable occurs, in every sum of terms inside the expression, in all terms or in none. A sum
/// over variables of its own counts as one number, whatever it contains.
template <class E>
constexpr bool reduces_whole(char variable) {
  if constexpr (is_reduce<E>)
    return true;
  else if constexpr (has_two_children<E>)
    return is_whole_in<E>(variable) && reduces_whole<decltype(E::left)>(variable) &&
           reduces_whole<decltype(E::right)>(variable);
  else
    return fold<E>([&]<class... C>(TypeList<C...>) { return (reduces_whole<C>(variable) && ...); });
}

}  // namespace sporos::stream
