// SPDX-License-Identifier: Apache-2.0
/// @file wgmma.hpp
/// Matrix instructions that a group of four warps issues together and that run while the warps go on, one
/// short function each: sm_90a. wgmma_traits.hpp says what their operands mean.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../core/value.hpp"
#include "ptx.hpp"

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace sporos::gpu::ptx {

/// Needed before the first matrix instruction that adds to registers written by other instructions.
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/// Closes a group of matrix instructions.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Closes a group of matrix instructions.
template <int Running>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Running) : "memory");
}

/// Keeps the compiler from writing registers before this point, which follows the wait for the matrix
/// instructions that read them: it does not know that these read on in the background.
__device__ __forceinline__ void keep(std::uint32_t& first, std::uint32_t& second) {
  asm volatile("" : "+r"(first), "+r"(second)::"memory");
}

/// Raises the number of registers of each thread of these four warps to `Registers`.
template <int Registers>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
__device__ __forceinline__ void give_registers_back() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}

/// Arrives at a barrier that other threads wait for (ptx.hpp), without waiting.
__device__ __forceinline__ void arrive_for_threads(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
/// Waits at the barrier, and returns whether `holds` is true in any of its threads.
__device__ __forceinline__ bool any_of_threads(int id, int threads, bool holds) {
  int out;
  asm volatile(
      "{\n"
      ".reg .pred holds, any;\n"
      "setp.ne.u32 holds, %3, 0;\n"
      "barrier.cta.red.or.pred any, %1, %2, holds;\n"
      "selp.s32 %0, 1, 0, any;\n"
      "}"
      : "=r"(out)
      : "r"(id), "r"(threads), "r"(holds ? 1 : 0)
      : "memory");
  return out != 0;
}

// Ten operands in a row: %t0, …, %t9, which are d[t0], …, d[t9].
#define SPOROS_TEN(t) \
  "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9, "
#define SPOROS_TEN_SUMS(t)                                                                                 \
  "+f"(d[t##0]), "+f"(d[t##1]), "+f"(d[t##2]), "+f"(d[t##3]), "+f"(d[t##4]), "+f"(d[t##5]), "+f"(d[t##6]), \
      "+f"(d[t##7]), "+f"(d[t##8]), "+f"(d[t##9])

// d += a b for d of 64 x N. The operands after d are what `operands` makes of their numbers.
#define SPOROS_WGMMA(instruction, shape, type, list, operands, inputs, ...)                                 \
  asm volatile("{\n.reg .pred adds;\nsetp.eq.u32 adds, 0, 0;\n" instruction "." shape ".f32." type "." type \
               " {" list "}" operands ";\n}"                                                                \
               : __VA_ARGS__                                                                                \
               : SPOROS_LIST inputs)
#define SPOROS_LIST(...) __VA_ARGS__
#define SPOROS_WGMMA_64(instruction, k, type, operands, inputs)                                             \
  SPOROS_WGMMA(instruction, "m64n64" k, type, SPOROS_TEN() SPOROS_TEN(1) SPOROS_TEN(2) "%30, %31",          \
               operands(32, 33, 34, 35), inputs, SPOROS_TEN_SUMS(), SPOROS_TEN_SUMS(1), SPOROS_TEN_SUMS(2), \
               "+f"(d[30]), "+f"(d[31]))
#define SPOROS_WGMMA_128(instruction, k, type, operands, inputs)                                            \
  SPOROS_WGMMA(instruction, "m64n128" k, type,                                                              \
               SPOROS_TEN() SPOROS_TEN(1) SPOROS_TEN(2) SPOROS_TEN(3) SPOROS_TEN(4)                         \
                   SPOROS_TEN(5) "%60, %61, %62, %63",                                                      \
               operands(64, 65, 66, 67), inputs, SPOROS_TEN_SUMS(), SPOROS_TEN_SUMS(1), SPOROS_TEN_SUMS(2), \
               SPOROS_TEN_SUMS(3), SPOROS_TEN_SUMS(4), SPOROS_TEN_SUMS(5), "+f"(d[60]), "+f"(d[61]),        \
               "+f"(d[62]), "+f"(d[63]))
#define SPOROS_WGMMA_192(instruction, k, type, operands, inputs)                                            \
  SPOROS_WGMMA(instruction, "m64n192" k, type,                                                              \
               SPOROS_TEN() SPOROS_TEN(1) SPOROS_TEN(2) SPOROS_TEN(3) SPOROS_TEN(4) SPOROS_TEN(5)           \
                   SPOROS_TEN(6) SPOROS_TEN(7) SPOROS_TEN(8) "%90, %91, %92, %93, %94, %95",                \
               operands(96, 97, 98, 99), inputs, SPOROS_TEN_SUMS(), SPOROS_TEN_SUMS(1), SPOROS_TEN_SUMS(2), \
               SPOROS_TEN_SUMS(3), SPOROS_TEN_SUMS(4), SPOROS_TEN_SUMS(5), SPOROS_TEN_SUMS(6),              \
               SPOROS_TEN_SUMS(7), SPOROS_TEN_SUMS(8), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]),  \
               "+f"(d[94]), "+f"(d[95]))
#define SPOROS_WGMMA_256(instruction, k, type, operands, inputs)                                   \
  SPOROS_WGMMA(instruction, "m64n256" k, type,                                                     \
               SPOROS_TEN() SPOROS_TEN(1) SPOROS_TEN(2) SPOROS_TEN(3) SPOROS_TEN(4) SPOROS_TEN(5)  \
                   SPOROS_TEN(6) SPOROS_TEN(7) SPOROS_TEN(8) SPOROS_TEN(9) SPOROS_TEN(10)          \
                       SPOROS_TEN(11) "%120, %121, %122, %123, %124, %125, %126, %127",            \
               operands(128, 129, 130, 131), inputs, SPOROS_TEN_SUMS(), SPOROS_TEN_SUMS(1),        \
               SPOROS_TEN_SUMS(2), SPOROS_TEN_SUMS(3), SPOROS_TEN_SUMS(4), SPOROS_TEN_SUMS(5),     \
               SPOROS_TEN_SUMS(6), SPOROS_TEN_SUMS(7), SPOROS_TEN_SUMS(8), SPOROS_TEN_SUMS(9),     \
               SPOROS_TEN_SUMS(10), SPOROS_TEN_SUMS(11), "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), \
               "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127]))
#define SPOROS_WGMMA_OF(instruction, k, type, operands, inputs) \
  if constexpr (N == 64)                                        \
    SPOROS_WGMMA_64(instruction, k, type, operands, inputs);    \
  else if constexpr (N == 128)                                  \
    SPOROS_WGMMA_128(instruction, k, type, operands, inputs);   \
  else if constexpr (N == 192)                                  \
    SPOROS_WGMMA_192(instruction, k, type, operands, inputs);   \
  else                                                          \
    SPOROS_WGMMA_256(instruction, k, type, operands, inputs)
#define SPOROS_WGMMA_OF_ALL(instruction, k, operands, inputs)  \
  static_assert(N == 64 || N == 128 || N == 192 || N == 256);  \
  if constexpr (std::is_same_v<T, half>) {                     \
    SPOROS_WGMMA_OF(instruction, k, "f16", operands, inputs);  \
  } else {                                                     \
    static_assert(std::is_same_v<T, bfloat16>);                \
    SPOROS_WGMMA_OF(instruction, k, "bf16", operands, inputs); \
  }

/// d += a b for a of 64 x 16 and b of 16 x N, both in shared memory. sm_90a.
/// @param a, b          descriptions: wgmma_traits.hpp
/// @tparam AIsByColumns whether the 64 elements of a column of a are neighbours, or the 16 of a row
/// @tparam BIsByRows    whether the N elements of a row of b are neighbours, or the 16 of a column
template <class T, int N, bool AIsByColumns, bool BIsByRows>
__device__ __forceinline__ void wgmma(float (&d)[N / 2], std::uint64_t a, std::uint64_t b) {
#define SPOROS_OPERANDS(a, b, by_columns, by_rows) \
  ", %" #a ", %" #b ", adds, 1, 1, %" #by_columns ", %" #by_rows
  SPOROS_WGMMA_OF_ALL("wgmma.mma_async.sync.aligned", "k16", SPOROS_OPERANDS,
                      ("l"(a), "l"(b), "n"(AIsByColumns ? 1 : 0), "n"(BIsByRows ? 1 : 0)))
#undef SPOROS_OPERANDS
}

/// d += a b for a of 64 x 32, of which each row keeps 2 of 4, and b of 32 x N, both in shared memory. sm_90a.
/// @param a, b       descriptions: wgmma_traits.hpp
/// @param metadata   WgmmaSparse::metadata
/// @tparam BIsByRows whether the N elements of a row of b are neighbours, or the 32 of a column
template <class T, int N, bool BIsByRows>
__device__ __forceinline__ void wgmma_sparse(float (&d)[N / 2], std::uint64_t a, std::uint64_t b,
                                             std::uint32_t metadata) {
#define SPOROS_OPERANDS(a, b, metadata, by_rows) \
  ", %" #a ", %" #b ", %" #metadata ", 0, adds, 1, 1, 0, %" #by_rows
  SPOROS_WGMMA_OF_ALL("wgmma.mma_async.sp.sync.aligned", "k32", SPOROS_OPERANDS,
                      ("l"(a), "l"(b), "r"(metadata), "n"(BIsByRows ? 1 : 0)))
#undef SPOROS_OPERANDS
}

/// d += a b, or d = a b, for a of 64 x 8 in registers and b of 8 x N in shared memory, of tf32, which are
/// floats whose lowest 13 bits are zero. sm_90a.
/// @param a     WgmmaTf32::of_a says which elements these are; written again only after a wait
/// @param b     a description; the 8 elements of a column of b are neighbours
/// @param adds  d += a b, or else d = a b
template <int N>
__device__ __forceinline__ void wgmma_tf32(float (&d)[N / 2], const std::uint32_t (&a)[4], std::uint64_t b,
                                           bool adds) {
  static_assert(N == 32 || N == 64);
#define SPOROS_WGMMA_TF32(shape, list, operands, ...)                                                \
  asm volatile("{\n.reg .pred adds;\nsetp.ne.u32 adds, " operands(                                   \
                   SPOROS_SCALE) ", 0;\nwgmma.mma_async.sync.aligned." shape ".f32.tf32.tf32 {" list \
                                 "}, {" operands(SPOROS_FACTORS) ", adds, 1, 1;\n}"                  \
               : __VA_ARGS__                                                                         \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds ? 1 : 0))
#define SPOROS_SCALE(a0, a1, a2, a3, b, scale) "%" #scale
#define SPOROS_FACTORS(a0, a1, a2, a3, b, scale) "%" #a0 ", %" #a1 ", %" #a2 ", %" #a3 "}, %" #b
#define SPOROS_BEHIND_16(of) of(16, 17, 18, 19, 20, 21)
#define SPOROS_BEHIND_32(of) of(32, 33, 34, 35, 36, 37)
  if constexpr (N == 32)
    SPOROS_WGMMA_TF32("m64n32k8", SPOROS_TEN() "%10, %11, %12, %13, %14, %15", SPOROS_BEHIND_16,
                      SPOROS_TEN_SUMS(), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
                      "+f"(d[15]));
  else
    SPOROS_WGMMA_TF32("m64n64k8", SPOROS_TEN() SPOROS_TEN(1) SPOROS_TEN(2) "%30, %31", SPOROS_BEHIND_32,
                      SPOROS_TEN_SUMS(), SPOROS_TEN_SUMS(1), SPOROS_TEN_SUMS(2), "+f"(d[30]), "+f"(d[31]));
#undef SPOROS_BEHIND_32
#undef SPOROS_BEHIND_16
#undef SPOROS_FACTORS
#undef SPOROS_SCALE
#undef SPOROS_WGMMA_TF32
}

#undef SPOROS_WGMMA_OF_ALL
#undef SPOROS_WGMMA_OF
#undef SPOROS_WGMMA_256
#undef SPOROS_WGMMA_192
#undef SPOROS_WGMMA_128
#undef SPOROS_WGMMA_64
#undef SPOROS_LIST
#undef SPOROS_WGMMA
#undef SPOROS_TEN
#undef SPOROS_TEN_SUMS

}  // namespace sporos::gpu::ptx

#endif
