// SPDX-License-Identifier: Apache-2.0
/// @file chunks.hpp
/// Work on the host, cut into chunks that the threads of an execution space take, and scratch memory for it.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/function_ref.hpp"
#include "../core/large_pages.hpp"
#include "../core/may_free.hpp"
#include "../core/memory_use.hpp"
#include "../core/space.hpp"
#include "../core/uint128.hpp"

namespace sporos::detail {

/// Keeps the first exception that any of several threads throws.
class FirstFailure {
 public:
  /// Keeps the exception that is being handled, unless there already is one. To be called in a catch block.
  void keep() noexcept {
    const std::lock_guard lock(guard_);
    if (!failure_) failure_ = std::current_exception();
    failed_.store(true, std::memory_order_relaxed);
  }
  bool exists() const noexcept { return failed_.load(std::memory_order_relaxed); }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex guard_;
  std::exception_ptr failure_;
  std::atomic<bool> failed_{false};
};

/// A call of `body(number)` that lets no exception out, since none may leave a parallel region.
struct NumberedCall {
  FunctionRef<void(std::int64_t)> body;
  FirstFailure* failure;

  void operator()(std::int64_t number) const noexcept {
    if (failure->exists()) return;
    const ServesALoop serves;
    try {
      body(number);
    } catch (...) {
      failure->keep();
    }
  }
};

/// The threads of an instance of a host space, type-erased: functions that take HostThreads are compiled once
/// rather than for each space. Refers to the instance, which must outlive it.
class HostThreads {
 public:
  template <HostSpace Space>
  HostThreads(const Space& space)  // NOLINT: implicit, so that callers pass the space
      : space_(&space), concurrency_(space.concurrency()), call_(&call_on<Space>) {}

  std::int64_t concurrency() const { return concurrency_; }

  /// Calls call(0) to call(count - 1), handed out in this order as threads become free, and waits for them.
  /// If there are enough threads, each call has its own, the same each time: what it has read is still in the
  /// caches of its core when the same work is repeated.
  void operator()(std::int64_t count, const NumberedCall& call) const { call_(space_, count, call); }

 private:
  template <HostSpace Space>
  static void call_on(const void* erased, std::int64_t count, const NumberedCall& call) {
    const Space& space = *static_cast<const Space*>(erased);
    const auto run = [&]<class Schedule>() {
      using Policy = Kokkos::RangePolicy<Space, Kokkos::Schedule<Schedule>, Kokkos::IndexType<std::int64_t>>;
      Kokkos::parallel_for("sporos::chunks", Policy(space, 0, count, Kokkos::ChunkSize(1)), call);
    };
    if (count <= space.concurrency())
      run.template operator()<Kokkos::Static>();
    else
      run.template operator()<Kokkos::Dynamic>();
    space.fence("sporos::chunks");
  }

  const void* space_;
  std::int64_t concurrency_;
  void (*call_)(const void* space, std::int64_t count, const NumberedCall& call);
};

/// Calls body(chunk) for each chunk in [0, chunks), in parallel, handed out in order as threads become free.
/// After a call has thrown, no more chunks are begun, and the first exception is rethrown here.
inline void for_each_chunk(const HostThreads& threads, std::int64_t chunks,
                           const FunctionRef<void(std::int64_t)>& body) {
  if (chunks <= 1) {
    if (chunks == 1) body(std::int64_t{0});
    return;
  }
  FirstFailure failure;
  threads(chunks, NumberedCall{body, &failure});
  failure.rethrow();
}

/// Hands out the chunks 0 to count - 1 in order, each once, to the workers that ask for them.
class ChunkQueue {
 public:
  explicit ChunkQueue(std::int64_t count) : count_(count) {}

  /// @return false if there is no chunk left, or if work has stopped
  bool take(std::int64_t& chunk) {
    if (stopped()) return false;
    chunk = next_.fetch_add(1, std::memory_order_relaxed);
    return chunk < count_;
  }
  /// Hands out no more chunks: for a worker that has failed.
  void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }
  bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }

 private:
  const std::int64_t count_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> stopped_{false};
};

/// Calls body(worker) once for each worker in [0, workers), in parallel: for work that needs memory of its
/// own in each thread and takes chunks from a ChunkQueue as long as there are any. A thread may act as
/// several workers, one after another. If a call throws, the first exception is rethrown here once all calls
/// have ended.
inline void for_each_worker(const HostThreads& threads, std::int64_t workers,
                            const FunctionRef<void(std::int64_t)>& body) {
  for_each_chunk(threads, workers, body);
}

/// The same for workers that take their chunks from `queue`, which is stopped when one of them throws.
inline void for_each_worker(const HostThreads& threads, std::int64_t workers, ChunkQueue& queue,
                            const FunctionRef<void(std::int64_t)>& body) {
  for_each_worker(threads, workers, [&](std::int64_t worker) {
    try {
      body(worker);
    } catch (...) {
      queue.stop();
      throw;
    }
  });
}

/// Into how many chunks to cut `count` items: a few for each thread, at least one, and none of fewer than
/// `least` items unless it is the only one.
inline std::int64_t chunks_for(const HostThreads& threads, std::int64_t count, std::int64_t each_thread = 1,
                               std::int64_t least = 16384) {
  const std::int64_t wanted = threads.concurrency() == 1 ? 1 : threads.concurrency() * each_thread;
  return std::clamp<std::int64_t>(count / least, 1, wanted);
}

/// The part of [0, count) that is chunk number `chunk` of `chunks`.
inline std::pair<std::int64_t, std::int64_t> chunk_bounds(std::int64_t count, std::int64_t chunk,
                                                          std::int64_t chunks) {
  const auto cut = [&](std::int64_t at) {
    return static_cast<std::int64_t>(static_cast<uint128>(count) * static_cast<std::uint64_t>(at) /
                                     static_cast<std::uint64_t>(chunks));
  };
  return {cut(chunk), cut(chunk + 1)};
}

/// Cuts [0, count) into `chunks` chunks and calls body(begin, end, chunk) for each, in parallel.
template <class Body>
void for_each_part(const HostThreads& threads, std::int64_t count, std::int64_t chunks, const Body& body) {
  for_each_chunk(threads, chunks, [&](std::int64_t chunk) {
    const auto [begin, end] = chunk_bounds(count, chunk, chunks);
    body(begin, end, chunk);
  });
}

/// For each of `chunks` chunks of [0, count), how many of the numbers before it satisfy a condition; behind
/// the last one, how many do in all.
template <class Condition>
std::vector<std::int64_t> counts_before_chunks(const HostThreads& threads, std::int64_t count,
                                               std::int64_t chunks, const Condition& satisfies) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(chunks) + 1);
  for_each_part(threads, count, chunks, [&](std::int64_t begin, std::int64_t end, std::int64_t chunk) {
    std::int64_t counted = 0;
    for (std::int64_t n = begin; n < end; ++n) counted += satisfies(n);
    out[static_cast<std::size_t>(chunk) + 1] = counted;
  });
  std::partial_sum(out.begin(), out.end(), out.begin());
  return out;
}

/// Uninitialised scratch memory for `count` elements, freed at the end of its scope.
template <class T>
  requires std::is_trivially_destructible_v<T>
class ScratchArray {
 public:
  ScratchArray() = default;
  explicit ScratchArray(std::int64_t count) {
    constexpr std::size_t line = 64;
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(static_cast<std::size_t>(count), sizeof(T), &bytes) ||
        bytes > static_cast<std::size_t>(INT64_MAX) - line)
      refuse(count);
    data_.reset(static_cast<T*>(std::aligned_alloc(line, (bytes + line) / line * line)));
    if (!data_) refuse(count);
    data_.get_deleter().bytes = static_cast<std::int64_t>(bytes);
    count_memory(data_.get_deleter().bytes);
    prefer_large_pages(data_.get(), bytes);
  }
  T* data() const { return data_.get(); }

 private:
  [[noreturn]] static void refuse(std::int64_t count) {
    throw MemoryError(text("scratch memory for ", count, " elements of ", sizeof(T),
                           " bytes cannot be allocated: free some memory, or work on parts"));
  }
  struct Free {
    std::int64_t bytes = 0;
    void operator()(T* data) const {
      count_memory(-bytes);
      std::free(data);
    }
  };
  std::unique_ptr<T, Free> data_;
};

}  // namespace sporos::detail
