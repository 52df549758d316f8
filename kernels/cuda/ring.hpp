// SPDX-License-Identifier: Apache-2.0
/// @file ring.hpp
/// Rings of slots in shared memory that operands pass through: the copy engine fills them and warps empty
/// them. sm_90.
#pragma once

#include <cstdint>

#include "mma.hpp"

namespace sporos::gpu {

/// The address of a barrier, known once a word has arrived in its register, or several, if it is their
/// bitwise or. An arrival at a barrier is not held up by loads from shared memory that are still on their
/// way: where it says that what they read may be overwritten, it has to depend on a word of each load, or on
/// something computed from it. (The compiler cannot know that the grid is flat.)
__device__ __forceinline__ std::uint32_t once_loaded(std::uint32_t barrier, std::uint32_t words) {
  const std::uint32_t zero = gridDim.z - 1;
  return barrier + (words & zero);
}
/// The first word of a value, for `once_loaded`.
template <class Value>
__device__ __forceinline__ std::uint32_t first_word(Value value) {
  static_assert(sizeof(Value) == 4 || sizeof(Value) == 8);
  if constexpr (sizeof(Value) == 4)
    return __builtin_bit_cast(std::uint32_t, value);
  else
    return static_cast<std::uint32_t>(__builtin_bit_cast(std::uint64_t, value));
}

}  // namespace sporos::gpu

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

namespace sporos::gpu {

/// A ring of slots in shared memory: the copy engine fills them, warps empty them, and each has a barrier for
/// both. This is one thread's view.
/// @tparam Bytes   bytes from one slot to the next
/// @tparam Copied  bytes copied to each slot
template <int Slots, int Bytes, int Copied = Bytes>
struct Ring {
  std::uint32_t slots, barriers;  ///< addresses in shared memory
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
  /// Initialises the barriers. One thread calls it before any other uses the ring.
  __device__ __forceinline__ void init(int arrivals) const {
    for (int slot = 0; slot < Slots; ++slot) {
      ptx::barrier_init(barriers + static_cast<std::uint32_t>(slot * 8), 1);
      ptx::barrier_init(barriers + static_cast<std::uint32_t>((Slots + slot) * 8),
                        static_cast<std::uint32_t>(arrivals));
    }
  }
  /// Waits until the slot is empty, then announces the bytes that will fill it.
  __device__ __forceinline__ void begin_filling() const {
    ptx::wait(empty(), parity ^ 1);
    ptx::arrive_expecting(full(), Copied);
  }
  __device__ __forceinline__ void wait_until_full() const { ptx::wait(full(), parity); }
  /// Whether the slot is full. Ask while there is other work to do, since the answer takes time to arrive.
  __device__ __forceinline__ bool is_full() const { return ptx::is_complete(full(), parity); }
};

}  // namespace sporos::gpu

#endif
