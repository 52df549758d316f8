// SPDX-License-Identifier: Apache-2.0
/// @file ring.hpp
/// Rings of slots in shared memory through which operands come: the copy engine fills them and warps empty
/// them. sm_90.
#pragma once

#include <cstdint>

#include "mma.hpp"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

namespace sporos::gpu {

/// A ring of slots in shared memory that the copy engine fills and warps empty, each with a barrier for
/// either: here seen by one thread, which goes from slot to slot.
/// @tparam Bytes   from one slot to the next
/// @tparam Copied  bytes that are copied to each
template <int Slots, int Bytes, int Copied = Bytes>
struct Ring {
  std::uint32_t slots, barriers;  ///< addresses
  int at = 0;
  std::uint32_t parity = 0;

  __device__ __forceinline__ Ring(std::uint32_t first_slot, std::uint32_t first_barrier)
      : slots(first_slot), barriers(first_barrier) {}
  static constexpr int barrier_bytes = Slots * 2 * 8;

  __device__ __forceinline__ std::uint32_t slot() const {
    return slots + static_cast<std::uint32_t>(at * Bytes);
  }
  __device__ __forceinline__ std::uint32_t full() const {
    return barriers + static_cast<std::uint32_t>(at * 8);
  }
  __device__ __forceinline__ std::uint32_t empty() const { return full() + Slots * 8; }
  __device__ __forceinline__ void advance() {
    if (++at == Slots) {
      at = 0;
      parity ^= 1;
    }
  }
  /// By one thread, before all others use the ring.
  __device__ __forceinline__ void init(int arrivals) const {
    for (int slot = 0; slot < Slots; ++slot) {
      ptx::barrier_init(barriers + static_cast<std::uint32_t>(slot * 8), 1);
      ptx::barrier_init(barriers + static_cast<std::uint32_t>((Slots + slot) * 8),
                        static_cast<std::uint32_t>(arrivals));
    }
  }
  /// Waits until the slot is empty, and says that it is being filled.
  __device__ __forceinline__ void begin_filling() const {
    ptx::wait(empty(), parity ^ 1);
    ptx::arrive_expecting(full(), Copied);
  }
  __device__ __forceinline__ void wait_until_full() const { ptx::wait(full(), parity); }
  /// Whether it is full: asked while there is something else to do, since the answer takes its time.
  __device__ __forceinline__ bool is_full() const { return ptx::is_complete(full(), parity); }
};

}  // namespace sporos::gpu

#endif
