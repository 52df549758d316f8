// SPDX-License-Identifier: Apache-2.0
/// @file wgmma.hpp
/// The matrix instructions that a group of four warps issues together and that run while it goes on, as
/// functions of one line each: sm_90a. What their operands mean is said in wgmma_traits.hpp.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../core/value.hpp"

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace sporos::gpu::ptx {

/// Before the first matrix instruction that adds to registers which other instructions have written.
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/// Closes a group of matrix instructions.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most so many of the last groups run.
template <int Running>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Running) : "memory");
}

/// Keeps registers that matrix instructions read from being written before this point: behind the wait for
/// those instructions. The compiler knows nothing of their reading on.
__device__ __forceinline__ void keep(std::uint32_t& first, std::uint32_t& second) {
  asm volatile("" : "+r"(first), "+r"(second)::"memory");
}

/// Registers that each thread of these four warps has from now on.
template <int Registers>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
__device__ __forceinline__ void give_registers_back() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}

/// Waits for so many threads, of whole warps, at a barrier of their own.
/// @param id  from 1 to 15; 0 is that of __syncthreads
__device__ __forceinline__ void sync_threads(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
/// Counts as one of those that others wait for, without waiting.
__device__ __forceinline__ void arrive_for_threads(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Ten operands in a row: %t0, …, %t9, which are d[t0], …, d[t9].
#define SPOROS_TEN(t) \
  "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9, "
#define SPOROS_TEN_SUMS(t)                                                                                 \
  "+f"(d[t##0]), "+f"(d[t##1]), "+f"(d[t##2]), "+f"(d[t##3]), "+f"(d[t##4]), "+f"(d[t##5]), "+f"(d[t##6]), \
      "+f"(d[t##7]), "+f"(d[t##8]), "+f"(d[t##9])

// d += a b, a sparse; the operands behind d are numbered from `first`.
#define SPOROS_WGMMA_SPARSE(shape, type, list, first, second, third, fourth, ...)                          \
  asm volatile(                                                                                            \
      "{\n.reg .pred adds;\nsetp.eq.u32 adds, 0, 0;\n"                                                     \
      "wgmma.mma_async.sp.sync.aligned." shape ".f32." type "." type " {" list "}, %" #first ", %" #second \
      ", %" #third ", 0, adds, 1, 1, 0, %" #fourth ";\n}"                                                  \
      : __VA_ARGS__                                                                                        \
      : "l"(a), "l"(b), "r"(metadata), "n"(BIsByRows ? 1 : 0))

/// d += a b for a of 64 x 32, of which each row keeps 2 of 4, and b of 32 x N, both in shared memory. sm_90a.
/// @param a, b       descriptions: wgmma_traits.hpp
/// @param metadata   WgmmaSparse::metadata
/// @tparam BIsByRows whether the N elements of a row of b are neighbours, or the 32 of a column
template <class T, int N, bool BIsByRows>
__device__ __forceinline__ void wgmma_sparse(float (&d)[N / 2], std::uint64_t a, std::uint64_t b,
                                             std::uint32_t metadata) {
  static_assert(std::is_same_v<T, half> || std::is_same_v<T, bfloat16>);
  static_assert(N == 64 || N == 128 || N == 256);
#define SPOROS_WGMMA_64(type)                                                                             \
  SPOROS_WGMMA_SPARSE("m64n64k32", type, SPOROS_TEN() SPOROS_TEN(1) SPOROS_TEN(2) "%30, %31", 32, 33, 34, \
                      35, SPOROS_TEN_SUMS(), SPOROS_TEN_SUMS(1), SPOROS_TEN_SUMS(2), "+f"(d[30]),         \
                      "+f"(d[31]))
#define SPOROS_WGMMA_128(type)                                                                              \
  SPOROS_WGMMA_SPARSE("m64n128k32", type,                                                                   \
                      SPOROS_TEN() SPOROS_TEN(1) SPOROS_TEN(2) SPOROS_TEN(3) SPOROS_TEN(4)                  \
                          SPOROS_TEN(5) "%60, %61, %62, %63",                                               \
                      64, 65, 66, 67, SPOROS_TEN_SUMS(), SPOROS_TEN_SUMS(1), SPOROS_TEN_SUMS(2),            \
                      SPOROS_TEN_SUMS(3), SPOROS_TEN_SUMS(4), SPOROS_TEN_SUMS(5), "+f"(d[60]), "+f"(d[61]), \
                      "+f"(d[62]), "+f"(d[63]))
#define SPOROS_WGMMA_256(type)                                                                           \
  SPOROS_WGMMA_SPARSE("m64n256k32", type,                                                                \
                      SPOROS_TEN() SPOROS_TEN(1) SPOROS_TEN(2) SPOROS_TEN(3) SPOROS_TEN(4) SPOROS_TEN(5) \
                          SPOROS_TEN(6) SPOROS_TEN(7) SPOROS_TEN(8) SPOROS_TEN(9) SPOROS_TEN(10)         \
                              SPOROS_TEN(11) "%120, %121, %122, %123, %124, %125, %126, %127",           \
                      128, 129, 130, 131, SPOROS_TEN_SUMS(), SPOROS_TEN_SUMS(1), SPOROS_TEN_SUMS(2),     \
                      SPOROS_TEN_SUMS(3), SPOROS_TEN_SUMS(4), SPOROS_TEN_SUMS(5), SPOROS_TEN_SUMS(6),    \
                      SPOROS_TEN_SUMS(7), SPOROS_TEN_SUMS(8), SPOROS_TEN_SUMS(9), SPOROS_TEN_SUMS(10),   \
                      SPOROS_TEN_SUMS(11), "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]),       \
                      "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127]))
  if constexpr (std::is_same_v<T, half>) {
    if constexpr (N == 64)
      SPOROS_WGMMA_64("f16");
    else if constexpr (N == 128)
      SPOROS_WGMMA_128("f16");
    else
      SPOROS_WGMMA_256("f16");
  } else {
    if constexpr (N == 64)
      SPOROS_WGMMA_64("bf16");
    else if constexpr (N == 128)
      SPOROS_WGMMA_128("bf16");
    else
      SPOROS_WGMMA_256("bf16");
  }
#undef SPOROS_WGMMA_64
#undef SPOROS_WGMMA_128
#undef SPOROS_WGMMA_256
}

#undef SPOROS_TEN
#undef SPOROS_TEN_SUMS
#undef SPOROS_WGMMA_SPARSE

}  // namespace sporos::gpu::ptx

#endif
