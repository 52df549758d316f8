// SPDX-License-Identifier: Apache-2.0
/// @file union.hpp
/// The stream of two expressions that is present where either is.
#pragma once

#include <cstdint>

#include "function.hpp"

namespace sporos::stream {

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

  SPOROS_INLINE Union(const A& a, const B& b) : a_(a), b_(b) {
    static_assert(
        !has_walks || ordered,
        "operands of a sum meet at an index variable, but a level there is not ordered: convert it to an "
        "ordered format");
  }

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

}  // namespace sporos::stream
