// SPDX-License-Identifier: Apache-2.0
/// @file convert_from_coo_of_order_three.cpp
/// Conversions of tensors of order 3: from COO to every format.
#include "tensor_formats.hpp"

namespace sporos::test {
namespace {

TEST(ConvertTensors, FromCooToEveryFormat) { expect_tensor_conversions_to_every_format<COO<3>>(); }

}  // namespace
}  // namespace sporos::test
