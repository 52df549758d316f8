// SPDX-License-Identifier: Apache-2.0
/// @file memory.hpp
/// Requests for more memory than the machine has are refused before the system ends the program for them.
#pragma once

#include <string>

namespace sporos::tool {

/// Throws UsageError where `bytes` are more than this machine's memory.
/// @param what  what would take them, as the message begins: "x.tns: dense storage"
void expect_memory(double bytes, const std::string& what);

}  // namespace sporos::tool
