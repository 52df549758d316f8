// SPDX-License-Identifier: Apache-2.0
/// @file convert_from_coo.cpp
/// Conversions of matrices: from COO to every format.
#include "matrix_formats.hpp"

namespace sporos::test {
namespace {

TEST(ConvertMatrices, FromCooByRowsToEveryFormat) { expect_conversions_to_every_format<COO<2>>(); }
TEST(ConvertMatrices, FromCooByColumnsToEveryFormat) {
  expect_conversions_to_every_format<COO<2, ColumnMajor>>();
}

}  // namespace
}  // namespace sporos::test
