// SPDX-License-Identifier: Apache-2.0
/// @file spmm_double.cpp
/// Products of sparse and dense matrices of doubles on the GPU.
#include "spmm_of.hpp"

namespace sporos::tool {

template DeviceProduct<RealMatrix> device_spmm<double>(const RealRows&, const RealMatrix&,
                                                       const DeviceSettings&);

}  // namespace sporos::tool
