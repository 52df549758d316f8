// SPDX-License-Identifier: Apache-2.0
/// @file convert_from_csr.cpp
/// Conversions of matrices: from CSR to every format.
#include "matrix_formats.hpp"

namespace sporos::test {
namespace {

TEST(ConvertMatrices, FromCsrToEveryFormat) { expect_conversions_to_every_format<CSR<>>(); }
TEST(ConvertMatrices, FromCsrOfNarrowIndicesToEveryFormat) {
  expect_conversions_to_every_format<NarrowCsr>();
}

}  // namespace
}  // namespace sporos::test
