// SPDX-License-Identifier: Apache-2.0
/// @file run.hpp
/// Runs a statement: its cheapest candidate makes a plan and runs it.
#pragma once

#include <optional>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include "../../core/statement.hpp"
#include "checks.hpp"
#include "memory.hpp"
#include "select.hpp"
#include "zero_kept.hpp"

namespace sporos {

namespace detail {

/// A profiling region with the statement's text, if a profiling tool is loaded.
class ProfiledRegion {
 public:
  explicit ProfiledRegion(const StatementText& statement) {
    if (Kokkos::Profiling::profileLibraryLoaded()) region_.emplace(statement.str());
  }

 private:
  std::optional<Kokkos::Profiling::ScopedRegion> region_;
};

}  // namespace detail

/// Runs a statement with its resources.
/// @throws ShapeError     if an index variable has two different extents
/// @throws MemoryError    if it needs more memory than there is, or than is allowed; the result is unchanged
/// @throws ScheduleError  if the candidate chosen with `.use<K>()` declines it
template <class Result, class Right, class Order, class Options>
void run(const Statement<Result, Right, Order, Options>& statement) {
  using S = Statement<Result, Right, Order, Options>;
  require_valid<S>();
  if constexpr (can_run<S>) {
    const auto run_it = [&] {
      expect_kokkos();
      expect_zero_kept(statement);
      const detail::ProfiledRegion region(statement);
      with_candidate<void>(statement, Use::once, [&]<class K>() {
        using P = typename K::template Plan<S>;
        static_assert(
            CandidatePlan<P, S>,
            "the Plan of a candidate lacks a part of the protocol of kernels/protocol/candidate.hpp");
        P plan(statement, statement.resources());
        detail::expect_within_limit<K>(plan, statement);
        detail::within_memory<K>(plan, statement, [&] { plan.run(); });
      });
    };
    detail::step_of(statement, run_it);
  }
}

}  // namespace sporos
