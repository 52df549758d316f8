// SPDX-License-Identifier: Apache-2.0
/// @file chunk_layout.hpp
/// How an N:M sparse matrix is cut into chunks for CUDA cores, and where a chunk holds what. These functions
/// depend on numbers alone; host and kernels use them.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "../../cuda/ceil_div.hpp"

namespace sporos::gpu {

/// How k is cut. A *section* is a number of whole windows, whose dense rows are in shared memory at the same
/// time. The rows that a unit keeps of a section are copied in one or more *chunks*.
struct NmChunks {
  int kept = 0, window = 0;  ///< N, M
  int windows = 0;           ///< windows per section
  int chunks = 0;            ///< chunks per section
  int rows = 0;              ///< kept rows per chunk, padded to a multiple of rows_at_a_time

  static constexpr int rows_at_a_time = 4;  ///< rows whose places are loaded together
  static constexpr int most_rows = 16;
  static constexpr int most_dense_rows = 64;  ///< limit for a section of several windows
  /// The same limit where rows are listed, of which few are in shared memory, and that for the kept rows of
  /// such a section.
  static constexpr int most_dense_rows_if_listed = 256, most_kept_rows_if_listed = 12;

  KOKKOS_INLINE_FUNCTION constexpr int dense_rows() const { return windows * window; }
  KOKKOS_INLINE_FUNCTION constexpr int kept_rows() const { return windows * kept; }
  KOKKOS_INLINE_FUNCTION constexpr std::int64_t sections(std::int64_t k) const {
    return ceil_div(k, dense_rows());
  }

  /// Sections of `windows` windows, each copied in one chunk.
  static constexpr NmChunks in_one_chunk(int kept, int window, int windows) {
    return {kept, window, windows, 1,
            static_cast<int>(ceil_div(windows * kept, rows_at_a_time)) * rows_at_a_time};
  }

  /// The cut that wastes least on padding and on the overhead of chunks, which equals half a row each.
  /// @param most_dense, most_kept  limits for a section of several windows
  static constexpr NmChunks of(int kept, int window, int most_dense = most_dense_rows,
                               int most_kept = most_dense_rows) {
    NmChunks best;
    double least = 0;
    for (int windows = 1; windows == 1 || (windows * window <= most_dense && windows * kept <= most_kept);
         ++windows) {
      NmChunks cut{kept, window, windows, static_cast<int>(ceil_div(windows * kept, most_rows)), 0};
      cut.rows =
          static_cast<int>(ceil_div(ceil_div(cut.kept_rows(), cut.chunks), rows_at_a_time)) * rows_at_a_time;
      const double cost = cut.chunks * (cut.rows + 0.5) / cut.kept_rows();
      if (best.windows > 0 && cost >= least) continue;
      best = cut;
      least = cost;
    }
    return best;
  }
  /// The same where rows are listed (NmChunkLayout).
  static constexpr NmChunks of_listed(int kept, int window) {
    return of(kept, window, most_dense_rows_if_listed, most_kept_rows_if_listed);
  }
};

/// The most units of `unit` columns in which any `columns` consecutive columns lie that begin at a multiple
/// of `columns`.
constexpr int most_units(int columns, int unit) {
  if (unit % columns == 0) return 1;
  if (columns % unit == 0) return columns / unit;
  return (columns - 2) / unit + 2;
}

/// The layout of a packed matrix:
///
///     for each `block_columns` columns, for each section, for each of its chunks:
///         values   [rows][block_columns]
///         places   [block_columns / place_columns][rows] of 32 bits
///
/// A place is the offset in bytes of a row of the dense matrix from the first row of its section. Rows of a
/// unit that are zero, and padding, refer to a row of zeros, so that they are never multiplied by infinities
/// or NaN of the dense matrix.
///
/// If rows are *listed*, only those rows of a section are copied that one of its units of these columns
/// keeps, one after another, in ascending order ("packing" in NM-SpMM, and its col_info). The lists follow
/// the chunks, for the threads that copy `rows_at_a_time` rows at a time:
///
///     for each `block_columns` columns, for each section:
///         rows     [rows_at_a_time][turns()] of 16 bits: the row that is copied to place p is number
///                  p / rows_at_a_time of part p % rows_at_a_time; no_row after the last
struct NmChunkLayout {
  NmChunks cut{};
  int block_columns = 0;
  int place_columns = 0;    ///< columns that share their places
  int value_bytes = 0;      ///< bytes per value
  int dense_row_bytes = 0;  ///< bytes per row of the dense matrix in shared memory, if it is k-major there
  int place_of_zeros = 0;
  /// If the dense matrix is not k-major in shared memory: the bytes of a box of it, which holds
  /// `box_row_bytes` of each row of a tile.
  int box_bytes = 0;
  int listed_rows = 0;     ///< if rows are listed, the most in a section; otherwise 0
  int rows_at_a_time = 1;  ///< if rows are listed, the number of rows that are copied at a time

  static constexpr int box_row_bytes = 128;
  static constexpr int turns_together = 4;        ///< rows of a list that a thread loads together
  static constexpr std::uint16_t no_row = 65535;  ///< greater than any row of a section

  /// The place of row `row` of a section.
  KOKKOS_INLINE_FUNCTION constexpr int place(int row) const {
    if (box_bytes == 0) return row * dense_row_bytes;
    return row * value_bytes / box_row_bytes * box_bytes + row * value_bytes % box_row_bytes;
  }

  KOKKOS_INLINE_FUNCTION constexpr int places_at() const { return cut.rows * block_columns * value_bytes; }
  KOKKOS_INLINE_FUNCTION constexpr int chunk_bytes() const {
    return places_at() + block_columns / place_columns * cut.rows * 4;
  }
  /// The most rows of a section that are copied, their bytes, and all its bytes in shared memory, which
  /// include a row of zeros.
  KOKKOS_INLINE_FUNCTION constexpr int copied_rows() const {
    return listed_rows > 0 ? listed_rows : cut.dense_rows();
  }
  KOKKOS_INLINE_FUNCTION constexpr int copied_bytes() const { return copied_rows() * dense_row_bytes; }
  KOKKOS_INLINE_FUNCTION constexpr int section_bytes() const { return copied_bytes() + dense_row_bytes; }

  /// The rows that a part of a list has room for, and those of a whole list.
  KOKKOS_INLINE_FUNCTION constexpr int turns() const {
    return static_cast<int>(ceil_div(ceil_div(listed_rows, rows_at_a_time), turns_together)) * turns_together;
  }
  KOKKOS_INLINE_FUNCTION constexpr int list_size() const { return rows_at_a_time * turns(); }
  /// Where in a list the row is that is copied to place `at`.
  KOKKOS_INLINE_FUNCTION constexpr int in_list(int at) const {
    return at % rows_at_a_time * turns() + at / rows_at_a_time;
  }
  /// The place to which a listed row is copied.
  KOKKOS_INLINE_FUNCTION constexpr int place_in_list(const std::uint16_t* list, int row) const {
    int begin = 0, end = listed_rows;
    while (end - begin > 1) {
      const int middle = (begin + end) / 2;
      (list[in_list(middle)] <= row ? begin : end) = middle;
    }
    return begin;
  }

  /// The kept rows in all chunks.
  constexpr std::int64_t lines(std::int64_t k, std::int64_t n) const {
    return ceil_div(n, block_columns) * cut.sections(k) * cut.chunks * cut.rows;
  }
  /// The number of lists, and where they begin: after the bytes of all chunks.
  KOKKOS_INLINE_FUNCTION constexpr std::int64_t lists(std::int64_t k, std::int64_t n) const {
    return listed_rows > 0 ? ceil_div(n, block_columns) * cut.sections(k) : 0;
  }
  KOKKOS_INLINE_FUNCTION constexpr std::int64_t lists_at(std::int64_t k, std::int64_t n) const {
    return ceil_div(n, block_columns) * cut.sections(k) * cut.chunks * chunk_bytes();
  }
  constexpr std::int64_t bytes(std::int64_t k, std::int64_t n) const {
    return lists_at(k, n) + lists(k, n) * list_size() * static_cast<std::int64_t>(sizeof(std::uint16_t));
  }
};

}  // namespace sporos::gpu
