// SPDX-License-Identifier: Apache-2.0
/// @file estimates.hpp
/// What statements and plans on the GPU allocate against what they are estimated to.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <sporos/sporos.hpp>
#include <string>

#include "allocated.hpp"

namespace sporos::test {

/// Runs a statement with scratch memory that is empty, and compares.
template <class S>
void expect_bounded(const S& statement) {
  SCOPED_TRACE(statement.str());
  const std::int64_t most = allocated<S>(estimate(statement));
  const Resources<Cuda> fresh{Cuda()};
  EXPECT_LE(memory_of([&] { statement.on(fresh).run(); }), most + uncounted);
}

/// The same of a plan, which may be another one for what it measures: making it, running it and running it
/// again. Where no more is allowed than is estimated of the statement, it takes no more.
template <class S>
void expect_plans_bounded(const S& statement) {
  SCOPED_TRACE(text("a plan of ", statement.str()));
  const std::int64_t of_statement = allocated<S>(estimate(statement));
  std::int64_t of_plan = 0, held = 0;
  const auto plan_on = [&](const Resources<Cuda>& resources) {
    auto product = plan(statement.on(resources));
    of_plan = allocated<S>(product.estimate());
    product.run();
    product.run();
    held = product.bytes();
  };
  const Resources<Cuda> fresh{Cuda()}, other{Cuda()}, third{Cuda()};
  const std::int64_t taken = memory_of([&] { plan_on(fresh); });
  EXPECT_LE(taken, std::max(of_statement, of_plan) + uncounted);
  EXPECT_GE(taken, held);
  EXPECT_LE(memory_of([&] { plan_on(other.within(of_statement)); }), of_statement + uncounted);
  EXPECT_LE(memory_of([&] { statement.on(third.within(of_statement)).run(); }), of_statement + uncounted);
}

/// Both, after a first run: what Kokkos and the process keep from then on is no statement's.
template <class S>
void expect_all_bounded(const S& statement) {
  statement.run();
  expect_bounded(statement);
  expect_plans_bounded(statement);
}

/// Where less is allowed than a statement or its plan needs, both say so and allocate nothing; with as much
/// as the statement needs, it runs.
/// @param check       expects that the result is what it was
/// @param to_refuse   the most bytes that may be taken before a statement is refused
template <class S, class Check>
void expect_kept_within(const S& statement, const Check& check, std::int64_t to_refuse = uncounted) {
  SCOPED_TRACE(statement.str());
  const auto message = [](const auto& run) -> std::string {
    try {
      run();
    } catch (const MemoryError& error) {
      return error.what();
    }
    return {};
  };
  const Resources<Cuda> any{Cuda()}, less{Cuda()}, enough{Cuda()};
  // Where memory is bounded, kernels that measure operands to choose how they pack them do not.
  const std::int64_t needed = allocated<S>(estimate(statement.on(any.within(std::int64_t{1} << 40))));
  if (needed == 0) return;
  const auto bounded = statement.on(less.within(needed - 1));
  const std::int64_t taken = memory_of([&] {
    EXPECT_THAT(message([&] { bounded.run(); }), testing::HasSubstr("are allowed"));
    EXPECT_THAT(message([&] { (void)plan(bounded.with_constant_operands()); }),
                testing::HasSubstr("are allowed"));
  });
  EXPECT_LE(taken, to_refuse) << "what may not run is not packed";
  check();
  EXPECT_EQ(message([&] { statement.on(enough.within(needed)).run(); }), "");
}

/// The same by a candidate, unless it declines the statement.
template <class K, class S>
void expect_bounded_by(const S& given) {
  const auto statement = given.template use<K>();
  SCOPED_TRACE(K::name);
  if (const Offer offer = detail::offer_of<K>(statement); !offer.takes())
    GTEST_SKIP() << K::name << ": " << offer.reason();
  expect_all_bounded(statement);
}

}  // namespace sporos::test
