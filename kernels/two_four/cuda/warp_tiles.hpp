// SPDX-License-Identifier: Apache-2.0
/// @file warp_tiles.hpp
/// The tiles in which warps compute a 2:4 product by instructions of their own (warp_products.hpp), and the
/// choice among them. These functions depend on numbers alone and are tested on the host.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "tiles.hpp"

namespace sporos::gpu {

/// The columns of the sparse matrix that pass through shared memory at a time.
inline constexpr int two_four_warp_stage_k = 64;

/// A tile size, and how long the parts of its computation take, in microseconds: fitted on an H200.
struct TwoFourWarpTile {
  int rows, columns;  ///< a block of four warps computes them, each a quarter
  int slots;          ///< stages that shared memory holds
  int blocks;         ///< blocks that a multiprocessor is to hold
  double stage;       ///< of a block that has a multiprocessor to itself
  /// A block's share of a multiprocessor in a stage while all are busy.
  double stage_of_all;
  double store;  ///< storing a tile
};

/// Large tiles, which read less of the operands for each product, and small ones, for results that would
/// leave multiprocessors without a tile. Shared memory for either exists on all GPUs with the instruction.
inline constexpr std::array<TwoFourWarpTile, 2> two_four_warp_tiles{
    {{64, 64, 5, 3, 0.43, 0.24, 1.0}, {128, 128, 3, 2, 0.64, 0.57, 2.0}}};

/// How a product is cut into tiles of warps.
struct TwoFourWarpChoice {
  int tile = 0;  ///< index in two_four_warp_tiles
  double seconds = 0;

  constexpr const TwoFourWarpTile& size() const {
    return two_four_warp_tiles[static_cast<std::size_t>(tile)];
  }
  /// The tiles of a product of m x n.
  constexpr TileOrder order(std::int64_t m, std::int64_t n) const {
    constexpr int rows_of_band = 16;
    return {static_cast<int>(TwoFourChoice::tiles_of(m, size().rows)),
            static_cast<int>(TwoFourChoice::tiles_of(n, size().columns)), rows_of_band};
  }
};

/// The tiles in which a product of m x n is expected to be fastest.
/// @param stages  number of stages into which k is cut
inline TwoFourWarpChoice choose_two_four_by_warps(std::int64_t m, std::int64_t n, std::int64_t stages,
                                                  int multiprocessors) {
  constexpr double launch = 2.2;  // microseconds
  TwoFourWarpChoice best;
  best.seconds = std::numeric_limits<double>::infinity();
  for (std::size_t tile = 0; tile < two_four_warp_tiles.size(); ++tile) {
    const TwoFourWarpTile& size = two_four_warp_tiles[tile];
    const std::int64_t tiles =
        TwoFourChoice::tiles_of(m, size.rows) * TwoFourChoice::tiles_of(n, size.columns);
    // A multiprocessor computes its tiles one after the other, up to `blocks` of them side by side.
    const std::int64_t of_one = TwoFourChoice::tiles_of(tiles, multiprocessors);
    const std::int64_t rounds = TwoFourChoice::tiles_of(of_one, size.blocks);
    const double stage_times =
        std::max(static_cast<double>(rounds) * size.stage, static_cast<double>(of_one) * size.stage_of_all);
    const double time =
        launch + static_cast<double>(stages) * stage_times + static_cast<double>(rounds) * size.store;
    if (time * 1e-6 < best.seconds) best = {static_cast<int>(tile), time * 1e-6};
  }
  return best;
}

}  // namespace sporos::gpu
