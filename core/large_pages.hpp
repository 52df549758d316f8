// SPDX-License-Identifier: Apache-2.0
/// @file large_pages.hpp
/// Large pages and early first touch: touching memory for the first time costs more than most arithmetic on
/// it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace sporos {

namespace detail {

/// Bytes of a large page.
inline constexpr std::int64_t large_page = std::int64_t{2} << 20;

/// Touches the page at `at` without changing its contents.
inline void touch(std::byte* at) {
  volatile std::byte* const page = at;
  *page = *page;
}

/// Touches the page at `at` without changing its contents, and measures how long that takes.
/// @return whether it was slow for a large page, which the system normally clears in 0.1 to 0.5 ms. Memory
/// that a virtual machine has given back to its host can be slow to get again: a large page then costs
/// several times as much as the small pages that it replaces, which come from memory that the system has
/// kept. Once, 0.5 GiB took 1.5 s with large pages and 0.2 s with small ones.
inline bool touch_is_slow(std::byte* at) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds slow(2);
  const auto start = Clock::now();
  touch(at);
  return Clock::now() - start > slow;
}

/// Asks the system to back memory with large (or small) pages from now on. This is only advice: a system
/// without large pages refuses it.
/// @param begin  a multiple of the page size
inline void advise_large_pages([[maybe_unused]] void* begin, [[maybe_unused]] std::size_t bytes,
                               [[maybe_unused]] bool large) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  ::madvise(begin, bytes, large ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
}

}  // namespace detail

/// Asks the system to back untouched memory with pages of 2 MiB where it can and where they are not slow,
/// which makes first touch and release several times faster. Has no effect on small memory and on systems
/// without large pages.
inline void prefer_large_pages(void* memory, std::size_t bytes) {
  constexpr std::size_t page = detail::large_page;
  constexpr std::size_t least = 2 * page;         // which holds a whole one, wherever it begins
  constexpr std::size_t least_tried = 32 * page;  // so that two slow ones are a small part of it
  if (bytes < least) return;
  const std::size_t to_first = -reinterpret_cast<std::uintptr_t>(memory) % page;
  std::byte* const begin = static_cast<std::byte*>(memory) + to_first;
  const std::size_t pages = (bytes - to_first) / page;
  detail::advise_large_pages(begin, pages * page, true);
  if (bytes >= least_tried && detail::touch_is_slow(begin) && detail::touch_is_slow(begin + page))
    detail::advise_large_pages(begin + 2 * page, (pages - 2) * page, false);
}

/// Asks the system to back untouched memory now, in a single call. That takes half as long as page by page on
/// first touch, and saves more if several threads would touch the memory. Has no effect on systems without
/// this call.
inline void populate([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_POPULATE_WRITE)
  constexpr std::uintptr_t least_page = 4096;
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t begin = at / least_page * least_page;
  ::madvise(reinterpret_cast<void*>(begin), at + bytes - begin,
            MADV_POPULATE_WRITE);  // if refused, only slower
#endif
}

/// Populates an array ahead of code that writes it from front to back without knowing how much it will write:
/// about a quarter more than has been written, in steps large enough to be worth a call.
class PopulateAhead {
 public:
  PopulateAhead() = default;
  /// @param begin,bytes  the array
  /// @param backed       bytes at its front that need no populating
  PopulateAhead(void* begin, std::int64_t bytes, std::int64_t backed)
      : begin_(static_cast<std::byte*>(begin)), bytes_(bytes), backed_(backed) {}

  /// Bytes at the front that can be written now.
  std::int64_t backed() const { return backed_; }
  bool is_done() const { return backed_ >= bytes_; }

  /// Populates more once the `written` bytes, counted from the front, reach the end of the populated ones.
  void after(std::int64_t written) {
    constexpr std::int64_t least = std::int64_t{32} << 10;  // eight small pages, which are worth a call
    constexpr std::int64_t most = std::int64_t{512} << 10;  // so much at most may remain unwritten
    constexpr std::int64_t part = 4;                        // a quarter of what is written, in between
    if (is_done() || written < backed_) return;
    const std::int64_t end = std::min(bytes_, written + std::clamp(written / part, least, most));
    populate(begin_ + backed_, static_cast<std::size_t>(end - backed_));
    backed_ = end;
  }

 private:
  std::byte* begin_ = nullptr;
  std::int64_t bytes_ = 0, backed_ = 0;
};

}  // namespace sporos
