// SPDX-License-Identifier: Apache-2.0
/// @file first_touch.hpp
/// First touch of an array that several threads fill from front to back: each large page is touched by one
/// thread only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "large_pages.hpp"

namespace sporos::detail {

/// The large pages of an array, which threads claim in order. The system clears a page when it is first
/// touched, which for a large page takes as long as computing thousands of elements. Threads that touch the
/// same page at the same time each clear a page, and all but one of these are discarded. Where large pages
/// turn out to be slow, the rest of the array gets small ones.
class FirstTouch {
 public:
  /// @param begin,bytes  the array
  FirstTouch(std::byte* begin, std::int64_t bytes)
      : begin_(begin),
        offset_(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(begin) % large_page)),
        bytes_(bytes),
        pages_((offset_ + bytes + large_page - 1) / large_page),
        touched_(std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(pages_))) {}

  /// Claims and touches the first unclaimed page if it begins before byte `end`.
  /// @return whether there was such a page
  bool touch_next(std::int64_t end) {
    std::int64_t next = claimed_.load(std::memory_order_relaxed);
    do {
      if (next >= pages_ || begin_of(next) >= end) return false;
    } while (!claimed_.compare_exchange_weak(next, next + 1, std::memory_order_relaxed));
    constexpr std::int64_t too_few = 2;  // pages of an array of which none would be left to be made small
    constexpr int before = 1;            // slow pages before: one alone may be slow by chance
    if (pages_ <= too_few)
      touch(begin_ + begin_of(next));
    else if (touch_is_slow(begin_ + begin_of(next)) &&
             slow_.fetch_add(1, std::memory_order_relaxed) == before) {
      const std::int64_t rest = begin_of(claimed_.load(std::memory_order_relaxed));
      if (rest < bytes_) advise_large_pages(begin_ + rest, static_cast<std::size_t>(bytes_ - rest), false);
    }
    touched_[static_cast<std::size_t>(next)].store(true, std::memory_order_release);
    return true;
  }

  /// Touches all unclaimed pages that begin before byte `end`.
  void touch_to(std::int64_t end) {
    while (touch_next(end)) {
    }
  }

  /// Whether the pages of bytes `from` to `end` have been touched.
  bool is_touched(std::int64_t from, std::int64_t end) const {
    for (std::int64_t at = (offset_ + from) / large_page; at < pages_ && begin_of(at) < end; ++at)
      if (!touched_[static_cast<std::size_t>(at)].load(std::memory_order_acquire)) return false;
    return true;
  }

 private:
  std::int64_t begin_of(std::int64_t number) const { return number == 0 ? 0 : number * large_page - offset_; }

  std::byte* begin_;
  std::int64_t offset_, bytes_, pages_;
  std::unique_ptr<std::atomic<bool>[]> touched_;
  std::atomic<std::int64_t> claimed_{0};
  std::atomic<int> slow_{0};  ///< number of large pages that were slow to touch
};

}  // namespace sporos::detail
