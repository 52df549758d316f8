// SPDX-License-Identifier: Apache-2.0
/// @file chunks.hpp
/// An N:M sparse matrix packed for CUDA cores: the values that a block multiplies by, chunk after chunk, and
/// for each kept row the place in shared memory where its partner of the dense matrix stands:
/// chunk_layout.hpp.
#pragma once

#include <cstdint>

#include "../../../core/value.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"
#include "../view.hpp"
#include "chunk_layout.hpp"

namespace sporos::gpu {

namespace detail {

/// Where a row of a section is in its list.
__device__ __forceinline__ int place_in_list(const std::uint8_t* list, int row) {
  int begin = 0, end = *reinterpret_cast<const int*>(list);
  while (end - begin > 1) {
    const int middle = (begin + end) / 2;
    (list[NmChunkLayout::count_bytes + middle] <= row ? begin : end) = middle;
  }
  return begin;
}

/// Lists the rows of one section that some unit of a block's columns keeps.
template <class T>
__global__ __launch_bounds__(128) void list_rows_kernel(NmView<T> b, NmChunkLayout layout,
                                                        std::int64_t sections, std::uint8_t* lists) {
  constexpr int words = 256 / 32;  // of the rows of a section
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
    const int slot = at % cut.kept_rows();
    const std::int64_t window = section * cut.windows + slot / cut.kept;
    if (window * cut.window >= b.rows) continue;
    const int row = slot / cut.kept * cut.window +
                    b.indices[b.position(window, first_unit + at / cut.kept_rows()) + slot % cut.kept];
    if (section * cut.dense_rows() + row < b.rows) atomicOr(&is_kept[row / 32], 1u << row % 32);
  }
  __syncthreads();
  std::uint8_t* const list = lists + static_cast<std::int64_t>(blockIdx.x) * layout.list_bytes();
  for (int row = static_cast<int>(threadIdx.x); row < words * 32; row += blockDim.x) {
    int before = 0;
    for (int word = 0; word < row / 32; ++word) before += __popc(is_kept[word]);
    before += __popc(is_kept[row / 32] & ((1u << row % 32) - 1));
    if ((is_kept[row / 32] >> row % 32 & 1) != 0)
      list[NmChunkLayout::count_bytes + before] = static_cast<std::uint8_t>(row);
    if (row == words * 32 - 1) *reinterpret_cast<int*>(list) = before + (is_kept[words - 1] >> 31);
  }
}

/// Packs one kept row of a chunk with one warp: line number `line` of all chunks.
/// @param lists  where the layout has them
template <class T, class Compute>
__device__ void pack_line(const NmView<T>& b, const NmChunkLayout& layout, std::int64_t line, char* packed,
                          const std::uint8_t* lists = nullptr) {
  constexpr int pack = widest_pack<Compute>;
  const NmChunks& cut = layout.cut;
  const std::int64_t sections = ceil_div(b.rows, cut.dense_rows());
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
    if (lane_id() % sharing > 0) continue;
    int place = layout.place_of_zeros;
    if ((nonzero & mine) != 0) {
      const int in_section = static_cast<int>(row - section * cut.dense_rows());
      place = layout.place(lists ? place_in_list(lists + chunk / cut.chunks * layout.list_bytes(), in_section)
                                 : in_section);
    }
    reinterpret_cast<int*>(out + layout.places_at())[in_block / layout.place_columns * cut.rows + at] = place;
  }
}

template <class T, class Compute>
__global__ __launch_bounds__(128) void pack_chunks_kernel(NmView<T> b, NmChunkLayout layout,
                                                          std::int64_t lines, char* packed,
                                                          const std::uint8_t* lists) {
  const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * 4 + threadIdx.x / warp_size;
  if (line < lines) pack_line<T, Compute>(b, layout, line, packed, lists);
}

}  // namespace detail

/// Packs a matrix whose units are multiples of `layout.place_columns` columns: packed [layout.bytes(k, n)],
/// values as `Compute`.
template <class Compute, class T>
void pack_chunks(const Kokkos::Cuda& space, const NmView<T>& b, const NmChunkLayout& layout, char* packed) {
  const std::int64_t lines = layout.lines(b.rows, b.columns);
  std::uint8_t* lists = nullptr;
  if (layout.packs_rows) {
    lists = reinterpret_cast<std::uint8_t*>(packed + layout.lists_at(b.rows, b.columns));
    launch(space, "sporos::list_rows", &detail::list_rows_kernel<T>, layout.lists(b.rows, b.columns), 128, 0,
           b, layout, layout.cut.sections(b.rows), lists);
  }
  launch(space, "sporos::pack_chunks", &detail::pack_chunks_kernel<T, Compute>, ceil_div(lines, 4), 128, 0, b,
         layout, lines, packed, static_cast<const std::uint8_t*>(lists));
}

}  // namespace sporos::gpu
