// SPDX-License-Identifier: Apache-2.0
/// @file convert_from_dense_and_blocked_tensors.cpp
/// Conversions of tensors of order 3: from dense levels and blocks to every format.
#include "tensor_formats.hpp"

namespace sporos::test {
namespace {

TEST(ConvertTensors, FromCooOfDenseFibersToEveryFormat) {
  expect_tensor_conversions_to_every_format<CooOfFibers>();
}
TEST(ConvertTensors, FromBlocksToEveryFormat) { expect_tensor_conversions_to_every_format<Blocks3>(); }

}  // namespace
}  // namespace sporos::test
