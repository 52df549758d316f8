// SPDX-License-Identifier: Apache-2.0
/// @file config.hpp
/// How the work of y = A x is cut into tiles, and the shape of the kernel that computes them.
///
/// Rows and nonzeros are placed on one line: row r at place r + positions[r], followed by its nonzeros. The
/// line is cut into tiles of equal length, one for each thread block. A block computes the rows that start in
/// its tile, with all their nonzeros, so that the work of two blocks differs by one row at most. The
/// exception is a long row: each tile that it crosses sums the nonzeros that lie in it, and the last block to
/// finish adds these parts in order, so that results do not vary from run to run.
///
///     tile 0           tile 1           tile 2           tile 3
///     |r0··r1···r2·r3··|····r4·r5·······|················|·······r6··r7·|
///      rows 0 1 2 3     rows 4 5         part of row 5    part of row 5, rows 6 7
///
/// The line comes from Merrill and Garland, *Merge-based Parallel Sparse Matrix-Vector Multiplication* (SC
/// 2016), section 4.
#pragma once

#include <cstdint>

#include "../../cuda/warp.hpp"

namespace sporos::gpu {

/// How the line is cut for blocks of `Threads` threads.
template <int Threads>
struct SpmvTiling {
  static constexpr int threads = Threads;
  static constexpr int places = 8;                     ///< places of the line per thread
  static constexpr int capacity = threads * places;    ///< nonzeros that a block loads at once
  static constexpr int aligned = 32;                   ///< loads start at a multiple of this many nonzeros
  static constexpr int tile = capacity - 2 * aligned;  ///< places of the line per block
};

/// Shape of the SpMV kernel: `Threads` threads per block, `Count` nonzeros of A per load, products of `Bytes`
/// bytes.
template <int Threads, int Count, int Bytes>
struct SpmvConfig : SpmvTiling<Threads> {
  using Tiling = SpmvTiling<Threads>;
  /// Threads that share the registers of a multiprocessor: with more, a thread has too few registers for its
  /// loads to be in flight together; with fewer, there are too few loads.
  static constexpr int resident = Bytes <= 4 ? 1536 : 1280;
  static constexpr int blocks = resident / Threads;
  static constexpr int pack = Count;
  static constexpr int heavy_rounds = 32;  ///< additions per lane from which on the whole block sums a row
  static_assert(Threads % warp_size == 0, "a block is made of whole warps");
  static_assert(Tiling::capacity < 65536, "offsets inside a tile are kept in 16 bits");
  static_assert(Tiling::aligned % pack == 0 && pack <= 8 && Tiling::places % pack == 0,
                "a thread loads whole packs");
};

/// The limits by which the shape of a product is chosen.
struct SpmvChoice {
  static constexpr int large = 256;  ///< threads per block
  static constexpr int small = 128;  ///< threads per block if large blocks would not fill the GPU
  static constexpr std::int64_t small_places = 1'500'000;    ///< shorter lines take small blocks
  static constexpr std::int64_t planned_places = 4'000'000;  ///< longer: a kernel finds the tiles first
  /// Kilobytes of a multiprocessor's memory used for products; the rest is the cache that holds x.
  template <class Compute>
  static constexpr int shared_kilobytes = sizeof(Compute) <= 4 ? 32 : 64;
};

/// Where a tile starts: its first row, and that row's first nonzero.
struct SpmvTileStart {
  std::int64_t row;
  std::int64_t position;
};

/// The arguments of y = A x.
template <class A, class X, class Y, class Position, class Coordinate>
struct SpmvArguments {
  std::int64_t rows;
  const Position* positions;      ///< [rows + 1]
  const Coordinate* coordinates;  ///< [nonzeros]
  const A* values;                ///< [nonzeros]
  const X* x;                     ///< [columns]
  Y* y;                           ///< [rows]
  bool accumulates = false;       ///< y += A x
};

namespace detail {

/// Finds the start of a tile, with a whole warp.
template <class Config, class Arguments>
__device__ __forceinline__ SpmvTileStart find_tile(const Arguments& in, std::int64_t tile) {
  const std::int64_t place = tile * Config::tile;
  const std::int64_t row = warp_partition_point(
      0, in.rows, [&](std::int64_t r) { return r + static_cast<std::int64_t>(in.positions[r]) < place; });
  return {row, static_cast<std::int64_t>(in.positions[row])};
}

}  // namespace detail

}  // namespace sporos::gpu
