// SPDX-License-Identifier: Apache-2.0
/// @file launch.hpp
/// Starting kernels on the stream of a Kokkos instance, and the memory they work in.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "../../core/array.hpp"
#include "../../core/error.hpp"
#include "../../core/resources.hpp"
#include "ceil_div.hpp"

namespace sporos::gpu {

using Memory = Kokkos::CudaSpace;

/// Throws StateError with CUDA's own message if a call, or the launch before it, failed.
inline void expect_success(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw StateError(text("CUDA: ", what, ": ", cudaGetErrorString(status),
                          ". Run the program under compute-sanitizer to find the place"));
}

/// A grid of `x` blocks, or of x by y, whose size is checked.
/// @throws RangeError if a grid cannot have that many blocks
struct Grid {
  Grid(std::int64_t x, std::int64_t y = 1)
      : size(static_cast<unsigned>(narrow<std::int32_t>(x, "the number of thread blocks of a kernel")),
             static_cast<unsigned>(narrow<std::uint16_t>(y, "the number of thread blocks of a kernel"))) {}
  dim3 size;
};

/// Lets `kernel` be launched with this much shared memory; without this call, at most 48 KiB.
template <class... Parameters>
void allow_shared_memory(const char* name, void (*kernel)(Parameters...), std::int64_t shared_bytes) {
  if (shared_bytes > 48 * 1024)
    expect_success(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(shared_bytes)),
                   name);
}

/// Starts `kernel` with a grid of blocks of `threads` threads on the stream of `space`; does nothing if the
/// grid is empty.
template <class... Parameters, class... Arguments>
void launch(const Kokkos::Cuda& space, const char* name, void (*kernel)(Parameters...), const Grid& grid,
            int threads, std::int64_t shared_bytes, const Arguments&... arguments) {
  if (grid.size.x == 0 || grid.size.y == 0) return;
  allow_shared_memory(name, kernel, shared_bytes);
  kernel<<<grid.size, static_cast<unsigned>(threads), static_cast<std::size_t>(shared_bytes),
           space.cuda_stream()>>>(arguments...);
  expect_success(cudaGetLastError(), name);
}

/// Makes a multiprocessor that runs `kernel` use `kilobytes` of its memory, rounded up to a size it supports,
/// as shared memory and the rest as L1 cache.
template <class... Parameters>
void divide_memory(void (*kernel)(Parameters...), int kilobytes) {
  int device = 0;
  int most = 0;
  expect_success(cudaGetDevice(&device), "the device");
  expect_success(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device),
                 "the memory of a multiprocessor");
  const int percent = static_cast<int>(ceil_div(std::int64_t{kilobytes} * 1024 * 100, most));
  expect_success(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                      percent < 100 ? percent : 100),
                 "the shared memory of a kernel");
}

/// Zeroes the bytes of `count` elements, in the order of the stream.
template <class T>
void zero(const Kokkos::Cuda& space, T* at, std::int64_t count) {
  if (count > 0)
    expect_success(cudaMemsetAsync(at, 0, static_cast<std::size_t>(count) * sizeof(T), space.cuda_stream()),
                   "zero");
}

/// The value at `at` in device memory, once the stream has got this far.
template <class T>
T read_back(const Kokkos::Cuda& space, const T* at) {
  T value;
  expect_success(cudaMemcpyAsync(&value, at, sizeof(T), cudaMemcpyDeviceToHost, space.cuda_stream()),
                 "read back");
  expect_success(cudaStreamSynchronize(space.cuda_stream()), "read back");
  return value;
}

/// Reads `to.size()` elements, once the stream has got this far.
template <class T>
void read_back(const Kokkos::Cuda& space, const T* at, std::vector<T>& to) {
  expect_success(
      cudaMemcpyAsync(to.data(), at, to.size() * sizeof(T), cudaMemcpyDeviceToHost, space.cuda_stream()),
      "read back");
  expect_success(cudaStreamSynchronize(space.cuda_stream()), "read back");
}

/// How many elements or bytes to allocate where `count` are needed: memory that is kept for the next
/// statement has room to grow. Memory bounds count with it.
constexpr std::int64_t with_room_to_grow(std::int64_t count) { return count + count / 8; }

/// Reallocates an array that has fewer than `count` elements, losing its contents. Allocating and freeing
/// device memory takes longer than sorting a million entries, so arrays are kept.
template <class T>
T* at_least(std::int64_t count, Array<T, Memory>& array, const char* label) {
  if (static_cast<std::int64_t>(array.extent(0)) < count) {
    array = {};
    array = make_array<T, Memory>(label, with_room_to_grow(count));
  }
  return array.data();
}

/// Device memory that kernels work in, kept from one statement to the next and grown as needed. Kernels
/// borrow it from the scratch memory of their stream (core/resources.hpp), so they use it one after another.
class Workspace {
 public:
  /// Returns room for `bytes` bytes, aligned to 256. New memory is zero; when the workspace grows, its
  /// contents are lost.
  char* reserve(std::int64_t bytes) {
    if (bytes > size()) {
      memory_ = {};
      memory_ = zeroed_array<char, Memory>("sporos::gpu::Workspace", with_room_to_grow(bytes));
    }
    return memory_.data();
  }
  std::int64_t size() const { return static_cast<std::int64_t>(memory_.extent(0)); }
  void release() { memory_ = {}; }
  /// A handle that keeps the memory alive: a CUDA graph captured from a run still uses this memory after the
  /// workspace has grown.
  const Array<char, Memory>& memory() const { return memory_; }

 private:
  Array<char, Memory> memory_;
};

/// The working memory of a plan, shared with the stream's other statements. It is made large enough with the
/// plan and kept as long as the plan exists, so a run allocates nothing and can be captured in a CUDA graph.
/// A statement that is run once uses it without making it large enough first.
class RoomOfPlan {
 public:
  /// Calls work(memory) with `bytes` bytes of memory, or with null if there are none.
  template <class Work>
  void with(Scratch& scratch, std::int64_t bytes, const Work& work) {
    if (bytes == 0) return work(nullptr);
    auto workspace = scratch.borrow<Workspace>();
    char* const memory = workspace->reserve(bytes);
    const auto is_it = [&](const auto& kept) { return kept.data() == memory; };
    if (std::none_of(kept_.begin(), kept_.end(), is_it)) kept_.push_back(workspace->memory());
    work(memory);
  }
  /// Makes the stream's workspace hold `bytes` bytes.
  void prepare(Scratch& scratch, std::int64_t bytes) {
    with(scratch, bytes, [](char*) {});
  }

 private:
  std::vector<Array<char, Memory>> kept_;  ///< every block of memory that a run has used
};

/// Cuts a block of memory into arrays, each aligned to 256 bytes; without memory it only counts the bytes.
class Layout {
 public:
  explicit Layout(char* memory = nullptr) : memory_(memory) {}

  template <class T>
  T* take(std::int64_t count) {
    char* const at = memory_ ? memory_ + bytes_ : nullptr;
    bytes_ += ceil_div(count * static_cast<std::int64_t>(sizeof(T)), 256) * 256;
    return reinterpret_cast<T*>(at);
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  char* memory_;
  std::int64_t bytes_ = 0;
};

}  // namespace sporos::gpu
