// SPDX-License-Identifier: Apache-2.0
/// @file work.hpp
/// The amount of work in a statement, estimated from sizes only: the basis of the candidates' costs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../core/expression.hpp"
#include "bounds.hpp"

namespace sporos::detail {

/// The fraction of all coordinates at which an expression is present if the nonzeros of each operand are
/// evenly spread.
template <Expression E>
double density(const E& e) {
  if constexpr (AnyAccess<E>) {
    double share = 1;
    if constexpr (!E::format::is_dense) {
      share = static_cast<double>(e.tensor().nnz());
      for (const std::int64_t extent : e.tensor().extents())
        share /= static_cast<double>(std::max<std::int64_t>(extent, 1));
    }
    return share;
  } else if constexpr (has_one_child<E>) {
    return density(e.operand);
  } else if constexpr (has_two_children<E>) {
    const double left = density(e.left), right = density(e.right);
    return E::is_sum ? std::min(1.0, left + right) : left * right;
  } else {
    return 1;
  }
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

}  // namespace sporos::detail
