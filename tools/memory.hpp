// SPDX-License-Identifier: Apache-2.0
/// @file memory.hpp
/// Rejects requests for more memory than the machine has, before the system kills the program.
#pragma once

#include <string>

namespace sporos::tool {

/// Throws UsageError if `bytes` exceeds the memory of this machine.
/// @param what  what needs the bytes, as the beginning of the message: "x.tns: dense storage"
void expect_memory(double bytes, const std::string& what);

/// From now on, arrays of more than a mebibyte are returned to the system when they are freed. Otherwise
/// malloc would keep those of up to 32 MiB, in pieces between which larger ones do not fit.
void return_freed_memory();

}  // namespace sporos::tool
