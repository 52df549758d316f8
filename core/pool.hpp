// SPDX-License-Identifier: Apache-2.0
/// @file pool.hpp
/// The process' pool of host memory: large arrays on large pages, kept for the next array when their owner is
/// gone.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "array.hpp"

namespace sporos {

/// Hands out host arrays, and keeps their memory when the last array that refers to it is gone.
///
/// The first touch of a page costs the system more than most kernels cost per element, and a large page (2
/// MiB) a small fraction of the 512 small ones in its place. So blocks stand on large pages where the system
/// gives them, and stay with the pool, up to `limit()` bytes, for the next array of their type.
///
/// An array of the pool is a Kokkos View like any other: a part of its block, which counts its references.
/// The pool holds one reference itself and gives the block out again when it holds the only one.
///
/// Every function may be called from any thread, but, as Kokkos rules for views, not inside a parallel
/// region.
class Pool {
 public:
  /// Smaller arrays are the allocator's affair: what they cost is not their pages.
  static constexpr std::int64_t smallest_block = std::int64_t{64} << 10;
  static constexpr std::int64_t large_page = std::int64_t{2} << 20;

  Pool() : limit_(machine_bytes() / 4) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// `count` elements, not initialised, all of which the caller will write.
  /// @throws MemoryError where the memory is not to be had
  template <class T>
  HostArray<T> array(const std::string& label, std::int64_t count) {
    if (count < smallest_block / bytes_of<T>(1)) return make_array<T>(label, count);
    return keep(reserve<T>(label, count, count), count);
  }

  /// Room for up to `capacity` elements, of which the caller writes as many from the front as it turns out to
  /// need, and then calls `keep`; a quarter, likely. What is not written takes addresses, not memory.
  /// @param least  elements that the caller will write whatever happens, as far as it knows
  /// @throws MemoryError where the system refuses even the addresses
  template <class T>
  HostArray<T> reserve(const std::string& label, std::int64_t capacity, std::int64_t least = 0) {
    expect_kokkos();
    if (capacity < smallest_block / bytes_of<T>(1)) return make_array<T>(label, capacity);
    const std::lock_guard lock(mutex_);
    if (auto found = find<T>(capacity)) return *found;
    // A large page must begin at a multiple of its size, a block need not.
    const bool large = bytes_of<T>(std::max(least, capacity / 4)) >= large_page_threshold;
    const std::int64_t slack = large ? 2 * large_page / bytes_of<T>(1) : 0;
    HostArray<T> whole;
    try {
      whole = make_array<T>(label, capacity + slack);
    } catch (const MemoryError&) {
      drop_idle(0);
      whole = make_array<T>(label, capacity + slack);
    }
    forget_at_finalize();
    auto* const first = reinterpret_cast<std::byte*>(whole.data());
    std::int64_t offset = 0;
    if (large) {
      const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(first));
      offset = (large_page - address % large_page) % large_page;
      ask_for_large_pages(first + offset, bytes_of<T>(capacity));
      // Blocks that all began at a multiple of 2 MiB would meet in the same sets of every cache.
      offset += stagger_;
      stagger_ = (stagger_ + 17 * 64) % 16384;
    }
    const std::int64_t begin = offset / bytes_of<T>(1);
    HostArray<T> lent = part(whole, begin, begin + capacity);
    if (!large && least > 0)
      populate(lent.data(), static_cast<std::size_t>(bytes_of<T>(std::min(least, capacity))));
    blocks_.push_back(std::make_unique<BlockOf<T>>(std::move(whole), lent, ++clock_));
    return lent;
  }

  /// The first `count` elements of `reserved`, which is what has been written of it: the rest stays unused.
  template <class T>
  HostArray<T> keep(const HostArray<T>& reserved, std::int64_t count) {
    ensure(count <= static_cast<std::int64_t>(reserved.extent(0)), "no more is kept than was reserved");
    const std::lock_guard lock(mutex_);
    const auto block = std::find_if(blocks_.begin(), blocks_.end(),
                                    [&](const auto& b) { return b->begin == reserved.data(); });
    if (block == blocks_.end()) return part(reserved, 0, count);
    (*block)->touched = std::max((*block)->touched, bytes_of<T>(count));
    if (touched() > limit_) {
      drop_idle(limit_);
      // Still too much: this block is its owner's alone, and goes with it.
      if (touched() > limit_)
        std::erase_if(blocks_, [&](const auto& b) { return b->begin == reserved.data(); });
    }
    return part(reserved, 0, count);
  }

  /// Bytes of memory that the pool holds and no array uses.
  std::int64_t bytes_held() const {
    const std::lock_guard lock(mutex_);
    std::int64_t sum = 0;
    for (const auto& block : blocks_)
      if (block->idle()) sum += block->touched;
    return sum;
  }

  /// Bytes in use by arrays whose memory will come back to the pool.
  std::int64_t bytes_lent() const {
    const std::lock_guard lock(mutex_);
    std::int64_t sum = 0;
    for (const auto& block : blocks_)
      if (!block->idle()) sum += block->touched;
    return sum;
  }

  /// What `bytes_held() + bytes_lent()` stays within; arrays beyond it are freed when their owner is gone. A
  /// quarter of the machine's memory unless set.
  std::int64_t limit() const {
    const std::lock_guard lock(mutex_);
    return limit_;
  }
  /// 0 keeps nothing.
  void limit(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    limit_ = std::max<std::int64_t>(bytes, 0);
    drop_idle(limit_);
    // Blocks in use that no longer fit are their owners' alone.
    while (!blocks_.empty() && touched() > limit_) blocks_.pop_back();
  }

  /// Bytes of memory of the machine.
  static std::int64_t machine_bytes() {
#if defined(__linux__)
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0) return static_cast<std::int64_t>(pages) * page;
#endif
    return std::int64_t{8} << 30;
  }

  /// Gives all memory that no array uses back to the system.
  void release() {
    const std::lock_guard lock(mutex_);
    std::erase_if(blocks_, [](const auto& block) { return block->idle(); });
  }

 private:
  /// From here on a large page costs less than the small ones in its place, even if most of it stays unused.
  static constexpr std::int64_t large_page_threshold = std::int64_t{512} << 10;

  struct Block {
    Block(const void* first, std::int64_t bytes, const std::type_info& element, std::uint64_t now)
        : begin(first), capacity(bytes), type(&element), last_use(now) {}
    virtual ~Block() = default;
    virtual bool idle() const = 0;

    const void* begin;
    std::int64_t capacity;     ///< bytes of addresses
    std::int64_t touched = 0;  ///< bytes that were ever written
    const std::type_info* type;
    std::uint64_t last_use;
  };

  template <class T>
  struct BlockOf : Block {
    BlockOf(HostArray<T> all, const HostArray<T>& usable, std::uint64_t now)
        : Block(usable.data(), bytes_of<T>(static_cast<std::int64_t>(usable.extent(0))), typeid(T), now),
          whole(std::move(all)),
          first(usable.data() - whole.data()) {}

    /// Nobody but the pool refers to the block, so nobody else can come to refer to it.
    bool idle() const override {
      if (whole.use_count() > 1) return false;
      std::atomic_thread_fence(std::memory_order_acquire);
      return true;
    }

    HostArray<T> whole;
    std::ptrdiff_t first;
  };

  template <class T>
  static constexpr std::int64_t bytes_of(std::int64_t count) {
    return count * static_cast<std::int64_t>(sizeof(T));
  }

  template <class T>
  static HostArray<T> part(const HostArray<T>& array, std::int64_t begin, std::int64_t end) {
    return Kokkos::subview(array, std::pair(begin, end));
  }

  /// The idle block of T that fits best: with room enough, and not so much written that the array would hold
  /// back memory that a larger one could use.
  template <class T>
  std::optional<HostArray<T>> find(std::int64_t capacity) {
    const std::int64_t bytes = bytes_of<T>(capacity);
    Block* best = nullptr;
    for (const auto& block : blocks_)
      if (*block->type == typeid(T) && block->capacity >= bytes &&
          block->touched <= 2 * bytes + 2 * large_page && (!best || block->capacity < best->capacity) &&
          block->idle())
        best = block.get();
    if (!best) return {};
    best->last_use = ++clock_;
    const auto* const found = static_cast<const BlockOf<T>*>(best);
    return part(found->whole, found->first, found->first + capacity);
  }

  std::int64_t touched() const {
    std::int64_t sum = 0;
    for (const auto& block : blocks_) sum += block->touched;
    return sum;
  }

  /// Frees idle blocks, those unused for longest first, until what is left is within `bytes`.
  void drop_idle(std::int64_t bytes) {
    while (true) {
      if (bytes > 0 && touched() <= bytes) return;
      auto oldest = blocks_.end();
      for (auto block = blocks_.begin(); block != blocks_.end(); ++block)
        if ((oldest == blocks_.end() || (*block)->last_use < (*oldest)->last_use) && (*block)->idle())
          oldest = block;
      if (oldest == blocks_.end()) return;
      blocks_.erase(oldest);
    }
  }

  /// Kokkos frees no view once it is finalized: the pool lets go of its own before.
  void forget_at_finalize() {
    if (hooked_) return;
    hooked_ = true;
    Kokkos::push_finalize_hook([pool = std::weak_ptr<Pool*>(self_)] {
      if (const auto alive = pool.lock()) {
        const std::lock_guard lock((*alive)->mutex_);
        (*alive)->blocks_.clear();
      }
    });
  }

  static void ask_for_large_pages([[maybe_unused]] std::byte* first, [[maybe_unused]] std::int64_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    const std::int64_t whole_pages = (bytes + large_page - 1) / large_page * large_page;
    // Advice: a system without large pages refuses it, and nothing is lost.
    (void)madvise(first, static_cast<std::size_t>(whole_pages), MADV_HUGEPAGE);
#endif
  }

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::int64_t limit_;
  std::int64_t stagger_ = 0;
  std::uint64_t clock_ = 0;
  bool hooked_ = false;
  const std::shared_ptr<Pool*> self_ = std::make_shared<Pool*>(this);
};

/// The pool that results and workspaces come from.
inline Pool& pool() {
  // Never destroyed: arrays of static lifetime may outlive whatever order static objects are destroyed in.
  static Pool& instance = *new Pool;
  return instance;
}

}  // namespace sporos
