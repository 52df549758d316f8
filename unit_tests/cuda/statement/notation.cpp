// SPDX-License-Identifier: Apache-2.0
/// @file notation.cpp
/// Numbers, scaled values, parts of tensors and tensors that are only read on a GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <sporos/sporos.hpp>

namespace {

using namespace sporos;
using namespace sporos::indices;

TEST(NotationOnAGpu, BringsNumbersToTheHost) {
  Tensor<double, DenseVector, Cuda> x({100});
  x(i) = 2.0;
  x(i) *= 1.5;
  const double total = sum(x(i));
  EXPECT_EQ(total, 300);
  EXPECT_DOUBLE_EQ(norm(x), 30);
}

TEST(NotationOnAGpu, ReadsAndWritesParts) {
  const auto A = assemble<CSR<>>(Entries<double, 2>({3, 3}, {{{0, 1}, 5.0}, {{1, 2}, 6.0}, {{2, 1}, 7.0}}))
                     .move_to<Cuda>();
  Tensor<double, DenseMatrix<>, Cuda> D({2, 3});
  D(1, i) = A(i, 1);
  D(0, j) = rows(A, 1, 3)(1, j) * rows(A, 2, 3)(0, j);
  const auto here = D.move_to<Host>();
  const double expected[2][3] = {{0, 49, 0}, {5, 0, 7}};
  for (std::int64_t r = 0; r < 2; ++r)
    for (std::int64_t c = 0; c < 3; ++c) EXPECT_EQ(at(here, {r, c}), expected[r][c]);
}

TEST(NotationOnAGpu, PlansParts) {
  const auto A = assemble<CSR<>>(Entries<double, 2>({3, 3}, {{{0, 1}, 5.0}, {{1, 2}, 6.0}, {{2, 1}, 7.0}}))
                     .move_to<Cuda>();
  const auto by_columns = convert<CSC<>>(A);
  Tensor<double, DenseMatrix<>, Cuda> D({3, 3});
  auto row = plan(assign(D(1, j), A(0, j)));                  // in place
  auto column = plan(assign(D(i, 2), A(i, 1)).accumulate());  // copied to its places
  auto diagonal = plan(assign(D(i, i), A(i, k) * by_columns(k, i) + 1));
  for (int run = 0; run < 2; ++run) {
    row.run();
    column.run();
    diagonal.run();
  }
  const auto here = D.move_to<Host>();
  // The diagonal of A A is 0, 42, 42.
  const double expected[3][3] = {{1, 0, 10}, {0, 43, 0}, {0, 0, 43}};
  for (std::int64_t r = 0; r < 3; ++r)
    for (std::int64_t c = 0; c < 3; ++c) EXPECT_EQ(at(here, {r, c}), expected[r][c]) << r << ' ' << c;
}

TEST(NotationOnAGpu, DropsSmallEntries) {
  const auto A = assemble<CSR<>>(Entries<double, 2>({2, 3}, {{{0, 1}, 5.0}, {{1, 2}, -0.5}})).move_to<Cuda>();
  const auto B = drop(A, 0.5).move_to<Host>();
  EXPECT_EQ(B.nnz(), 1);
  EXPECT_EQ(at(B, {0, 1}), 5);
}

TEST(NotationOnAGpu, ReadsTensorsThatAreOnlyRead) {
  const Tensor<const double, CSR<>, Cuda> A =
      assemble<CSR<>>(Entries<double, 2>({2, 3}, {{{0, 1}, 5.0}, {{1, 2}, 6.0}})).move_to<Cuda>();
  Tensor<double, DenseVector, Cuda> x({3}), y({2});
  x(i) = 2.0;
  y(i) = A(i, j) * x(j);
  EXPECT_EQ(at(y.move_to<Host>(), {1}), 12);
}

}  // namespace
