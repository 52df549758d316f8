// SPDX-License-Identifier: Apache-2.0
/// @file guided.hpp
/// The stream of two expressions, one of which says where both are visited.
#pragma once

#include <cstdint>

#include "function.hpp"

namespace sporos::stream {

/// The coordinates of A, the guide, with what B holds there, or nothing; B is the condition of a selection,
/// or the operand of a complement. B is looked up in storage order, by two cursors that move along A and B.
/// @tparam LeftGuides  whether A is the operation's left side
template <class A, class B, class Operation, bool LeftGuides>
class Guided {
 public:
  static constexpr bool iterates = A::iterates;
  static constexpr bool has_walks = A::has_walks || B::has_walks;
  static constexpr bool ordered = A::ordered && B::ordered;
  static constexpr bool looks_ahead = A::looks_ahead && !B::has_walks;
  static constexpr bool has_lattice = false;

  SPOROS_INLINE Guided(const A& guide, const B& other) : guide_(guide), other_(other) {
    static_assert(
        !B::has_walks || ordered,
        "an operand is looked up along another one, but a level of one of them is not ordered: convert "
        "it to an ordered format");
    align();
  }

  SPOROS_INLINE void restrict_to(std::int64_t begin, std::int64_t end) {
    guide_.restrict_to(begin, end);
    other_.restrict_to(begin, end);
    align();
  }
  SPOROS_INLINE std::int64_t most(std::int64_t extent) const { return guide_.most(extent); }
  SPOROS_INLINE bool valid() const { return guide_.valid(); }
  SPOROS_INLINE std::int64_t coord() const { return guide_.coord(); }
  SPOROS_INLINE std::int64_t ahead() const { return guide_.ahead(); }
  template <char Variable>
  SPOROS_INLINE void fetch(std::int64_t c) const {
    guide_.template fetch<Variable>(c);
    other_.template fetch<Variable>(c);
  }
  SPOROS_INLINE void next() {
    guide_.next();
    align();
  }
  SPOROS_INLINE void seek(std::int64_t c) {
    if constexpr (A::has_walks) guide_.seek(c);
    if constexpr (iterates)
      align();
    else if constexpr (B::has_walks)
      other_.seek(c);
  }
  template <class F>
  SPOROS_INLINE void here(const F& f) const {
    guide_.here([&] SPOROS_INLINE_LAMBDA(const auto& x) {
      other_.visit(guide_.coord(), [&] SPOROS_INLINE_LAMBDA(const auto& y) { f(both(x, y)); });
    });
  }
  template <class F>
  SPOROS_INLINE void visit(std::int64_t c, const F& f) const {
    guide_.visit(c, [&] SPOROS_INLINE_LAMBDA(const auto& x) {
      if constexpr (is_absent<std::remove_cvref_t<decltype(x)>>)
        f(x);
      else
        other_.visit(c, [&] SPOROS_INLINE_LAMBDA(const auto& y) { f(both(x, y)); });
    });
  }
  SPOROS_INLINE void pass(std::int64_t c) {
    if constexpr (iterates) {
      if (valid() && coord() == c) next();
    } else {
      guide_.pass(c);
      other_.pass(c);
    }
  }

 private:
  template <class X, class Y>
  SPOROS_INLINE static auto both(const X& guide, const Y& other) {
    if constexpr (LeftGuides)
      return combine<Operation>(guide, other);
    else
      return combine<Operation>(other, guide);
  }
  SPOROS_INLINE void align() {
    if constexpr (A::iterates && B::has_walks)
      if (guide_.valid()) other_.seek(guide_.coord());
  }

  A guide_;
  B other_;
};

/// An operation whose other side is absent, applied to the side that is present.
template <class Operation, bool LeftIsAbsent>
struct BesideAbsent {
  template <class E>
  SPOROS_INLINE auto operator()(const E& e) const {
    if constexpr (LeftIsAbsent)
      return combine<Operation>(Absent{}, e);
    else
      return combine<Operation>(e, Absent{});
  }
};

}  // namespace sporos::stream
