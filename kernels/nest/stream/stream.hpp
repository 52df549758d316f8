// SPDX-License-Identifier: Apache-2.0
/// @file stream.hpp
/// Level streams: the coordinates of one index variable, in order, and what an expression holds at each.
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
/// The operands of a function, side by side, are an Intersection, a Union or Guided, as the function
/// declares.
///
/// A stream that iterates has `valid()`, `coord()`, `next()`, and `here(f)`, which calls f with the
/// expression at `coord()`. Every stream has `most(extent)`, an upper bound on its coordinates, and `visit(c,
/// f)`, which calls f with the expression at c, or with Absent: level streams inside stand at the first
/// coordinate not below c, and `pass(c)` moves those on that stand at c.
///
/// The types that reach f differ by who is present, so a union's loop body is compiled separately for left
/// and right, left alone, right alone: its lattice points. (Kovach, Kolichala, Gu, Kjolstad, *Indexed
/// Streams*, PLDI 2023, section 4; lattices after Kjolstad et al., *The Tensor Algebra Compiler*, OOPSLA
/// 2017, section 5.)
///
/// Local objects here and in the nest are not const: g++ 12 keeps a const object in memory (its scalar
/// replacement leaves read-only ones alone), and then a loop reloads its parts for each coordinate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "../../../core/index.hpp"
#include "../../../core/loops.hpp"
#include "guided.hpp"
#include "leaf.hpp"

namespace sporos::stream {

/// The coordinates that one operand's next level stores.
template <class A, class Compute, int K>
class LevelStream {
 public:
  using L = Leaf<A, Compute, K>;
  using Expression = typename A::format::template expression<K>;
  static constexpr bool iterates = true;
  static constexpr bool has_walks = true;
  static constexpr bool ordered = L::next().ordered;
  /// A level over d / block: each stored coordinate stands for `block` coordinates of the mode.
  static constexpr std::int64_t block = Expression::block;
  static constexpr bool looks_ahead = block == 1;
  static constexpr bool has_lattice = false;

  SPOROS_INLINE LevelStream(const L& leaf, std::int64_t extent) : view_(leaf.view), extent_(extent) {
    if constexpr (L::is_range) {
      static_assert(L::next().branchless, "below a level that is not unique stand singleton levels only");
      at_ = leaf.begin, end_ = leaf.end;
    } else {
      const Bounds bounds = level().pos_bounds(leaf.begin);
      at_ = bounds.begin, end_ = bounds.end;
    }
    if constexpr (is_shifted<A, K>()) {
      static_assert(ordered && block == 1, "a part of an unordered or blocked level: convert the operand");
      at_ = lower_bound(0), end_ = lower_bound(view_->count[Expression::mode]);
    }
    find_run();
  }

  /// Keeps the coordinates in [begin, end) only: binary search.
  SPOROS_INLINE void restrict_to(std::int64_t begin, std::int64_t end) {
    static_assert(ordered, "a level without order is walked whole");
    at_ = lower_bound(block == 1 ? begin : begin / block);
    end_ = lower_bound(block == 1 ? end : (end + block - 1) / block);
    if constexpr (block > 1) {
      extent_ = end;
      inside_ = at_ < end_ && coord_of(at_) * block < begin ? begin - coord_of(at_) * block : 0;
      if (at_ < end_ && coord() >= extent_) at_ = end_;
    }
    find_run();
  }

  /// Upper bound on the coordinates left, of a variable of the given extent.
  SPOROS_INLINE std::int64_t most(std::int64_t extent) const {
    const std::int64_t left = (end_ - at_) * block;
    return left < extent ? left : extent;
  }
  SPOROS_INLINE bool valid() const { return at_ < end_; }
  SPOROS_INLINE std::int64_t coord() const {
    if constexpr (block == 1)
      return coord_of(at_);
    else
      return coord_of(at_) * block + inside_;
  }
  SPOROS_INLINE void next() {
    if constexpr (block > 1) {
      if (++inside_ < block && coord() < extent_) return;
      inside_ = 0;
    }
    at_ = run_end();
    find_run();
  }

  /// A coordinate that is reached soon, or the last one.
  SPOROS_INLINE std::int64_t ahead() const {
    const std::int64_t at = at_ + places_ahead;
    return coord_of(at < end_ ? at : end_ - 1);
  }
  template <char Variable>
  SPOROS_INLINE void fetch(std::int64_t) const {}

  template <class F>
  SPOROS_INLINE void here(const F& f) const {
    f(Leaf<A, Compute, K + 1>{view_, at_, run_end()});
  }
  template <class F>
  SPOROS_INLINE void visit(std::int64_t c, const F& f) const {
    if (valid() && coord() == c)
      here(f);
    else
      f(Absent{});
  }
  SPOROS_INLINE void pass(std::int64_t c) {
    if (valid() && coord() == c) next();
  }
  /// Moves to the first coordinate not below c: a few steps, then doubling strides and a binary search.
  SPOROS_INLINE void seek(std::int64_t c) {
    for (int step = 0; step < 8; ++step) {
      if (!valid() || coord() >= c) return;
      next();
    }
    if constexpr (block == 1 && ordered) {
      if (!valid() || coord() >= c) return;
      std::int64_t stride = 8;
      std::int64_t low = at_;
      while (low + stride < end_ && coord_of(low + stride) < c) {
        low += stride;
        stride *= 2;
      }
      const std::int64_t end = end_;
      end_ = low + stride < end ? low + stride : end;
      at_ = low;
      at_ = lower_bound(c);
      end_ = end;
      find_run();
    } else {
      while (valid() && coord() < c) next();
    }
  }

 private:
  SPOROS_INLINE const auto& level() const { return view_->template level<K>(); }
  SPOROS_INLINE std::int64_t coord_of(std::int64_t q) const {
    std::int64_t first = 0;
    if constexpr (is_shifted<A, K>()) first = view_->first[Expression::mode];
    return level().coord_at(q) - first;
  }
  SPOROS_INLINE std::int64_t lower_bound(std::int64_t c) const {
    std::int64_t low = at_;
    std::int64_t high = end_;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (coord_of(middle) < c)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  /// A level that is not unique repeats coordinates: a run of equal ones is one step of the stream.
  SPOROS_INLINE void find_run() {
    if constexpr (!L::next().unique) {
      run_ = at_;
      if (at_ < end_) do
          ++run_;
        while (run_ < end_ && coord_of(run_) == coord_of(at_));
    }
  }
  SPOROS_INLINE std::int64_t run_end() const {
    if constexpr (L::next().unique)
      return at_ + 1;
    else
      return run_;
  }

  static constexpr std::int64_t places_ahead = 3;

  const typename L::view_type* view_;
  std::int64_t at_;
  std::int64_t end_;
  std::int64_t run_ = 0;
  std::int64_t inside_ = 0;
  std::int64_t extent_;
};

/// An expression that is present at every coordinate.
template <class E>
struct Free {
  static constexpr bool iterates = false;
  static constexpr bool has_walks = false;
  static constexpr bool ordered = true;
  static constexpr bool looks_ahead = false;
  static constexpr bool has_lattice = false;
  E expression;

  SPOROS_INLINE void restrict_to(std::int64_t, std::int64_t) {}
  SPOROS_INLINE std::int64_t most(std::int64_t extent) const { return extent; }
  SPOROS_INLINE void seek(std::int64_t) {}
  template <class F>
  SPOROS_INLINE void visit(std::int64_t, const F& f) const {
    f(expression);
  }
  template <char Variable>
  SPOROS_INLINE void fetch(std::int64_t c) const {
    stream::fetch<Variable>(expression, c);
  }
  SPOROS_INLINE void pass(std::int64_t) {}
};

/// L * R, or L / R, whose right side is present everywhere.
template <class A, class B, class Operation>
class Intersection {
 public:
  static constexpr bool iterates = A::iterates || B::iterates;
  static constexpr bool both = A::iterates && B::iterates;
  static constexpr bool has_walks = A::has_walks || B::has_walks;
  static constexpr bool ordered = A::ordered && B::ordered;
  static constexpr bool looks_ahead = A::looks_ahead != B::looks_ahead && A::has_walks != B::has_walks;
  static constexpr bool has_lattice = false;
  static_assert(
      !both || ordered,
      "two sparse operands meet at an index variable, but a level there is not ordered: convert it to an "
      "ordered format");

  static_assert(!std::is_same_v<Operation, Division> || !B::has_walks,
                "a sparse operand cannot divide: where it stores nothing it is zero. Divide by dense tensors "
                "and scalars");

  SPOROS_INLINE Intersection(const A& a, const B& b) : a_(a), b_(b) { align(); }

  SPOROS_INLINE void restrict_to(std::int64_t begin, std::int64_t end) {
    a_.restrict_to(begin, end);
    b_.restrict_to(begin, end);
    align();
  }
  SPOROS_INLINE std::int64_t most(std::int64_t extent) const {
    const std::int64_t a = a_.most(extent);
    const std::int64_t b = b_.most(extent);
    return a < b ? a : b;
  }
  SPOROS_INLINE bool valid() const {
    if constexpr (both)
      return a_.valid() && b_.valid();
    else if constexpr (A::iterates)
      return a_.valid();
    else
      return b_.valid();
  }
  SPOROS_INLINE std::int64_t coord() const {
    if constexpr (A::iterates)
      return a_.coord();
    else
      return b_.coord();
  }
  SPOROS_INLINE std::int64_t ahead() const {
    if constexpr (A::looks_ahead)
      return a_.ahead();
    else
      return b_.ahead();
  }
  template <char Variable>
  SPOROS_INLINE void fetch(std::int64_t c) const {
    a_.template fetch<Variable>(c);
    b_.template fetch<Variable>(c);
  }
  SPOROS_INLINE void next() {
    if constexpr (both) {
      a_.next();
      b_.next();
      align();
    } else {
      if constexpr (A::iterates)
        a_.next();
      else
        b_.next();
      align();
    }
  }
  SPOROS_INLINE void seek(std::int64_t c) {
    if constexpr (A::has_walks) a_.seek(c);
    if constexpr (B::has_walks) b_.seek(c);
    align();
  }
  template <class F>
  SPOROS_INLINE void here(const F& f) const {
    if constexpr (both)
      a_.here([&] SPOROS_INLINE_LAMBDA(const auto& x) {
        b_.here([&] SPOROS_INLINE_LAMBDA(const auto& y) { f(combine<Operation>(x, y)); });
      });
    else if constexpr (A::iterates)
      a_.here([&] SPOROS_INLINE_LAMBDA(const auto& x) {
        b_.visit(a_.coord(), [&] SPOROS_INLINE_LAMBDA(const auto& y) { f(combine<Operation>(x, y)); });
      });
    else
      b_.here([&] SPOROS_INLINE_LAMBDA(const auto& y) {
        a_.visit(b_.coord(), [&] SPOROS_INLINE_LAMBDA(const auto& x) { f(combine<Operation>(x, y)); });
      });
  }
  template <class F>
  SPOROS_INLINE void visit(std::int64_t c, const F& f) const {
    if constexpr (iterates) {
      if (valid() && coord() == c)
        here(f);
      else
        f(Absent{});
    } else {
      a_.visit(c, [&] SPOROS_INLINE_LAMBDA(const auto& x) {
        b_.visit(c, [&] SPOROS_INLINE_LAMBDA(const auto& y) { f(combine<Operation>(x, y)); });
      });
    }
  }
  SPOROS_INLINE void pass(std::int64_t c) {
    if constexpr (iterates) {
      if (valid() && coord() == c) next();
    } else {
      a_.pass(c);
      b_.pass(c);
    }
  }

 private:
  SPOROS_INLINE void align() {
    if constexpr (both) {
      while (a_.valid() && b_.valid()) {
        const std::int64_t x = a_.coord();
        const std::int64_t y = b_.coord();
        if (x == y) return;
        if (x < y)
          a_.seek(y);
        else
          b_.seek(x);
      }
    } else if constexpr (A::iterates && B::has_walks) {
      if (a_.valid()) b_.seek(a_.coord());
    } else if constexpr (B::iterates && A::has_walks) {
      if (b_.valid()) a_.seek(b_.coord());
    }
  }

  A a_;
  B b_;
};

/// L + R, or another operation that is present where either side is.
template <class A, class B, class Operation>
class Union {
 public:
  static constexpr bool iterates = A::iterates && B::iterates;
  static constexpr bool ordered = A::ordered && B::ordered;
  static constexpr bool has_walks = A::has_walks || B::has_walks;
  static constexpr bool looks_ahead = false;
  /// Whether its coordinates are best visited by `for_each`, which has a loop for each lattice point.
  static constexpr bool has_lattice = iterates;
  static_assert(
      !has_walks || ordered,
      "operands of a sum meet at an index variable, but a level there is not ordered: convert it to an "
      "ordered format");

  SPOROS_INLINE Union(const A& a, const B& b) : a_(a), b_(b) {}

  SPOROS_INLINE void restrict_to(std::int64_t begin, std::int64_t end) {
    a_.restrict_to(begin, end);
    b_.restrict_to(begin, end);
  }
  SPOROS_INLINE std::int64_t most(std::int64_t extent) const {
    const std::int64_t sum = a_.most(extent) + b_.most(extent);
    return sum < extent ? sum : extent;
  }
  SPOROS_INLINE bool valid() const { return a_.valid() || b_.valid(); }
  SPOROS_INLINE std::int64_t coord() const {
    if (!a_.valid()) return b_.coord();
    if (!b_.valid()) return a_.coord();
    const std::int64_t x = a_.coord();
    const std::int64_t y = b_.coord();
    return x < y ? x : y;
  }
  template <char Variable>
  SPOROS_INLINE void fetch(std::int64_t c) const {
    a_.template fetch<Variable>(c);
    b_.template fetch<Variable>(c);
  }
  SPOROS_INLINE void next() { pass(coord()); }
  SPOROS_INLINE void seek(std::int64_t c) {
    a_.seek(c);
    b_.seek(c);
  }
  template <class F>
  SPOROS_INLINE void here(const F& f) const {
    visit(coord(), f);
  }
  template <class F>
  SPOROS_INLINE void visit(std::int64_t c, const F& f) const {
    a_.visit(c, [&] SPOROS_INLINE_LAMBDA(const auto& x) {
      b_.visit(c, [&] SPOROS_INLINE_LAMBDA(const auto& y) { f(combine<Operation>(x, y)); });
    });
  }
  SPOROS_INLINE void pass(std::int64_t c) {
    a_.pass(c);
    b_.pass(c);
  }

  /// Calls f(coordinate, expression) over the whole union, with one loop for each lattice point.
  template <class F>
  SPOROS_INLINE void for_each(const F& f) {
    while (a_.valid() && b_.valid()) {
      const std::int64_t x = a_.coord();
      const std::int64_t y = b_.coord();
      if (x == y) {
        a_.here([&] SPOROS_INLINE_LAMBDA(const auto& l) {
          b_.here([&] SPOROS_INLINE_LAMBDA(const auto& r) { f(x, combine<Operation>(l, r)); });
        });
        a_.next();
        b_.next();
      } else if (x < y) {
        a_.here([&] SPOROS_INLINE_LAMBDA(const auto& l) { f(x, combine<Operation>(l, Absent{})); });
        a_.next();
      } else {
        b_.here([&] SPOROS_INLINE_LAMBDA(const auto& r) { f(y, combine<Operation>(Absent{}, r)); });
        b_.next();
      }
    }
    for (; a_.valid(); a_.next())
      a_.here([&] SPOROS_INLINE_LAMBDA(const auto& l) { f(a_.coord(), combine<Operation>(l, Absent{})); });
    for (; b_.valid(); b_.next())
      b_.here([&] SPOROS_INLINE_LAMBDA(const auto& r) { f(b_.coord(), combine<Operation>(Absent{}, r)); });
  }

 private:
  A a_;
  B b_;
};

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

/// Calls f(coordinate, expression) over a stream: over the coordinates in `bounds` (`Restrict`), or over all
/// of it. `Independent` promises that f writes to another place at each coordinate, so that full loops may
/// vectorise.
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
template <char First, char... Rest, class E, class Add>
SPOROS_INLINE void for_each_term(const E& e, const std::int64_t* extents, const Add& add) {
  for_each<false, false>(
      open<First>(e, extents[0]), Bounds{0, extents[0]},
      [&] SPOROS_INLINE_LAMBDA(std::int64_t c, const auto& below) {
        if constexpr (!is_absent<std::remove_cvref_t<decltype(below)>>) {
          const Coordinates<1> env{{c}};
          advance_into<loops_over<First>, 1>(below, env, [&] SPOROS_INLINE_LAMBDA(const auto& term) {
            using Term = std::remove_cvref_t<decltype(term)>;
            if constexpr (is_absent<Term>) {
              return;
            } else if constexpr (sizeof...(Rest) > 0) {
              for_each_term<Rest...>(term, extents + 1, add);
            } else {
              static_assert(
                  is_loaded<Term>,
                  "an operand of an explicit sum cannot be read in the order of its loops: name the "
                  "variables of the sum in the order in which the operand stores them; a blocked operand, "
                  "which stores other variables below them, has to be converted");
              if constexpr (is_loaded<Term>) add(term.value);
            }
          });
        }
      });
}

}  // namespace detail

/// Computes a sum whose other variables are all bound, and calls f with its value, or with Absent where no
/// term is present.
template <class E, char... Names, class F>
SPOROS_INLINE void sum_into(const Unary<SumOver<Names...>, E>& e, const F& f) {
  using T = typename E::compute;
  T sum{};
  bool present = false;
  detail::for_each_term<Names...>(e.operand, e.operation.extents, [&] SPOROS_INLINE_LAMBDA(const T& term) {
    sum = plus(sum, term);
    present = true;
  });
  if (present)
    f(Loaded<T>{sum});
  else
    f(Absent{});
}

}  // namespace sporos::stream
