// SPDX-License-Identifier: Apache-2.0
/// @file pool.hpp
/// The process' pool of host memory: large arrays on large pages, whose memory is kept for later arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <unistd.h>
#endif

#include "array.hpp"
#include "large_pages.hpp"
#include "may_free.hpp"
#include "memory_use.hpp"
#include "pool_blocks.hpp"
#include "small_arrays.hpp"

namespace sporos {

/// Hands out host arrays, and keeps their memory when the last reference to an array is gone.
///
/// Touching a page for the first time costs more per element than most kernels do, and a large page (2 MiB)
/// costs a small fraction of the 512 small pages that it replaces. So blocks are placed on large pages where
/// the system provides them, and the pool keeps up to `limit()` bytes of them for later arrays of the same
/// type.
///
/// An array from the pool is an ordinary Kokkos View: a part of a block, whose reference count it shares. The
/// pool holds one reference itself and reuses the block when this is the only one.
///
/// Every function may be called from any thread, but not inside a parallel region, as for all Kokkos Views.
class Pool {
 public:
  /// Smaller arrays come from the ordinary allocator: page faults are not their main cost. A few of them, at
  /// most 2 MiB for each type of element, are kept as well, but not counted (small_arrays.hpp).
  static constexpr std::int64_t smallest_block = std::int64_t{64} << 10;

  Pool() : limit_(machine_bytes() / 4) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// An array of `count` elements, not initialised; the caller will write all of them.
  /// @throws MemoryError if the memory cannot be allocated
  template <class T>
  HostArray<T> array(std::string_view label, std::int64_t count) {
    if (count < smallest_block / bytes_of<T>(1)) return small_array<T>(label, count);
    return keep(reserve<T>(label, count, count), count);
  }

  /// Room for up to `capacity` elements. The caller writes some of them, from the front (a quarter is
  /// assumed), and then calls `keep`. Unwritten elements take address space but no memory.
  /// @param least  the number of elements that the caller is known to write in any case
  /// @throws MemoryError if not even the address space can be reserved
  template <class T>
  HostArray<T> reserve(std::string_view label, std::int64_t capacity, std::int64_t least = 0) {
    return reserve_for<T>(label, capacity, std::max(least, capacity / 4), least);
  }
  /// Room for up to `capacity` elements, for callers that can guess better how much they will write.
  /// @param expected  the number of elements that are likely to be written
  template <class T>
  HostArray<T> reserve_for(std::string_view label, std::int64_t capacity, std::int64_t expected,
                           std::int64_t least = 0) {
    expect_kokkos();
    if (capacity < smallest_block / bytes_of<T>(1)) return small_array<T>(label, capacity);
    std::unique_lock lock(mutex_);
    if (const Block* const found = take_idle(bytes_of<T>(capacity), typeid(T))) {
      const auto& block = static_cast<const BlockOf<T>&>(*found);
      return part(block.whole, block.first, block.first + capacity);
    }
    const bool large = bytes_of<T>(expected) >= large_page_threshold;
    HostArray<T> whole =
        allocate<T>(label, capacity + (large ? large_block_slack / bytes_of<T>(1) : 0), lock);
    const std::int64_t begin = place(whole.data(), large) / bytes_of<T>(1);
    HostArray<T> lent = part(whole, begin, begin + capacity);
    if (!large && least > 0)
      populate(lent.data(), static_cast<std::size_t>(bytes_of<T>(std::min(least, capacity))));
    const std::int64_t backed = large ? bytes_of<T>(capacity) : bytes_of<T>(std::min(least, capacity));
    add(std::make_unique<BlockOf<T>>(std::move(whole), lent, backed));
    return lent;
  }

  /// The bytes at the front of `reserved` whose pages need not be populated before they are written: they
  /// have been written before, or are on large pages, or come from the ordinary allocator.
  template <class T>
  std::int64_t backed_bytes(const HostArray<T>& reserved) const {
    const std::lock_guard lock(mutex_);
    const auto found = find(reserved.data());
    const auto all = bytes_of<T>(static_cast<std::int64_t>(reserved.extent(0)));
    return found == blocks_.end() ? all : std::min(all, std::max((*found)->backed, (*found)->touched));
  }

  /// Notes that the first `bytes` of `reserved` have been populated, so that later users of its memory need
  /// not do it again.
  template <class T>
  void note_populated(const HostArray<T>& reserved, std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = find(reserved.data());
    if (found != blocks_.end()) (*found)->backed = std::max((*found)->backed, bytes);
  }

  /// The first `count` elements of `reserved`, which have been written. The rest stays unused.
  template <class T>
  HostArray<T> keep(const HostArray<T>& reserved, std::int64_t count) {
    ensure(count <= static_cast<std::int64_t>(reserved.extent(0)), "no more is kept than was reserved");
    record_kept(reserved.data(), bytes_of<T>(count));
    return part(reserved, 0, count);
  }

  /// Bytes of memory that the pool holds and that no array uses.
  std::int64_t bytes_held() const {
    const std::lock_guard lock(mutex_);
    std::int64_t sum = 0;
    for (const auto& block : blocks_)
      if (block->idle()) sum += block->touched;
    return sum;
  }

  /// Bytes used by arrays whose memory will return to the pool.
  std::int64_t bytes_lent() const {
    const std::lock_guard lock(mutex_);
    std::int64_t sum = 0;
    for (const auto& block : blocks_)
      if (!block->idle()) sum += block->touched;
    return sum;
  }

  /// Bytes of the arrays in use now; of each array, the part that its owner has kept counts.
  std::int64_t bytes_in_use() const {
    const std::lock_guard lock(mutex_);
    return in_use();
  }

  /// Calls `listener` with the bytes of all arrays in use whenever these grow; null turns this off.
  void watch(detail::MemoryListener listener) {
    const std::lock_guard lock(mutex_);
    listener_ = listener;
  }

  /// The bound on `bytes_held() + bytes_lent()`; arrays beyond it are freed with their owners. By default, a
  /// quarter of the machine's memory.
  std::int64_t limit() const {
    const std::lock_guard lock(mutex_);
    return limit_;
  }
  /// Sets the limit in bytes; with 0 the pool keeps nothing.
  void limit(std::int64_t bytes) {
    detail::SmallArrays forgotten;
    Blocks freed;
    const std::lock_guard lock(mutex_);
    limit_ = std::max<std::int64_t>(bytes, 0);
    std::swap(forgotten, small_);
    freed = take_out(limit_, true);
  }

  /// Bytes of physical memory of the machine.
  static std::int64_t machine_bytes() {
    static const std::int64_t bytes = [] {  // asking the system takes as long as a small statement
#if defined(__linux__)
      const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
      if (pages > 0 && page > 0) return static_cast<std::int64_t>(pages) * page;
#endif
      return std::int64_t{8} << 30;
    }();
    return bytes;
  }

  /// Returns all memory that no array uses to the system.
  void release() {
    detail::SmallArrays forgotten;
    Blocks freed;
    const std::lock_guard lock(mutex_);
    std::swap(forgotten, small_);
    freed = take_out(0, false);
  }

 private:
  /// From this size on, a large page costs less than the small pages it replaces, even if most of it stays
  /// unused.
  static constexpr std::int64_t large_page_threshold = std::int64_t{512} << 10;
  /// Extra bytes of a block on large pages: a large page begins at a multiple of its size, a block need not.
  static constexpr std::int64_t large_block_slack = 2 * detail::large_page;

  struct Block {
    Block(const void* data, std::int64_t bytes, std::int64_t populated, const std::type_info& element)
        : begin(data), capacity(bytes), backed(populated), type(&element) {}
    virtual ~Block() = default;
    virtual bool idle() const = 0;

    const void* begin;
    std::int64_t capacity;          ///< bytes of address space
    std::int64_t backed;            ///< bytes that have been populated, or are on large pages
    std::int64_t touched = 0;       ///< bytes that have ever been written
    std::int64_t in_use = 0;        ///< bytes of the array that uses the block; 0 until they are known
    std::int64_t most_besides = 0;  ///< most bytes that other blocks had in use while in_use was not known
    const std::type_info* type;
    std::uint64_t last_use = 0;
  };

  /// Blocks that the pool takes out of its list are freed only after it has released its lock: freeing makes
  /// Kokkos wait for all loops, one of which may be waiting for the lock.
  using Blocks = std::vector<std::unique_ptr<Block>>;

  template <class T>
  struct BlockOf : Block {
    BlockOf(HostArray<T> all, const HostArray<T>& usable, std::int64_t populated)
        : Block(usable.data(), bytes_of<T>(static_cast<std::int64_t>(usable.extent(0))), populated,
                typeid(T)),
          whole(std::move(all)),
          first(usable.data() - whole.data()) {}

    bool idle() const override { return detail::is_idle(whole); }

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

  /// Allocates a new array; if memory runs out, idle blocks are freed first.
  /// @param lock  the pool's lock, which is released while they are freed
  template <class T>
  HostArray<T> allocate(std::string_view label, std::int64_t count, std::unique_lock<std::mutex>& lock) {
    const std::string full = detail::pool_block_label + std::string(label);
    try {
      return make_array<T>(full, count);
    } catch (const MemoryError&) {
      Blocks freed = take_out(0, false);
      if (freed.empty()) throw;
      lock.unlock();
      freed.clear();
      lock.lock();
      return make_array<T>(full, count);
    }
  }

  /// An array of fewer bytes than the smallest block. While a listener counts what is allocated and freed,
  /// every such array is allocated anew.
  template <class T>
  HostArray<T> small_array(std::string_view label, std::int64_t count) {
    if (detail::keeps_small_arrays && count >= 0 && detail::may_free_views()) {
      expect_kokkos();
      HostArray<T> forgotten;  // freed after the lock is released
      Blocks freed;
      const std::lock_guard lock(mutex_);
      if (!listener_ && limit_ > 0) {
        forget_at_finalize();
        try {
          return small_.array<T>(small_label, count, forgotten);
        } catch (const MemoryError&) {
          freed = take_out(0, false);
        }
      }
    }
    return make_array<T>(std::string(label), count);
  }
  static constexpr const char* small_label = "sporos::pool, small array";

  /// Lends the idle block that fits best: large enough, but without so much written memory that it should be
  /// left for a larger array. Null if there is none.
  Block* take_idle(std::int64_t bytes, const std::type_info& element) {
    Block* best = nullptr;
    for (const auto& block : blocks_)
      if (*block->type == element && block->capacity >= bytes &&
          block->touched <= 2 * bytes + 2 * detail::large_page &&
          (!best || block->capacity < best->capacity) && block->idle())
        best = block.get();
    if (best) begin_use(*best);
    return best;
  }

  /// How many bytes past the start of new memory a block begins.
  std::int64_t place(void* memory, bool large) {
    forget_at_finalize();
    if (!large) return 0;
    const auto offset = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(memory) %
                                                  static_cast<std::uintptr_t>(detail::large_page));
    // If all blocks began at a multiple of 2 MiB, they would compete for the same sets of every cache. The
    // step is an odd number of cache lines, so that each of the beginnings in the range has its turn.
    constexpr std::int64_t line = 64, step = 17 * line, range = 256 * line;
    return offset + std::exchange(stagger_, (stagger_ + step) % range);
  }

  void add(std::unique_ptr<Block> block) {
    blocks_.push_back(std::move(block));
    begin_use(*blocks_.back());
  }

  /// The block that begins at `begin`, or the end.
  Blocks::const_iterator find(const void* begin) const {
    return std::find_if(blocks_.begin(), blocks_.end(),
                        [&](const auto& block) { return block->begin == begin; });
  }

  /// Notes how much of the block that begins at `begin` its owner has written.
  void record_kept(const void* begin, std::int64_t bytes) {
    Blocks freed;
    const std::lock_guard lock(mutex_);
    const auto found = find(begin);
    if (found == blocks_.end()) return;
    Block& block = **found;
    block.touched = std::max(block.touched, bytes);
    block.in_use = bytes;
    report(block.most_besides + bytes);
    if (touched() <= limit_) return;
    std::swap(blocks_[static_cast<std::size_t>(found - blocks_.begin())], blocks_.back());  // given up first
    freed = take_out(limit_, true);
  }

  /// Marks a block as lent; how much of it will be written is known only at keep().
  void begin_use(Block& block) {
    block.last_use = ++clock_;
    block.in_use = 0;
    block.most_besides = in_use();
  }
  std::int64_t in_use() const {
    std::int64_t sum = 0;
    for (const auto& block : blocks_)
      if (block->in_use > 0 && !block->idle()) sum += block->in_use;
    return sum;
  }
  /// Reports `bytes` to the listener, or the bytes in use now if they are more.
  void report(std::int64_t bytes) {
    if (!listener_) return;
    const std::int64_t now = in_use();
    for (const auto& block : blocks_) block->most_besides = std::max(block->most_besides, now);
    listener_(std::max(bytes, now));
  }

  std::int64_t touched() const {
    std::int64_t sum = 0;
    for (const auto& block : blocks_) sum += block->touched;
    return sum;
  }

  /// Takes blocks out of the list until the remaining ones take at most `bytes`: idle ones, the least
  /// recently used first; if `bytes` is 0, all idle ones. The caller frees them after releasing the lock.
  /// Inside a loop, where nothing may be freed, none are taken.
  /// @param gives_up  whether blocks in use are taken out as well, starting from the end of the list: they
  /// are freed with their owners
  Blocks take_out(std::int64_t bytes, bool gives_up) {
    if (!detail::may_free_views()) return {};
    Blocks out = detail::take_out_idle(blocks_, [&] { return bytes > 0 && touched() <= bytes; });
    while (gives_up && !blocks_.empty() && touched() > bytes) {
      out.push_back(std::move(blocks_.back()));
      blocks_.pop_back();
    }
    return out;
  }

  /// Kokkos cannot free a View after it is finalised, so the pool releases its own Views first.
  void forget_at_finalize() {
    if (hooked_) return;
    hooked_ = true;
    Kokkos::push_finalize_hook([pool = std::weak_ptr<Pool*>(self_)] {
      if (const auto alive = pool.lock()) {
        const std::lock_guard lock((*alive)->mutex_);
        (*alive)->small_ = {};
        (*alive)->blocks_.clear();
      }
    });
  }

  mutable std::mutex mutex_;
  Blocks blocks_;
  detail::SmallArrays small_;
  std::int64_t limit_;
  std::int64_t stagger_ = 0;
  std::uint64_t clock_ = 0;
  bool hooked_ = false;
  detail::MemoryListener listener_ = nullptr;
  const std::shared_ptr<Pool*> self_ = std::make_shared<Pool*>(this);
};

/// The pool from which results and workspaces are allocated.
inline Pool& pool() {
  // Never destroyed: arrays of static lifetime may outlive any other static object.
  static Pool& instance = *new Pool;
  return instance;
}

}  // namespace sporos
