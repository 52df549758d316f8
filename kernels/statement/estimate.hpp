// SPDX-License-Identifier: Apache-2.0
/// @file estimate.hpp
/// How much memory a statement will need, computed before it runs.
#pragma once

#include <concepts>
#include <cstdint>

#include "../../core/statement.hpp"
#include "checks.hpp"
#include "select.hpp"

namespace sporos {

/// An upper bound on the bytes that a run of a statement takes.
struct Estimate : Bytes {
  std::int64_t operands = 0;  ///< bytes of the operands, which exist already, each tensor counted once
};

/// An upper bound on what a run of the statement allocates with the candidate that will run it. Nothing is
/// computed or changed.
///
/// `result` is the size of the result's arrays, which exist already for a dense result; `workspace` is the
/// peak of everything else. The size of a sparse result is bounded by the number of coordinates at which
/// terms are added, each counted separately, and in each row by the number of coordinates that the row has;
/// for a union, both patterns are counted.
///
/// For a distributed statement, the estimate is that of this rank. It is collective, since it plans the
/// messages, and it counts the messages of one run.
///
/// @throws ShapeError if an index variable has two different extents
///
/// Cost: for a sparse result, the statement's loops without the innermost one; for A(i, j) = B(i, k) * C(k,
/// j) by rows, one step for each nonzero of B.
template <class Result, class Right, class Order, class Options>
Estimate estimate(const Statement<Result, Right, Order, Options>& statement) {
  using S = Statement<Result, Right, Order, Options>;
  require_valid<S>();
  if constexpr (can_run<S>)
    return detail::step_of(statement, [&] {
      expect_kokkos();
      return with_candidate<Estimate>(statement, Use::once, [&]<class K>() {
        const typename K::template Plan<S> plan(statement, statement.resources());
        return Estimate{plan.bytes(), detail::operand_bytes(detail::views_of(statement.right()))};
      });
    });
  else
    return {};
}

/// Does not compile: the message says what to write.
template <class T, char... Names>
Refused estimate(const Access<T, Names...>&) {
  return detail::refuse_assignment<Access<T, Names...>>();
}
/// Of a statement that has been refused.
template <std::same_as<Refused> R>
Estimate estimate(const R&) {
  return {};
}

}  // namespace sporos
