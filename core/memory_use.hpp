// SPDX-License-Identifier: Apache-2.0
/// @file memory_use.hpp
/// A counter of the bytes that workspaces allocate outside Kokkos Views.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sporos::detail {

inline std::atomic<std::int64_t>& memory_counter() {
  static std::atomic<std::int64_t> bytes{0};
  return bytes;
}
/// A function that is called when memory has been allocated, with the bytes of the pool's arrays in use, or
/// -1 if the caller does not know them.
using MemoryListener = void (*)(std::int64_t in_pool);
inline std::atomic<MemoryListener>& memory_listener() {
  static std::atomic<MemoryListener> listener{nullptr};
  return listener;
}

inline std::int64_t memory_use() { return memory_counter().load(std::memory_order_relaxed); }

/// Records that memory has been allocated (`bytes` > 0) or freed (`bytes` < 0).
inline void count_memory(std::int64_t bytes) {
  memory_counter().fetch_add(bytes, std::memory_order_relaxed);
  if (bytes > 0)
    if (const auto listener = memory_listener().load(std::memory_order_relaxed)) listener(-1);
}

/// An allocator for containers of the standard library whose memory is to be counted.
template <class T>
struct CountedAllocator {
  using value_type = T;

  CountedAllocator() = default;
  template <class Other>
  CountedAllocator(const CountedAllocator<Other>&) {}  // NOLINT: implicit, as the standard requires

  T* allocate(std::size_t count) {
    T* const memory = std::allocator<T>{}.allocate(count);
    count_memory(static_cast<std::int64_t>(count * sizeof(T)));
    return memory;
  }
  void deallocate(T* memory, std::size_t count) {
    count_memory(-static_cast<std::int64_t>(count * sizeof(T)));
    std::allocator<T>{}.deallocate(memory, count);
  }
  bool operator==(const CountedAllocator&) const { return true; }
};

template <class T>
using CountedVector = std::vector<T, CountedAllocator<T>>;

}  // namespace sporos::detail
