// SPDX-License-Identifier: Apache-2.0
/// @file memory_errors.hpp
/// What is said where memory runs out while a file is read or written. Containers and the libraries for
/// compressed files throw std::bad_alloc, which says neither what for nor how much.
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

#include "../../core/bytes_text.hpp"
#include "../../core/entries.hpp"
#include "../../core/error.hpp"
#include "../../core/pool.hpp"

namespace sporos::io {

/// Calls `work`, which reads the file called `name`.
/// @throws MemoryError instead of std::bad_alloc
template <class Work>
auto read_in_memory(const std::string& name, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // a container with more elements than there are addresses
  }
  throw MemoryError(name + ": there is not enough memory to read it; this machine has " +
                    bytes_text(Pool::machine_bytes()) +
                    ": free some, or read it on the ranks of several machines, each of which holds a part");
}

/// Calls `work`, which writes entries to the file called `name`.
/// @throws MemoryError instead of std::bad_alloc
template <class Value, int Order, class Work>
void write_in_memory(const std::string& name, const Entries<Value, Order>& entries, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  constexpr auto bytes_of_entry = static_cast<std::int64_t>(Order * sizeof(std::int64_t) + sizeof(Value));
  throw MemoryError(name + ": there is not enough memory to write entries of " +
                    bytes_text(entries.size() * bytes_of_entry) + "; this machine has " +
                    bytes_text(Pool::machine_bytes()) + ": free some, or write parts to files of their own");
}

}  // namespace sporos::io
