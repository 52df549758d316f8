// SPDX-License-Identifier: Apache-2.0
/// @file tiles.cpp
/// What the blocks of N:M products on tensor cores have in common.
#include <gtest/gtest.h>

#include <array>
#include <sporos/kernels/n_of_m/cuda/tiles.hpp>

namespace sporos::gpu {
namespace {

constexpr std::array<int, most_nm_blocks + 1> clusters{0, 132, 66, 42, 30};
constexpr NmTimes times{.stage = 1.4e-6, .stage_of_all = 1.6e-6};

TEST(NmTiles, BlocksOfManyTilesCopyToEachOther) {
  const NmTiles many = choose_nm_tiles(times, 32, 16, 32, clusters);
  EXPECT_EQ(many.shares, NmShares::rows);
  EXPECT_EQ(many.blocks, 2);
  EXPECT_EQ(many.clusters, 66);
}
TEST(NmTiles, OneColumnOfTilesLeavesNothingToCopyToEachOther) {
  const NmTiles column = choose_nm_tiles(times, 132, 1, 32, clusters);
  EXPECT_EQ(column.shares, NmShares::rows);
  EXPECT_EQ(column.blocks, 1);
}
TEST(NmTiles, AsManyBlocksShareFewTilesAsRunAtTheSameTime) {
  EXPECT_EQ(choose_nm_tiles(times, 1, 16, 32, clusters).blocks, 4);
  const NmTiles few = choose_nm_tiles(times, 2, 16, 32, clusters);
  EXPECT_EQ(few.shares, NmShares::tile);
  EXPECT_EQ(few.blocks, 3);  // of four blocks only 30 clusters would run at a time
}
TEST(NmTiles, ATileIsNotSharedByMoreBlocksThanItHasStages) {
  EXPECT_EQ(choose_nm_tiles(times, 1, 1, 1, clusters).blocks, 1);
  EXPECT_LE(choose_nm_tiles(times, 1, 1, 3, clusters).blocks, 3);
}
TEST(NmTiles, ADeviceWithoutClustersComputesBlockByBlock) {
  const NmTiles alone = choose_nm_tiles(times, 1, 16, 32, {0, 132, 0, 0, 0});
  EXPECT_EQ(alone.blocks, 1);
  EXPECT_EQ(alone.clusters, 132);
}
TEST(NmTiles, MoreStagesTakeLonger) {
  EXPECT_LT(choose_nm_tiles(times, 2, 16, 16, clusters).seconds,
            choose_nm_tiles(times, 2, 16, 32, clusters).seconds);
}

}  // namespace
}  // namespace sporos::gpu
