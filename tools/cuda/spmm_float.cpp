// SPDX-License-Identifier: Apache-2.0
/// @file spmm_float.cpp
/// Products of sparse and dense matrices of floats on the GPU.
#include "spmm_of.hpp"

namespace sporos::tool {

template DeviceProduct<RealMatrix> device_spmm<float>(const RealRows&, const RealMatrix&,
                                                      const DeviceSettings&);

}  // namespace sporos::tool
