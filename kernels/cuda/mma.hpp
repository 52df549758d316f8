// SPDX-License-Identifier: Apache-2.0
/// @file mma.hpp
/// The instructions of tensor cores and of the copies that feed them, one short function each. mma_traits.hpp
/// says what their operands mean.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "../../core/value.hpp"

namespace sporos::gpu::ptx {

/// The address of an object in shared memory, in the form that instructions take.
__device__ __forceinline__ std::uint32_t shared_address(const void* at) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}

__device__ __forceinline__ void load_shared(std::uint32_t at, std::uint32_t (&words)[4]) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(at)
               : "memory");
}
__device__ __forceinline__ void load_shared(std::uint32_t at, std::uint32_t& first, std::uint32_t& second) {
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(first), "=r"(second) : "r"(at) : "memory");
}
__device__ __forceinline__ float load_shared_float(std::uint32_t at) {
  float out;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(out) : "r"(at) : "memory");
  return out;
}
__device__ __forceinline__ std::uint32_t load_shared_u16(std::uint32_t at) {
  std::uint16_t out;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(out) : "r"(at) : "memory");
  return out;
}
__device__ __forceinline__ void store_shared_u16(std::uint32_t at, std::uint32_t value) {
  asm volatile("st.shared.u16 [%0], %1;" ::"r"(at), "h"(static_cast<std::uint16_t>(value)) : "memory");
}
__device__ __forceinline__ void store_shared(std::uint32_t at, const std::uint32_t (&words)[4]) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(words[0]), "r"(words[1]),
               "r"(words[2]), "r"(words[3])
               : "memory");
}
__device__ __forceinline__ void store_shared_zeros(std::uint32_t at) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(0) : "memory");
}

/// Loads four 8 x 8 matrices of 16-bit elements. sm_75.
__device__ __forceinline__ void load_matrices(std::uint32_t at, std::uint32_t (&a)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(at)
               : "memory");
}
/// Loads four 8 x 8 matrices of 16-bit elements, transposed. sm_75.
__device__ __forceinline__ void load_matrices_transposed(std::uint32_t at, std::uint32_t (&a)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(at)
               : "memory");
}

/// Transposes an 8 x 8 matrix of 16-bit elements, of which each lane holds two neighbours of a row. sm_75.
__device__ __forceinline__ std::uint32_t transposed(std::uint32_t pair) {
  std::uint32_t out;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out) : "r"(pair));
  return out;
}

/// Stores four 8 x 8 matrices of 16-bit elements to shared memory, by rows or by columns. sm_90.
template <bool ByRows>
__device__ __forceinline__ void store_matrices(std::uint32_t at, const std::uint32_t (&a)[4]) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  if constexpr (ByRows)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(a[0]),
                 "r"(a[1]), "r"(a[2]), "r"(a[3])
                 : "memory");
  else
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
                 "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
                 : "memory");
#endif
}

/// d += a * b, 16 x 16 times 16 x 8. sm_80.
template <class T>
__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                             std::uint32_t b1) {
  if constexpr (std::is_same_v<T, half>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// d += a * b, 16 x 32 times 32 x 8, where a keeps two of every four elements of a row. sm_80.
/// @tparam Selector  which half of each four lanes holds the metadata: 0 or 1
template <class T, int Selector>
__device__ __forceinline__ void mma_sparse_m16n8k32(float (&d)[4], const std::uint32_t (&a)[4],
                                                    const std::uint32_t (&b)[4], std::uint32_t metadata) {
  static_assert(Selector == 0 || Selector == 1);
  if constexpr (std::is_same_v<T, half>)
    asm volatile(
        "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, %13;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
          "r"(metadata), "n"(Selector));
  else
    asm volatile(
        "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, %13;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
          "r"(metadata), "n"(Selector));
}

/// d += a * b, 16 x 8 times 8 x 8, of 16-bit floats. sm_80.
template <class T>
__device__ __forceinline__ void mma_m16n8k8(float (&d)[4], const std::uint32_t (&a)[2], std::uint32_t b) {
  if constexpr (std::is_same_v<T, half>)
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, "
        "%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, "
        "%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b));
}
/// d += a * b, 16 x 8 times 8 x 8, of floats in tf32, which has 10 bits of mantissa. sm_80.
__device__ __forceinline__ void mma_m16n8k8_tf32(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                                 std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
/// d += a * b, 16 x 8 times 8 x 8, of doubles; a product is rounded only when it is added. sm_90.
__device__ __forceinline__ void mma_m16n8k8(double (&d)[4], const double (&a)[4], double b0, double b1) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b0), "d"(b1));
#endif
}
/// Converts a float to tf32, rounding to nearest. sm_80.
__device__ __forceinline__ std::uint32_t to_tf32(float x) {
  std::uint32_t out;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(out) : "f"(x));
  return out;
}

/// d = a * b, 16 x 16 times 16 x 8, of halfs.
template <class T>
__device__ __forceinline__ void mma_m16n8k16_of_zero(float (&d)[4], const std::uint32_t (&a)[4],
                                                     std::uint32_t b0, std::uint32_t b1) {
  static_assert(std::is_same_v<T, half>);
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %10, %10, %10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(0.0f));
}

/// Copies up to 16 bytes to shared memory, without the copy engine, and writes zeros to the rest of 16.
/// sm_80.
__device__ __forceinline__ void copy_piece(std::uint32_t to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(__cvta_generic_to_global(from)),
               "r"(bytes)
               : "memory");
}
/// Copies 8 bytes to shared memory.
__device__ __forceinline__ void copy_half_piece(std::uint32_t to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(__cvta_generic_to_global(from))
               : "memory");
}
/// Makes a group of the pieces that this thread has begun to copy.
__device__ __forceinline__ void commit_pieces() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits until all groups of this thread's pieces but the last `Groups` are there.
template <int Groups>
__device__ __forceinline__ void wait_for_pieces() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
}

// Barriers in shared memory that count arrivals and bytes. sm_90.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

__device__ __forceinline__ void barrier_init(std::uint32_t barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
/// Makes initialised barriers visible to the copy engine.
__device__ __forceinline__ void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/// Makes what this thread wrote to shared memory, or knows to be written, visible to the copy engine and to
/// the matrix instructions that read it.
__device__ __forceinline__ void fence_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/// Does the same for memory outside the block.
__device__ __forceinline__ void fence_copies_from_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}
__device__ __forceinline__ void arrive_expecting(std::uint32_t barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void wait(std::uint32_t barrier, std::uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra DONE;\n"
      "bra WAIT;\n"
      "DONE:\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Whether a phase of a barrier is complete. Does not wait.
__device__ __forceinline__ bool is_complete(std::uint32_t barrier, std::uint32_t parity) {
  std::uint32_t out;
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n"
      "selp.u32 %0, 1, 0, done;\n"
      "}"
      : "=r"(out)
      : "r"(barrier), "r"(parity)
      : "memory");
  return out != 0;
}

/// Copies bytes, a multiple of 16, to shared memory; the barrier counts them.
__device__ __forceinline__ void copy_bytes(std::uint32_t to, const void* from, std::uint32_t bytes,
                                           std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}
/// Arrives at the barrier once the pieces that this thread copies are there.
__device__ __forceinline__ void arrive_with_pieces(std::uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}
/// Prefetches the description of a matrix that will be copied from.
__device__ __forceinline__ void prefetch(const CUtensorMap* matrix) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(matrix) : "memory");
}
/// Copies the box of a matrix whose first element is (row, column) to shared memory; elements outside the
/// matrix are zero and are counted as well.
__device__ __forceinline__ void copy_box(std::uint32_t to, const CUtensorMap* matrix, int column, int row,
                                         std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
      "[%4];" ::"r"(to),
      "l"(matrix), "r"(column), "r"(row), "r"(barrier)
      : "memory");
}

/// Copies a box of one of several matrices of one shape, which lie one after another.
__device__ __forceinline__ void copy_box(std::uint32_t to, const CUtensorMap* matrices, int column, int row,
                                         int matrix, std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
      "l"(matrices), "r"(column), "r"(row), "r"(matrix), "r"(barrier)
      : "memory");
}

#endif

}  // namespace sporos::gpu::ptx
