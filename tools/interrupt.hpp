// SPDX-License-Identifier: Apache-2.0
/// @file interrupt.hpp
/// Makes sure that no partial files are left behind when the program is interrupted (Ctrl-C).
#pragma once

#include <string>

namespace sporos::tool {

/// From now on, SIGINT, SIGTERM and SIGHUP remove the file that is being written before they end the program.
/// Must be called before any other thread is started.
void clean_up_when_interrupted();

/// Registers the folder of `path` as one in which this program writes.
void will_write(const std::string& path);

}  // namespace sporos::tool
