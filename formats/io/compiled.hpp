// SPDX-License-Identifier: Apache-2.0
/// @file compiled.hpp
/// Reading and writing files, compiled once for all sources of a project.
///
/// Reading a matrix adds about 10 seconds to the compile time of a source, whatever else is in it. A program
/// that links the CMake target Sporos::io (Sporos::distributed_io for files that all ranks read) has it
/// compiled once, in compiled.cpp, for the tensors listed here; for other tensors, each source compiles what
/// it uses. Without CMake: define SPOROS_COMPILED_IO in all sources and compile compiled.cpp with them; for
/// files that all ranks read, define SPOROS_COMPILED_DISTRIBUTED_IO as well and compile
/// distributed/compiled.cpp.
#pragma once

#include <string>

#include "../../core/entries.hpp"
#include "file.hpp"

/// Calls `what(EXTERN, Value, Order)` for the tensors whose reading is compiled once. `what` declares the
/// functions if `EXTERN` is extern, and compiles them if it is empty.
#define SPOROS_FOR_COMPILED_TENSORS(what, EXTERN)                                                 \
  what(EXTERN, double, 1) what(EXTERN, double, 2) what(EXTERN, double, 3) what(EXTERN, double, 4) \
      what(EXTERN, float, 2) what(EXTERN, float, 3)

#define SPOROS_READ_AND_WRITE(EXTERN, Value, Order)                                                         \
  EXTERN template Entries<Value, Order> read_entries<Value, Order>(io::FileSource&, const ReadOptions&);    \
  EXTERN template Entries<Value, Order> read_entries<Value, Order>(const std::string&, const ReadOptions&); \
  EXTERN template void write_entries<Value, Order>(const std::string&, const Entries<Value, Order>&);

#if defined(SPOROS_COMPILED_IO)
namespace sporos {
SPOROS_FOR_COMPILED_TENSORS(SPOROS_READ_AND_WRITE, extern)
}  // namespace sporos
#endif
