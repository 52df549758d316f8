// SPDX-License-Identifier: Apache-2.0
/// @file segments.cpp
/// A level from outside the library that stores segments is taken by the kernels for rows, whatever its name.
#include <gtest/gtest.h>

#include <cstdint>

#include "formats.hpp"
#include "kept.hpp"

namespace sporos::test {
namespace {

using StoredRows = Format<Map<Dim<0>, Dim<1>>, Dense, Kept<Compressed<std::int32_t, std::int32_t>>>;

TEST(ALevelOfSegments, IsMultipliedByRows) {
  static_assert(SparseRowsMatrix<Tensor<double, StoredRows>>);
  static_assert(!SparseRowsMatrix<Tensor<double, BitmapRows>>);
  const auto B = assemble<StoredRows>(random_entries<double, 2>({30, 40}, 0.3, false, 1));
  const auto C = assemble<StoredRows>(random_entries<double, 2>({40, 20}, 0.3, false, 2));
  const Tensor<double, StoredRows> A({30, 20}), expected({30, 20});
  A(i, j) = B(i, k) * C(k, j);
  assign(expected(i, j), B(i, k) * C(k, j)).generic().run();
  EXPECT_NO_THROW(validate(A));
  EXPECT_EQ(difference(read(A), read(expected).terms, true, A.nnz()), "");
}

}  // namespace
}  // namespace sporos::test
