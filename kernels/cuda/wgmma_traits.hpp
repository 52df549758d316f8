// SPDX-License-Identifier: Apache-2.0
/// @file wgmma_traits.hpp
/// What the operands of the matrix instructions of four warps mean. These functions depend on numbers alone
/// and are tested on the host.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "mma_traits.hpp"

namespace sporos::gpu {

/// d[64, N] += a[64, k] b[k, N] of 16-bit elements by four warps, d in their registers.
///
/// PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Operation using wgmma.mma_async".
struct Wgmma {
  static constexpr int m = 64, k = 16, threads = 128;

  using Place = MmaM16N8K16::Place;

  /// The row and column in d of register `r` of a thread.
  KOKKOS_INLINE_FUNCTION static constexpr Place of_d(int thread, int r) {
    return {thread / 32 * 16 + thread % 32 / 4 + r / 2 % 2 * 8, r / 4 * 8 + thread % 4 * 2 + r % 2};
  }
};

/// d[64, N] += a[64, 8] b[8, N] of tf32, with a in registers.
///
/// PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk8".
struct WgmmaTf32 : Wgmma {
  static constexpr int k = 8;

  /// The row and column in a of register `r`, of four, of a thread.
  KOKKOS_INLINE_FUNCTION static constexpr Place of_a(int thread, int r) {
    return {thread / 32 * 16 + thread % 32 / 4 + r % 2 * 8, thread % 4 + r / 2 * 4};
  }
};

/// d[64, N] += a[64, 32] b[32, N] where a keeps two of every four elements of a row: 16 elements, and their
/// places in the row.
///
/// PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Operation using wgmma.mma_async.sp".
struct WgmmaSparse : Wgmma {
  static constexpr int k = 32;

  /// The first of the two rows of a whose metadata a thread holds; the other is 8 rows further down.
  KOKKOS_INLINE_FUNCTION static constexpr int row_of_metadata(int thread) {
    return thread / 32 * 16 + thread % 32 / 4;
  }
  /// The register of a thread, from the metadata of its two rows: bits 4 w to 4 w + 3 of each hold the places
  /// of the two elements kept from the w-th group of four.
  KOKKOS_INLINE_FUNCTION static constexpr std::uint32_t metadata(int thread, std::uint32_t of_first,
                                                                 std::uint32_t of_other) {
    return thread % 2 == 0 ? (of_first & 0xffffu) | of_other << 16
                           : of_first >> 16 | (of_other & 0xffff0000u);
  }
};

/// Describes a matrix in shared memory whose lines of 128 (or 64) bytes lie one after another, swizzled as
/// the copy engine does it.
///
/// PTX ISA, "Matrix-Descriptor Format".
struct SharedMatrix {
  enum class Lines : std::uint64_t { of_128_bytes = 1, of_64_bytes = 2 };

  /// @param at       its address in shared memory
  /// @param next_64  bytes from 64 columns of a matrix by rows to the next 64, if N is larger
  KOKKOS_INLINE_FUNCTION static constexpr std::uint64_t describe(std::uint32_t at, Lines lines,
                                                                 std::uint32_t next_64 = 0) {
    const std::uint64_t bytes_of_8_lines = lines == Lines::of_128_bytes ? 1024 : 512;
    return (std::uint64_t{at} & 0x3ffff) >> 4 | std::uint64_t{next_64 >> 4} << 16 |
           bytes_of_8_lines >> 4 << 32 | static_cast<std::uint64_t>(lines) << 62;
  }
  /// What to add to a description for a matrix that begins `bytes` bytes later.
  KOKKOS_INLINE_FUNCTION static constexpr std::uint64_t offset(std::uint32_t bytes) { return bytes >> 4; }
};

}  // namespace sporos::gpu
