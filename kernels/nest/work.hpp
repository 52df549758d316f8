// SPDX-License-Identifier: Apache-2.0
/// @file work.hpp
/// The amount of work in a statement, estimated from sizes only: the basis of the candidates' costs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "../../core/expression.hpp"
#include "bounds.hpp"

namespace sporos::detail {

/// The fraction of all coordinates at which an expression is present if the nonzeros of each operand are
/// evenly spread. If a variable is named, the coordinates are those of the other variables: the fraction at
/// which the expression may be present for some value of the named one.
template <char Without = '\0', Expression E>
double density(const E& e) {
  if constexpr (AnyAccess<E>) {
    double share = 1;
    if constexpr (!E::format::is_dense) {
      share = static_cast<double>(e.tensor().nnz());
      for (int mode = 0; mode < E::names.size; ++mode)
        if (E::names[mode] != Without)
          share /= static_cast<double>(
              std::max<std::int64_t>(e.tensor().extents()[static_cast<std::size_t>(mode)], 1));
    }
    return Without == '\0' ? share : std::min(1.0, share);
  } else if constexpr (has_one_child<E>) {
    return density<Without>(e.operand);
  } else if constexpr (has_two_children<E>) {
    const double left = density<Without>(e.left), right = density<Without>(e.right);
    switch (presence_of<E>()) {
      case Presence::all:
        return left * right;
      case Presence::any:
        return std::min(1.0, left + right);
      case Presence::first:
        return left;
      case Presence::second:
        return right;
    }
    return 1;
  } else {
    return 1;
  }
}

/// A rough upper bound on the number of coordinates at which the loops over `names` stop, each counted as
/// often as the loops outside reach it; negative if an expression bounds none of the loops, so that they stop
/// everywhere.
template <Expression E>
double most_steps(const E& e, const NameList& names, std::span<const std::int64_t> extents) {
  if constexpr (AnyAccess<E>) {
    if constexpr (E::format::is_dense) return -1;
    auto steps = static_cast<double>(e.tensor().nnz());
    for (int loop = 0; loop < names.size; ++loop)
      if (!E::names.contains(names[loop]))
        steps *= static_cast<double>(extents[static_cast<std::size_t>(loop)]);
    return steps;
  } else if constexpr (has_one_child<E>) {
    return most_steps(e.operand, names, extents);
  } else if constexpr (has_two_children<E>) {
    const double left = most_steps(e.left, names, extents), right = most_steps(e.right, names, extents);
    if (!is_bounded_by(presence_of<E>(), left >= 0, right >= 0)) return -1;
    return std::max(left, 0.0) + std::max(right, 0.0);
  } else {
    return -1;
  }
}

/// Whether an expression calls functions of the user, which may take any time.
template <class E>
constexpr bool calls_functions_of_user() {
  return fold<E>([]<class... C>(TypeList<C...>) {
    if constexpr (requires(const E& e) { e.function; })
      if constexpr (!requires(const E& e) { decltype(e.function)::infix; }) return true;
    return (calls_functions_of_user<C>() || ...);
  });
}

/// A rough upper bound on the steps of all loops of a statement. A step that calls a function of the user
/// counts as many.
/// @param extents  the extents of the statement's loops, outermost first
template <class S>
double most_steps(const S& statement, std::span<const std::int64_t> extents) {
  // Nobody knows what a function of the user takes: it counts as one that is worth sharing, such as a sine.
  constexpr double steps_of_function = 64;
  constexpr double each = calls_functions_of_user<typename S::right_type>() ? steps_of_function : 1;
  const double steps = most_steps(statement.right(), S::order::names, extents);
  double all = 1;
  for (const std::int64_t extent : extents) all *= static_cast<double>(extent);
  return each * (steps < 0 ? all : steps);
}

/// The number of terms that a statement adds up if nonzeros are evenly spread: the number of coordinates of
/// all its variables times the density of its right side.
template <class S>
double expected_terms(const S& statement) {
  const auto bounds = bounds_of(statement);
  double all = 1;
  for (int loop = 0; loop < S::order::names.size; ++loop) all *= static_cast<double>(bounds.extent[loop]);
  return all * density(statement.right());
}

/// The number of times that the loop at `Depth`, an inner one, begins if nonzeros are evenly spread.
template <int Depth, class S>
double expected_runs(const S& statement) {
  const auto bounds = bounds_of(statement);
  double all = 1;
  for (int loop = 0; loop < S::order::names.size; ++loop)
    if (loop != Depth) all *= static_cast<double>(bounds.extent[loop]);
  return all * density<S::order::names[Depth]>(statement.right());
}

}  // namespace sporos::detail
