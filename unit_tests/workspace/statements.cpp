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

}  // namespace
}  // namespace sporos::test::workspace_statements
