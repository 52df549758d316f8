// SPDX-License-Identifier: Apache-2.0
/// @file listed.cpp
/// Results that are listed over all their variables: their memory, loops that are cut, and the same bits for
/// any number of threads.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <sporos/core/peak_memory.hpp>
#include <sporos/sporos.hpp>

#include "spread.hpp"

namespace sporos::test::listed_results {
namespace {

using namespace sporos::indices;

/// A matrix with `each` nonzeros in each row, in drawn columns.
auto factor(std::int64_t rows, std::int64_t columns, std::int64_t each, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  Entries<double, 2> out({rows, columns}, rows * each);
  for (std::int64_t e = 0; e < rows * each; ++e)
    out.set(e, {e / each, static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(columns))}, 1.0);
  return assemble<CSR<>, Serial>(Serial(), out, Duplicates::sum);
}

TEST(ListedResults, OfFewElementsTakeATenthOfTheMemoryOfADenseResult) {
  constexpr std::int64_t rows = 14'000, columns = 64, nonzeros = 60'000;
  std::mt19937_64 draw(1);
  Entries<double, 3> some({300, 300, rows}, nonzeros);
  for (std::int64_t e = 0; e < nonzeros; ++e)
    some.set(e, {e * 300 / nonzeros, e * 7919 % 300, static_cast<std::int64_t>(draw() % rows)}, 1.0);
  const auto T = assemble<CSF<3>, Serial>(Serial(), some, Duplicates::sum);
  const auto C = factor(300, columns, 2, 4), D = factor(300, columns, 2, 5);
  const auto peak_of = [&](const auto& run) {
    const PeakMemory peak;
    run();
    return peak.bytes();
  };
  const Tensor<double, CSR<>, Serial> A({rows, columns});
  const std::int64_t listed =
      peak_of([&] { assign(A(k, r), T(i, j, k) * C(j, r) * D(i, r)).template use<ListedNest>().run(); });
  const std::int64_t dense = peak_of([&] {
    const Tensor<double, DenseMatrix<>, Serial> all({rows, columns});
    all(k, r) = T(i, j, k) * C(j, r) * D(i, r);
    EXPECT_EQ((convert<CSR<>>(all).nnz()), A.nnz());
  });
  EXPECT_GT(A.nnz(), 1000);
  EXPECT_LT(A.nnz(), rows * columns / 100);  // at most 1 % full
  EXPECT_LE(listed, dense / 10);
}

TEST(ListedResults, AreSummedToTheSameBitsOnAnyNumberOfThreads) {
  // Values of one coordinate come from several parts, and from several accumulation arrays of each.
  const auto B = convert<CSC<>>(spread<CSR<>>(60, 300, 40, 7));
  const auto C = spread<CSR<>>(300, 50, 8, 5);
  make_inexact(B);
  const auto B1 = B.move_to<Serial>();
  const auto C1 = C.move_to<Serial>();
  const Tensor<double, CSR<>, OpenMP> many({60, 50});
  const Tensor<double, CSR<>, Serial> one({60, 50});
  const auto check = [&](const auto& policy) {
    const auto in_lists = [&](const auto& statement) {
      return statement.template use<ListedNest>().workspace(policy).deterministic();
    };
    in_lists(assign(one(i, j), B1(i, k) * C1(k, j))).run();
    auto planned = plan(in_lists(assign(many(i, j), B(i, k) * C(k, j))));
    for (int run = 0; run < 3; ++run) {
      planned.run();
      expect_same_entries(many.move_to<Serial>(), one);
    }
  };
  check(CoordinatePolicy{});
  check(CoordinatePolicy{.settings = {.capacity = 100}});
  check(HashPolicy{.settings = {.capacity = 100}});
  check(BucketPolicy{.settings = {.capacity = 100, .pipelined = true}});
}

/// Loops that are cut, against the same statement by loops that are not, in every workspace.
TEST(ListedResults, InLoopsThatAreCutAreTheSame) {
  const auto B = convert<CSC<>>(spread<CSR<>>(60, 70, 9, 7));
  const auto C = spread<CSR<>>(70, 50, 8, 5);
  const Tensor<double, CSR<>> A({60, 50}), expected({60, 50});
  expected(i, j) = convert<CSR<>>(B)(i, k) * C(k, j);
  const auto statement = assign(A(i, j), B(i, k) * C(k, j));
  const auto check = [&](const auto& cut) {
    const auto in_lists = [&](const auto& policy) {
      cut.template use<ListedNest>().workspace(policy).run();
      expect_same_entries(A, expected);
    };
    in_lists(CoordinatePolicy{.settings = {.capacity = 30}});
    in_lists(HashPolicy{.settings = {.capacity = 30}});
    in_lists(BucketPolicy{.settings = {.capacity = 30, .pipelined = true}});
  };
  check(statement.split(k, p, q, 4).parallelize(p));
  check(statement.split(j, p, q, 7));
  check(statement.fuse(k, i, l).pos(l, p, B(i, k)).split(p, q, r, 11).parallelize(q));
}

TEST(ListedResults, KeepToTheMemoryLimitOfTheirWorkspaceBesideTwiceTheResult) {
  // 2 * 10^5 values are inserted, ten at each coordinate.
  const auto B = convert<CSC<>>(spread<CSR<>>(100, 1000, 200, 7)).move_to<Serial>();
  const auto C = spread<CSR<>>(1000, 200, 10, 13).move_to<Serial>();
  const Tensor<double, CSR<>, Serial> A({100, 200});
  const auto within = [&](std::int64_t limit) {
    return assign(A(i, j), B(i, k) * C(k, j))
        .template use<ListedNest>()
        .workspace(CoordinatePolicy{.settings = {.memory_limit = limit}});
  };
  within(0).run();
  const std::int64_t result = A.bytes();
  for (const std::int64_t limit : {std::int64_t{1} << 20, std::int64_t{4} << 20}) {
    pool().release();
    const PeakMemory peak;
    within(limit).run();
    EXPECT_LE(peak.bytes(), limit + 2 * result) << "with a limit of " << limit;
  }
}

}  // namespace
}  // namespace sporos::test::listed_results
