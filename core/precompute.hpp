// SPDX-License-Identifier: Apache-2.0
/// @file precompute.hpp
/// Precomputed: a statement with a part that is computed first, into a tensor of its own.
///
/// After Kjolstad, Ahrens, Kamil, Amarasinghe, *Tensor Algebra Compilation with Workspaces* (CGO 2019), and
/// Zhang, Hsu, Kjolstad, *Compilation of Modular and General Sparse Workspaces* (PLDI 2024), section 6.1.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "index.hpp"
#include "map.hpp"
#include "notation.hpp"
#include "resources.hpp"
#include "sum.hpp"

namespace sporos {

template <class Consumer, class Producer>
class Precomputed;

/// Runs the statement of a part, then the one that reads it (kernels/statement/precomputed.hpp).
template <class Consumer, class Producer>
void run(const Precomputed<Consumer, Producer>& both);

/// `A(i, j) = D(i, j) * W(i, j) where W(i, j) = B(i, k) * C(k, j)`: made by Statement::precompute. It is
/// scheduled, run, planned, estimated and explained as a statement is.
///
/// What concerns the computation as a whole, such as `on(resources)` and `deterministic()`, holds for both
/// statements. Loops are named by their variables: those that the statement has are the statement's, and the
/// others the part's. `schedule_part` schedules the part by itself.
///
///     both.split(j, j0, j1, 64)                                              the statement's loop over j
///     both.split(k, k0, k1, 64)                                              the part's loop over k
///     both.schedule_part([](const auto& part) { return part.split(j, j0, j1, 64); })
template <class Consumer, class Producer>
class Precomputed {
 public:
  using space_type = typename Consumer::space_type;

  Precomputed(Consumer consumer, Producer producer)
      : consumer_(std::move(consumer)), producer_(std::move(producer)) {}

  /// The statement that computes the part.
  const Producer& producer() const { return producer_; }
  /// The statement that reads it.
  const Consumer& consumer() const { return consumer_; }

  const auto& result() const { return consumer_.result(); }
  const auto& resources() const { return consumer_.resources(); }
  bool accumulates() const { return consumer_.accumulates(); }

  /// The same two statements, that of the part as `schedule` returns it.
  template <class Schedule>
  auto schedule_part(const Schedule& schedule) const {
    return of(consumer_, schedule(producer_));
  }

  template <char... Names>
  auto reorder(Index<Names>... loops) const {
    if constexpr ((Consumer::has_loop(Names) && ...))
      return of(consumer_.reorder(loops...), producer_);
    else
      return of(consumer_, producer_.reorder(loops...));
  }
  template <char From, char Outer, char Inner>
  auto split(Index<From> from, Index<Outer> outer, Index<Inner> inner, std::int64_t size) const {
    if constexpr (Consumer::has_loop(From))
      return of(consumer_.split(from, outer, inner, size), producer_);
    else
      return of(consumer_, producer_.split(from, outer, inner, size));
  }
  template <char Outer, char Inner, char Fused>
  auto fuse(Index<Outer> outer, Index<Inner> inner, Index<Fused> fused) const {
    if constexpr (Consumer::has_loop(Outer) && Consumer::has_loop(Inner))
      return of(consumer_.fuse(outer, inner, fused), producer_);
    else
      return of(consumer_, producer_.fuse(outer, inner, fused));
  }
  template <char From, char Made, class A>
  auto pos(Index<From> from, Index<Made> made, const A& operand) const {
    if constexpr (Consumer::has_loop(From))
      return of(consumer_.pos(from, made, operand), producer_);
    else
      return of(consumer_, producer_.pos(from, made, operand));
  }
  template <char Name>
  auto parallelize(Index<Name> loop) const {
    if constexpr (Consumer::has_loop(Name))
      return of(consumer_.parallelize(loop), producer_);
    else
      return of(consumer_, producer_.parallelize(loop));
  }

  // Of the statement that reads the part.
  auto accumulate() const { return of(consumer_.accumulate(), producer_); }
  template <class Policy>
  auto workspace(const Policy& policy) const {
    return of(consumer_.workspace(policy), producer_);
  }
  template <class Candidate>
  auto use() const {
    return of(consumer_.template use<Candidate>(), producer_);
  }
  template <class A>
  auto on_owners_of(const A& access) const {
    return of(consumer_.on_owners_of(access), producer_);
  }

  // Of both statements.
  auto on(const Resources<space_type>& resources) const {
    return of(consumer_.on(resources), producer_.on(resources));
  }
  auto generic() const { return of(consumer_.generic(), producer_.generic()); }
  auto deterministic() const { return of(consumer_.deterministic(), producer_.deterministic()); }
  auto allow_tf32() const { return of(consumer_.allow_tf32(), producer_.allow_tf32()); }
  template <class Ring>
  auto over(const Ring& ring) const {
    return of(consumer_.over(ring), producer_.over(ring));
  }
  /// Of the part alone: the statement reads it, and its values change from run to run.
  auto with_constant_operands() const { return of(consumer_, producer_.with_constant_operands()); }
  /// Of the part alone: its sums may be too large for the type of their tensor.
  auto with_finite_operands() const { return of(consumer_, producer_.with_finite_operands()); }

  /// Does not compile: the message says what to do with another part.
  template <class E, class W>
  Refused precompute(const E&, const W&) const {
    static_assert(detail::never<E, W>,
                  "one part of a statement is computed first: compute another one by a statement of its own, "
                  "before this one, and write its tensor here");
    return {};
  }

  /// Runs both statements. If the second one fails, the tensor of the part has been written.
  void run() const { sporos::run(*this); }

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
  template <class C, class P>
  static Precomputed<C, P> of(const C& consumer, const P& producer) {
    return {consumer, producer};
  }

  Consumer consumer_;
  Producer producer_;
};

namespace detail {

/// The expression with the tensor `other` in place of the one with the given identity.
template <class E, class T>
E with_tensor(const E& e, [[maybe_unused]] const void* identity, [[maybe_unused]] const T& other) {
  if constexpr (AnyAccess<E>) {
    if constexpr (std::is_same_v<typename E::tensor_type, T>)
      if (e.tensor().identity() == identity) return E(other);
    return e;
  } else if constexpr (has_one_child<E>) {
    return e.with(with_tensor(e.operand, identity, other));
  } else if constexpr (has_two_children<E>) {
    return e.with(with_tensor(e.left, identity, other), with_tensor(e.right, identity, other));
  } else {
    return e;
  }
}

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
