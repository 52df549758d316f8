// SPDX-License-Identifier: Apache-2.0
/// @file spmm_half.cpp
/// Products of sparse and dense matrices of halfs on the GPU.
#include "spmm_of.hpp"

namespace sporos::tool {

template DeviceProduct<RealMatrix> device_spmm<half>(const RealRows&, const RealMatrix&,
                                                     const DeviceSettings&);

}  // namespace sporos::tool
