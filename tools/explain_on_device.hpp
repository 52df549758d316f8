// SPDX-License-Identifier: Apache-2.0
/// @file explain_on_device.hpp
/// `sporos explain --space cuda`: what a product does on the GPU, and how long each of its plans takes on a
/// matrix from a file, beside what the library predicts.
#pragma once

#include <string>

#include "command.hpp"
#include "device_settings.hpp"
#include "input.hpp"

namespace sporos::tool {

struct DeviceExplanation {
  std::string name;  ///< of the statement: spmv, spmm or spgemm
  std::string file;  ///< with A; empty: a band that is made up, and nothing is run
  InputOptions input;
  int columns = 16;  ///< of the dense factor of spmm
};

/// The pattern of A counts, its values are made up. With a file and no plan in the settings, spmm is measured
/// by all plans.
/// @throws UsageError for other statements and for settings that a statement does not have
Outcome explain_on_device(const DeviceExplanation& what, const DeviceSettings& settings);

}  // namespace sporos::tool
