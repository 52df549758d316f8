// SPDX-License-Identifier: Apache-2.0
/// @file tiles.cpp
/// The order in which tiles of 2:4 products are computed, and the choice of their size.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <sporos/kernels/two_four/cuda/tiles.hpp>
#include <utility>

namespace sporos::gpu {
namespace {

TEST(TwoFourTiles, EveryTileIsComputedOnce) {
  for (const int row_tiles : {1, 7, 16, 33})
    for (const int column_tiles : {1, 5}) {
      const TileOrder order{row_tiles, column_tiles, 8};
      std::set<std::pair<int, int>> seen;
      for (int at = 0; at < order.size(); ++at) {
        const auto tile = order[at];
        ASSERT_TRUE(tile.row >= 0 && tile.row < row_tiles && tile.column >= 0 && tile.column < column_tiles);
        EXPECT_TRUE(seen.insert({tile.row, tile.column}).second);
      }
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(row_tiles * column_tiles));
    }
}

/// Bands of two rows of a product of five by three tiles, the last one of a single row.
TEST(TwoFourTiles, BandsAreComputedColumnByColumn) {
  constexpr TileOrder order{5, 3, 2};
  const std::pair<int, int> expected[] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}, {2, 0}, {3, 0},
                                          {2, 1}, {3, 1}, {2, 2}, {3, 2}, {4, 0}, {4, 1}, {4, 2}};
  for (int at = 0; at < order.size(); ++at)
    EXPECT_EQ(std::pair(order[at].row, order[at].column), expected[at]);
}

constexpr ClusterCounts clusters{0, 132, 66, 40, 30};

/// Tiles cover the product, and no block is without a stage.
TEST(TwoFourTiles, EveryChoiceCanBeComputed) {
  for (const std::int64_t m : {1, 64, 129, 1000, 4096, 100000})
    for (const std::int64_t n : {1, 65, 256, 3000, 50000})
      for (const std::int64_t stages : {1, 2, 3, 32, 500}) {
        const TwoFourChoice choice = choose_two_four(m, n, stages, 132, clusters);
        const TwoFourTile& tile = two_four_tiles[static_cast<std::size_t>(choice.tile)];
        const TileOrder order = choice.order(m, n);
        const int below = choice.shares == ClusterShares::columns ? choice.blocks : 1;
        EXPECT_GE(std::int64_t{order.row_tiles} * tile.rows() * below, m);
        EXPECT_GE(std::int64_t{order.column_tiles} * tile.columns, n);
        EXPECT_GT(choice.clusters, 0);
        EXPECT_GT(choice.seconds, 0);
        if (choice.shares == ClusterShares::tile) {
          EXPECT_LE(choice.blocks, tile.most_blocks);
          EXPECT_LE(choice.blocks, stages);
        }
      }
}

/// A product of few tiles is divided along k, one of many computed by pairs of blocks, and blocks without a
/// partner never are one.
TEST(TwoFourTiles, BlocksOfAClusterShareWhatIsScarce) {
  const auto few = choose_two_four(4096, 256, 86, 132, clusters);
  EXPECT_EQ(few.shares, ClusterShares::tile);
  EXPECT_GT(few.blocks, 1);
  const auto many = choose_two_four(11008, 4096, 86, 132, clusters);
  EXPECT_EQ(many.shares, ClusterShares::columns);
  EXPECT_EQ(two_four_tiles[static_cast<std::size_t>(many.tile)].columns, 256);
  EXPECT_EQ(choose_two_four(64, 100000, 86, 132, clusters).shares, ClusterShares::tile);
  EXPECT_EQ(choose_two_four(11008, 4096, 86, 132, {0, 132, 0, 0, 0}).blocks, 1);
}

}  // namespace
}  // namespace sporos::gpu
