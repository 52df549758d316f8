// SPDX-License-Identifier: Apache-2.0
/// @file huge_extents.cpp
/// Sparse results over extents for which there can be no array.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <sporos/sporos.hpp>

#include "reference.hpp"

namespace sporos::test::huge {
namespace {

using namespace sporos::indices;

using Wide = std::int64_t;
constexpr Wide n = Wide{1} << 40;

/// A matrix of a few entries, at coordinates from a short list, so that products are not empty.
template <class F>
auto scattered(const Extents<2>& extents, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  const auto coordinate = [&](Wide extent) {
    return static_cast<Wide>(draw() % 13) * (extent / 13) + static_cast<Wide>(draw() % 2);
  };
  Entries<double, 2> entries(extents, 150);
  for (std::int64_t e = 0; e < 150; ++e)
    entries.set(e, {coordinate(extents[0]), coordinate(extents[1])}, static_cast<double>(draw() % 9) + 1);
  return assemble<F>(entries);
}

/// The entries of a tensor by their coordinates.
template <class T>
auto by_coordinates(const T& tensor) {
  std::map<Extents<T::order>, double> out;
  for (const auto& [at, value] : table(tensor)) out[at] = value;
  return out;
}
template <class B, class C>
auto product(const B& b, const C& c) {
  std::map<Extents<2>, double> out;
  for (const auto& [at, x] : table(b))
    for (const auto& [to, y] : table(c))
      if (at[1] == to[0]) out[{at[0], to[1]}] += x * y;
  return out;
}

TEST(AHugeResult, IsTheProductOfTwoMatrices) {
  const auto B = scattered<DCSR<Wide, Wide>>({n, n}, 1);
  const auto C = scattered<DCSR<Wide, Wide>>({n, n}, 2);
  const Tensor<double, DCSR<Wide, Wide>> A({n, n});
  A(i, j) = B(i, k) * C(k, j);
  EXPECT_EQ(by_coordinates(A), product(B, C));
  validate(A);
  EXPECT_TRUE(contains(explain(assign(A(i, j), B(i, k) * C(k, j))), "sorted workspace of order 1 over j"));
  EXPECT_LT(estimate(assign(A(i, j), B(i, k) * C(k, j))).workspace, 1 << 20);
}

TEST(AHugeResult, IsRefilledByAPlan) {
  const auto B = scattered<DCSR<Wide, Wide>>({n, n}, 3);
  const auto C = scattered<DCSR<Wide, Wide>>({n, n}, 4);
  const Tensor<double, DCSR<Wide, Wide>> A({n, n});
  auto planned = plan(assign(A(i, j), B(i, k) * C(k, j)));
  planned.run();
  for (std::size_t q = 0; q < B.values().extent(0); ++q) B.values()(q) *= -3;
  planned.run();
  EXPECT_EQ(by_coordinates(A), product(B, C));
  EXPECT_LT(planned.bytes(), 1 << 20);
}

TEST(AHugeResult, TakesTheNestWhereAKernelWouldNeedAnArrayOverItsRows) {
  const auto B = scattered<CSR<Wide, Wide>>({40, 50}, 5);
  const auto C = scattered<CSR<Wide, Wide>>({50, n}, 6);
  const Tensor<double, CSR<Wide, Wide>> A({40, n});
  A(i, j) = B(i, k) * C(k, j);
  EXPECT_EQ(by_coordinates(A), product(B, C));
  EXPECT_TRUE(contains(explain(assign(A(i, j), B(i, k) * C(k, j))), "too long for a dense accumulator"));
  const auto narrow = scattered<CSR<Wide, Wide>>({50, 60}, 7);
  const Tensor<double, CSR<Wide, Wide>> small({40, 60});
  EXPECT_EQ(plan(assign(small(i, j), B(i, k) * narrow(k, j))).candidate(), "SpGEMM by rows");
}

TEST(AHugeResult, MayBeAVector) {
  const auto A = scattered<DCSR<Wide, Wide>>({n, n}, 8);
  const auto X = scattered<DCSR<Wide, Wide>>({n, n}, 9);
  const Tensor<double, SparseVector<Wide, Wide>> y({n});
  y(j) = A(i, j);
  std::map<Extents<1>, double> expected;
  for (const auto& [at, value] : table(A)) expected[{at[1]}] += value;
  EXPECT_EQ(by_coordinates(y), expected);
}

TEST(AHugeResult, MayScatterOverBothVariables) {
  const auto B = scattered<DCSC<Wide, Wide>>({n, n}, 10);
  const auto C = scattered<DCSR<Wide, Wide>>({n, n}, 11);
  const Tensor<double, DCSR<Wide, Wide>> A({n, n});
  A(i, j) = B(i, k) * C(k, j);
  EXPECT_EQ(by_coordinates(A), product(B, C));
}

}  // namespace
}  // namespace sporos::test::huge
