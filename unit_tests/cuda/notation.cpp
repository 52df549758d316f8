// SPDX-License-Identifier: Apache-2.0
/// @file notation.cpp
/// Numbers, scaled values and parts of tensors on a GPU.
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

}  // namespace
