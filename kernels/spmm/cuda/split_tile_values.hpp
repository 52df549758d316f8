// SPDX-License-Identifier: Apache-2.0
/// @file split_tile_values.hpp
/// A sparse matrix of floats packed for tensor cores: cut into tiles of 32 columns, of which those with
/// nonzeros are kept, including their zeros; each float is stored as a sum of two numbers in tf32.
#pragma once

#include <cstdint>

#include "../../cuda/launch.hpp"
#include "../../cuda/mma.hpp"
#include "../../cuda/mma_traits.hpp"
#include "../../cuda/scan.hpp"
#include "../../cuda/warp.hpp"

namespace sporos::gpu {

/// x = high + low, both in tf32, whose 11 bits leave an error of at most 2^-23 |x|. If x is not finite, or
/// too large for tf32, neither is the sum.
__device__ __forceinline__ void split_in_tf32(float x, std::uint32_t& high, std::uint32_t& low) {
  high = ptx::to_tf32(x);
  low = ptx::to_tf32(x - __uint_as_float(high));
}

/// Does the same with instructions that take half as long as conversions, with an error of at most 2^-22 |x|:
/// the low part has 13 bits, of which tensor cores read 11.
__device__ __forceinline__ void cut_in_tf32(float x, std::uint32_t& high, std::uint32_t& low) {
  high = (__float_as_uint(x) + 0x1000u) & 0xffffe000u;  // the upper bits, rounded
  low = __float_as_uint(x - __uint_as_float(high));
}

/// The tiles that a matrix keeps, in the layout that shared memory has: rows of 32 floats, swizzled
/// (Swizzle128), first the high parts of a tile, then the low ones.
struct SplitTiles {
  static constexpr int columns = 32;
  static constexpr int fewest_rows = 32, most_rows = 64;

  int rows = fewest_rows;  ///< per tile: 32 or 64
  std::int64_t row_tiles = 0, column_tiles = 0;
  std::int32_t* first = nullptr;  ///< [row_tiles * column_tiles + 1]: number of kept tiles before each tile
  std::int32_t* at_column = nullptr;  ///< [tiles kept]: column tile of each
  char* values = nullptr;             ///< [tiles kept, bytes_of(rows)]

  static SplitTiles of(int rows, std::int64_t rows_of_all, std::int64_t columns_of_all) {
    SplitTiles out;
    out.rows = rows;
    out.row_tiles = ceil_div(rows_of_all, rows);
    out.column_tiles = ceil_div(columns_of_all, columns);
    return out;
  }
  KOKKOS_INLINE_FUNCTION static constexpr int bytes_of(int rows) { return rows * Swizzle128::row_bytes * 2; }
  KOKKOS_INLINE_FUNCTION std::int64_t tiles() const { return row_tiles * column_tiles; }
  /// Packing has arrays with a number for every tile, kept or not: too much for fewer than four nonzeros per
  /// tile, except in small matrices.
  bool are_worth_their_numbers(std::int64_t count) const { return tiles() <= 1024 || count / 4 >= tiles(); }

  /// The kept tiles of a row of tiles: [begin, end).
  __device__ __forceinline__ int begin_of(std::int64_t row_tile) const {
    return __ldg(first + row_tile * column_tiles);
  }

  /// Where the element (row, column) of a tile is among the high parts, in bytes. Of the eight columns that a
  /// matrix instruction multiplies, the even ones come first, then the odd ones, so that lanes read the rows
  /// of the other factor, which is swizzled as well, from different banks.
  KOKKOS_INLINE_FUNCTION static constexpr unsigned place(unsigned row, unsigned column) {
    const unsigned of_step = column % 8 / 2 + column % 2 * 4, at = column / 8 * 8 + of_step;
    return (Swizzle128::row_offset(row) ^ at / 4 * Swizzle128::piece_bytes) + at % 4 * 4;
  }
};

/// How many tiles of 32 and of 64 rows a matrix keeps.
struct SplitTileCounts {
  int kept[2];
  int most_of_row[2];  ///< in one row of tiles

  static int of(int rows) { return rows == SplitTiles::most_rows ? 1 : 0; }
};

/// The most column tiles that a matrix can have: a block keeps a number for each in shared memory.
inline constexpr std::int64_t most_split_column_tiles = 48 * 1024 / 4;

namespace detail {

/// Calls visit(row, q) for each nonzero of `count` rows; each warp takes a row.
template <class A, class Visit>
__device__ __forceinline__ void visit_nonzeros(const A& a, std::int64_t first_row, int count,
                                               const Visit& visit) {
  const int warps = static_cast<int>(blockDim.x) / warp_size;
  for (int r = static_cast<int>(threadIdx.x) / warp_size; r < count; r += warps) {
    if (first_row + r >= a.rows) break;
    const auto begin = static_cast<std::int64_t>(a.positions[first_row + r]),
               end = static_cast<std::int64_t>(a.positions[first_row + r + 1]);
    for (std::int64_t q = begin + lane_id(); q < end; q += warp_size) visit(r, q);
  }
}

/// For each column tile of `count` rows, sets in shared memory a bit for every 32 rows that have nonzeros
/// there.
template <class A>
__device__ __forceinline__ void find_split_tiles(const A& a, std::int64_t first_row, int count,
                                                 int column_tiles, unsigned* found) {
  for (int at = static_cast<int>(threadIdx.x); at < column_tiles; at += static_cast<int>(blockDim.x))
    found[at] = 0;
  __syncthreads();
  visit_nonzeros(a, first_row, count, [&](int r, std::int64_t q) {
    atomicOr(found + static_cast<std::int64_t>(a.coordinates[q]) / SplitTiles::columns,
             1u << r / SplitTiles::fewest_rows);
  });
  __syncthreads();
}

/// Counts the tiles that are kept; each block takes 64 rows.
template <class A>
__global__ __launch_bounds__(256) void count_split_tiles_kernel(A a, int column_tiles, SplitTileCounts* to) {
  extern __shared__ unsigned found[];  // [column_tiles]
  find_split_tiles(a, std::int64_t{blockIdx.x} * SplitTiles::most_rows, SplitTiles::most_rows, column_tiles,
                   found);
  int upper = 0, lower = 0, either = 0;
  for (int at = static_cast<int>(threadIdx.x); at < column_tiles; at += 256) {
    upper += static_cast<int>(found[at] & 1);
    lower += static_cast<int>(found[at] >> 1);
    either += found[at] != 0 ? 1 : 0;
  }
  __shared__ int sums[3];
  if (threadIdx.x < 3) sums[threadIdx.x] = 0;
  __syncthreads();
  upper = group_sum(upper, warp_size);
  lower = group_sum(lower, warp_size);
  either = group_sum(either, warp_size);
  if (lane_id() == 0) {
    atomicAdd(sums, upper);
    atomicAdd(sums + 1, lower);
    atomicAdd(sums + 2, either);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicAdd(to->kept, sums[0] + sums[1]);
  atomicMax(to->most_of_row, Kokkos::max(sums[0], sums[1]));
  atomicAdd(to->kept + 1, sums[2]);
  atomicMax(to->most_of_row + 1, sums[2]);
}

/// Finds whether each tile has nonzeros; each block takes a row of tiles.
template <class A>
__global__ __launch_bounds__(256) void flag_split_tiles_kernel(A a, SplitTiles to, std::int32_t* are_kept) {
  extern __shared__ unsigned found[];  // [column_tiles]
  const int column_tiles = static_cast<int>(to.column_tiles);
  find_split_tiles(a, std::int64_t{blockIdx.x} * to.rows, to.rows, column_tiles, found);
  for (int at = static_cast<int>(threadIdx.x); at < column_tiles; at += 256)
    are_kept[std::int64_t{blockIdx.x} * column_tiles + at] = found[at] != 0 ? 1 : 0;
}

/// Writes the nonzeros into tiles, which are zero elsewhere; each block takes a row of tiles.
template <class A>
__global__ __launch_bounds__(256) void fill_split_tiles_kernel(A a, SplitTiles to) {
  const int column_tiles = static_cast<int>(to.column_tiles);
  const std::int32_t* const first_of = to.first + std::int64_t{blockIdx.x} * column_tiles;
  for (int at = static_cast<int>(threadIdx.x); at < column_tiles; at += 256)
    if (first_of[at] < first_of[at + 1]) to.at_column[first_of[at]] = at;
  const std::int64_t plane_bytes = SplitTiles::bytes_of(to.rows) / 2;
  visit_nonzeros(a, std::int64_t{blockIdx.x} * to.rows, to.rows, [&](int r, std::int64_t q) {
    const auto column = static_cast<std::int64_t>(a.coordinates[q]);
    char* const at =
        to.values + std::int64_t{first_of[column / SplitTiles::columns]} * (2 * plane_bytes) +
        SplitTiles::place(static_cast<unsigned>(r), static_cast<unsigned>(column % SplitTiles::columns));
    std::uint32_t high, low;
    split_in_tf32(a.values[q], high, low);
    *reinterpret_cast<std::uint32_t*>(at) = high;
    *reinterpret_cast<std::uint32_t*>(at + plane_bytes) = low;
  });
}

}  // namespace detail

/// Starts counting the tiles that a CSR matrix keeps.
/// @param to  zeros, in the GPU's memory
template <class A>
void start_counting_split_tiles(const Kokkos::Cuda& space, const A& a, SplitTileCounts* to) {
  const std::int64_t column_tiles = SplitTiles::of(SplitTiles::fewest_rows, a.rows, a.columns).column_tiles;
  launch(space, "sporos::count_split_tiles", &detail::count_split_tiles_kernel<A>,
         Grid(ceil_div(a.rows, SplitTiles::most_rows)), 256, column_tiles * 4, a,
         static_cast<int>(column_tiles), to);
}

/// Writes the values of a CSR matrix whose tiles are known, in the order of the stream of `space`.
template <class A>
void fill_split_tiles(const Kokkos::Cuda& space, const A& a, const SplitTiles& to) {
  launch(space, "sporos::fill_split_tiles", &detail::fill_split_tiles_kernel<A>, Grid(to.row_tiles), 256, 0,
         a, to);
}

/// Finds the tiles of a CSR matrix and writes them.
/// @param kept      number of tiles kept
/// @param are_kept  [tiles], working memory
/// @param scratch   [sizes_to_positions_bytes<std::int32_t, std::int32_t>(tiles)]
template <class A>
void pack_split_tiles(const Kokkos::Cuda& space, const A& a, const SplitTiles& to, std::int64_t kept,
                      std::int32_t* are_kept, char* scratch, std::int64_t scratch_bytes) {
  launch(space, "sporos::flag_split_tiles", &detail::flag_split_tiles_kernel<A>, Grid(to.row_tiles), 256,
         to.column_tiles * 4, a, to, are_kept);
  sizes_to_positions(space, to.tiles(), are_kept, to.first, nullptr, scratch, scratch_bytes);
  zero(space, to.values, kept * SplitTiles::bytes_of(to.rows));
  fill_split_tiles(space, a, to);
}

}  // namespace sporos::gpu
