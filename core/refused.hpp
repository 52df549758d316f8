// SPDX-License-Identifier: Apache-2.0
/// @file refused.hpp
/// Refused: what stands for notation that does not compile. It takes whatever the program goes on to do with
/// it, so that the sentence that says why is the compiler's only error.
#pragma once

#include <string>
#include <type_traits>

#include "expression_base.hpp"
#include "tree.hpp"
#include "value.hpp"

namespace sporos {

/// What stands for a piece of notation that has been refused, so that the compiler says why and no more.
struct Refused : ExpressionBase {
  static constexpr bool is_number = true;

  template <class T>
    requires(std::is_arithmetic_v<T> || is_complex_v<T>)
  operator T() const {
    return T();
  }
  // The calls that schedule and run a statement.
  void run() const {}
  template <class... Loops>
  const Refused& reorder(const Loops&...) const {
    return *this;
  }
  template <class... Loops>
  const Refused& split(const Loops&...) const {
    return *this;
  }
  template <class... Loops>
  const Refused& fuse(const Loops&...) const {
    return *this;
  }
  template <class... Loops>
  const Refused& pos(const Loops&...) const {
    return *this;
  }
  template <class Loop>
  const Refused& parallelize(const Loop&) const {
    return *this;
  }
  template <class... Parts>
  const Refused& precompute(const Parts&...) const {
    return *this;
  }
  template <class Schedule>
  const Refused& schedule_part(const Schedule&) const {
    return *this;
  }
  template <class Policy>
  const Refused& workspace(const Policy&) const {
    return *this;
  }
  template <class Ring>
  const Refused& over(const Ring&) const {
    return *this;
  }
  template <class Resources>
  const Refused& on(const Resources&) const {
    return *this;
  }
  template <class A>
  const Refused& on_owners_of(const A&) const {
    return *this;
  }
  template <class Candidate>
  const Refused& use() const {
    return *this;
  }
  const Refused& accumulate() const { return *this; }
  const Refused& generic() const { return *this; }
  const Refused& deterministic() const { return *this; }
  const Refused& with_constant_operands() const { return *this; }
  const Refused& allow_tf32() const { return *this; }
  const Refused& with_finite_operands() const { return *this; }
  std::string str() const { return {}; }

  template <class E>
  const Refused& operator=(const E&) const {
    return *this;
  }
  template <class E>
  const Refused& operator+=(const E&) const {
    return *this;
  }
  template <class E>
  const Refused& operator-=(const E&) const {
    return *this;
  }
  template <class E>
  const Refused& operator*=(const E&) const {
    return *this;
  }
  template <class E>
  const Refused& operator/=(const E&) const {
    return *this;
  }
};

/// Whether a part of an expression has been refused.
template <class E>
constexpr bool is_refused() {
  if constexpr (std::is_same_v<E, Refused>)
    return true;
  else
    return fold<E>([]<class... C>(TypeList<C...>) { return (is_refused<C>() || ...); });
}

}  // namespace sporos
