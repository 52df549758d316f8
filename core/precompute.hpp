// SPDX-License-Identifier: Apache-2.0
/// @file precompute.hpp
/// Precomputed: a statement with a part that is computed first, into a tensor of its own.
///
/// After Kjolstad, Ahrens, Kamil, Amarasinghe, *Tensor Algebra Compilation with Workspaces* (CGO 2019), and
/// Zhang, Hsu, Kjolstad, *Compilation of Modular and General Sparse Workspaces* (PLDI 2024), section 6.1.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "map.hpp"
#include "notation.hpp"
#include "sum.hpp"

namespace sporos {

/// `A(i, j) = D(i, j) * W(i, j) where W(i, j) = B(i, k) * C(k, j)`: made by Statement::precompute. Both
/// statements can be scheduled and run on their own.
template <class Consumer, class Producer>
class Precomputed {
 public:
  Precomputed(Consumer consumer, Producer producer)
      : consumer_(std::move(consumer)), producer_(std::move(producer)) {}

  /// The statement that computes the part.
  const Producer& producer() const { return producer_; }
  /// The statement that reads it.
  const Consumer& consumer() const { return consumer_; }

  /// Runs the producer, then the consumer. If the consumer fails, the workspace has been written.
  void run() const {
    producer_.run();
    consumer_.run();
  }

  /// "A(i, j) = D(i, j) * W(i, j) where W(i, j) = B(i, k) * C(k, j)", with the letters in this order
  std::string str() const {
    TensorLetters letters;
    Notation notation(letters);
    const auto text_of = [&](const auto& statement) {
      const std::string left = notation.of(statement.result()) + (statement.accumulates() ? " += " : " = ");
      return left + notation.of(statement.right());
    };
    const std::string reads = text_of(consumer_);
    return reads + " where " + text_of(producer_);
  }

 private:
  Consumer consumer_;
  Producer producer_;
};

namespace detail {

/// How often a part occurs in an expression, by type.
template <class Part, class E>
constexpr int occurrences() {
  if constexpr (std::is_same_v<Part, E>)
    return 1;
  else
    return fold<E>([]<class... C>(TypeList<C...>) { return (0 + ... + occurrences<Part, C>()); });
}

/// Whether an expression is linear in a part, so that sums within the part may be formed first.
template <class Part, class E>
constexpr bool is_linear_in() {
  if constexpr (std::is_same_v<Part, E>)
    return true;
  else
    return fold<E>([]<class... C>(TypeList<C...>) {
      [[maybe_unused]] int at = 0;
      [[maybe_unused]] const auto is_linear_through = [&]<class Child>(TypeList<Child>) {
        const bool is_factor = at++ < E::factors || E::is_sum;
        return occurrences<Part, Child>() == 0 || (is_factor && is_linear_in<Part, Child>());
      };
      return (is_linear_through(TypeList<C>{}) && ...);
    });
}

/// The expression with `other` in place of a part.
template <class Part, class E, class Other>
auto replaced(const E& e, const Other& other) {
  if constexpr (std::is_same_v<Part, E>)
    return other;
  else if constexpr (occurrences<Part, E>() == 0)
    return e;
  else if constexpr (has_one_child<E>)
    return e.with(replaced<Part>(e.operand, other));
  else
    return e.with(replaced<Part>(e.left, other), replaced<Part>(e.right, other));
}

/// The part of a given type, found in an expression.
template <class Part, class E>
const Part& part_of(const E& e) {
  if constexpr (std::is_same_v<Part, E>)
    return e;
  else if constexpr (has_one_child<E>)
    return part_of<Part>(e.operand);
  else if constexpr (occurrences<Part, decltype(E::left)>() > 0)
    return part_of<Part>(e.left);
  else
    return part_of<Part>(e.right);
}

/// Whether two expressions of one type have the same tensors and scalars.
template <class E>
bool same_operands(const E& a, const E& b) {
  if constexpr (AnyAccess<E>)
    return same_place(a.tensor(), b.tensor());
  else if constexpr (AnyLiteral<E>)
    return a.value == b.value;
  else if constexpr (has_one_child<E>)
    return same_operands(a.operand, b.operand);
  else if constexpr (has_two_children<E>)
    return same_operands(a.left, b.left) && same_operands(a.right, b.right);
  else
    return true;
}

/// Whether those variables of a part that its workspace lacks occur in the part alone.
template <class Part, class Result, class Right>
constexpr bool sums_alone(const NameList& kept) {
  const NameList variables = free_variables<Part>();
  for (int at = 0; at < variables.size; ++at) {
    if (kept.contains(variables[at])) continue;
    if (Result::names.contains(variables[at]) ||
        accesses_with<Part>(variables[at]) != accesses_with<Right>(variables[at]))
      return false;
  }
  return true;
}
template <class Part>
constexpr bool keeps_all(const NameList& kept) {
  const NameList variables = free_variables<Part>();
  for (int at = 0; at < variables.size; ++at)
    if (!kept.contains(variables[at])) return false;
  return true;
}

/// The variables of `order` that are among `variables`, in that order.
constexpr NameList only(const NameList& order, const NameList& variables) {
  NameList out;
  for (int at = 0; at < order.size; ++at)
    if (variables.contains(order[at])) out.push(order[at]);
  return out;
}

}  // namespace detail

}  // namespace sporos
