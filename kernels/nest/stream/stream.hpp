// SPDX-License-Identifier: Apache-2.0
/// @file stream.hpp
/// Streams: the coordinates of one index variable, in order, and what an expression holds at each.
///
/// `open<v>(expression)` makes the stream of an expression over variable v:
///
///     operand whose next level stores coordinates of v    LevelStream    iterates
///     operand that is full over v, or lacks v             Free           is looked up, never iterates
///     L * R, L / R                                        Intersection   present where both are
///     L + R                                               Union          present where either is
///     !R, a selection's condition                         Guided         present where one of them is
///     f(E), sum(..., E)                                   Wrapped        the stream of E
///
/// The operands of a function, side by side, are an Intersection, a Union or Guided, depending on what the
/// function declares.
///
/// A stream that iterates has `valid()`, `coord()`, `next()`, and `here(f)`, which calls f with the
/// expression at `coord()`. Every stream has `most(extent)`, an upper bound on its number of coordinates, and
/// `visit(c, f)`, which calls f with the expression at c, or with Absent. For this, its level streams must be
/// at the first coordinate that is at least c; `pass(c)` advances those that are at c.
///
/// The types that reach f depend on which sides are present, so a union's loop body is compiled separately
/// for both sides, for the left alone and for the right alone: its lattice points. (Kovach, Kolichala, Gu,
/// Kjolstad, *Indexed Streams*, PLDI 2023, section 4; lattices after Kjolstad et al., *The Tensor Algebra
/// Compiler*, OOPSLA 2017, section 5.)
///
/// Local objects here and in the nest are not const: g++ 12 keeps a const object in memory (its scalar
/// replacement leaves read-only ones alone), and then a loop reloads its parts for each coordinate.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../../core/index.hpp"
#include "../../../core/loops.hpp"
#include "advance.hpp"
#include "guided.hpp"
#include "intersection.hpp"
#include "leaf.hpp"
#include "level_stream.hpp"
#include "questions.hpp"
#include "union.hpp"

namespace sporos::stream {

/// An operation on one expression, absent where that is: f(E), or sum(…, E) over a variable that E waits for.
template <class S, class Operation>
class Wrapped {
 public:
  static constexpr bool iterates = S::iterates;
  static constexpr bool ordered = S::ordered;
  static constexpr bool has_walks = S::has_walks;
  static constexpr bool looks_ahead = S::looks_ahead;
  static constexpr bool has_lattice = S::has_lattice;

  SPOROS_INLINE Wrapped(const S& s, const Operation& operation) : s_(s), operation_(operation) {}

  SPOROS_INLINE void restrict_to(std::int64_t begin, std::int64_t end) { s_.restrict_to(begin, end); }
  SPOROS_INLINE std::int64_t most(std::int64_t extent) const { return s_.most(extent); }
  SPOROS_INLINE bool valid() const { return s_.valid(); }
  SPOROS_INLINE std::int64_t coord() const { return s_.coord(); }
  SPOROS_INLINE std::int64_t ahead() const { return s_.ahead(); }
  template <char Variable>
  SPOROS_INLINE void fetch(std::int64_t c) const {
    s_.template fetch<Variable>(c);
  }
  SPOROS_INLINE void next() { s_.next(); }
  SPOROS_INLINE void seek(std::int64_t c) { s_.seek(c); }
  template <class Body>
  SPOROS_INLINE void here(const Body& f) const {
    s_.here([&] SPOROS_INLINE_LAMBDA(const auto& x) { f(operation_(x)); });
  }
  template <class Body>
  SPOROS_INLINE void visit(std::int64_t c, const Body& f) const {
    s_.visit(c, [&] SPOROS_INLINE_LAMBDA(const auto& x) { f(operation_(x)); });
  }
  SPOROS_INLINE void pass(std::int64_t c) { s_.pass(c); }
  template <class Body>
  SPOROS_INLINE void for_each(const Body& f) {
    s_.for_each([&] SPOROS_INLINE_LAMBDA(std::int64_t c, const auto& x) { f(c, operation_(x)); });
  }

 private:
  S s_;
  Operation operation_;
};

/// The stream of an expression over `Variable`, whose extent is given.
template <char Variable, class E>
SPOROS_INLINE auto open(const E& e, std::int64_t extent) {
  if constexpr (!mentions<E>(Variable) || is_zero<E>) {
    return Free<E>{e};
  } else if constexpr (AnyLeaf<E>) {
    if constexpr (E::walks(Variable))
      return LevelStream<typename E::access, typename E::compute, E::bound_levels>(e, extent);
    else
      return Free<E>{e};
  } else if constexpr (has_one_child<E>) {
    return Wrapped(open<Variable>(e.operand, extent), e.operation);
  } else if constexpr (is_absent<decltype(E::left)>) {
    return Wrapped(open<Variable>(e.right, extent), BesideAbsent<typename E::operation_type, true>{});
  } else if constexpr (is_absent<decltype(E::right)>) {
    return Wrapped(open<Variable>(e.left, extent), BesideAbsent<typename E::operation_type, false>{});
  } else {
    auto left = open<Variable>(e.left, extent);
    auto right = open<Variable>(e.right, extent);
    using Left = decltype(left);
    using Right = decltype(right);
    using Operation = typename E::operation_type;
    constexpr Presence presence = presence_of<Operation>();
    if constexpr (presence == Presence::any)
      return Union<Left, Right, Operation>(left, right);
    else if constexpr (presence == Presence::all)
      return Intersection<Left, Right, Operation>(left, right);
    else if constexpr (presence == Presence::first)
      return Guided<Left, Right, Operation, true>(left, right);
    else
      return Guided<Right, Left, Operation, false>(right, left);
  }
}

/// Calls f(coordinate, expression) for each coordinate of a stream; with `Restrict`, only for those in
/// `bounds`. `Independent` promises that f writes to a different place at each coordinate, so that full loops
/// may vectorise.
template <bool Restrict, bool Independent, char Ahead = 0, class S, class F>
SPOROS_INLINE void for_each(S stream, const Bounds& bounds, const F& f) {
  if constexpr (Restrict) stream.restrict_to(bounds.begin, bounds.end);
  if constexpr (!S::iterates) {
    if constexpr (S::has_walks) {
      for (std::int64_t c = bounds.begin; c < bounds.end; ++c) {
        stream.visit(c, [&] SPOROS_INLINE_LAMBDA(const auto& e) { f(c, e); });
        stream.pass(c);
      }
    } else if constexpr (Independent) {
      SPOROS_INDEPENDENT_ITERATIONS
      for (std::int64_t c = bounds.begin; c < bounds.end; ++c)
        stream.visit(c, [&] SPOROS_INLINE_LAMBDA(const auto& e) { f(c, e); });
    } else {
      for (std::int64_t c = bounds.begin; c < bounds.end; ++c)
        stream.visit(c, [&] SPOROS_INLINE_LAMBDA(const auto& e) { f(c, e); });
    }
  } else if constexpr (S::has_lattice) {
    stream.for_each(f);
  } else {
    for (; stream.valid(); stream.next()) {
      if constexpr (Ahead != 0 && S::looks_ahead) stream.template fetch<Ahead>(stream.ahead());
      stream.here([&] SPOROS_INLINE_LAMBDA(const auto& e) { f(stream.coord(), e); });
    }
  }
}

namespace detail {

/// Calls add(term) for each term that is present, with a loop for each variable, the first outermost.
/// @tparam Order, Depth  the loops outside, which have bound `outside`: levels of their variables below those
///                       of the sum are located, or searched, once the sum's are bound
template <class Order, int Depth, char First, char... Rest, class E, class Env, class Add>
SPOROS_INLINE void for_each_term(const E& e, const std::int64_t* extents, const Env& outside,
                                 const Add& add) {
  for_each<false, false>(
      open<First>(e, extents[0]), Bounds{0, extents[0]},
      [&] SPOROS_INLINE_LAMBDA(std::int64_t c, const auto& below) {
        if constexpr (!is_absent<std::remove_cvref_t<decltype(below)>>) {
          const Coordinates<1> env{{c}};
          advance_into<loops_over<First>, 1>(below, env, [&] SPOROS_INLINE_LAMBDA(const auto& bound) {
            advance_into<Order, Depth>(bound, outside, [&] SPOROS_INLINE_LAMBDA(const auto& term) {
              using Term = std::remove_cvref_t<decltype(term)>;
              if constexpr (is_absent<Term>) {
                return;
              } else if constexpr (sizeof...(Rest) > 0) {
                for_each_term<Order, Depth, Rest...>(term, extents + 1, outside, add);
              } else {
                static_assert(
                    is_loaded<Term>,
                    "an operand of an explicit sum cannot be read in the order of its loops: name the "
                    "variables of the sum in the order in which the operand stores them, or compute the sum "
                    "first, into a tensor of its own; a blocked operand, which stores other variables below "
                    "them, has to be converted");
                if constexpr (is_loaded<Term>) add(term.value);
              }
            });
          });
        }
      });
}

}  // namespace detail

/// Computes a sum whose other variables are all bound, and calls f with its value, or with Absent where no
/// term is present.
template <class Order, int Depth, class E, char... Names, class Env, class F>
SPOROS_INLINE void sum_into(const Unary<SumOver<Names...>, E>& e, const Env& env, const F& f) {
  using T = typename E::compute;
  T sum{};
  bool present = false;
  detail::for_each_term<Order, Depth, Names...>(e.operand, e.operation.extents, env,
                                                [&] SPOROS_INLINE_LAMBDA(const T& term) {
                                                  sum = plus(sum, term);
                                                  present = true;
                                                });
  if (present)
    f(Loaded<T>{sum});
  else
    f(Absent{});
}

}  // namespace sporos::stream
