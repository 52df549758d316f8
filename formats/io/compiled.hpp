// SPDX-License-Identifier: Apache-2.0
/// @file compiled.hpp
/// Reading and writing files, compiled once for all sources of a project.
///
/// Reading a matrix adds about 10 seconds to the time that a source takes to compile, whatever else is in it.
/// A program that links the CMake target Sporos::io (Sporos::distributed_io for files that all ranks read)
/// has it compiled once, in compiled.cpp, for the tensors listed here; of others each source compiles what it
/// uses. Without CMake: define SPOROS_COMPILED_IO in all sources, and compile compiled.cpp with them.
#pragma once

#include <string>

#include "../../core/entries.hpp"
#include "file.hpp"

/// Calls `what(Value, Order)` for the tensors whose reading is compiled once.
#define SPOROS_FOR_COMPILED_TENSORS(what) \
  what(double, 1) what(double, 2) what(double, 3) what(double, 4) what(float, 2) what(float, 3)

/// The functions, to be declared (`EXTERN` is extern) or compiled (it is empty).
#define SPOROS_READ_AND_WRITE(EXTERN, Value, Order)                                                         \
  EXTERN template Entries<Value, Order> read_entries<Value, Order>(io::FileSource&, const ReadOptions&);    \
  EXTERN template Entries<Value, Order> read_entries<Value, Order>(const std::string&, const ReadOptions&); \
  EXTERN template void write_entries<Value, Order>(const std::string&, const Entries<Value, Order>&);

#if defined(SPOROS_COMPILED_IO)
namespace sporos {
#define SPOROS_DECLARE(Value, Order) SPOROS_READ_AND_WRITE(extern, Value, Order)
SPOROS_FOR_COMPILED_TENSORS(SPOROS_DECLARE)
#undef SPOROS_DECLARE
}  // namespace sporos
#endif
