// SPDX-License-Identifier: Apache-2.0
/// @file ptx.hpp
/// Instructions of the GPU that C++ has no name for, as functions of one line each. What they are good for is
/// said where they are used.
#pragma once

#include <cuda_runtime.h>

namespace sporos::cuda::ptx {

/// *at += x, without reading back. sm_60.
__device__ __forceinline__ void red_add(float* at, float x) {
  asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "f"(x)
               : "memory");
}
__device__ __forceinline__ void red_add(double* at, double x) {
  asm volatile("red.relaxed.gpu.global.add.f64 [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "d"(x)
               : "memory");
}

/// Two neighbouring floats, 8-byte aligned, in one transaction. sm_90.
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

/// Four neighbouring floats, 16-byte aligned, in one transaction. sm_90.
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

}  // namespace sporos::cuda::ptx
