// SPDX-License-Identifier: Apache-2.0
/// @file tiles.hpp
/// What blocks that compute the tiles of an N:M product have in common, and the choice of it. Functions of
/// numbers alone, tested on the host.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace sporos::gpu {

/// What the blocks of a cluster have in common.
enum class NmShares {
  rows,  ///< they compute tiles side by side, and each copies its part of the dense matrix to all
  tile   ///< each sums a part of k, and they add up
};

/// How the tiles of a product are dealt out.
struct NmTiles {
  NmShares shares = NmShares::rows;
  int blocks = 1;    ///< of a cluster
  int clusters = 0;  ///< at a time
  double seconds = 0;
};

/// How long the parts of a product take, in seconds: fitted on an H100.
struct NmTimes {
  double stage, stage_of_all;  ///< of a tile, by one block, and by all at the same time
  double launch = 2.2e-6;
  double store = 1.5e-6;                          ///< of a tile
  double exchange = 1.5e-6, of_each = 0.7e-6;     ///< adding what other blocks have summed
};

inline constexpr int most_nm_blocks = 4;

/// How a product of so many tiles is expected to take least time.
/// @param clusters  how many clusters run at the same time, by their blocks; none of 0
inline NmTiles choose_nm_tiles(const NmTimes& times, std::int64_t row_tiles, std::int64_t column_tiles,
                               std::int64_t stages, const std::array<int, most_nm_blocks + 1>& clusters) {
  const auto parts = [](std::int64_t of, std::int64_t size) { return (of + size - 1) / size; };
  NmTiles best;
  best.seconds = std::numeric_limits<double>::infinity();
  const auto consider = [&](NmShares shares, int blocks, std::int64_t tiles) {
    const int at_a_time = clusters[static_cast<std::size_t>(blocks)];
    if (at_a_time == 0) return;
    const auto rounds = static_cast<double>(parts(tiles, at_a_time));
    const double busy =
        static_cast<double>(tiles) * blocks / rounds / static_cast<double>(clusters[1]);
    const double stage = times.stage + (times.stage_of_all - times.stage) * std::min(busy, 1.0);
    const bool shares_tile = shares == NmShares::tile;
    const double seconds =
        times.launch +
        rounds * (static_cast<double>(shares_tile ? parts(stages, blocks) : stages) * stage + times.store +
                  (shares_tile ? times.exchange + times.of_each * blocks : 0.0));
    if (seconds < best.seconds) best = {shares, blocks, at_a_time, seconds};
  };
  // Blocks that copy to each other take less from the L2 cache: first, so that they win where both are alike.
  if (column_tiles > 1) consider(NmShares::rows, 2, row_tiles * parts(column_tiles, 2));
  consider(NmShares::rows, 1, row_tiles * column_tiles);
  for (int blocks = 2; blocks <= most_nm_blocks && blocks <= stages; ++blocks)
    consider(NmShares::tile, blocks, row_tiles * column_tiles);
  return best;
}

}  // namespace sporos::gpu
