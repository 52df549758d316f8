// SPDX-License-Identifier: Apache-2.0
/// @file machine.hpp
/// The machine on which the program runs.
#pragma once

#include <cstdint>
#include <string>

namespace sporos::tool {

/// The processor's own name; empty if the system does not reveal it.
std::string processor_name();

/// The vector extensions that the processor has, and those that this program was compiled for, as in "AVX2,
/// FMA, AVX-512F".
std::string processor_extensions();
std::string compiled_extensions();

/// The number of processors that this process may run on.
std::int64_t available_processors();

/// Bytes of memory, and how many of them are available to programs; 0 if the system does not reveal it.
std::int64_t memory_bytes();
std::int64_t available_memory_bytes();

/// The GPU on which statements run; empty if the program was built without CUDA, or there is none.
std::string device_name();

}  // namespace sporos::tool
