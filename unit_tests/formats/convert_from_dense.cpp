// SPDX-License-Identifier: Apache-2.0
/// @file convert_from_dense.cpp
/// Conversions of matrices: from dense matrices to every format.
#include "matrix_formats.hpp"

namespace sporos::test {
namespace {

TEST(ConvertMatrices, FromDenseRowsToEveryFormat) {
  expect_conversions_to_every_format<DenseMatrix<RowMajor>>();
}
TEST(ConvertMatrices, FromDenseColumnsToEveryFormat) {
  expect_conversions_to_every_format<DenseMatrix<ColumnMajor>>();
}

}  // namespace
}  // namespace sporos::test
