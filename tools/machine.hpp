// SPDX-License-Identifier: Apache-2.0
/// @file machine.hpp
/// What the machine is that the program runs on.
#pragma once

#include <cstdint>
#include <string>

namespace sporos::tool {

/// The processor's own name; empty if the system does not tell it.
std::string processor_name();

/// The extensions for vectors that the processor has, and those that this program was compiled for, as
/// "AVX2, FMA, AVX-512F".
std::string processor_extensions();
std::string compiled_extensions();

/// The processors that this process may run on.
std::int64_t available_processors();

/// Bytes of memory, and how many of them are free for programs; 0 if the system does not tell.
std::int64_t memory_bytes();
std::int64_t available_memory_bytes();

/// The GPU that statements run on; empty if the program was built without, or there is none.
std::string device_name();

}  // namespace sporos::tool
