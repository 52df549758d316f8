// SPDX-License-Identifier: Apache-2.0
/// @file readable.hpp
/// Refuses, in sentences, what cannot be read in a loop order: which operand, and what to do about it.
#pragma once

#include <utility>

#include "../core/expression.hpp"
#include "../core/loop_order.hpp"

namespace sporos {

namespace detail {

/// A sentence for each place that an operand may have; the compiler names the operand's format and the loop
/// order beside it, as the template arguments `Operand` and `Order`.
template <int Place, class Operand, class Order>
consteval void require_readable() {
  constexpr bool holds = readable<Operand>(Order::names);
  static_assert(
      Place != 0 || holds,
      "the first operand of the right side cannot be read in this loop order: a compressed or singleton "
      "level "
      "is reached only through the levels above it. Give an order that binds its levels from the outermost "
      "in, with .reorder(...), or convert the operand to a format that stores its modes in the loops' order, "
      "e.g. convert<CSC<>>(operand) where it is CSR");
  static_assert(
      Place != 1 || holds,
      "the second operand of the right side cannot be read in this loop order: a compressed or singleton "
      "level "
      "is reached only through the levels above it. Give an order that binds its levels from the outermost "
      "in, with .reorder(...), or convert the operand to a format that stores its modes in the loops' order, "
      "e.g. convert<CSC<>>(operand) where it is CSR");
  static_assert(
      Place != 2 || holds,
      "the third operand of the right side cannot be read in this loop order: a compressed or singleton "
      "level "
      "is reached only through the levels above it. Give an order that binds its levels from the outermost "
      "in, with .reorder(...), or convert the operand to a format that stores its modes in the loops' order, "
      "e.g. convert<CSC<>>(operand) where it is CSR");
  static_assert(
      Place != 3 || holds,
      "the fourth operand of the right side cannot be read in this loop order: a compressed or singleton "
      "level "
      "is reached only through the levels above it. Give an order that binds its levels from the outermost "
      "in, with .reorder(...), or convert the operand to a format that stores its modes in the loops' order, "
      "e.g. convert<CSC<>>(operand) where it is CSR");
  static_assert(
      Place != 4 || holds,
      "the fifth operand of the right side cannot be read in this loop order: a compressed or singleton "
      "level "
      "is reached only through the levels above it. Give an order that binds its levels from the outermost "
      "in, with .reorder(...), or convert the operand to a format that stores its modes in the loops' order, "
      "e.g. convert<CSC<>>(operand) where it is CSR");
  static_assert(
      Place != 5 || holds,
      "the sixth operand of the right side cannot be read in this loop order: a compressed or singleton "
      "level "
      "is reached only through the levels above it. Give an order that binds its levels from the outermost "
      "in, with .reorder(...), or convert the operand to a format that stores its modes in the loops' order, "
      "e.g. convert<CSC<>>(operand) where it is CSR");
  static_assert(
      Place != 6 || holds,
      "the seventh operand of the right side cannot be read in this loop order: a compressed or singleton "
      "level "
      "is reached only through the levels above it. Give an order that binds its levels from the outermost "
      "in, with .reorder(...), or convert the operand to a format that stores its modes in the loops' order, "
      "e.g. convert<CSC<>>(operand) where it is CSR");
  static_assert(
      Place != 7 || holds,
      "the eighth operand of the right side cannot be read in this loop order: a compressed or singleton "
      "level "
      "is reached only through the levels above it. Give an order that binds its levels from the outermost "
      "in, with .reorder(...), or convert the operand to a format that stores its modes in the loops' order, "
      "e.g. convert<CSC<>>(operand) where it is CSR");
}

template <class Order, class... Operands>
consteval void require_all_readable(TypeList<Operands...>) {
  static_assert(sizeof...(Operands) <= 8, "a statement has eight operands at most");
  [&]<int... Place>(std::integer_sequence<int, Place...>) {
    (require_readable<Place, Operands, Order>(), ...);
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Operands))>{});
}

/// The first operand, from the left, that asks of the loops what those before it forbid; -1 where there is
/// none.
template <class... Operands>
constexpr int first_contradiction(TypeList<Operands...> operands) {
  const NameList names = variables(operands);
  OrderRules rules;
  int place = 0;
  int found = -1;
  ((add_operand_rules<Operands>(rules, names),
    found = found < 0 && order_by(rules, names).size < names.size ? place : found, ++place),
   ...);
  return found;
}

/// A sentence for each place of an operand whose format contradicts those before it.
template <int Place>
consteval void require_some_order() {
  static_assert(
      Place != 0,
      "no loop order reads all operands: the first operand of the right side stores its modes in an order "
      "that "
      "contradicts the operands before it. Convert it to a format with the other order of modes, e.g. "
      "convert<CSC<>>(operand) where it is CSR, or CSF<n, ModeOrder<...>>");
  static_assert(
      Place != 1,
      "no loop order reads all operands: the second operand of the right side stores its modes in an order "
      "that "
      "contradicts the operands before it. Convert it to a format with the other order of modes, e.g. "
      "convert<CSC<>>(operand) where it is CSR, or CSF<n, ModeOrder<...>>");
  static_assert(
      Place != 2,
      "no loop order reads all operands: the third operand of the right side stores its modes in an order "
      "that "
      "contradicts the operands before it. Convert it to a format with the other order of modes, e.g. "
      "convert<CSC<>>(operand) where it is CSR, or CSF<n, ModeOrder<...>>");
  static_assert(
      Place != 3,
      "no loop order reads all operands: the fourth operand of the right side stores its modes in an order "
      "that "
      "contradicts the operands before it. Convert it to a format with the other order of modes, e.g. "
      "convert<CSC<>>(operand) where it is CSR, or CSF<n, ModeOrder<...>>");
  static_assert(
      Place != 4,
      "no loop order reads all operands: the fifth operand of the right side stores its modes in an order "
      "that "
      "contradicts the operands before it. Convert it to a format with the other order of modes, e.g. "
      "convert<CSC<>>(operand) where it is CSR, or CSF<n, ModeOrder<...>>");
  static_assert(
      Place != 5,
      "no loop order reads all operands: the sixth operand of the right side stores its modes in an order "
      "that "
      "contradicts the operands before it. Convert it to a format with the other order of modes, e.g. "
      "convert<CSC<>>(operand) where it is CSR, or CSF<n, ModeOrder<...>>");
  static_assert(
      Place != 6,
      "no loop order reads all operands: the seventh operand of the right side stores its modes in an order "
      "that "
      "contradicts the operands before it. Convert it to a format with the other order of modes, e.g. "
      "convert<CSC<>>(operand) where it is CSR, or CSF<n, ModeOrder<...>>");
  static_assert(
      Place != 7,
      "no loop order reads all operands: the eighth operand of the right side stores its modes in an order "
      "that "
      "contradicts the operands before it. Convert it to a format with the other order of modes, e.g. "
      "convert<CSC<>>(operand) where it is CSR, or CSF<n, ModeOrder<...>>");
}

}  // namespace detail

/// Compiles where every operand of Right can be read with the loops in Order.
template <class Right, class Order>
consteval void require_readable_operands() {
  constexpr int contradiction = detail::first_contradiction(accesses_of<Right>{});
  if constexpr (contradiction >= 0)
    detail::require_some_order<contradiction>();
  else
    detail::require_all_readable<Order>(accesses_of<Right>{});
}

}  // namespace sporos
