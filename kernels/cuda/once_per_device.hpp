// SPDX-License-Identifier: Apache-2.0
/// @file once_per_device.hpp
/// Values that are determined, or set, once for each GPU that a process uses: the code that was compiled for
/// it, how many blocks of a kernel fit on it, how a kernel divides its memory.
#pragma once

#include <cuda_runtime.h>

#include <Kokkos_Core.hpp>
#include <atomic>
#include <type_traits>

#include "launch.hpp"

namespace sporos::gpu {

namespace detail {

/// Makes a GPU the one that calls of CUDA by this thread mean, until the end of the scope.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    expect_success(cudaGetDevice(&before_), "the GPU of a thread");
    if (device == before_) return;
    expect_success(cudaSetDevice(device), "the GPU of a thread");
    is_other_ = true;
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice() {
    if (is_other_) static_cast<void>(cudaSetDevice(before_));
  }

 private:
  int before_ = 0;
  bool is_other_ = false;
};

}  // namespace detail

/// What find() returns for the GPU of `space`: called once for each GPU, with that one current, and
/// remembered. Every expression that calls this has values of its own, since every lambda has a type of its
/// own; find() must return the same on every call for the same GPU.
///
/// Any number of threads may call it at once. They take no lock; those that come first may all call find().
template <class Find>
const auto& once_per_device(const Kokkos::Cuda& space, const Find& find) {
  using Value = std::invoke_result_t<const Find&>;
  struct Known {
    int device;
    Value value;
    const Known* next;
  };
  static std::atomic<const Known*> first{nullptr};  // never freed: read until the process ends
  const int device = space.cuda_device();
  for (const Known* at = first.load(std::memory_order_acquire); at != nullptr; at = at->next)
    if (at->device == device) return at->value;
  const detail::CurrentDevice current(device);
  auto* const found = new Known{device, find(), first.load(std::memory_order_relaxed)};
  while (!first.compare_exchange_weak(found->next, found, std::memory_order_release,
                                      std::memory_order_relaxed)) {
  }
  return found->value;
}

/// Calls set() once for each GPU, as once_per_device() does.
template <class Set>
void set_once_per_device(const Kokkos::Cuda& space, const Set& set) {
  once_per_device(space, [&] {
    set();
    return true;
  });
}

}  // namespace sporos::gpu
