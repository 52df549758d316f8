// SPDX-License-Identifier: Apache-2.0
/// @file explain_on_device.hpp
/// `sporos explain --space cuda`: what a product does on the GPU, and how long each of its plans takes on a
/// matrix from a file, compared with the library's predictions.
#pragma once

#include <string>

#include "command.hpp"
#include "device_settings.hpp"
#include "input.hpp"

namespace sporos::tool {

struct DeviceExplanation {
  std::string name;  ///< name of the statement: spmv, spmm or spgemm
  std::string file;  ///< file that holds A; if empty, A is a made-up band and nothing is run
  InputOptions input;
  int columns = 16;  ///< columns of spmm's dense factor
};

/// Only the pattern of A matters; its values are made up. With a file and no plan in the settings, spmm is
/// measured with all plans.
/// @throws UsageError for other statements, and for settings that do not apply to a statement
Outcome explain_on_device(const DeviceExplanation& what, const DeviceSettings& settings);

}  // namespace sporos::tool
