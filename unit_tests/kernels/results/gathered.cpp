// SPDX-License-Identifier: Apache-2.0
/// @file gathered.cpp
/// Results that are gathered row by row: the memory that plans take to fill them again, and the same bits
/// each time where that is asked for.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/core/peak_memory.hpp>
#include <sporos/sporos.hpp>

#include "reference.hpp"
#include "spread.hpp"

namespace sporos::test::gathered_results {
namespace {

using namespace sporos::indices;

TEST(GatheredResults, OfDeterministicPlansHaveTheSameBitsEachTime) {
  // Each value is the sum of some twenty terms, which are in several accumulation arrays.
  const auto A = spread<CSR<>>(200, 300, 60, 7), B = spread<CSR<>>(300, 40, 12, 5);
  make_inexact(A);
  make_inexact(B);
  const auto one_A = A.move_to<Serial>(), one_B = B.move_to<Serial>();
  const auto check = [&](const auto& policy) {
    const Tensor<double, CSR<>, OpenMP> C({200, 40});
    const Tensor<double, CSR<>, Serial> one({200, 40});
    assign(one(i, j), one_A(i, k) * one_B(k, j))
        .template use<GatheredNest>()
        .workspace(policy)
        .deterministic()
        .run();
    auto product = plan(
        assign(C(i, j), A(i, k) * B(k, j)).template use<GatheredNest>().workspace(policy).deterministic());
    for (int run = 0; run < 3; ++run) {
      product.run();
      expect_same_entries(C.move_to<Serial>(), one);
    }
  };
  check(HashPolicy{.settings = {.capacity = 30}});
  check(BucketPolicy{.settings = {.capacity = 30}});
  check(sorted_workspace);
  check(dense_workspace);
}

TEST(UnorderedRows, AreResultsInEveryWayThatTheyAreGathered) {
  const auto A = spread<CSR<>>(200, 300, 6, 7), B = spread<CSR<>>(300, 40, 5, 5),
             D = spread<CSR<>>(200, 300, 4, 3);
  const auto by_columns = convert<CSC<>>(A);
  const Tensor<double, CSR<>> product({200, 40}), sum({200, 300});
  product(i, j) = A(i, k) * B(k, j);
  sum(i, j) = A(i, j) + D(i, j);
  const auto check = [](const auto& expected, const auto& write) {
    const Tensor<double, UnorderedCSR<>> made(expected.extents());
    write(made).run();
    validate(made);
    expect_same_entries(convert<CSR<>>(made), expected);
  };
  check(product, [&](const auto& C) { return assign(C(i, j), A(i, k) * B(k, j)); });
  check(product, [&](const auto& C) { return assign(C(i, j), by_columns(i, k) * B(k, j)); });
  check(product,
        [&](const auto& C) { return assign(C(i, j), by_columns(i, k) * B(k, j)).workspace(hash_workspace); });
  check(sum, [&](const auto& C) { return assign(C(i, j), A(i, j) + D(i, j)); });
  // As an operand too, where coordinates come in no order.
  const Tensor<double, UnorderedCSR<>> made({200, 300});
  made(i, j) = A(i, j) + D(i, j);
  check(sum, [&](const auto& C) { return assign(C(i, j), 1.0 * made(i, j)); });
}

/// A product whose rows are short, over a large extent.
struct WideProduct {
  static constexpr std::int64_t columns = std::int64_t{1} << 24;
  Tensor<double, CSR<>> A = spread<CSR<>>(100, 50, 4, 7);
  Tensor<double, CSR<>> B = spread<CSR<>>(50, columns, 5, 1'000'003);
  Tensor<double, CSR<>> C{{100, columns}};
  auto statement() const { return assign(C(i, j), A(i, k) * B(k, j)).use<GatheredNest>(); }
};

TEST(GatheredResults, AreFilledAgainInTheMemoryThatTheirWorkspaceMayTake) {
  const WideProduct wide;
  const auto check = [&](const auto& statement) {
    auto product = plan(statement);
    product.run();
    const Tensor<double, CSR<>> expected = wide.C.clone();
    constexpr std::int64_t of_a_dense_row = WideProduct::columns * static_cast<std::int64_t>(sizeof(double));
    EXPECT_LT(product.bytes(), of_a_dense_row / 8);
    const PeakMemory peak;
    product.run();
    EXPECT_LT(peak.bytes(), of_a_dense_row / 8);
    expect_same_entries(wide.C, expected);
  };
  check(wide.statement().workspace(sorted_workspace));
  check(wide.statement().workspace(hash_workspace));
  const auto bounded = wide.statement().on(Resources<Host>().within(std::int64_t{4} << 20));
  EXPECT_TRUE(contains(explain(bounded), "sorted workspace")) << explain(bounded);
  check(bounded);
}

TEST(GatheredResults, OfEmptyOperandsTakeWhatIsEstimated) {
  // The guess of a result's size, from the larger operand, is room of less than the pool's smallest block.
  for (const std::int64_t columns : {20, 26, 30, 40, 60}) {
    const auto C = spread<CSR<>>(28, columns, columns, 1);
    const Tensor<double, CSR<>, Serial> B({6, 28});
    const auto C1 = C.move_to<Serial>();
    const auto check = [&](const auto& A) {
      const auto statement = assign(A(i, j), B(i, k) * C1(k, j)).generic();
      const Estimate most = estimate(statement);
      pool().release();
      const PeakMemory peak;
      statement.on(Resources<Serial>().within(most.result + most.workspace)).run();
      EXPECT_LE(peak.bytes(), most.result + most.workspace) << statement.str() << " of " << columns;
    };
    check(Tensor<double, COO<2>, Serial>({6, columns}));
    check(Tensor<double, CSR<>, Serial>({6, columns}));
    check(Tensor<double, DCSR<>, Serial>({6, columns}));
    check(Tensor<double, DCSR<std::int64_t, std::int64_t>, Serial>({6, columns}));
  }
  const Tensor<double, CSR<>, Serial> B({4, 1}), C({1, 1});
  const Tensor<double, COO<2>, Serial> A({4, 1});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j));
  const Estimate most = estimate(statement);
  const PeakMemory peak;
  statement.run();
  EXPECT_LE(peak.bytes(), most.result + most.workspace);
}

TEST(GatheredResults, LeaveNoWorkspaceBehindInAPlan) {
  const WideProduct wide;
  const std::int64_t before = sporos::detail::memory_use();
  auto product = plan(wide.statement().workspace(dense_workspace));
  product.run();
  EXPECT_LE(sporos::detail::memory_use() - before, product.bytes());
  EXPECT_LT(sporos::detail::memory_use() - before, WideProduct::columns);
}

}  // namespace
}  // namespace sporos::test::gathered_results
