// SPDX-License-Identifier: Apache-2.0
/// @file convert_from_csc.cpp
/// Conversions of matrices: from CSC to every format.
#include "matrix_formats.hpp"

namespace sporos::test {
namespace {

TEST(ConvertMatrices, FromCscToEveryFormat) { expect_conversions_to_every_format<CSC<>>(); }
TEST(ConvertMatrices, FromDcscToEveryFormat) { expect_conversions_to_every_format<DCSC<>>(); }

}  // namespace
}  // namespace sporos::test
