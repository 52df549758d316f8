// SPDX-License-Identifier: Apache-2.0
/// @file device_spmm.hpp
/// The product of a sparse and a dense matrix on the GPU for one type of value. Each is compiled in a file of
/// its own, cuda/spmm_<type>.cpp.
#pragma once

#include "device_product.hpp"

namespace sporos::tool {

/// spmm_on_device with values of type Value: double, float, half or bfloat16.
template <class Value>
DeviceProduct<RealMatrix> device_spmm(const RealRows& A, const RealMatrix& B, const DeviceSettings& settings);

}  // namespace sporos::tool
