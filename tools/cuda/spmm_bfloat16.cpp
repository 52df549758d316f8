// SPDX-License-Identifier: Apache-2.0
/// @file spmm_bfloat16.cpp
/// Products of sparse and dense matrices of bfloat16 values on the GPU.
#include "spmm_of.hpp"

namespace sporos::tool {

template DeviceProduct<RealMatrix> device_spmm<bfloat16>(const RealRows&, const RealMatrix&,
                                                         const DeviceSettings&);

}  // namespace sporos::tool
