// SPDX-License-Identifier: Apache-2.0
/// @file listed.cpp
/// The memory of results that are listed over all their variables.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <sporos/core/peak_memory.hpp>
#include <sporos/sporos.hpp>

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

}  // namespace
}  // namespace sporos::test::listed_results
