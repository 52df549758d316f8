// SPDX-License-Identifier: Apache-2.0
/// @file statements.cpp
/// Statements whose scattered results are gathered in the workspaces of insert-sort-merge: every policy gives
/// what the product by rows does.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/core/peak_memory.hpp>
#include <sporos/sporos.hpp>
#include <string>

#include "spread.hpp"

namespace sporos::test::workspace_statements {
namespace {

using namespace sporos::indices;

template <class F, class Policy>
void check(const Policy& policy) {
  SCOPED_TRACE(std::string(Policy::name) + " into " + F::str());
  const auto B = spread<CSC<>>(300, 200, 5, 7);
  const auto C = spread<CSR<>>(200, 400, 6, 7);
  const auto by_rows = convert<CSR<>>(B);
  const Tensor<double, CSR<>> rows({300, 400});
  rows(i, j) = by_rows(i, k) * C(k, j);
  const Tensor<double, F> A({300, 400});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).workspace(policy);
  statement.run();
  expect_same_entries(A, convert<F>(rows));
  auto again = plan(statement);
  again.run();
  again.run();
  expect_same_entries(A, convert<F>(rows));
  statement.deterministic().run();
  expect_same_entries(A, convert<F>(rows));
}

TEST(WorkspacesOfStatements, GiveTheSameWithEveryPolicy) {
  check<CSR<>>(coordinate_workspace);
  check<COO<2>>(hash_workspace);
  check<DCSC<>>(bucket_workspace);
  check<BCSR<2, 2>>(hash_workspace);
}

TEST(WorkspacesOfStatements, TakeTheSettingsOfTheirPolicies) {
  for (const std::int64_t capacity : {1, 100, 100'000})
    for (const bool pipelined : {false, true}) {
      check<CSR<>>(CoordinatePolicy{.settings = {.capacity = capacity, .pipelined = pipelined}});
      check<CSR<>>(HashPolicy{.settings = {.capacity = capacity, .pipelined = pipelined}});
    }
}

template <class Policy>
void expect_bounded_by_estimate(const Policy& policy, std::int64_t columns) {
  SCOPED_TRACE(std::string(Policy::name) + ", " + std::to_string(columns) + " columns");
  const auto B = spread<CSC<>>(3, 2, 1, 7);
  const Tensor<double, CSR<>> C({2, columns});
  const Tensor<double, COO<2>> A({3, columns});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).workspace(policy);
  const auto bound = estimate(statement);
  const PeakMemory peak;
  statement.run();
  EXPECT_LE(peak.bytes(), bound.result + bound.workspace);
}
TEST(WorkspacesOfStatements, TakeWhatIsEstimatedWhereTheResultIsEmpty) {
  for (const std::int64_t columns : {0, 5})
    for (const bool pipelined : {false, true}) {
      expect_bounded_by_estimate(CoordinatePolicy{.settings = {.capacity = 1, .pipelined = pipelined}},
                                 columns);
      expect_bounded_by_estimate(HashPolicy{.settings = {.capacity = 1, .pipelined = pipelined}}, columns);
      expect_bounded_by_estimate(BucketPolicy{.settings = {.capacity = 1, .pipelined = pipelined}}, columns);
    }
}

TEST(WorkspacesOfStatements, CompareLevelByLevelWhatDoesNotFitInOneNumber) {
  constexpr std::int64_t n = std::int64_t{1} << 40;
  using Wide = DCSR<std::int64_t, std::int64_t>;
  const auto B = assemble<DCSC<std::int64_t, std::int64_t>>(
      Entries<double, 2>({n, n}, {{{7, 5}, 2}, {{n - 1, 5}, 4}, {{7, 6}, 1}}));
  const auto C = assemble<Wide>(Entries<double, 2>({n, n}, {{{5, n - 1}, 3}, {{5, 1}, 1}, {{6, 1}, 10}}));
  const Tensor<double, Wide> A({n, n}), hashed({n, n});
  A(i, j) = B(i, k) * C(k, j);
  assign(hashed(i, j), B(i, k) * C(k, j)).workspace(hash_workspace).run();
  EXPECT_EQ(A.nnz(), 4);
  EXPECT_EQ(at(A, {7, 1}), 12);
  EXPECT_EQ(at(A, {n - 1, n - 1}), 12);
  expect_same_entries(hashed, A);
}

TEST(WorkspacesOfStatements, NumberCellsWhoseCoordinatesNeedMoreThan63Bits) {
  constexpr std::int64_t n = 5000;  // 13 bits each, and 3.1 * 10^18 cells
  const auto T = assemble<CSF<3>>(Entries<double, 3>(
      {n, n, n}, {{{3, 4999, 0}, 2}, {{3, 17, 4998}, 3}, {{4, 4999, 0}, 5}, {{4999, 0, 4999}, 7}}));
  const auto U =
      assemble<CSR<>>(Entries<double, 2>({n, n}, {{{0, 4999}, 1}, {{2500, 1}, 2}, {{4999, 0}, 4}}));
  const Tensor<double, CSF<5>> A({n, n, n, n, n});
  const auto t = entries(T);
  const auto u = entries(U);
  const auto statement = assign(A(i, j, k, l, m), T(m, i, j) * U(k, l)).reorder(m, i, j, k, l);
  const auto check = [&](const auto& policy) {
    statement.template use<ListedNest>().workspace(policy).run();
    EXPECT_EQ(A.nnz(), 12);
    for (std::int64_t e = 0; e < t.size(); ++e)
      for (std::int64_t f = 0; f < u.size(); ++f) {
        const auto of_t = t.coordinate(e);
        const auto of_u = u.coordinate(f);
        EXPECT_EQ(at(A, {of_t[1], of_t[2], of_u[0], of_u[1], of_t[0]}), t.values(e) * u.values(f));
      }
    validate(A);
  };
  check(coordinate_workspace);
  check(hash_workspace);
  check(bucket_workspace);
}

TEST(WorkspacesOfStatements, LeaveTheResultAsItIsWhereTheirMemoryIsTooSmall) {
  const auto B = spread<CSC<>>(300, 200, 5, 7);
  const auto C = spread<CSR<>>(200, 400, 6, 7);
  const auto A = spread<CSR<>>(300, 400, 2, 7);
  const auto before = A.clone();
  std::string what = "ran";
  try {
    assign(A(i, j), B(i, k) * C(k, j))
        .reorder(k, i, j)
        .workspace(CoordinatePolicy{.settings = {.memory_limit = 4096}})
        .run();
  } catch (const MemoryError& error) {
    what = error.what();
  }
  EXPECT_NE(what.find("bytes"), std::string::npos) << what;
  EXPECT_NE(what.find("4096"), std::string::npos) << what;
  expect_same_entries(A, before);
}

/// Runs a statement with too low a limit of its workspaces, and again with the one that the error names.
template <class S, class Policy>
void expect_limit_named(const S& statement, Policy policy) {
  SCOPED_TRACE(statement.str() + " in a " + std::string(Policy::name));
  policy.settings.memory_limit = 300;
  std::string what;
  try {
    statement.workspace(policy).run();
  } catch (const MemoryError& error) {
    what = error.what();
  }
  ASSERT_NE(what.find("allows 300 bytes: set memory_limit"), std::string::npos) << what;
  policy.settings.memory_limit = std::stoll(what.substr(what.find("needs up to ") + 12));
  EXPECT_NO_THROW(statement.workspace(policy).run());
}
TEST(WorkspacesOfStatements, NameAMemoryLimitThatIsEnough) {
  const auto B = spread<CSC<>>(300, 200, 5, 7);
  const auto C = spread<CSR<>>(200, 400, 6, 7);
  const auto by_rows = convert<CSR<>>(B);
  const Tensor<double, CSR<>> A({300, 400});
  const auto listed = assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j);
  const auto gathered = assign(A(i, j), by_rows(i, k) * C(k, j)).generic();
  for (const bool pipelined : {false, true})
    for (const std::int64_t capacity : {16, 1 << 17}) {
      const AccumulationSettings settings{.capacity = capacity, .pipelined = pipelined};
      expect_limit_named(listed, HashPolicy{.settings = settings});
      expect_limit_named(listed, CoordinatePolicy{.settings = settings});
      expect_limit_named(listed, BucketPolicy{.settings = settings});
      expect_limit_named(gathered, HashPolicy{.settings = settings});
      expect_limit_named(listed, HashPolicy{.settings = settings, .length = 1000});
    }
}

template <class Policy>
void expect_refused_alike(const Policy& policy, const std::string& end) {
  const auto B = spread<CSC<>>(30, 20, 5, 7);
  const auto C = spread<CSR<>>(20, 40, 6, 7);
  const auto by_rows = convert<CSR<>>(B);
  const Tensor<double, CSR<>> A({30, 40});
  const auto check = [&](const auto& statement) {
    const auto message = [](const auto& f) {
      try {
        f();
        return std::string("nothing was thrown");
      } catch (const ScheduleError& error) {
        return std::string(error.what());
      }
    };
    const std::string refusal = message([&] { statement.run(); });
    EXPECT_NE(refusal.find(end), std::string::npos) << refusal;
    EXPECT_EQ(message([&] { estimate(statement); }), refusal);
    EXPECT_EQ(message([&] { explain(statement); }), refusal);
    EXPECT_EQ(message([&] { plan(statement); }), refusal);
  };
  check(assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).workspace(policy));
  check(assign(A(i, j), by_rows(i, k) * C(k, j)).workspace(policy));
}
TEST(WorkspacesOfStatements, RefuseSettingsInEveryStep) {
  expect_refused_alike(HashPolicy{.settings = {.capacity = -1}}, "choose one from 1 to");
  expect_refused_alike(CoordinatePolicy{.settings = {.capacity = 0}}, "choose one from 1 to");
  expect_refused_alike(BucketPolicy{.settings = {.memory_limit = -1}}, "choose a positive one");
  expect_refused_alike(HashPolicy{.length = -1}, "the length of a hash table is -1 slots");
}

}  // namespace
}  // namespace sporos::test::workspace_statements
