// SPDX-License-Identifier: Apache-2.0
/// @file n_of_m_bfloat16.cpp
/// Products of N:M sparse and dense matrices of bfloat16 values on the GPU.
#include "n_of_m_of.hpp"

namespace sporos::tool {

template DeviceProduct<RealMatrix> device_n_of_m<bfloat16>(const RealRows&, const RealMatrix&,
                                                           const DeviceSettings&);

}  // namespace sporos::tool
