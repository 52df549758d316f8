// SPDX-License-Identifier: Apache-2.0
/// @file chunks.hpp
/// An N:M sparse matrix packed for CUDA cores: the values that a block multiplies by, chunk after chunk, and
/// for each kept row the place in shared memory of the row of the dense matrix that it meets
/// (chunk_layout.hpp).
#pragma once

#include <cstdint>

#include "../../../core/value.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"
#include "../view.hpp"
#include "chunk_layout.hpp"

namespace sporos::gpu {

namespace detail {

/// Packs line number `line` of all chunks, one kept row of a chunk, with one whole warp.
template <class T, class Compute>
__device__ void pack_line(const NmView<T>& b, const NmChunkLayout& layout, std::int64_t line, char* packed) {
  constexpr int pack = widest_pack<Compute>;
  const NmChunks& cut = layout.cut;
  const std::int64_t sections = ceil_div(b.rows, cut.dense_rows());
  const std::int64_t chunk = line / cut.rows;
  const int at = static_cast<int>(line % cut.rows);
  const std::int64_t section = chunk / cut.chunks % sections;
  const int of_section = static_cast<int>(chunk % cut.chunks) * cut.rows + at;  // its number in the section
  const std::int64_t window = section * cut.windows + of_section / cut.kept;
  const bool is_there = of_section < cut.kept_rows() && window * cut.window < b.rows;
  const std::int64_t first_column = chunk / cut.chunks / sections * layout.block_columns;
  char* const out = packed + chunk * layout.chunk_bytes();
  const int sharing = layout.place_columns / pack;  // lanes with the same places, fewer than a warp
  for (int begin = 0; begin < layout.block_columns; begin += warp_size * pack) {
    const int in_block = begin + lane_id() * pack;
    const bool is_in_block = in_block < layout.block_columns;
    const std::int64_t column = first_column + in_block;
    Pack<Compute, pack> values{};
    std::int64_t row = b.rows;
    if (is_there && is_in_block && column < b.columns) {
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
    const unsigned nonzero = __ballot_sync(~0u, !is_zero);
    if (!is_in_block) continue;
    const unsigned mine = ((1u << sharing) - 1) << lane_id() / sharing * sharing;
    *reinterpret_cast<Pack<Compute, pack>*>(
        out + (static_cast<std::int64_t>(at) * layout.block_columns + in_block) * sizeof(Compute)) = values;
    if (lane_id() % sharing == 0)
      reinterpret_cast<int*>(out + layout.places_at())[in_block / layout.place_columns * cut.rows + at] =
          (nonzero & mine) == 0 ? layout.place_of_zeros
                                : layout.place(static_cast<int>(row - section * cut.dense_rows()));
  }
}

template <class T, class Compute>
__global__ __launch_bounds__(128) void pack_chunks_kernel(NmView<T> b, NmChunkLayout layout,
                                                          std::int64_t lines, char* packed) {
  const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * 4 + threadIdx.x / warp_size;
  if (line < lines) pack_line<T, Compute>(b, layout, line, packed);
}

}  // namespace detail

/// Packs a matrix whose units are multiples of `layout.place_columns` columns into `packed`,
/// [layout.bytes(k, n)], converting values to `Compute`.
template <class Compute, class T>
void pack_chunks(const Kokkos::Cuda& space, const NmView<T>& b, const NmChunkLayout& layout, char* packed) {
  const std::int64_t lines = layout.lines(b.rows, b.columns);
  launch(space, "sporos::pack_chunks", &detail::pack_chunks_kernel<T, Compute>, ceil_div(lines, 4), 128, 0, b,
         layout, lines, packed);
}

}  // namespace sporos::gpu
