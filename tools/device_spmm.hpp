// SPDX-License-Identifier: Apache-2.0
/// @file device_spmm.hpp
/// The product of a sparse and a dense matrix on the GPU for one type of value. Each type is compiled in
/// separate files, cuda/spmm_<type>.cpp and cuda/n_of_m_<type>.cpp.
#pragma once

#include "device_product.hpp"

namespace sporos::tool {

/// Does what spmm_on_device does, with values of type Value: double, float, half or bfloat16.
template <class Value>
DeviceProduct<RealMatrix> device_spmm(const RealRows& A, const RealMatrix& B, const DeviceSettings& settings);

/// Does the same with a plan for N:M sparsity: settings.plan has windows.
template <class Value>
DeviceProduct<RealMatrix> device_n_of_m(const RealRows& A, const RealMatrix& B,
                                        const DeviceSettings& settings);

}  // namespace sporos::tool
