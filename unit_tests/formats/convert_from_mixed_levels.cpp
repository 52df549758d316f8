// SPDX-License-Identifier: Apache-2.0
/// @file convert_from_mixed_levels.cpp
/// Conversions of matrices: from compositions without a name to every format.
#include "matrix_formats.hpp"

namespace sporos::test {
namespace {

TEST(ConvertMatrices, FromCompressedColumnsOfDenseToEveryFormat) {
  expect_conversions_to_every_format<DenseColumns>();
}
TEST(ConvertMatrices, FromPairsOfRowsToEveryFormat) { expect_conversions_to_every_format<RowPairs>(); }

}  // namespace
}  // namespace sporos::test
