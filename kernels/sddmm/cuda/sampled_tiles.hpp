// SPDX-License-Identifier: Apache-2.0
/// @file sampled_tiles.hpp
/// The pattern of a sparse matrix by square tiles: which tiles have nonzeros, and where in the tile each one
/// lies.
///
/// The nonzeros of a tile are listed row by row. For a matrix with tiles of 4 rows and columns,
///
///     row 0   0 . 0 0 | . . . 0        tile (0, 0)   places 0 2 3 | 7 | 9      distances 0 1 1 .
///     row 1   . . . 0 | . . . .        tile (0, 1)   places 3 | 11 | 14        distances 3 . 5 5
///     row 2   . 0 . . | . . . 0
///     row 3   . . . . | . . 0 .
///
/// a place is row * 4 + column within the tile. Number n of the list, if its place lies in row r, is nonzero
/// `distances[r] + n` of the matrix, since the nonzeros of a row are neighbours in both.
#pragma once

#include <cstdint>

#include <cub/block/block_scan.cuh>

#include "../../cuda/csr.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/scan.hpp"
#include "../../cuda/warp.hpp"

namespace sporos::gpu {

/// The tiles of a matrix that have nonzeros: 2 bytes per nonzero, and 4 for each row of a tile.
struct SampledTiles {
  /// Lists begin at multiples of this many nonzeros, which are 16 bytes.
  static constexpr int alignment = 8;

  struct alignas(16) Tile {
    std::int32_t row_tile, column_tile;
    std::int32_t first;  ///< index of its first place in `places`
    std::int32_t count;  ///< number of nonzeros
  };

  const std::int32_t* kept = nullptr;       ///< the number of tiles with nonzeros
  const Tile* tiles = nullptr;              ///< [kept], row by row
  const std::int32_t* distances = nullptr;  ///< [kept, size]
  const std::uint16_t* places = nullptr;

  __device__ __forceinline__ unsigned count() const { return static_cast<unsigned>(__ldg(kept)); }
  __device__ __forceinline__ Tile at(std::int64_t number) const {
    const auto words = __ldg(reinterpret_cast<const int4*>(tiles + number));
    return {words.x, words.y, words.z, words.w};
  }
};

/// How many tiles of each size have nonzeros.
struct SampledTileCounts {
  std::int32_t of_64 = 0, of_128 = 0;

  std::int64_t of(int size) const { return size == 64 ? of_64 : of_128; }
};

/// The grid of all tiles of a matrix, with or without nonzeros.
struct TileGrid {
  std::int64_t row_tiles, column_tiles;

  static TileGrid of(std::int64_t rows, std::int64_t columns, int size) {
    return {ceil_div(rows, size), ceil_div(columns, size)};
  }
  std::int64_t tiles() const { return row_tiles * column_tiles; }
};

/// The most column tiles that a matrix can have: a block counts the nonzeros of each in shared memory.
inline constexpr std::int64_t most_sampled_column_tiles = 48 * 1024 / 4;

/// The arrays used while the tiles are found.
struct SampledTileRoom {
  static constexpr int threads = 256;           ///< threads per block for one tile
  static constexpr int threads_of_rows = 1024;  ///< threads per block for a row of tiles; such blocks are few

  std::int32_t* nonzeros = nullptr;  ///< [tiles of the grid]
  std::int32_t* rooms = nullptr;     ///< [tiles of the grid], room for places, aligned
  std::int32_t* are_kept = nullptr;  ///< [tiles of the grid]
  std::int32_t* first = nullptr;     ///< [tiles of the grid + 1], index of the first place
  std::int32_t* number = nullptr;    ///< [tiles of the grid + 1], index among the tiles that are kept
  int2* segments = nullptr;          ///< [most, size]: the nonzeros of each row of a tile, [begin, end)
  char* scratch = nullptr;
  std::int64_t scratch_bytes = 0;

  static SampledTileRoom lay_out(const Kokkos::Cuda& space, Layout& layout, const TileGrid& grid,
                                 std::int64_t most, int size) {
    SampledTileRoom out;
    const std::int64_t tiles = grid.tiles();
    out.nonzeros = layout.take<std::int32_t>(tiles);
    out.rooms = layout.take<std::int32_t>(tiles);
    out.are_kept = layout.take<std::int32_t>(tiles);
    out.first = layout.take<std::int32_t>(tiles + 1);
    out.number = layout.take<std::int32_t>(tiles + 1);
    out.segments = layout.take<int2>(most * size);
    out.scratch_bytes = sizes_to_positions_bytes<std::int32_t, std::int32_t>(space, tiles);
    out.scratch = layout.take<char>(out.scratch_bytes);
    return out;
  }
};

namespace detail {

/// Calls visit(row of the block, nonzero, its column, begin and end of its row) for the nonzeros of `Rows`
/// rows; each warp takes a row at a time.
template <int Rows, class A, class Visit>
__device__ __forceinline__ void for_each_nonzero_of_rows(const A& a, const Visit& visit) {
  const std::int64_t first_row = std::int64_t{blockIdx.x} * Rows;
  const int warps = static_cast<int>(blockDim.x) / warp_size;
  for (int r = static_cast<int>(threadIdx.x) / warp_size; r < Rows && first_row + r < a.rows; r += warps) {
    const auto begin = static_cast<std::int64_t>(a.positions[first_row + r]),
               end = static_cast<std::int64_t>(a.positions[first_row + r + 1]);
    for (std::int64_t q = begin + lane_id(); q < end; q += warp_size)
      visit(r, q, static_cast<std::int64_t>(a.coordinates[q]), begin, end);
  }
}

/// Counts the tiles of 64 and of 128 rows and columns that have nonzeros; each block takes 128 rows.
template <class A>
__global__ __launch_bounds__(SampledTileRoom::threads_of_rows) void count_sampled_tiles_kernel(
    A a, int words, SampledTileCounts* to) {
  // Two bits for every 64 columns: whether the upper and the lower 64 rows have nonzeros there.
  extern __shared__ std::uint32_t are_there[];  // [words]
  for (int at = static_cast<int>(threadIdx.x); at < words; at += SampledTileRoom::threads_of_rows)
    are_there[at] = 0;
  __syncthreads();
  for_each_nonzero_of_rows<128>(
      a, [&](int r, std::int64_t q, std::int64_t column, std::int64_t begin, std::int64_t) {
        const std::int64_t tile = column / 64;
        if (q == begin || static_cast<std::int64_t>(a.coordinates[q - 1]) / 64 != tile)
          atomicOr(are_there + tile / 16, 1U << (tile % 16 * 2 + r / 64));
      });
  __syncthreads();
  int of_64 = 0, of_128 = 0;
  for (int at = static_cast<int>(threadIdx.x); at < words; at += SampledTileRoom::threads_of_rows) {
    const std::uint32_t word = are_there[at];
    std::uint32_t of_pairs = word | word >> 1;
    of_pairs |= of_pairs >> 2;
    of_64 += __popc(word);
    of_128 += __popc(of_pairs & 0x11111111u);
  }
  of_64 = group_sum(of_64, warp_size);
  of_128 = group_sum(of_128, warp_size);
  if (lane_id() == 0 && of_64 > 0) {
    atomicAdd(&to->of_64, of_64);
    atomicAdd(&to->of_128, of_128);
  }
}

/// Counts the nonzeros of each tile; each block takes a row of tiles.
template <int Size, class A>
__global__ __launch_bounds__(SampledTileRoom::threads_of_rows) void count_nonzeros_of_sampled_tiles_kernel(
    A a, int column_tiles, SampledTileRoom to) {
  extern __shared__ std::int32_t counts[];  // [column_tiles]
  for (int at = static_cast<int>(threadIdx.x); at < column_tiles; at += SampledTileRoom::threads_of_rows)
    counts[at] = 0;
  __syncthreads();
  for_each_nonzero_of_rows<Size>(a, [&](int, std::int64_t, std::int64_t column, std::int64_t, std::int64_t) {
    atomicAdd(counts + column / Size, 1);
  });
  __syncthreads();
  for (int at = static_cast<int>(threadIdx.x); at < column_tiles; at += SampledTileRoom::threads_of_rows) {
    const std::int64_t tile = std::int64_t{blockIdx.x} * column_tiles + at;
    const std::int32_t count = counts[at];
    to.nonzeros[tile] = count;
    to.rooms[tile] =
        (count + SampledTiles::alignment - 1) / SampledTiles::alignment * SampledTiles::alignment;
    to.are_kept[tile] = count > 0 ? 1 : 0;
  }
}

/// Writes the description of each tile and, if it has nonzeros, where those of each of its rows are; each
/// block takes a row of tiles.
template <int Size, class A>
__global__ __launch_bounds__(SampledTileRoom::threads_of_rows) void find_segments_kernel(
    A a, int column_tiles, SampledTileRoom in, SampledTiles::Tile* tiles) {
  const std::int64_t first_tile = std::int64_t{blockIdx.x} * column_tiles;
  const std::int32_t* const number = in.number + first_tile;
  for (int at = static_cast<int>(threadIdx.x); at < column_tiles; at += SampledTileRoom::threads_of_rows)
    if (in.are_kept[first_tile + at] != 0)
      tiles[number[at]] = {static_cast<std::int32_t>(blockIdx.x), at, in.first[first_tile + at],
                           in.nonzeros[first_tile + at]};
  for_each_nonzero_of_rows<Size>(
      a, [&](int r, std::int64_t q, std::int64_t column, std::int64_t begin, std::int64_t end) {
        const std::int64_t tile = column / Size;
        int2& segment = in.segments[std::int64_t{number[tile]} * Size + r];
        if (q == begin || static_cast<std::int64_t>(a.coordinates[q - 1]) / Size != tile)
          segment.x = static_cast<int>(q);
        if (q + 1 == end || static_cast<std::int64_t>(a.coordinates[q + 1]) / Size != tile)
          segment.y = static_cast<int>(q + 1);
      });
}

/// Lists the nonzeros of each tile; each block takes a tile.
template <int Size, class A>
__global__ __launch_bounds__(SampledTileRoom::threads) void list_places_kernel(
    A a, const std::int32_t* kept, const int2* segments, const SampledTiles::Tile* tiles,
    std::int32_t* distances, std::uint16_t* places) {
  using Scan = cub::BlockScan<std::int32_t, SampledTileRoom::threads, cub::BLOCK_SCAN_WARP_SCANS>;
  static_assert(Size <= SampledTileRoom::threads, "each row of a tile has a thread");
  __shared__ typename Scan::TempStorage scratch;
  __shared__ std::int32_t begins[Size], counts[Size], offsets[Size];
  if (blockIdx.x >= static_cast<unsigned>(*kept)) return;
  const SampledTiles::Tile tile = tiles[blockIdx.x];
  const int thread = static_cast<int>(threadIdx.x), warp = thread / warp_size;
  int2 segment{0, 0};
  if (thread < Size) segment = segments[std::int64_t{blockIdx.x} * Size + thread];
  const std::int32_t count = segment.y - segment.x;  // [Size rows]
  std::int32_t offset = 0;                           // [Size rows], nonzeros of the rows before
  Scan(scratch).ExclusiveSum(count, offset);
  if (thread < Size) {
    begins[thread] = segment.x;
    counts[thread] = count;
    offsets[thread] = offset;
    distances[std::int64_t{blockIdx.x} * Size + thread] = segment.x - offset;
  }
  __syncthreads();
  const std::int64_t first_column = std::int64_t{tile.column_tile} * Size;
  for (int r = warp; r < Size; r += SampledTileRoom::threads / warp_size)
    for (int at = lane_id(); at < counts[r]; at += warp_size)
      places[tile.first + offsets[r] + at] = static_cast<std::uint16_t>(
          r * Size +
          static_cast<int>(static_cast<std::int64_t>(a.coordinates[begins[r] + at]) - first_column));
}

}  // namespace detail

/// Counts the tiles of a matrix that have nonzeros, and waits for the result.
/// @param a   by rows, with at most 64 * most_sampled_column_tiles columns
/// @param to  in the GPU's memory
template <class A>
SampledTileCounts count_sampled_tiles(const Kokkos::Cuda& space, const A& a, SampledTileCounts* to) {
  const std::int64_t words = ceil_div(ceil_div(a.columns, 64), 16);
  zero(space, to, 1);
  launch(space, "sporos::count_sampled_tiles", &detail::count_sampled_tiles_kernel<A>,
         Grid(ceil_div(a.rows, 128)), SampledTileRoom::threads_of_rows, words * 4, a, static_cast<int>(words),
         to);
  return read_back(space, to);
}

/// Where find_sampled_tiles() writes.
struct SampledTileOutput {
  std::int32_t* kept = nullptr;         ///< one number
  SampledTiles::Tile* tiles = nullptr;  ///< [most]
  std::int32_t* distances = nullptr;    ///< [most, size]
  std::uint16_t* places = nullptr;      ///< [most_places]

  static std::int64_t most_places(std::int64_t nonzeros, std::int64_t most) {
    return nonzeros + (SampledTiles::alignment - 1) * most;
  }
  static SampledTileOutput lay_out(Layout& layout, std::int64_t nonzeros, std::int64_t most, int size) {
    SampledTileOutput out;
    out.kept = layout.take<std::int32_t>(1);
    out.tiles = layout.take<SampledTiles::Tile>(most);
    out.distances = layout.take<std::int32_t>(most * size);
    out.places = layout.take<std::uint16_t>(most_places(nonzeros, most));
    return out;
  }
  SampledTiles view() const { return {kept, tiles, distances, places}; }
};

/// Finds the tiles of a matrix and lists their nonzeros, in the order of the stream of `space`. The lists do
/// not depend on the order in which threads run.
/// @param a     by rows, with fewer than 2^31 nonzeros and at most most_sampled_column_tiles column tiles
/// @param most  upper bound of the number of tiles with nonzeros
template <int Size, class A>
void find_sampled_tiles(const Kokkos::Cuda& space, const A& a, std::int64_t most, const SampledTileRoom& room,
                        const SampledTileOutput& to) {
  const TileGrid grid = TileGrid::of(a.rows, a.columns, Size);
  const int column_tiles = static_cast<int>(grid.column_tiles);
  launch(space, "sporos::count_nonzeros_of_sampled_tiles",
         &detail::count_nonzeros_of_sampled_tiles_kernel<Size, A>, Grid(grid.row_tiles),
         SampledTileRoom::threads_of_rows, grid.column_tiles * 4, a, column_tiles, room);
  sizes_to_positions(space, grid.tiles(), room.rooms, room.first, nullptr, room.scratch, room.scratch_bytes);
  sizes_to_positions(space, grid.tiles(), room.are_kept, room.number, nullptr, room.scratch,
                     room.scratch_bytes);
  expect_success(cudaMemcpyAsync(to.kept, room.number + grid.tiles(), sizeof(std::int32_t),
                                 cudaMemcpyDeviceToDevice, space.cuda_stream()),
                 "the number of tiles");
  zero(space, room.segments, most * Size);
  launch(space, "sporos::find_segments", &detail::find_segments_kernel<Size, A>, Grid(grid.row_tiles),
         SampledTileRoom::threads_of_rows, 0, a, column_tiles, room, to.tiles);
  launch(space, "sporos::list_places", &detail::list_places_kernel<Size, A>, Grid(most),
         SampledTileRoom::threads, 0, a, static_cast<const std::int32_t*>(to.kept),
         static_cast<const int2*>(room.segments), static_cast<const SampledTiles::Tile*>(to.tiles),
         to.distances, to.places);
}

}  // namespace sporos::gpu
