// SPDX-License-Identifier: Apache-2.0
/// @file plans.cpp
/// Plans notice that a level made outside the library has another pattern.
#include <gtest/gtest.h>

#include "formats.hpp"

namespace sporos::test {
namespace {

TEST(APlan, NoticesAnotherBitmap) {
  const auto A = assemble<BitmapRows>(Entries<double, 2>({2, 3}, {{{0, 1}, 5.0}, {{1, 2}, 7.0}}));
  const Tensor<double, DenseVector> y({2}), x({3});
  Kokkos::deep_copy(x.values(), 1.0);
  auto product = plan(assign(y(i), A(i, j) * x(j)));
  product.run();
  EXPECT_EQ(y.values()(1), 7.0);
  A.values()(1) = 8.0;
  product.run();
  EXPECT_EQ(y.values()(1), 8.0);
  const auto same = A.clone();
  A.replace(same.extents(), same.levels(), same.values());
  EXPECT_NO_THROW(product.run());
  const auto other = assemble<BitmapRows>(Entries<double, 2>({2, 3}, {{{0, 0}, 5.0}, {{1, 2}, 7.0}}));
  A.replace(other.extents(), other.levels(), other.values());
  EXPECT_THROW(product.run(), ScheduleError);
}

TEST(APlan, RefillsABitmap) {
  const auto B = assemble<BitmapRows>(random_entries<double, 2>({30, 40}, 0.3, false, 1));
  const auto C = assemble<BitmapTree>(random_entries<double, 2>({40, 20}, 0.3, false, 2));
  const Tensor<double, BitmapRows> A({30, 20}), expected({30, 20});
  auto product = plan(assign(A(i, j), B(i, k) * C(k, j)));
  product.run();
  Kokkos::deep_copy(C.values(), 2.0);
  product.run();
  expected(i, j) = B(i, k) * C(k, j);
  EXPECT_EQ(difference(read(A), read(expected).terms, true, A.nnz()), "");
}

}  // namespace
}  // namespace sporos::test
