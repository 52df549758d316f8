// SPDX-License-Identifier: Apache-2.0
/// @file memory.cpp
/// How much memory the machine has, and how much freed memory the program keeps.
#include "memory.hpp"

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
#include <unistd.h>

#include <cstdint>

#include "command.hpp"
#include "report.hpp"

namespace sporos::tool {

void expect_memory(double bytes, const std::string& what) {
  const double memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (memory <= 0 || bytes <= memory) return;
  const auto shown = [](double amount) {
    return amount < 0x1p62 ? to_text(Cell(Bytes{static_cast<std::int64_t>(amount)}))
                           : std::string("over 4 EiB");
  };
  throw UsageError(what + " takes " + shown(bytes) + ", but this machine has " + shown(memory) +
                   " of memory");
}

void return_freed_memory() {
#ifdef __GLIBC__
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

}  // namespace sporos::tool
