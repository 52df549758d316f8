// SPDX-License-Identifier: Apache-2.0
/// @file convert_from_csf.cpp
/// Conversions of tensors of order 3: from CSF to every format.
#include "tensor_formats.hpp"

namespace sporos::test {
namespace {

TEST(ConvertTensors, FromCsfToEveryFormat) {
  expect_tensor_conversions_to_every_format<CSF<3, ModeOrder<1, 0, 2>>>();
}

}  // namespace
}  // namespace sporos::test
