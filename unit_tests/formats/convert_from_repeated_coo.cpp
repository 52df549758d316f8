// SPDX-License-Identifier: Apache-2.0
/// @file convert_from_repeated_coo.cpp
/// Conversions of matrices: from COO that is not unique to every format.
#include "matrix_formats.hpp"

namespace sporos::test {
namespace {

TEST(ConvertMatrices, FromRepeatedCooToEveryFormat) { expect_conversions_to_every_format<RepeatedCoo>(); }

}  // namespace
}  // namespace sporos::test
