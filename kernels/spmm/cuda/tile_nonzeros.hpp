// SPDX-License-Identifier: Apache-2.0
/// @file tile_nonzeros.hpp
/// A sparse matrix packed for tensor cores: cut into tiles of 128 rows and 64 columns, of which those with
/// nonzeros are kept, each either as a list of its nonzeros or with its zeros.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../cuda/launch.hpp"
#include "../../cuda/mma_traits.hpp"
#include "../../cuda/scan.hpp"
#include "../../cuda/warp.hpp"

namespace sporos::gpu {

/// How tiles are stored: 4 bytes per nonzero, or 16 KiB per tile.
enum class TileForm { nonzeros, dense };

/// The tiles of a matrix of 16-bit values. In shared memory they have rows of 128 bytes, swizzled
/// (Swizzle128). A nonzero has 32 bits: its value and, in the upper half, the byte of the tile where the
/// value belongs. Four are loaded at once, so the last nonzero of a tile is repeated up to a multiple of
/// four. Dense tiles are stored in the layout that shared memory has.
struct TileNonzeros {
  static constexpr int rows = 128, columns = 64;
  static constexpr int bytes = rows * Swizzle128::row_bytes;  ///< per tile in shared memory

  std::int64_t row_tiles = 0, column_tiles = 0;
  std::int32_t* first = nullptr;  ///< [row_tiles * column_tiles + 1]: number of kept tiles before each tile
  std::int32_t* at_column = nullptr;  ///< [tiles kept]: column tile of each
  std::int32_t* fours = nullptr;      ///< [tiles kept + 1]: number of groups of four nonzeros before each
  uint4* nonzeros = nullptr;          ///< [number of groups]
  char* dense = nullptr;              ///< [tiles kept, bytes], instead of `fours` and `nonzeros`

  static TileNonzeros of(std::int64_t rows_of_all, std::int64_t columns_of_all) {
    TileNonzeros out;
    out.row_tiles = ceil_div(rows_of_all, rows);
    out.column_tiles = ceil_div(columns_of_all, columns);
    return out;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t tiles() const { return row_tiles * column_tiles; }
  /// Packing has arrays with a number for every tile, kept or not: too much for fewer than 16 nonzeros per
  /// tile, except in small matrices.
  bool are_worth_their_numbers(std::int64_t count) const { return tiles() <= 1024 || count / 16 >= tiles(); }
  /// An upper bound for a matrix with this many nonzeros.
  std::int64_t most_fours(std::int64_t count) const { return (count + 3 * std::min(count, tiles())) / 4; }

  /// The kept tiles of a row of tiles: [begin, end).
  __device__ __forceinline__ int begin_of(std::int64_t row_tile) const {
    return __ldg(first + row_tile * column_tiles);
  }
};

/// How many tiles a matrix keeps.
struct TileCounts {
  int kept;
  int most_of_row;  ///< in one row of tiles
};

/// The most column tiles that a matrix can have: a block counts the nonzeros of each in shared memory.
inline constexpr std::int64_t most_column_tiles = 48 * 1024 / 4;

namespace detail {

/// Counts in shared memory the nonzeros of each column tile in a row of tiles.
template <class A>
__device__ __forceinline__ void count_nonzeros_of_tiles(const A& a, int column_tiles, std::int32_t* counts) {
  for (int at = static_cast<int>(threadIdx.x); at < column_tiles; at += static_cast<int>(blockDim.x))
    counts[at] = 0;
  __syncthreads();
  const std::int64_t first_row = std::int64_t{blockIdx.x} * TileNonzeros::rows;
  const int warps = static_cast<int>(blockDim.x) / warp_size;
  for (int r = static_cast<int>(threadIdx.x) / warp_size; r < TileNonzeros::rows; r += warps) {
    if (first_row + r >= a.rows) break;
    const auto begin = static_cast<std::int64_t>(a.positions[first_row + r]),
               end = static_cast<std::int64_t>(a.positions[first_row + r + 1]);
    for (std::int64_t q = begin + lane_id(); q < end; q += warp_size)
      atomicAdd(counts + static_cast<std::int64_t>(a.coordinates[q]) / TileNonzeros::columns, 1);
  }
  __syncthreads();
}

/// Counts the tiles that are kept; each block takes a row of tiles.
template <class A>
__global__ __launch_bounds__(256) void measure_tiles_kernel(A a, int column_tiles, TileCounts* to) {
  extern __shared__ std::int32_t counts[];  // [column_tiles]
  count_nonzeros_of_tiles(a, column_tiles, counts);
  int kept = 0;
  for (int at = static_cast<int>(threadIdx.x); at < column_tiles; at += 256) kept += counts[at] > 0 ? 1 : 0;
  kept = group_sum(kept, warp_size);
  __shared__ int of_row;
  if (threadIdx.x == 0) of_row = 0;
  __syncthreads();
  if (lane_id() == 0) atomicAdd(&of_row, kept);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(&to->kept, of_row);
    atomicMax(&to->most_of_row, of_row);
  }
}

/// Counts the groups of four nonzeros of each tile; each block takes a row of tiles.
template <class A>
__global__ __launch_bounds__(256) void count_tiles_kernel(A a, TileNonzeros to, std::int32_t* fours,
                                                          std::int32_t* are_kept) {
  extern __shared__ std::int32_t counts[];  // [column_tiles]
  const int column_tiles = static_cast<int>(to.column_tiles);
  count_nonzeros_of_tiles(a, column_tiles, counts);
  for (int at = static_cast<int>(threadIdx.x); at < column_tiles; at += 256) {
    const std::int64_t tile = std::int64_t{blockIdx.x} * column_tiles + at;
    fours[tile] = (counts[at] + 3) / 4;
    are_kept[tile] = counts[at] > 0 ? 1 : 0;
  }
}

/// Finds whether each tile has nonzeros; each block takes a row of tiles.
template <class A>
__global__ __launch_bounds__(256) void find_tiles_kernel(A a, TileNonzeros to, std::int32_t* are_kept) {
  extern __shared__ std::int32_t counts[];  // [column_tiles]
  const int column_tiles = static_cast<int>(to.column_tiles);
  count_nonzeros_of_tiles(a, column_tiles, counts);
  for (int at = static_cast<int>(threadIdx.x); at < column_tiles; at += 256)
    are_kept[std::int64_t{blockIdx.x} * column_tiles + at] = counts[at] > 0 ? 1 : 0;
}

/// Where a nonzero belongs in its tile, in bytes.
__device__ __forceinline__ unsigned place_in_tile(int row, std::int64_t column) {
  const auto in_tile = static_cast<unsigned>(column % TileNonzeros::columns);
  return (Swizzle128::row_offset(static_cast<unsigned>(row)) ^ in_tile / 8 * Swizzle128::piece_bytes) +
         in_tile % 8 * 2;
}

/// Writes the nonzeros into dense tiles, which are zero elsewhere; each block takes a row of tiles.
template <class A>
__global__ __launch_bounds__(256) void fill_dense_tiles_kernel(A a, TileNonzeros to) {
  const int column_tiles = static_cast<int>(to.column_tiles);
  const std::int32_t* const first_of = to.first + std::int64_t{blockIdx.x} * column_tiles;
  for (int at = static_cast<int>(threadIdx.x); at < column_tiles; at += 256)
    if (first_of[at] < first_of[at + 1]) to.at_column[first_of[at]] = at;
  const std::int64_t first_row = std::int64_t{blockIdx.x} * TileNonzeros::rows;
  for (int r = static_cast<int>(threadIdx.x) / warp_size; r < TileNonzeros::rows; r += 256 / warp_size) {
    if (first_row + r >= a.rows) break;
    const auto begin = static_cast<std::int64_t>(a.positions[first_row + r]),
               end = static_cast<std::int64_t>(a.positions[first_row + r + 1]);
    for (std::int64_t q = begin + lane_id(); q < end; q += warp_size) {
      const auto column = static_cast<std::int64_t>(a.coordinates[q]);
      char* const tile =
          to.dense + std::int64_t{first_of[column / TileNonzeros::columns]} * TileNonzeros::bytes;
      memcpy(tile + place_in_tile(r, column), a.values + q, 2);
    }
  }
}

/// Writes the nonzeros of each tile; each block takes a row of tiles.
/// @param four  [tiles + 1]: where the groups of four nonzeros of each tile begin
template <class A>
__global__ __launch_bounds__(256) void fill_tiles_kernel(A a, TileNonzeros to, const std::int32_t* four) {
  extern __shared__ std::int32_t next[];  // [column_tiles]
  const int column_tiles = static_cast<int>(to.column_tiles);
  const std::int32_t* const four_of = four + std::int64_t{blockIdx.x} * column_tiles;
  const std::int32_t* const first_of = to.first + std::int64_t{blockIdx.x} * column_tiles;
  for (int at = static_cast<int>(threadIdx.x); at < column_tiles; at += 256) {
    next[at] = 0;
    if (first_of[at] < first_of[at + 1]) {
      to.at_column[first_of[at]] = at;
      to.fours[first_of[at]] = four_of[at];
    }
  }
  if (threadIdx.x == 0 && blockIdx.x == 0) to.fours[to.first[to.tiles()]] = four[to.tiles()];
  __syncthreads();
  auto* const entries = reinterpret_cast<std::uint32_t*>(to.nonzeros);
  const std::int64_t first_row = std::int64_t{blockIdx.x} * TileNonzeros::rows;
  for (int r = static_cast<int>(threadIdx.x) / warp_size; r < TileNonzeros::rows; r += 256 / warp_size) {
    if (first_row + r >= a.rows) break;
    const auto begin = static_cast<std::int64_t>(a.positions[first_row + r]),
               end = static_cast<std::int64_t>(a.positions[first_row + r + 1]);
    for (std::int64_t q = begin + lane_id(); q < end; q += warp_size) {
      const auto column = static_cast<std::int64_t>(a.coordinates[q]);
      const auto tile = column / TileNonzeros::columns;
      std::uint16_t value;
      memcpy(&value, a.values + q, 2);
      entries[std::int64_t{four_of[tile]} * 4 + atomicAdd(next + tile, 1)] =
          place_in_tile(r, column) << 16 | value;
    }
  }
  __syncthreads();
  for (int at = static_cast<int>(threadIdx.x); at < column_tiles; at += 256)
    for (int pad = next[at]; pad % 4 != 0; ++pad)
      entries[std::int64_t{four_of[at]} * 4 + pad] = entries[std::int64_t{four_of[at]} * 4 + next[at] - 1];
}

}  // namespace detail

/// The arrays used by packing.
struct TilePacking {
  std::int32_t* counts = nullptr;    ///< [tiles], number of groups of four nonzeros
  std::int32_t* are_kept = nullptr;  ///< [tiles]
  std::int32_t* four = nullptr;      ///< [tiles + 1]
  char* scratch = nullptr;           ///< [sizes_to_positions_bytes<std::int32_t, std::int32_t>(tiles)]
  std::int64_t scratch_bytes = 0;
};

/// Starts counting the tiles that a CSR matrix keeps.
/// @param to  zeros, in the GPU's memory
template <class A>
void start_counting_tiles(const Kokkos::Cuda& space, const A& a, TileCounts* to) {
  const std::int64_t column_tiles = TileNonzeros::of(a.rows, a.columns).column_tiles;
  launch(space, "sporos::measure_tiles", &detail::measure_tiles_kernel<A>,
         Grid(ceil_div(a.rows, TileNonzeros::rows)), 256, column_tiles * 4, a, static_cast<int>(column_tiles),
         to);
}

/// Writes the nonzeros of a CSR matrix of 16-bit values whose tiles are known, in the order of the stream of
/// `space`.
template <class A>
void fill_tiles(const Kokkos::Cuda& space, const A& a, const TileNonzeros& to, const TilePacking& in) {
  launch(space, "sporos::fill_tiles", &detail::fill_tiles_kernel<A>, Grid(to.row_tiles), 256,
         to.column_tiles * 4, a, to, static_cast<const std::int32_t*>(in.four));
}

/// Finds the tiles of a CSR matrix and writes their nonzeros.
template <class A>
void pack_tiles(const Kokkos::Cuda& space, const A& a, const TileNonzeros& to, const TilePacking& in) {
  launch(space, "sporos::count_tiles", &detail::count_tiles_kernel<A>, Grid(to.row_tiles), 256,
         to.column_tiles * 4, a, to, in.counts, in.are_kept);
  sizes_to_positions(space, to.tiles(), in.counts, in.four, nullptr, in.scratch, in.scratch_bytes);
  sizes_to_positions(space, to.tiles(), in.are_kept, to.first, nullptr, in.scratch, in.scratch_bytes);
  fill_tiles(space, a, to, in);
}

/// Finds the tiles of a CSR matrix and writes them with their zeros.
/// @param kept  upper bound of the number of tiles kept
template <class A>
void pack_dense_tiles(const Kokkos::Cuda& space, const A& a, const TileNonzeros& to, const TilePacking& in,
                      std::int64_t kept) {
  launch(space, "sporos::find_tiles", &detail::find_tiles_kernel<A>, Grid(to.row_tiles), 256,
         to.column_tiles * 4, a, to, in.are_kept);
  sizes_to_positions(space, to.tiles(), in.are_kept, to.first, nullptr, in.scratch, in.scratch_bytes);
  zero(space, to.dense, kept * TileNonzeros::bytes);
  launch(space, "sporos::fill_dense_tiles", &detail::fill_dense_tiles_kernel<A>, Grid(to.row_tiles), 256, 0,
         a, to);
}

}  // namespace sporos::gpu
