// SPDX-License-Identifier: Apache-2.0
/// @file readable.hpp
/// Refuses, in sentences, what cannot be read in a loop order: which operand, and what to do about it.
#pragma once

#include <utility>

#include "../../core/expression.hpp"
#include "../../core/loops.hpp"
#include "../../core/sum.hpp"

namespace sporos {

namespace detail {

/// Sentences are literals, so each place that an operand may have takes one of its own.
#define SPOROS_FOR_EACH_PLACE(SENTENCE) \
  SENTENCE(0, "first")                  \
  SENTENCE(1, "second")                 \
  SENTENCE(2, "third")                  \
  SENTENCE(3, "fourth")                 \
  SENTENCE(4, "fifth")                  \
  SENTENCE(5, "sixth")                  \
  SENTENCE(6, "seventh")                \
  SENTENCE(7, "eighth")

/// The compiler names the operand's format and the loop order beside the sentence, as the template arguments
/// `Operand` and `Order`.
template <int Place, class Operand, class Order>
consteval void require_readable() {
  constexpr bool holds = readable<Operand>(Order::names);
#define SPOROS_SENTENCE(NUMBER, WORD)                                                                     \
  static_assert(                                                                                          \
      Place != NUMBER || holds,                                                                           \
      "the " WORD                                                                                         \
      " operand of the right side cannot be read in this loop order: a compressed or singleton level is " \
      "reached only through the levels above it. Give an order that binds its levels from the outermost " \
      "in, with .reorder(...), or convert the operand to a format that stores its modes in the loops' "   \
      "order, e.g. convert<CSC<>>(operand) where it is CSR");
  SPOROS_FOR_EACH_PLACE(SPOROS_SENTENCE)
#undef SPOROS_SENTENCE
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

template <int Place>
consteval void require_some_order() {
#define SPOROS_SENTENCE(NUMBER, WORD)                                                                     \
  static_assert(                                                                                          \
      Place != NUMBER,                                                                                    \
      "no loop order reads all operands: the " WORD                                                       \
      " operand of the right side stores its modes in an order that contradicts the operands before it. " \
      "Convert it to a format with the other order of modes, e.g. convert<CSC<>>(operand) where it is "   \
      "CSR, or CSF<n, ModeOrder<...>>");
  SPOROS_FOR_EACH_PLACE(SPOROS_SENTENCE)
#undef SPOROS_SENTENCE
}

#undef SPOROS_FOR_EACH_PLACE

}  // namespace detail

namespace detail {

/// Whether the variables of sums inside the expression come behind all others.
template <class Right, class Order>
consteval bool sums_come_last() {
  constexpr NameList summed = summed_names<Right>();
  for (int at = 0; at < Order::names.size - summed.size; ++at)
    if (summed.contains(Order::names[at])) return false;
  return true;
}

}  // namespace detail

/// Compiles where every operand of Right can be read with the loops in Order.
template <class Right, class Order>
consteval void require_readable_operands() {
  static_assert(
      detail::sums_come_last<Right, Order>(),
      "the variable of an explicit sum inside a function, a divisor or a product of sums runs inside all "
      "other "
      "loops, but it stands before one of them. Where the order was not given, an operand stores the summed "
      "variable above the others: convert it to the other order of modes, e.g. convert<CSR<>>(operand) where "
      "it "
      "is CSC");
  constexpr int contradiction = detail::first_contradiction(accesses_of<Right>{});
  if constexpr (contradiction >= 0)
    detail::require_some_order<contradiction>();
  else
    detail::require_all_readable<Order>(accesses_of<Right>{});
}

}  // namespace sporos
