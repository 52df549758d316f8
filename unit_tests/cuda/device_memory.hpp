// SPDX-License-Identifier: Apache-2.0
/// @file device_memory.hpp
/// Whether the GPU has the memory that a test needs.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace sporos::test {

/// Whether more than so many GiB of the GPU's memory are free.
inline bool has_memory(std::int64_t gigabytes) {
  std::size_t free = 0;
  std::size_t total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess && free > static_cast<std::size_t>(gigabytes) << 30;
}

}  // namespace sporos::test
