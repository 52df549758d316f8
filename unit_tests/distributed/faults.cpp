// SPDX-License-Identifier: Apache-2.0
/// @file faults.cpp
/// What fails on one rank fails on all of them, with the same error, and nothing hangs: the time limit of the
/// test is the watchdog.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <sporos/distributed/distributed.hpp>
#include <string>

#include "ranks.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

using Vector = Tensor<double, DenseVector>;

Distributed<Vector> ones(std::int64_t n) {
  const Distributed<Vector> out(Distribution<1>::blocks(world(), {n}));
  for (std::size_t q = 0; q < out.local().values().extent(0); ++q) out.local().values()(q) = 1;
  return out;
}

Distributed<Tensor<double, CSR<>>> diagonal(std::int64_t n) {
  Entries<double, 2> mine({n, n}, world().rank() == 0 ? n : 0);
  for (std::int64_t e = 0; e < mine.size(); ++e) mine.set(e, {e, (e + 1) % n}, 1.0);
  return assemble<CSR<>>(Distribution<2>::blocks(world(), {n, n}), mine);
}

TEST(Faults, OfOneRanksEntriesAreThoseOfAll) {
  Entries<double, 2> mine({4, 4}, 1);
  mine.set(0, {is_bad() ? 4 : 0, 0}, 1.0);
  const auto D = Distribution<2>::blocks(world(), {4, 4});
  expect_everywhere<ShapeError>([&] { assemble<CSR<>>(D, mine); }, "(4, 0), outside a tensor of 4 x 4");
  expect_everywhere<FormatError>(
      [&] {
        Entries<double, 2> twice({4, 4}, is_bad() ? 2 : 0);
        for (std::int64_t e = 0; e < twice.size(); ++e) twice.set(e, {3, 1}, 1.0);
        assemble<CSR<>>(D, twice, Duplicates::error);
      },
      "(3, 1)");
}

TEST(Faults, InADistributionAreFoundOnAllRanks) {
  expect_everywhere<ShapeError>([] { Distribution<1>::owned(world(), {3}, 0, {0, is_bad() ? 99 : 0, 0}); },
                                "coordinate 1 is given to part 99");
  expect_everywhere<ShapeError>([] { Distribution<2>::grid(world(), {4, 4}, 1, 1); }, "mode 1 is both");
  expect_everywhere<ShapeError>([] { Distribution<2>::grid(world(), {4, 4}, 0, 2); }, "mode 2");
  if (world().size() == 1) return;
  expect_everywhere<CommError>([] { Distribution<1>::blocks(world(), {is_bad() ? 5 : 6}); },
                               "with other extents");
  expect_everywhere<ShapeError>(
      [] { Distribution<2>(world(), {Partition::blocks(4, world().size()), Partition::blocks(4, 3)}); },
      "parts");
}

TEST(Faults, OfAllocationOnOneRankAreThoseOfAll) {
  const std::int64_t huge = std::int64_t{1} << 50;
  std::vector<std::int64_t> begins(static_cast<std::size_t>(world().size()) + 1, 0);
  begins.back() = huge;  // the last rank has all of it
  const auto D = Distribution<1>::along(world(), {huge}, 0, Partition::ranges(begins));
  expect_everywhere<MemoryError>([&] { Distributed<Vector> out(D); }, "cannot be allocated");
}

TEST(Faults, OfAMemoryBoundOnOneRankAreThoseOfAll) {
  const auto A = diagonal(40);
  const Distributed<Tensor<double, CSR<>>> B(A.distribution());
  const Resources<Host> plenty;
  expect_everywhere<MemoryError>(
      [&] { assign(B(i, j), A(i, k) * A(k, j)).on(is_bad() ? plenty.within(1) : plenty).run(); },
      "are allowed");
}

TEST(Faults, AreDifferentOperationsOnDifferentRanks) {
  if (world().size() == 1) return;
  const auto x = ones(6), y = ones(6);
  const auto A = diagonal(6);
  expect_everywhere<CommError>(
      [&] {
        if (is_bad())
          y(i) = 2.0 * x(i);
        else
          y(i) = 3.0 * x(i) + y(i);
      },
      "ranks do different things");
  expect_everywhere<CommError>(
      [&] {
        if (is_bad())
          gather(x);
        else
          y(i) = A(i, j) * x(j);
      },
      "ranks do different things");
  expect_everywhere<CommError>(
      [&] {
        const auto z = ones(7), w = ones(7);
        if (is_bad())
          y(i) = 2.0 * x(i);
        else
          w(i) = 2.0 * z(i);
      },
      "with other extents");
}

template <class Value, class F>
void assemble_one(const Distribution<2>& distribution) {
  Entries<Value, 2> mine(distribution.extents(), 1);
  mine.set(0, {1, 2}, Value(1));
  assemble<F>(distribution, mine);
}

TEST(Faults, AreDifferentTypesOnDifferentRanks) {
  if (world().size() == 1) return;
  const auto D = Distribution<2>::blocks(world(), {6, 6});
  expect_everywhere<CommError>(
      [&] { is_bad() ? assemble_one<float, CSR<>>(D) : assemble_one<double, CSR<>>(D); },
      "ranks do different things");
  expect_everywhere<CommError>(
      [&] { is_bad() ? assemble_one<double, COO<2>>(D) : assemble_one<double, CSR<>>(D); },
      "ranks do different things");
  const auto y = ones(6);
  const Distributed<Tensor<float, DenseVector>> narrow(y.distribution());
  expect_everywhere<CommError>(
      [&] {
        if (is_bad())
          y(i) = 2.0 * narrow(i);
        else
          y(i) = 2.0 * ones(6)(i);
      },
      "ranks do different things");
}

TEST(Faults, ArePlansInAnotherOrder) {
  if (world().size() == 1) return;
  const auto A = diagonal(6);
  const auto x = ones(6), y = ones(6), z = ones(6);
  auto first = plan(assign(y(i), A(i, j) * x(j)));
  auto second = plan(assign(z(i), A(i, j) * x(j)));
  first.run();
  second.run();
  expect_everywhere<CommError>([&] { is_bad() ? second.run() : first.run(); }, "another plan");
}

TEST(Faults, AreRootsThatAreNoRanks) {
  const auto A = diagonal(6);
  for (const int root : {-1, world().size()}) {
    expect_everywhere<RangeError>([&] { gather(A, root); }, "no rank");
    expect_everywhere<RangeError>([&] { scatter(A.distribution(), gather(A), root); }, "no rank");
  }
  if (world().size() == 1) return;
  expect_everywhere<CommError>([&] { gather(A, is_bad() ? 0 : 1); }, "gather on rank");
}

TEST(Faults, OfExtentsAndCommunicatorsAreErrors) {
  const auto A = diagonal(6);
  const auto x = ones(7), y = ones(6);
  expect_everywhere<ShapeError>([&] { y(i) = A(i, j) * x(j); }, "extent");
  const Communicator other = world().split(0);
  const Distributed<Vector> z(Distribution<1>::blocks(other, {6}));
  expect_everywhere<CommError>([&] { y(i) = A(i, j) * z(j); }, "two communicators");
}

TEST(Faults, ArePlansOfAnotherPattern) {
  const auto A = diagonal(12);
  const auto x = ones(12), y = ones(12);
  auto product = plan(assign(y(i), A(i, j) * x(j)));
  product.run();
  if (is_bad()) {  // a tensor without nonzeros in the place of this rank's
    const Tensor<double, CSR<>> none(A.local().extents());
    A.local().replace(none.extents(), none.levels(), none.values());
  }
  expect_everywhere<ScheduleError>([&] { product.run(); }, "was made for another pattern of operand B");
}

/// Plans y(i) = A(i, j) * x(j) and A * A, changes A on the last rank, and expects something of both plans.
template <class Change, class Expect>
void expect_of_changed_pattern(const Change& change, const Expect& expect) {
  const auto A = diagonal(24);
  const auto x = ones(24), y = ones(24);
  const Distributed<Tensor<double, CSR<>>> square(A.distribution());
  auto product = plan(assign(y(i), A(i, j) * x(j)));
  auto squared = plan(assign(square(i, j), A(i, k) * A(k, j)));
  product.run();
  squared.run();
  product.expect_unchanged();
  squared.expect_unchanged();
  if (is_bad()) change(A.local());
  expect(product);
  expect(squared);
}

TEST(Faults, AreNotOtherArraysOfTheSamePattern) {
  expect_of_changed_pattern(
      [](const auto& A) {
        const auto other = A.clone();
        A.replace(other.extents(), other.levels(), other.values());
      },
      [](auto& plan) {
        plan.run();
        plan.expect_unchanged();
      });
}

TEST(Faults, AreOtherArraysOfAnotherPatternAsLarge) {
  expect_of_changed_pattern(
      [](const auto& A) {
        const auto other = A.clone();
        other.template level<1>().coordinates(0) = 5;
        A.replace(other.extents(), other.levels(), other.values());
      },
      [](auto& plan) {
        expect_everywhere<ScheduleError>([&] { plan.run(); }, "was made for another pattern of operand B");
        expect_everywhere<ScheduleError>([&] { plan.expect_unchanged(); }, "another pattern of operand B");
      });
}

TEST(Faults, AreCoordinatesChangedInPlaceWherePlansAreAsked) {
  expect_of_changed_pattern([](const auto& A) { A.template level<1>().coordinates(0) = 5; },
                            [](auto& plan) {
                              const char* const message = "was made for another pattern of operand B";
                              expect_everywhere<ScheduleError>([&] { plan.expect_unchanged(); }, message);
#ifdef KOKKOS_ENABLE_DEBUG_BOUNDS_CHECK
                              expect_everywhere<ScheduleError>([&] { plan.run(); }, message);
#endif
                            });
}

TEST(Faults, OfOneRanksArraysAreFoundByValidate) {
  const auto A = diagonal(12);
  validate(A);
  if (is_bad()) A.local().level<1>().coordinates(0) = 77;
  expect_everywhere<FormatError>([&] { validate(A); }, "77");
}

/// Run by itself (Distributed.cmake): a rank is killed while the others wait for it.
TEST(Faults, DISABLED_KillARank) {
  const auto A = diagonal(12);
  const auto x = ones(12), y = ones(12);
  auto product = plan(assign(y(i), A(i, j) * x(j)));
  product.run();
  if (is_bad()) std::raise(SIGKILL);
  while (true) product.run();
}

TEST(Faults, ThatAreNoErrorsOfSporosAreErrorsOfAll) {
  if (world().size() == 1) return;
  expect_everywhere<Error>(
      [] {
        jointly(world(), [] {
          if (is_bad()) throw std::runtime_error("the user's own");
          agree(world(), "a step");
        });
      },
      "the user's own");
}

}  // namespace
}  // namespace sporos::test
