// SPDX-License-Identifier: Apache-2.0
/// @file mma_traits.hpp
/// What the operands of tensor core instructions mean: which lane holds which element. These functions depend
/// on numbers alone and are tested on the host.
#pragma once

#include <Kokkos_Core.hpp>

namespace sporos::gpu {

/// d[16, 8] += a[16, 16] b[16, 8] of 16-bit elements by one warp; each register of a and b holds two
/// elements.
///
/// PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type".
struct MmaM16N8K16 {
  static constexpr int m = 16, n = 8, k = 16;

  struct Place {
    int row, column;
    constexpr bool operator==(const Place&) const = default;
  };

  /// The row and column in b of element `half` of register `r` of a lane.
  KOKKOS_INLINE_FUNCTION static constexpr Place of_b(int lane, int r, int half) {
    return {lane % 4 * 2 + r * 8 + half, lane / 4};
  }
  /// The row and column in d of register `r` of a lane.
  KOKKOS_INLINE_FUNCTION static constexpr Place of_d(int lane, int r) {
    return {lane / 4 + r / 2 * 8, lane % 4 * 2 + r % 2};
  }

  /// The k at which an instruction sums element `at` of 16, if each of four neighbouring lanes holds four
  /// that are neighbours: element `half` of a lane's register r of b is then element lane % 4 * 4 + r * 2 +
  /// half.
  KOKKOS_INLINE_FUNCTION static constexpr int k_of_neighbours(int at) {
    return at / 4 * 2 + at % 2 + at / 2 % 2 * 8;
  }

  /// For an a stored by columns, with 16 bytes for each 8 rows of a column: the column, of 16, and the half
  /// of the 16 rows whose address a lane gives to `load_matrices_transposed`.
  KOKKOS_INLINE_FUNCTION static constexpr int column_of_address(int lane) { return lane % 8 + lane / 16 * 8; }
  KOKKOS_INLINE_FUNCTION static constexpr int rows_of_address(int lane) { return lane / 8 % 2; }
};

/// d[16, 8] += a[16, 8] b[8, 8] by one warp: of 16-bit elements, two in a register, of tf32, or of doubles,
/// which have the same layout as tf32.
///
/// PTX ISA, "Matrix Fragments for mma.m16n8k8".
struct MmaM16N8K8 {
  static constexpr int m = 16, n = 8, k = 8;

  /// The row of a, below 8, whose elements a lane holds in its even registers; its odd registers hold the row
  /// 8 further down. This is also the column of b that the lane holds.
  KOKKOS_INLINE_FUNCTION static constexpr int row(int lane) { return lane / 4; }
  /// The two indices k of the elements that a lane holds in a and in b; elements of 16 bits share one
  /// register.
  KOKKOS_INLINE_FUNCTION static constexpr int k_of_narrow(int lane, int which) {
    return lane % 4 * 2 + which;
  }
  KOKKOS_INLINE_FUNCTION static constexpr int k_of_tf32(int lane, int which) { return lane % 4 + which * 4; }
};

/// d[16, 8] += a[16, 32] b[32, 8] of 16-bit elements by one warp, where a keeps two of every four elements of
/// a row: 16 elements, and their places in the row, the metadata. Two instructions for neighbouring columns
/// of a share a register of metadata.
///
/// PTX ISA, "Matrix Fragments for sparse mma.m16n8k32 with .f16 and .bf16 types".
struct MmaSparseM16N8K32 {
  static constexpr int m = 16, n = 8, k = 32;
  static constexpr int columns_of_metadata = 64;  ///< columns of a that a register of each lane describes

  using Place = MmaM16N8K16::Place;

  /// The row in a, and the place among the 16 elements that the row keeps, of element `half` of register `r`
  /// of a lane.
  KOKKOS_INLINE_FUNCTION static constexpr Place of_a(int lane, int r, int half) {
    return {lane / 4 + r % 2 * 8, lane % 4 * 2 + r / 2 * 8 + half};
  }
  /// The row and column in b of element `half` of register `r` of a lane.
  KOKKOS_INLINE_FUNCTION static constexpr Place of_b(int lane, int r, int half) {
    return {lane % 4 * 2 + r * 8 + half, lane / 4};
  }
  /// The row and column in d of register `r` of a lane.
  KOKKOS_INLINE_FUNCTION static constexpr Place of_d(int lane, int r) { return MmaM16N8K16::of_d(lane, r); }

  /// The row of a and the first of 16 columns, of 64, whose metadata a lane holds in the lower half of its
  /// register: 4 bits for each four columns, the places of the two elements kept. The upper half is that of
  /// the row 8 further down.
  KOKKOS_INLINE_FUNCTION static constexpr Place of_metadata(int lane) { return {lane / 4, lane % 4 * 16}; }

  /// For an a with 16 bytes for each 8 elements that a row keeps: the row, and the half of the 16 elements,
  /// whose address a lane gives to `load_matrices`.
  KOKKOS_INLINE_FUNCTION static constexpr int row_of_address(int lane) { return lane % 16; }
  KOKKOS_INLINE_FUNCTION static constexpr int half_of_address(int lane) { return lane / 16; }
  /// For a b stored by columns, with 16 bytes for each 8 rows: the column, and the eight rows of 32, whose
  /// address a lane gives to `load_matrices`. For a b stored by rows, with 16 bytes for each 8 columns, a
  /// lane gives that of row `lane` to `load_matrices_transposed`.
  KOKKOS_INLINE_FUNCTION static constexpr int column_of_address(int lane) { return lane % 8; }
  KOKKOS_INLINE_FUNCTION static constexpr int rows_of_address(int lane) { return lane / 8; }
};

/// How 16-byte pieces of 128-byte rows are placed in shared memory so that the same piece of any 8 rows with
/// different remainders modulo 8 can be read without bank conflicts: piece c of row r at place c ^ (r % 8).
/// The copy engine calls it the 128-byte swizzle; it begins at multiples of 1024 bytes.
struct Swizzle128 {
  static constexpr int row_bytes = 128, piece_bytes = 16, alignment = 1024;

  /// The offset of piece 0 of a row. That of piece c is `row_offset(r) ^ c * piece_bytes`.
  KOKKOS_INLINE_FUNCTION static constexpr unsigned row_offset(unsigned row) {
    return row * row_bytes + row % 8 * piece_bytes;
  }
};

/// The order in which the copy engine lays out rows of 2 or 4 pieces of 16 bytes, so that pieces of the same
/// number in eight rows lie in different banks.
/// @tparam Pieces  pieces per row; the rows begin at a multiple of 128 * Pieces bytes
template <int Pieces>
struct SwizzledRows {
  static_assert(Pieces == 2 || Pieces == 4);
  static constexpr int piece_bytes = 16, row_bytes = Pieces * piece_bytes;

  /// The offset of a piece of a row, in bytes.
  KOKKOS_INLINE_FUNCTION static constexpr int place(int row, int piece) {
    return row * row_bytes + (piece ^ row / (8 / Pieces) % Pieces) * piece_bytes;
  }
};

/// How rows that are gathered in pieces of 16 bytes lie in shared memory, so that a warp reads fragments of
/// instructions m16n8k8 from them without bank conflicts: 16-bit elements by `load_matrices_transposed`,
/// eight rows of which give a piece each, and 32-bit elements one by one, eight neighbours of each of four
/// rows.
/// @tparam Pieces    pieces of a row, a power of two
/// @tparam IsNarrow  whether elements have 16 bits
template <int Pieces, bool IsNarrow>
struct GatheredRows {
  static_assert(Pieces >= 4 && (Pieces & (Pieces - 1)) == 0);
  static constexpr int piece_bytes = 16, row_bytes = Pieces * piece_bytes;

  /// The place of piece 0 of a row, in it.
  KOKKOS_INLINE_FUNCTION static constexpr int place_of_first(int row) {
    if constexpr (IsNarrow)
      return Pieces >= 8 ? row % 8 : row / 2 % 4;
    else
      return Pieces >= 8 ? row % 4 * 2 : row / 2 % 2 * 2;
  }
  /// The offset of a piece of a row, in bytes. That of piece `p ^ q` is `offset(row, p) ^ q * piece_bytes`.
  /// For a `first` that is a multiple of a power of two above `row`, that of row `first + row` is `first *
  /// row_bytes + (offset(row, p) ^ place_of_first(first) * piece_bytes)`.
  KOKKOS_INLINE_FUNCTION static constexpr int offset(int row, int piece) {
    return row * row_bytes + (piece ^ place_of_first(row)) * piece_bytes;
  }
};

/// The 32 columns of a product that a warp computes, by four mma of 8 columns each. They form groups of 32,
/// 16 or 8 columns, each of one mma or more, ordered so that each of four neighbouring lanes holds a quarter
/// of a group's columns contiguously: for 32 columns, 16 bytes of a 16-bit result.
struct ColumnsOfWarp {
  static constexpr int tiles = 4, columns = 32;

  /// The column, within a group of `count` columns, that stands in column c of the group's mma number `tile`.
  KOKKOS_INLINE_FUNCTION static constexpr int column(int tile, int c, int count = columns) {
    return c / 2 * (count / 4) + tile * 2 + c % 2;
  }
};

}  // namespace sporos::gpu
