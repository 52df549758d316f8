// SPDX-License-Identifier: Apache-2.0
/// @file formats.cpp
/// Products, samples and sums of distributed matrices in formats and types that the other tests leave out.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/distributed/distributed.hpp>

#include "../levels/kept.hpp"
#include "ranks.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

/// Y(i, k) = B(i, j) * X(j, k), A(i, j) = B(i, j) * X(i, k) * Z(k, j) and A(i, j) = B(i, j) - C(i, j), with
/// A, B and C in a format.
template <class Value, class F>
void expect_statements() {
  using Rows = Tensor<Value, DenseMatrix<>>;
  const std::int64_t n = 9, width = 4;
  const auto B = assemble<F>(all_entries<2, Value>({n, n}, 0.3, 1));
  const auto C = assemble<F>(all_entries<2, Value>({n, n}, 0.2, 2));
  const auto X = whole_dense<DenseMatrix<>, Value>({n, width}, 3);
  const auto Z = whole_dense<DenseMatrix<>, Value>({width, n}, 4);
  const Rows Y({n, width});
  const Tensor<Value, F> sampled({n, n}), difference({n, n});
  Y(i, k) = B(i, j) * X(j, k);
  sampled(i, j) = B(i, j) * X(i, k) * Z(k, j);
  difference(i, j) = B(i, j) - C(i, j);
  const auto of_B = kinds<2>({n, n}), of_X = kinds<2>({n, width}), of_Z = kinds<2>({width, n});
  for_some(
      combinations / 2, 11,
      [&](std::size_t a, std::size_t b, std::size_t x, std::size_t y) {
        SCOPED_TRACE(text(of_B[a].str(), ' ', of_B[b].str(), ' ', of_X[x].str(), ' ', of_X[y].str()));
        const auto P = spread(of_B[b], B);
        const auto V = spread(of_X[x], X);
        const Distributed<Rows> W(of_X[y]);
        W(i, k) = P(i, j) * V(j, k);
        EXPECT_TRUE(holds(W, Y));
        const Distributed<Tensor<Value, F>> R(of_B[a]);
        R(i, j) = P(i, j) * V(i, k) * spread(of_Z[y], Z)(k, j);
        EXPECT_TRUE(holds(R, sampled));
        R(i, j) = P(i, j) - spread(of_B[y], C)(i, j);
        EXPECT_TRUE(holds(R, difference));
      },
      of_B.size(), of_B.size(), of_X.size(), of_X.size());
}

TEST(DistributedFormats, OfCompressedRowsAndFloats) { expect_statements<float, DCSR<>>(); }

TEST(DistributedFormats, OfBlocksAndComplexNumbers) {
  expect_statements<Kokkos::complex<double>, BCSR<2, 3>>();
}

/// Kernels of ranks ask for what a level stores, not for its name.
TEST(DistributedFormats, OfRowsInALevelFromOutside) {
  expect_statements<double, Format<Map<Dim<0>, Dim<1>>, Dense, Kept<Compressed<>>>>();
}

TEST(DistributedFormats, OfColumns) { expect_statements<double, CSC<>>(); }

}  // namespace
}  // namespace sporos::test
