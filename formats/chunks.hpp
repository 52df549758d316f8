// SPDX-License-Identifier: Apache-2.0
/// @file chunks.hpp
/// Work on the host cut into chunks, spread over the threads of an execution space; and scratch memory for
/// it.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/large_pages.hpp"
#include "../core/space.hpp"

namespace sporos::detail {

/// A call of `body(chunk)` with the type of `body` erased, so that Kokkos' dispatch is compiled once for a
/// space and not once for each loop.
struct ChunkCall {
  const void* body;
  void (*call)(const void* body, int chunk);
  void operator()(int chunk) const { call(body, chunk); }
};

/// Calls body(chunk) for each chunk in [0, chunks), in parallel, chunks handed out as threads get free.
/// `body` must not throw.
template <HostSpace Space, class Body>
void for_each_chunk(int chunks, const Body& body) {
  if (chunks <= 1) {
    if (chunks == 1) body(0);
    return;
  }
  using Policy = Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<int>>;
  Kokkos::parallel_for(
      "sporos chunks", Policy(0, chunks, Kokkos::ChunkSize(1)),
      ChunkCall{&body, [](const void* erased, int chunk) { (*static_cast<const Body*>(erased))(chunk); }});
  Space().fence("sporos chunks");
}

/// How many chunks `count` items are worth: a few for each thread, none of fewer than `least` items, at least
/// one.
template <HostSpace Space>
int chunks_for(std::int64_t count, int each_thread = 1, std::int64_t least = 16384) {
  const std::int64_t threads = Space().concurrency();
  const std::int64_t wanted = threads == 1 ? 1 : threads * each_thread;
  return static_cast<int>(std::clamp<std::int64_t>(count / least, 1, wanted));
}

/// The part of [0, count) that is chunk `chunk` of `chunks`.
inline std::pair<std::int64_t, std::int64_t> chunk_bounds(std::int64_t count, int chunk, int chunks) {
  const auto cut = [&](int at) {
    return static_cast<std::int64_t>(static_cast<unsigned __int128>(count) * static_cast<unsigned>(at) /
                                     static_cast<unsigned>(chunks));
  };
  return {cut(chunk), cut(chunk + 1)};
}

/// Uninitialised scratch memory for `count` elements, freed at the end of its scope.
template <class T>
  requires std::is_trivially_destructible_v<T>
class Scratch {
 public:
  Scratch() = default;
  explicit Scratch(std::int64_t count) {
    constexpr std::size_t line = 64;
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(static_cast<std::size_t>(count), sizeof(T), &bytes) ||
        bytes > static_cast<std::size_t>(INT64_MAX) - line)
      refuse(count);
    data_.reset(static_cast<T*>(std::aligned_alloc(line, (bytes + line) / line * line)));
    if (!data_) refuse(count);
    prefer_large_pages(data_.get(), bytes);
  }
  T* data() const { return data_.get(); }

 private:
  [[noreturn]] static void refuse(std::int64_t count) {
    throw MemoryError(text("scratch memory for ", count, " elements of ", sizeof(T),
                           " bytes cannot be allocated: free some memory, or work on parts"));
  }
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };
  std::unique_ptr<T, Free> data_;
};

}  // namespace sporos::detail
