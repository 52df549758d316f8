// SPDX-License-Identifier: Apache-2.0
/// @file chunks.hpp
/// An N:M sparse matrix packed for CUDA cores: the values that a block multiplies by, chunk after chunk, and
/// for each kept row the place in shared memory of the row of the dense matrix that it meets; where a layout
/// lists rows, also which rows of the dense matrix are copied (chunk_layout.hpp).
#pragma once

#include <cstdint>

#include "../../../core/value.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"
#include "../view.hpp"
#include "chunk_layout.hpp"

namespace sporos::gpu {

namespace detail {

/// Lists the rows of one section that some unit of a block's columns keeps; one block for each list.
template <class T>
__global__ __launch_bounds__(128) void list_rows_kernel(NmView<T> b, NmChunkLayout layout,
                                                        std::int64_t sections, std::uint16_t* lists) {
  constexpr int words = 256 / 32;  // bits for the rows of a section
  __shared__ unsigned is_kept[words];
  const NmChunks& cut = layout.cut;
  const std::int64_t section = blockIdx.x % sections;
  const std::int64_t first_column = blockIdx.x / sections * layout.block_columns;
  const std::int64_t end_column =
      first_column + layout.block_columns < b.columns ? first_column + layout.block_columns : b.columns;
  const std::int64_t first_unit = first_column / b.unit;
  const int units = static_cast<int>((end_column - 1) / b.unit - first_unit) + 1;
  if (threadIdx.x < words) is_kept[threadIdx.x] = 0;
  __syncthreads();
  for (int at = static_cast<int>(threadIdx.x); at < units * cut.kept_rows(); at += blockDim.x) {
    const int of_section = at % cut.kept_rows();
    const std::int64_t window = section * cut.windows + of_section / cut.kept;
    if (window * cut.window >= b.rows) continue;
    const int row = of_section / cut.kept * cut.window +
                    b.indices[b.position(window, first_unit + at / cut.kept_rows()) + of_section % cut.kept];
    if (section * cut.dense_rows() + row < b.rows) atomicOr(&is_kept[row / 32], 1u << row % 32);
  }
  __syncthreads();
  int count = 0;
  for (int word = 0; word < words; ++word) count += __popc(is_kept[word]);
  std::uint16_t* const list = lists + std::int64_t{blockIdx.x} * layout.list_size();
  for (int row = static_cast<int>(threadIdx.x); row < words * 32; row += blockDim.x) {
    if ((is_kept[row / 32] >> row % 32 & 1) == 0) continue;
    int before = __popc(is_kept[row / 32] & ((1u << row % 32) - 1));
    for (int word = 0; word < row / 32; ++word) before += __popc(is_kept[word]);
    list[layout.in_list(before)] = static_cast<std::uint16_t>(row);
  }
  for (int at = count + static_cast<int>(threadIdx.x); at < layout.list_size(); at += blockDim.x)
    list[layout.in_list(at)] = NmChunkLayout::no_row;
}

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
    if (lane_id() % sharing > 0) continue;
    int place = layout.place_of_zeros;
    if ((nonzero & mine) != 0) {
      int in_section = static_cast<int>(row - section * cut.dense_rows());
      if (layout.listed_rows > 0)
        in_section = layout.place_in_list(
            reinterpret_cast<const std::uint16_t*>(packed + layout.lists_at(b.rows, b.columns)) +
                chunk / cut.chunks * layout.list_size(),
            in_section);
      place = layout.place(in_section);
    }
    reinterpret_cast<int*>(out + layout.places_at())[in_block / layout.place_columns * cut.rows + at] = place;
  }
}

template <class T, class Compute>
__global__ __launch_bounds__(128) void pack_chunks_kernel(NmView<T> b, NmChunkLayout layout,
                                                          std::int64_t lines, char* packed) {
  const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * 4 + threadIdx.x / warp_size;
  if (line < lines) pack_line<T, Compute>(b, layout, line, packed);
}

}  // namespace detail

/// Lists rows in `packed`, for a layout that lists them, before `pack_chunks` packs the rest of it.
template <class T>
void list_rows(const Kokkos::Cuda& space, const NmView<T>& b, const NmChunkLayout& layout, char* packed) {
  launch(space, "sporos::list_rows", &detail::list_rows_kernel<T>, layout.lists(b.rows, b.columns), 128, 0, b,
         layout, layout.cut.sections(b.rows),
         reinterpret_cast<std::uint16_t*>(packed + layout.lists_at(b.rows, b.columns)));
}

/// Packs a matrix whose units are multiples of `layout.place_columns` columns into `packed`,
/// [layout.bytes(k, n)], converting values to `Compute`.
template <class Compute, class T>
void pack_chunks(const Kokkos::Cuda& space, const NmView<T>& b, const NmChunkLayout& layout, char* packed) {
  const std::int64_t lines = layout.lines(b.rows, b.columns);
  launch(space, "sporos::pack_chunks", &detail::pack_chunks_kernel<T, Compute>, ceil_div(lines, 4), 128, 0, b,
         layout, lines, packed);
}

}  // namespace sporos::gpu
