// SPDX-License-Identifier: Apache-2.0
/// @file n_of_m_double.cpp
/// Products of N:M sparse and dense matrices of doubles on the GPU.
#include "n_of_m_of.hpp"

namespace sporos::tool {

template DeviceProduct<RealMatrix> device_n_of_m<double>(const RealRows&, const RealMatrix&,
                                                         const DeviceSettings&);

}  // namespace sporos::tool
