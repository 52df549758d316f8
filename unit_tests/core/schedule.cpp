// SPDX-License-Identifier: Apache-2.0
/// @file schedule.cpp
/// Schedules as types: what options say, and which are passed on to parts of a computation.
#include <gtest/gtest.h>

#include <sporos/sporos.hpp>
#include <type_traits>

namespace sporos::test {
namespace {

TEST(ASchedule, PassesOnWhatConcernsPartsOfAComputation) {
  const auto whole = Schedule<>{}
                         .with(option::Deterministic<true>{})
                         .with(option::ConstantOperands<true>{})
                         .with(option::AllowTf32<true>{})
                         .with(option::FiniteOperands<true>{});
  using Part = decltype(whole.passed_on_to(Schedule<>{}));
  EXPECT_TRUE((Part::is_deterministic && Part::has_constant_operands && Part::allows_tf32 &&
               Part::has_finite_operands));
  const auto without = Schedule<>{}.passed_on_to(whole);  // which keeps what it has
  EXPECT_TRUE((std::is_same_v<std::remove_const_t<decltype(without)>, std::remove_const_t<decltype(whole)>>));
}

TEST(ASchedule, KeepsToItselfHowItsOwnLoopsRun) {
  const auto whole = Schedule<>{}
                         .with(option::Over<Semiring<Min, Plus>>{})
                         .with(option::RunBy<option::Choice::nest>{})
                         .with(option::Deterministic<true>{});
  using Part = decltype(whole.passed_on_to(Schedule<>{}));
  EXPECT_TRUE((Part::is_arithmetic && Part::run_by::choice == option::Choice::any && Part::is_deterministic));
  using Own = decltype(whole.passed_on_to(Schedule<>{}.with(option::RunBy<option::Choice::nest>{})));
  EXPECT_TRUE((Own::run_by::choice == option::Choice::nest));
}

}  // namespace
}  // namespace sporos::test
