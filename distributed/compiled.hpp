// SPDX-License-Identifier: Apache-2.0
/// @file compiled.hpp
/// Reading files by all ranks, compiled once for all sources of a project; see formats/io/compiled.hpp.
#pragma once

#include <string>

#include "../core/entries.hpp"
#include "../formats/io/compiled.hpp"
#include "communicator.hpp"
#include "read.hpp"

#define SPOROS_READ_ON_RANKS(EXTERN, Value, Order)                                                          \
  EXTERN template Entries<Value, Order> read_entries<Value, Order>(const Communicator&, const std::string&, \
                                                                   const ReadOptions&);

#if defined(SPOROS_COMPILED_DISTRIBUTED_IO)
namespace sporos {
SPOROS_FOR_COMPILED_TENSORS(SPOROS_READ_ON_RANKS, extern)
}  // namespace sporos
#endif
