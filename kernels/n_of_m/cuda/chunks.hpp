// SPDX-License-Identifier: Apache-2.0
/// @file chunks.hpp
/// An N:M sparse matrix packed for CUDA cores: the values that a block multiplies by, chunk after chunk, and
/// for each kept row the place in shared memory where its partner of the dense matrix stands.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../../core/value.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"
#include "../view.hpp"

namespace sporos::gpu {

/// How k is cut. A *section* is some whole windows: so many dense rows are in shared memory at a time. What a
/// unit keeps of a section is copied in one *chunk* or several.
struct NmChunks {
  int kept = 0, window = 0;  ///< N, M
  int windows = 0;           ///< of a section
  int chunks = 0;            ///< of a section
  int rows = 0;              ///< kept rows of a chunk, padded to a multiple of rows_at_a_time

  static constexpr int rows_at_a_time = 4;  ///< whose places are loaded together
  static constexpr int most_rows = 16;
  static constexpr int most_dense_rows = 64;  ///< of a section of several windows

  KOKKOS_INLINE_FUNCTION constexpr int dense_rows() const { return windows * window; }
  KOKKOS_INLINE_FUNCTION constexpr int kept_rows() const { return windows * kept; }
  constexpr std::int64_t sections(std::int64_t k) const { return ceil_div(k, dense_rows()); }

  /// Sections of so many windows, each in one chunk.
  static constexpr NmChunks in_one_chunk(int kept, int window, int windows) {
    return {kept, window, windows, 1,
            static_cast<int>(ceil_div(windows * kept, rows_at_a_time)) * rows_at_a_time};
  }

  /// The cut that loses least to padding, and to what a chunk costs besides its rows: as much as half a row.
  static constexpr NmChunks of(int kept, int window) {
    NmChunks best;
    double least = 0;
    for (int windows = 1; windows == 1 || windows * window <= most_dense_rows; ++windows) {
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
};

/// A packed matrix:
///
///     for each `block_columns` columns, for each section, for each of its chunks:
///         values   [rows][block_columns]
///         places   [block_columns / place_columns][rows] of 32 bits
///
/// A place is the offset in bytes of a row of the dense matrix from the first of its section. Rows of a unit
/// that are zero, and those that pad, refer to zeros, so that they are multiplied by nothing that a dense
/// matrix holds there.
struct NmChunkLayout {
  NmChunks cut{};
  int block_columns = 0;
  int place_columns = 0;    ///< that share their places
  int value_bytes = 0;      ///< of a value
  int dense_row_bytes = 0;  ///< of a row of the dense matrix in shared memory, k-major
  int place_of_zeros = 0;
  /// Where the dense matrix is not k-major in shared memory: of a box of it, `box_row_bytes` of each row of a
  /// tile.
  int box_bytes = 0;

  static constexpr int box_row_bytes = 128;

  /// Of row `row` of a section.
  KOKKOS_INLINE_FUNCTION constexpr int place(int row) const {
    if (box_bytes == 0) return row * dense_row_bytes;
    return row * value_bytes / box_row_bytes * box_bytes + row * value_bytes % box_row_bytes;
  }

  KOKKOS_INLINE_FUNCTION constexpr int places_at() const { return cut.rows * block_columns * value_bytes; }
  KOKKOS_INLINE_FUNCTION constexpr int chunk_bytes() const {
    return places_at() + block_columns / place_columns * cut.rows * 4;
  }
  /// Of a section in shared memory, and of that what is copied: not the row of zeros.
  KOKKOS_INLINE_FUNCTION constexpr int copied_bytes() const { return cut.dense_rows() * dense_row_bytes; }
  KOKKOS_INLINE_FUNCTION constexpr int section_bytes() const { return copied_bytes() + dense_row_bytes; }

  constexpr std::int64_t bytes(std::int64_t k, std::int64_t n) const {
    return ceil_div(n, block_columns) * cut.sections(k) * cut.chunks * chunk_bytes();
  }
};

namespace detail {

/// Packs one kept row of a chunk with one warp.
template <class T, class Compute>
__global__ __launch_bounds__(128) void pack_chunks_kernel(NmView<T> b, NmChunkLayout layout,
                                                          std::int64_t sections, std::int64_t lines,
                                                          char* packed) {
  constexpr int pack = widest_pack<Compute>;
  const NmChunks& cut = layout.cut;
  const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * 4 + threadIdx.x / warp_size;
  if (line >= lines) return;
  const std::int64_t chunk = line / cut.rows;
  const int at = static_cast<int>(line % cut.rows);
  const std::int64_t section = chunk / cut.chunks % sections;
  const int of_section = static_cast<int>(chunk % cut.chunks) * cut.rows + at;  // which kept row of it
  const std::int64_t window = section * cut.windows + of_section / cut.kept;
  const bool is_there = of_section < cut.kept_rows() && window * cut.window < b.rows;
  const std::int64_t first_column = chunk / cut.chunks / sections * layout.block_columns;
  char* const out = packed + chunk * layout.chunk_bytes();
  const int sharing = layout.place_columns / pack;  // lanes, less than a warp
  for (int in_block = lane_id() * pack; in_block < layout.block_columns; in_block += warp_size * pack) {
    const std::int64_t column = first_column + in_block;
    Pack<Compute, pack> values{};
    std::int64_t row = b.rows;
    if (is_there && column < b.columns) {
      const std::int64_t unit = column / b.unit;
      const std::int64_t q = b.position(window, unit) + of_section % cut.kept;
      row = window * b.window + b.indices[q];
      const T* const from = b.values + q * b.unit + (column - unit * b.unit);
#pragma unroll
      for (int e = 0; e < pack; ++e)
        if (row < b.rows && column + e < b.columns)
          values.at[e] = static_cast<Compute>(static_cast<accumulate_t<T>>(from[e]));
    }
    bool is_zero = true;
#pragma unroll
    for (int e = 0; e < pack; ++e) is_zero = is_zero && values.at[e] == Compute(0);
    const unsigned nonzero = __ballot_sync(__activemask(), !is_zero);
    const unsigned mine = ((1u << sharing) - 1) << lane_id() / sharing * sharing;
    *reinterpret_cast<Pack<Compute, pack>*>(
        out + (static_cast<std::int64_t>(at) * layout.block_columns + in_block) * sizeof(Compute)) = values;
    if (lane_id() % sharing == 0)
      reinterpret_cast<int*>(out + layout.places_at())[in_block / layout.place_columns * cut.rows + at] =
          (nonzero & mine) == 0 ? layout.place_of_zeros
                                : layout.place(static_cast<int>(row - section * cut.dense_rows()));
  }
}

}  // namespace detail

/// Packs a matrix whose units are multiples of `layout.place_columns` columns: packed [layout.bytes(k, n)],
/// values as `Compute`.
template <class Compute, class T>
void pack_chunks(const Kokkos::Cuda& space, const NmView<T>& b, const NmChunkLayout& layout, char* packed) {
  const std::int64_t sections = layout.cut.sections(b.rows);
  const std::int64_t lines =
      ceil_div(b.columns, layout.block_columns) * sections * layout.cut.chunks * layout.cut.rows;
  launch(space, "sporos::pack_chunks", &detail::pack_chunks_kernel<T, Compute>, ceil_div(lines, 4), 128, 0, b,
         layout, sections, lines, packed);
}

}  // namespace sporos::gpu
