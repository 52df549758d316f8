// SPDX-License-Identifier: Apache-2.0
/// @file memory_errors.hpp
/// Names the file that is read or written where memory runs out. Containers and the libraries for compressed
/// files throw std::bad_alloc, which says neither what the memory was for nor how much was needed; arrays say
/// only their own names.
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "../../core/bytes_text.hpp"
#include "../../core/entries.hpp"
#include "../../core/error.hpp"
#include "../../core/pool.hpp"

namespace sporos::io {

/// Calls `work`.
/// @param short_of_memory  what to say where memory runs out, without the name of the file
/// @throws MemoryError, beginning with the name of the file, instead of std::bad_alloc and other MemoryErrors
template <class Work, class Text>
auto with_file_named(const std::string& name, const Work& work, const Text& short_of_memory) {
  try {
    return work();
  } catch (const MemoryError& error) {
    throw MemoryError(text(name, ": ", error.what()));
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {        // a container with more elements than there are addresses
  } catch (const std::system_error& error) {  // a thread that has no memory for its stack
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
  }
  throw MemoryError(text(name, ": ", short_of_memory(), "; this machine has ",
                         bytes_text(Pool::machine_bytes()), ": free some, or work on parts"));
}

/// Calls `work`, which reads the file called `name`.
template <class Work>
auto reading(const std::string& name, const Work& work) {
  return with_file_named(name, work, [] { return std::string("there is not enough memory to read it"); });
}

/// Calls `work`, which writes entries to the file called `name`.
template <class Value, int Order, class Work>
auto writing(const std::string& name, const Entries<Value, Order>& entries, const Work& work) {
  return with_file_named(name, work, [&] {
    constexpr auto bytes_of_entry = static_cast<std::int64_t>(Order * sizeof(std::int64_t) + sizeof(Value));
    return "there is not enough memory to write entries of " + bytes_text(entries.size() * bytes_of_entry);
  });
}

}  // namespace sporos::io
