// SPDX-License-Identifier: Apache-2.0
/// @file k_major_traits.hpp
/// Where elements are while a matrix is copied k-major, and the order in which its parts are copied. These
/// functions depend on numbers alone and are tested on the host.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace sporos::gpu {

/// Where the elements of a k-major [k, m] matrix are stored: in batches, one after another, of `rows` of the
/// m rows each. A single matrix is one batch.
struct KMajorBatches {
  std::int64_t k = 0;
  std::int64_t rows = 0;    ///< rows per batch
  std::int64_t stride = 0;  ///< elements from one k of a batch to the next, at least `rows`
  std::int64_t batches = 1;

  /// The offset of element (at_k, i), where i counts the rows of all batches.
  KOKKOS_INLINE_FUNCTION constexpr std::int64_t place(std::int64_t at_k, std::int64_t i) const {
    return i < rows ? at_k * stride + i : (i / rows * k + at_k) * stride + i % rows;
  }
};

/// Where elements of a 64 x 64 tile are in shared memory while it is transposed. It is stored by rows, of
/// which each thread holds pieces of 8 elements. Neither storing them nor loading 8 x 8 elements of the rows
/// given by `row_of_matrix` causes bank conflicts.
struct TransposedTile {
  static constexpr int size = 64, pack = 8, row_bytes = size * 2, bytes = size * row_bytes;

  KOKKOS_INLINE_FUNCTION static constexpr int place(int row, int piece) {
    return row * row_bytes + (piece ^ (row / 8 % 4 * 2 + row % 2)) * 16;
  }
  /// The row, below 32, that is row `line` of matrix number `matrix` of four, chosen so that each of four
  /// neighbouring lanes holds 8 consecutive rows in the four matrices together.
  KOKKOS_INLINE_FUNCTION static constexpr int row_of_matrix(int matrix, int line) {
    return line / 2 * 8 + matrix * 2 + line % 2;
  }
};

/// The parts in which a kernel that reads an m x k matrix copies it itself, for tiles of 128 rows and stages
/// of `stage` columns.
struct KMajorOrder {
  static constexpr int tile_rows = 128;
  static constexpr int rows = 64, columns = 32;  ///< size of a part

  int m = 0, k = 0;
  int stage = columns;     ///< a multiple of `columns`
  int tiles_together = 1;  ///< rows of tiles computed at the same time

  KOKKOS_INLINE_FUNCTION constexpr int row_tiles() const { return (m + tile_rows - 1) / tile_rows; }
  KOKKOS_INLINE_FUNCTION constexpr int stages() const { return (k + stage - 1) / stage; }
  KOKKOS_INLINE_FUNCTION constexpr int parts_of_stage() const { return tile_rows / rows * (stage / columns); }
  KOKKOS_INLINE_FUNCTION constexpr int parts() const { return row_tiles() * stages() * parts_of_stage(); }

  struct Part {
    int row_tile, of_stage;
    int row, column;  ///< where it begins in the matrix, or past the matrix's end
  };
  /// Part number `at` in the order in which parts are needed: stage after stage of all tiles that are
  /// computed at the same time.
  KOKKOS_INLINE_FUNCTION constexpr Part operator[](int at) const {
    const int of_stage = parts_of_stage(), of_group = tiles_together * stages() * of_stage;
    const int first = at / of_group * tiles_together, in_group = at % of_group;
    const int tiles = row_tiles() - first < tiles_together ? row_tiles() - first : tiles_together;
    const int s = in_group / (tiles * of_stage), tile = first + in_group / of_stage % tiles,
              part = in_group % of_stage;
    return {tile, s, tile * tile_rows + part % (tile_rows / rows) * rows,
            s * stage + part / (tile_rows / rows) * columns};
  }
};

}  // namespace sporos::gpu
