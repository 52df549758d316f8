// SPDX-License-Identifier: Apache-2.0
/// @file multiply_on_device.hpp
/// `sporos multiply --space cuda`: the product of two files, computed on the GPU.
#pragma once

#include "command.hpp"
#include "device_settings.hpp"
#include "product_files.hpp"

namespace sporos::tool {

/// B is dense if its file is an array: then the settings say what computes the product, and in which type.
/// Otherwise both factors are sparse.
/// @param verify  compare the product with a reference
Outcome multiply_on_device(const ProductFiles& files, const DeviceSettings& settings, bool verify);

}  // namespace sporos::tool
