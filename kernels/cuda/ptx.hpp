// SPDX-License-Identifier: Apache-2.0
/// @file ptx.hpp
/// Instructions of the GPU that C++ has no name for, one short function each. The code that uses them says
/// what they are good for.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace sporos::gpu::ptx {

/// Loads 16 or 8 bytes, which nothing writes while the kernel runs, without keeping them in the L1 cache.
/// sm_70.
__device__ __forceinline__ void load_past_l1(const void* at, std::uint32_t (&words)[4]) {
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
      : "l"(__cvta_generic_to_global(at)));
}
__device__ __forceinline__ void load_past_l1(const void* at, std::uint32_t (&words)[2]) {
  asm("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
      : "=r"(words[0]), "=r"(words[1])
      : "l"(__cvta_generic_to_global(at)));
}

/// *at += x, without returning the old value. sm_60.
__device__ __forceinline__ void red_add(float* at, float x) {
  asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "f"(x)
               : "memory");
}
__device__ __forceinline__ void red_add(double* at, double x) {
  asm volatile("red.relaxed.gpu.global.add.f64 [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "d"(x)
               : "memory");
}

/// Adds to two neighbouring floats, 8-byte aligned, in one transaction. sm_90.
__device__ __forceinline__ void red_add_v2(float* at, float x, float y) {
#if __CUDA_ARCH__ >= 900
  asm volatile("red.relaxed.gpu.global.add.v2.f32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(at)),
               "f"(x), "f"(y)
               : "memory");
#else
  red_add(at, x);
  red_add(at + 1, y);
#endif
}

/// Adds to four neighbouring floats, 16-byte aligned, in one transaction. sm_90.
__device__ __forceinline__ void red_add_v4(float* at, float x, float y, float z, float w) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(at)), "f"(x),
      "f"(y), "f"(z), "f"(w)
      : "memory");
#else
  red_add_v2(at, x, y);
  red_add_v2(at + 2, z, w);
#endif
}

/// Loads *at, and makes visible what was written before an `add_release` to it. sm_70.
__device__ __forceinline__ int load_acquire(const int* at) {
  int out;
  asm volatile("ld.acquire.gpu.global.b32 %0, [%1];"
               : "=r"(out)
               : "l"(__cvta_generic_to_global(at))
               : "memory");
  return out;
}
/// *at += x, after all that this thread wrote or knows to be written.
__device__ __forceinline__ void add_release(int* at, int x) {
  asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "r"(x)
               : "memory");
}

/// Waits at a named barrier for `threads` threads, in whole warps.
/// @param id  from 1 to 15; 0 is the barrier of __syncthreads
__device__ __forceinline__ void sync_threads(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
}  // namespace sporos::gpu::ptx
