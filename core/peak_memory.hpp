// SPDX-License-Identifier: Apache-2.0
/// @file peak_memory.hpp
/// PeakMemory: the largest amount of memory that the arrays of this process take at any one time.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "error.hpp"
#include "memory_use.hpp"
#include "pool.hpp"

namespace sporos {

/// Counts, from its construction on, the bytes of all Kokkos arrays, of the pool and of workspaces, and
/// records their maximum above the level at construction. The library's own small tables (the bounds of
/// chunks, for example) are not counted.
///
///     PeakMemory peak;
///     A(i, j) = B(i, k) * C(k, j);
///     std::cout << peak.bytes();    // at most what estimate(...) says
///
/// Arrays on a device that were made before and are given back meanwhile are not subtracted.
///
/// It uses the callbacks of Kokkos Tools, so a loaded profiling tool does not see allocations while a
/// PeakMemory exists. Only one may exist at a time.
class PeakMemory {
 public:
  /// @throws StateError if there is another one already
  PeakMemory() {
    expect_kokkos();
    PeakMemory* none = nullptr;
    if (!active().compare_exchange_strong(none, this))
      throw StateError("there is a PeakMemory already: only one can count at a time");
    start_ = pool().bytes_in_use() + detail::memory_use();
    pool().watch(&PeakMemory::sample);
    detail::memory_listener() = &PeakMemory::sample;
    Kokkos::Tools::Experimental::set_allocate_data_callback(&PeakMemory::allocated);
    Kokkos::Tools::Experimental::set_deallocate_data_callback(&PeakMemory::freed);
  }
  ~PeakMemory() {
    Kokkos::Tools::Experimental::set_callbacks(tools_);
    detail::memory_listener() = nullptr;
    pool().watch(nullptr);
    active() = nullptr;
  }
  PeakMemory(const PeakMemory&) = delete;
  PeakMemory& operator=(const PeakMemory&) = delete;

  /// The maximum so far, in bytes above the level at construction.
  std::int64_t bytes() const {
    const std::lock_guard lock(guard_);
    return peak_;
  }

 private:
  static std::atomic<PeakMemory*>& active() {
    static std::atomic<PeakMemory*> one{nullptr};
    return one;
  }
  /// @param in_pool  bytes of the pool's arrays; -1 if the caller does not know
  static void sample(std::int64_t in_pool) {
    PeakMemory* const self = active();
    if (!self) return;
    if (in_pool < 0) in_pool = pool().bytes_in_use();
    const std::lock_guard lock(self->guard_);
    const std::int64_t arrays = self->kokkos_;
    self->peak_ = std::max(self->peak_, in_pool + detail::memory_use() + arrays - self->start_);
  }
  static bool is_pools(const char* label) {
    return std::strncmp(label, detail::pool_block_label, std::strlen(detail::pool_block_label)) == 0;
  }
  static void allocated(Kokkos::Tools::SpaceHandle, const char* label, const void*, std::uint64_t size) {
    if (is_pools(label)) return;
    if (PeakMemory* const self = active()) self->kokkos_ += static_cast<std::int64_t>(size);
    sample(-1);
  }
  static void freed(Kokkos::Tools::SpaceHandle, const char* label, const void*, std::uint64_t size) {
    if (is_pools(label)) return;
    if (PeakMemory* const self = active()) self->kokkos_ -= static_cast<std::int64_t>(size);
  }

  const Kokkos::Tools::Experimental::EventSet tools_ = Kokkos::Tools::Experimental::get_callbacks();
  mutable std::mutex guard_;
  std::int64_t start_ = 0;
  std::int64_t peak_ = 0;
  std::atomic<std::int64_t> kokkos_{0};  ///< bytes of Kokkos' arrays, above the level at construction
};

}  // namespace sporos
