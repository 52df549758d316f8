// SPDX-License-Identifier: Apache-2.0
/// @file large_pages.hpp
/// How memory gets its pages: touching it for the first time costs more than most arithmetic on it.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace sporos {

/// Asks the system to back memory that was not touched yet by pages of 2 MiB, where it can: first touch is
/// then several times faster, and so is releasing it. Without effect on small memory and on systems that know
/// no such thing.
inline void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
  if (bytes < 2 * page) return;
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t begin = (at + page - 1) / page * page;
  const std::uintptr_t end = (at + bytes) / page * page;
  if (begin < end)
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // refused: only slower
#endif
}

/// Has memory that was not touched yet cleared now, at once: half the cost of page by page as it is touched,
/// and less where several threads would do so. Without effect on systems that know no such thing.
inline void populate([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_POPULATE_WRITE)
  constexpr std::uintptr_t least_page = 4096;
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t begin = at / least_page * least_page;
  ::madvise(reinterpret_cast<void*>(begin), at + bytes - begin, MADV_POPULATE_WRITE);  // refused: only slower
#endif
}

}  // namespace sporos
