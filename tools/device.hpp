// SPDX-License-Identifier: Apache-2.0
/// @file device.hpp
/// The GPU: the options with which commands use it, and whether there is one.
#pragma once

#include <string>

namespace sporos::tool {

/// The options of the command line that say where a product runs and, on the GPU, how.
struct DeviceOptions {
  std::string space = "host";
  std::string plan = "auto";
  std::string value = "double";
};

/// Throws UsageError if the program was built with CUDA and there is no GPU that can run its code: Kokkos,
/// which starts every space that it was built with, would abort.
void expect_device_to_start();

}  // namespace sporos::tool
