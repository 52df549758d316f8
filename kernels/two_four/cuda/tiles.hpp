// SPDX-License-Identifier: Apache-2.0
/// @file tiles.hpp
/// The tiles in which a 2:4 product is computed: their sizes, their order, what blocks of a cluster share,
/// and the choice among them. These functions depend on numbers alone and are tested on the host.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace sporos::gpu {

/// What the blocks of a cluster share.
enum class ClusterShares {
  tile,    ///< each block sums a part of k, and they add up
  columns  ///< their tiles lie one below another; each copies its part of the dense operand to all
};

/// The order in which tiles are computed: in bands of `rows_of_band` rows of tiles, each column by column, so
/// that tiles computed at the same time read few rows and few columns of the operands.
struct TileOrder {
  int row_tiles, column_tiles, rows_of_band;

  struct Tile {
    int row, column;
  };
  KOKKOS_INLINE_FUNCTION constexpr int size() const { return row_tiles * column_tiles; }
  KOKKOS_INLINE_FUNCTION constexpr Tile operator[](int at) const {
    const int first = at / (rows_of_band * column_tiles) * rows_of_band;
    const int rows = row_tiles - first < rows_of_band ? row_tiles - first : rows_of_band;
    const int in_band = at - first * column_tiles;
    return {first + in_band % rows, in_band / rows};
  }
};

/// A tile size, and how long the parts of its computation take, in microseconds, fitted on an H100.
struct TwoFourTile {
  int groups, columns;  ///< groups of four warps, each of which computes 64 rows
  double stage,
      stage_of_all;       ///< of 128 columns of the sparse matrix, by one block, and by all at the same time
  double stage_of_pairs;  ///< a stage, by all, if two blocks share columns
  double store;           ///< storing a tile
  double exchange;        ///< adding the sums of another block
  int most_blocks;        ///< the most blocks that can share a tile

  constexpr int rows() const { return groups * 64; }
};

inline constexpr std::array<TwoFourTile, 5> two_four_tiles{{{2, 64, 0.32, 0.46, 0.47, 0.9, 0.8, 1},
                                                            {2, 128, 0.62, 0.62, 0.68, 0.5, 3.7, 2},
                                                            {2, 256, 1.05, 1.07, 1.05, 2.6, 1.4, 4},
                                                            {3, 128, 0.75, 1.05, 1.01, 2.1, 0, 1},
                                                            {3, 192, 1.19, 1.69, 1.19, 2.7, 0, 1}}};

inline constexpr int most_blocks_of_cluster = 4;
/// How many clusters run at the same time, indexed by their number of blocks.
using ClusterCounts = std::array<int, most_blocks_of_cluster + 1>;

/// How a product is cut into tiles.
struct TwoFourChoice {
  int tile = 0;  ///< index in two_four_tiles
  ClusterShares shares = ClusterShares::tile;
  int blocks = 1;    ///< per cluster
  int clusters = 0;  ///< clusters that run at the same time
  double seconds = 0;

  /// The tiles of a product of m x n; if blocks share columns, the tiles of a cluster count as one.
  constexpr TileOrder order(std::int64_t m, std::int64_t n) const {
    const TwoFourTile& size = two_four_tiles[static_cast<std::size_t>(tile)];
    const int below = shares == ClusterShares::columns ? blocks : 1;
    constexpr int rows_of_band = 16;
    return {static_cast<int>(tiles_of(m, size.rows() * below)), static_cast<int>(tiles_of(n, size.columns)),
            rows_of_band / below};
  }

  static constexpr std::int64_t tiles_of(std::int64_t extent, int size) { return (extent + size - 1) / size; }
};

/// The way in which a product of m x n is expected to be fastest.
/// @param stages  number of stages into which k is cut
inline TwoFourChoice choose_two_four(std::int64_t m, std::int64_t n, std::int64_t stages, int multiprocessors,
                                     const ClusterCounts& clusters) {
  // Microseconds, fitted on an H100: a launch, what a launch of clusters adds, and the wait before another
  // tile of blocks that share tiles.
  constexpr double launch = 2.2, launch_of_cluster = 0.3, again = 4.5;
  TwoFourChoice best;
  best.seconds = std::numeric_limits<double>::infinity();
  const auto consider = [&](std::size_t tile, ClusterShares shares, int blocks) {
    const int at_a_time = clusters[static_cast<std::size_t>(blocks)];
    if (at_a_time == 0) return;
    TwoFourChoice choice{static_cast<int>(tile), shares, blocks, at_a_time, 0};
    const TwoFourTile& size = two_four_tiles[tile];
    const bool shares_tile = shares == ClusterShares::tile;
    const auto tiles = static_cast<double>(TwoFourChoice::tiles_of(m, size.rows()) *
                                           TwoFourChoice::tiles_of(n, size.columns)) *
                       (shares_tile ? blocks : 1);
    const TileOrder order = choice.order(m, n);
    const auto rounds =
        static_cast<double>((std::int64_t{order.row_tiles} * order.column_tiles + at_a_time - 1) / at_a_time);
    const double busy = std::min(tiles / rounds / multiprocessors, 1.0);
    const double stage = std::max(size.stage, (shares_tile ? size.stage_of_all : size.stage_of_pairs) * busy);
    const std::int64_t stages_of_block = shares_tile ? (stages + blocks - 1) / blocks : stages;
    double time = launch + rounds * (static_cast<double>(stages_of_block) * stage + size.store);
    if (shares_tile && blocks > 1) time += rounds * size.exchange * (blocks - 1) + (rounds - 1) * again;
    if (!shares_tile) time += launch_of_cluster;
    choice.seconds = time * 1e-6;
    if (choice.seconds < best.seconds) best = choice;
  };
  for (std::size_t tile = 0; tile < two_four_tiles.size(); ++tile) {
    const TwoFourTile& size = two_four_tiles[tile];
    const std::int64_t rows = TwoFourChoice::tiles_of(m, size.rows()),
                       tiles = rows * TwoFourChoice::tiles_of(n, size.columns);
    // If each block has several tiles, independent blocks are slower than pairs that share columns.
    const bool pairs_exist = rows > 1 && clusters[2] > 0;
    if (tiles <= multiprocessors || !pairs_exist) consider(tile, ClusterShares::tile, 1);
    if (pairs_exist) consider(tile, ClusterShares::columns, 2);
    for (int blocks = 2; blocks <= size.most_blocks && blocks <= std::max<std::int64_t>(stages, 1); ++blocks)
      consider(tile, ClusterShares::tile, blocks);
  }
  return best;
}

/// Calls visit(std::integral_constant<int, tile>).
template <class Visit>
void with_two_four_tile(int tile, const Visit& visit) {
  [&]<std::size_t... Tiles>(std::index_sequence<Tiles...>) {
    ((static_cast<int>(Tiles) == tile ? visit(std::integral_constant<int, static_cast<int>(Tiles)>{})
                                      : void()),
     ...);
  }(std::make_index_sequence<two_four_tiles.size()>{});
}

}  // namespace sporos::gpu
