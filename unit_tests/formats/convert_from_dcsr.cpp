// SPDX-License-Identifier: Apache-2.0
/// @file convert_from_dcsr.cpp
/// Conversions of matrices: from DCSR and blocks to every format.
#include "matrix_formats.hpp"

namespace sporos::test {
namespace {

TEST(ConvertMatrices, FromDcsrToEveryFormat) { expect_conversions_to_every_format<DCSR<>>(); }
TEST(ConvertMatrices, FromBcsrToEveryFormat) { expect_conversions_to_every_format<BCSR<2, 3>>(); }

}  // namespace
}  // namespace sporos::test
