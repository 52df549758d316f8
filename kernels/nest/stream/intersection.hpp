// SPDX-License-Identifier: Apache-2.0
/// @file intersection.hpp
/// The stream of two expressions that is present where both are.
#pragma once

#include <cstdint>
#include <type_traits>

#include "function.hpp"

namespace sporos::stream {

/// L * R, or L / R, whose right side is present everywhere.
///
/// Where one side iterates, what the other one holds is looked up, as in U(i, j) * (S(i, j) + x(j)): level
/// streams there move along, forward, if the coordinates ascend. If they do not, those streams stay where
/// they begin, and each coordinate is sought from there: logarithmic in the length of their fibers.
template <class A, class B, class Operation>
class Intersection {
 public:
  static constexpr bool iterates = A::iterates || B::iterates;
  static constexpr bool both = A::iterates && B::iterates;
  static constexpr bool has_walks = A::has_walks || B::has_walks;
  static constexpr bool ordered = A::ordered && B::ordered;
  static constexpr bool looks_ahead = A::looks_ahead != B::looks_ahead && A::has_walks != B::has_walks;
  static constexpr bool has_lattice = false;
  /// Whether a side iterates in no order, and level streams of the other one, which does not, are looked up.
  static constexpr bool seeks_from_begin =
      !both && ((A::iterates && !A::ordered && B::has_walks) || (B::iterates && !B::ordered && A::has_walks));
  static_assert(
      !seeks_from_begin || (A::iterates ? B::ordered : A::ordered),
      "an operand is looked up along another one, but none of their levels is ordered: convert it to "
      "an ordered format");

  static_assert(!std::is_same_v<Operation, Division> || !B::has_walks,
                "a sparse operand cannot divide: where it stores nothing it is zero. Divide by dense tensors "
                "and scalars");

  SPOROS_INLINE Intersection(const A& a, const B& b) : a_(a), b_(b) {
    static_assert(
        !both || ordered,
        "two sparse operands meet at an index variable, but a level there is not ordered: convert it to an "
        "ordered format");
    align();
  }

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
        look_up(b_, a_.coord(), [&] SPOROS_INLINE_LAMBDA(const auto& y) { f(combine<Operation>(x, y)); });
      });
    else
      b_.here([&] SPOROS_INLINE_LAMBDA(const auto& y) {
        look_up(a_, b_.coord(), [&] SPOROS_INLINE_LAMBDA(const auto& x) { f(combine<Operation>(x, y)); });
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
  /// Calls f with what the side that does not iterate holds at c.
  template <class Side, class F>
  SPOROS_INLINE static void look_up(const Side& side, std::int64_t c, const F& f) {
    if constexpr (seeks_from_begin) {
      Side moved = side;
      moved.seek(c);
      moved.visit(c, f);
    } else {
      side.visit(c, f);
    }
  }
  SPOROS_INLINE void align() {
    if constexpr (seeks_from_begin) {
      return;
    } else if constexpr (both) {
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

}  // namespace sporos::stream
