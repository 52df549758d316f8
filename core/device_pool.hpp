// SPDX-License-Identifier: Apache-2.0
/// @file device_pool.hpp
/// The pool of a device's memory: what arrays give back is kept for later arrays.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "may_free.hpp"
#include "memory_use.hpp"
#include "pool_blocks.hpp"
#include "space.hpp"

namespace sporos {

/// Hands out arrays in the memory of a device, and keeps their memory when the last reference to an array is
/// gone: allocating and freeing a megabyte on a GPU takes as long as a small product there.
///
/// An array from the pool is an ordinary Kokkos View: the front of a block, whose reference count it shares.
/// The pool holds one reference itself and reuses the block when this is the only one, for an array of the
/// same type of element that takes at least half of it. Before it does, it waits for all work on the device,
/// since kernels that still read the block may have been submitted to any stream: no array may be made while
/// a CUDA graph is captured. Profiling tools see a block by the label of its first array.
///
/// While a PeakMemory counts, all arrays are allocated anew. Every function may be called from any thread;
/// inside a parallel loop nothing is reused or freed.
template <class MemorySpace>
class DevicePool {
  template <class T>
  using ArrayOf = Kokkos::View<T*, MemorySpace>;

 public:
  DevicePool() : limit_(default_limit()) {}
  DevicePool(const DevicePool&) = delete;
  DevicePool& operator=(const DevicePool&) = delete;

  /// An array of `count` elements, not initialised.
  /// @throws whatever Kokkos throws where there is no memory, even without what the pool holds
  template <class T>
  ArrayOf<T> array(const std::string& label, std::int64_t count) {
    const bool is_counted = detail::memory_listener().load(std::memory_order_relaxed) != nullptr;
    if (!is_counted && detail::may_free_views())
      if (const ArrayOf<T> found = take_idle<T>(count); found.use_count() > 0) {
        wait_for_device();
        return found;
      }
    const ArrayOf<T> made =
        allocate_or_release<T>(is_counted ? label : detail::pool_block_label + label, count);
    if (!is_counted) add<T>(made);
    return made;
  }

  /// How many Views refer to an array besides the pool; 0 if it is not reference-counted.
  template <class T>
  std::int64_t owners(const ArrayOf<T>& array) const {
    if (array.use_count() == 0) return 0;
    const std::lock_guard lock(mutex_);
    const auto block = std::find_if(blocks_.begin(), blocks_.end(),
                                    [&](const auto& one) { return one->begin == array.data(); });
    return static_cast<std::int64_t>(array.use_count()) - (block == blocks_.end() ? 0 : 1);
  }

  /// Bytes of memory that the pool holds and that no array uses.
  std::int64_t bytes_held() const {
    const std::lock_guard lock(mutex_);
    std::int64_t sum = 0;
    for (const auto& block : blocks_)
      if (block->idle()) sum += block->bytes;
    return sum;
  }

  /// The bound on the bytes of all arrays that the pool remembers, in use or not. Where a new one exceeds it,
  /// the oldest are forgotten: those in use are freed with their owners. By default, an eighth of the
  /// device's memory.
  std::int64_t limit() const {
    const std::lock_guard lock(mutex_);
    return limit_;
  }
  /// Sets the limit in bytes; with 0 the pool keeps nothing.
  void limit(std::int64_t bytes) {
    Blocks freed;
    const std::lock_guard lock(mutex_);
    limit_ = std::max<std::int64_t>(bytes, 0);
    freed = make_room(limit_, limit_ == 0 ? 0 : most_blocks);
  }

  /// Frees all memory that no array uses, and returns its bytes.
  std::int64_t release() {
    Blocks freed;
    const std::lock_guard lock(mutex_);
    freed = take_out_idle([] { return false; });
    std::int64_t sum = 0;
    for (const auto& block : freed) sum += block->bytes;
    return sum;
  }

 private:
  /// How many arrays are remembered: with many more, looking for one would take longer than allocating it.
  static constexpr std::size_t most_blocks = 256;

  struct Block {
    Block(const void* data, std::int64_t size, const std::type_info& type)
        : begin(data), bytes(size), element(&type) {}
    virtual ~Block() = default;
    virtual bool idle() const = 0;

    const void* begin;
    std::int64_t bytes;
    const std::type_info* element;
    std::uint64_t last_use = 0;
  };
  template <class T>
  struct BlockOf : Block {
    explicit BlockOf(const ArrayOf<T>& array)
        : Block(array.data(), bytes_of(array), typeid(T)), whole(array) {}
    bool idle() const override { return detail::is_idle(whole); }
    ArrayOf<T> whole;
  };
  /// Blocks that are taken out of the list are freed only after the lock is released: freeing makes Kokkos
  /// wait for all loops, one of which may be waiting for the lock.
  using Blocks = std::vector<std::unique_ptr<Block>>;

  static std::int64_t default_limit() {
#ifdef KOKKOS_ENABLE_CUDA
    if constexpr (std::is_same_v<MemorySpace, Kokkos::CudaSpace>) {
      expect_kokkos();
      return static_cast<std::int64_t>(Kokkos::Cuda().cuda_device_prop().totalGlobalMem / 8);
    }
#endif
    return std::int64_t{1} << 30;
  }
  template <class T>
  static std::int64_t bytes_of(const ArrayOf<T>& array) {
    return static_cast<std::int64_t>(array.extent(0) * sizeof(T));
  }
  template <class T>
  static ArrayOf<T> allocate(const std::string& label, std::int64_t count) {
    return ArrayOf<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                      static_cast<std::size_t>(count));
  }

  /// Allocates a new array; if memory runs out, idle blocks are freed first.
  template <class T>
  ArrayOf<T> allocate_or_release(const std::string& label, std::int64_t count) {
    try {
      return allocate<T>(label, count);
    } catch (const std::exception&) {
      if (release() == 0) throw;
      return allocate<T>(label, count);
    }
  }

  /// Waits for all work that has been submitted to the device.
  static void wait_for_device() {
#ifdef KOKKOS_ENABLE_CUDA
    if constexpr (std::is_same_v<MemorySpace, Kokkos::CudaSpace>) {
      // Kokkos::fence() would wait for loops of the host as well, and may make another device current.
      const int own = Kokkos::Cuda().cuda_device();
      int before = own;
      cudaError_t status = cudaGetDevice(&before);
      if (status == cudaSuccess && before != own) status = cudaSetDevice(own);
      if (status == cudaSuccess) status = cudaDeviceSynchronize();
      if (before != own) static_cast<void>(cudaSetDevice(before));
      if (status != cudaSuccess) throw StateError(text("CUDA: ", cudaGetErrorString(status)));
      return;
    }
#endif
    Kokkos::fence("sporos::DevicePool: memory is used again");
  }

  /// The front of the smallest idle block that fits; an array without memory if there is none.
  template <class T>
  ArrayOf<T> take_idle(std::int64_t count) {
    const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(T));
    const std::lock_guard lock(mutex_);
    Block* best = nullptr;
    for (const auto& block : blocks_)
      if (*block->element == typeid(T) && block->bytes >= bytes && block->bytes <= 2 * bytes &&
          (!best || block->bytes < best->bytes) && block->idle())
        best = block.get();
    if (!best) return {};
    best->last_use = ++clock_;
    return Kokkos::subview(static_cast<const BlockOf<T>&>(*best).whole, std::pair(std::int64_t{0}, count));
  }

  /// Remembers a new array, if it is not larger than the limit.
  template <class T>
  void add(const ArrayOf<T>& made) {
    const std::int64_t bytes = bytes_of(made);
    Blocks freed;
    const std::lock_guard lock(mutex_);
    if (limit_ == 0 || bytes > limit_ || !detail::may_free_views()) return;
    freed = make_room(limit_ - bytes, most_blocks - 1);
    forget_at_finalize();
    blocks_.push_back(std::make_unique<BlockOf<T>>(made));
    blocks_.back()->last_use = ++clock_;
  }

  std::int64_t all_bytes() const {
    std::int64_t sum = 0;
    for (const auto& block : blocks_) sum += block->bytes;
    return sum;
  }

  /// Forgets blocks until the rest has at most that many bytes and blocks: idle ones, the least recently used
  /// first, then the oldest of those in use. Inside a loop, where nothing may be freed, none.
  Blocks make_room(std::int64_t bytes, std::size_t count) {
    const auto fits = [&] { return all_bytes() <= bytes && blocks_.size() <= count; };
    Blocks out = take_out_idle(fits);
    while (!fits() && detail::may_free_views()) {
      out.push_back(std::move(blocks_.front()));
      blocks_.erase(blocks_.begin());
    }
    return out;
  }

  /// Takes idle blocks out of the list until `enough()`; inside a loop, where nothing may be freed, none.
  template <class Enough>
  Blocks take_out_idle(const Enough& enough) {
    return detail::may_free_views() ? detail::take_out_idle(blocks_, enough) : Blocks();
  }

  /// Kokkos cannot free a View after it is finalised, so the pool releases its own Views first.
  void forget_at_finalize() {
    if (std::exchange(hooked_, true)) return;
    Kokkos::push_finalize_hook([alive = std::weak_ptr<DevicePool*>(self_)] {
      if (const auto pool = alive.lock()) {
        Blocks freed;
        const std::lock_guard lock((*pool)->mutex_);
        std::swap(freed, (*pool)->blocks_);
      }
    });
  }

  mutable std::mutex mutex_;
  Blocks blocks_;
  std::int64_t limit_;
  std::uint64_t clock_ = 0;
  bool hooked_ = false;
  const std::shared_ptr<DevicePool*> self_ = std::make_shared<DevicePool*>(this);
};

namespace detail {

/// The pool of a memory space, for all of the process.
template <class MemorySpace>
DevicePool<MemorySpace>& pool_of_memory() {
  // Never destroyed: arrays of static lifetime may outlive any other static object.
  static auto& instance = *new DevicePool<MemorySpace>;
  return instance;
}

}  // namespace detail

/// The pool from which arrays in the memory of a device are allocated: `pool<Cuda>().release()`.
template <ExecutionSpace Space>
  requires(!HostSpace<Space>)
DevicePool<typename Space::memory_space>& pool() {
  return detail::pool_of_memory<typename Space::memory_space>();
}

}  // namespace sporos
