// SPDX-License-Identifier: Apache-2.0
/// @file interrupt.hpp
/// Ctrl-C, and what is left behind by it: nothing.
#pragma once

#include <string>

namespace sporos::tool {

/// From now on SIGINT, SIGTERM and SIGHUP remove the file that is being written before they end the program.
/// Called before any other thread is started.
void clean_up_when_interrupted();

/// Says that the folder of `path` is where this program writes.
void will_write(const std::string& path);

}  // namespace sporos::tool
