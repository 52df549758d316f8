// SPDX-License-Identifier: Apache-2.0
/// @file warp_tiles.cpp
/// The choice of the tiles in which warps compute 2:4 products, and its estimate.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/kernels/two_four/cuda/warp_tiles.hpp>

namespace sporos::gpu {
namespace {

TEST(TwoFourWarpTiles, EveryChoiceCoversTheProduct) {
  for (const std::int64_t m : {1, 64, 129, 1000, 4096, 100000})
    for (const std::int64_t n : {1, 65, 256, 3000, 50000})
      for (const std::int64_t stages : {1, 2, 64, 1000}) {
        const TwoFourWarpChoice choice = choose_two_four_by_warps(m, n, stages, 108);
        const TileOrder order = choice.order(m, n);
        EXPECT_GE(std::int64_t{order.row_tiles} * choice.size().rows, m);
        EXPECT_GE(std::int64_t{order.column_tiles} * choice.size().columns, n);
        EXPECT_GT(choice.seconds, 0);
      }
}

TEST(TwoFourWarpTiles, SmallResultsAreCutIntoSmallTiles) {
  EXPECT_EQ(choose_two_four_by_warps(512, 256, 64, 132).size().columns, 64);
  EXPECT_EQ(choose_two_four_by_warps(11008, 4096, 64, 132).size().columns, 128);
}

/// Where the instructions of four warps can compute a product, they are chosen.
TEST(TwoFourWarpTiles, AreEstimatedToTakeLongerThanTilesOfFourWarps) {
  constexpr ClusterCounts clusters{0, 132, 66, 40, 30};
  for (const std::int64_t m : {1, 64, 100, 129, 192, 500, 1000, 2048, 4096, 11008, 30000})
    for (const std::int64_t n : {1, 8, 64, 65, 130, 256, 1024, 3000, 4096, 11008})
      for (const std::int64_t k : {1, 64, 65, 128, 500, 1024, 4096, 11008, 50000}) {
        const double of_four = choose_two_four(m, n, TwoFourChoice::tiles_of(k, 128), 132, clusters).seconds;
        const double by_warps =
            choose_two_four_by_warps(m, n, TwoFourChoice::tiles_of(k, two_four_warp_stage_k), 132).seconds;
        EXPECT_LT(of_four, by_warps) << m << " x " << n << " x " << k;
      }
}

/// The rate at which large products are expected to be computed, of that of four warps.
TEST(TwoFourWarpTiles, LargeProductsAreExpectedAtHalfOfTheRate) {
  constexpr ClusterCounts clusters{0, 132, 66, 40, 30};
  const double of_four = choose_two_four(16384, 16384, 128, 132, clusters).seconds;
  const double by_warps = choose_two_four_by_warps(16384, 16384, 256, 132).seconds;
  EXPECT_NEAR(of_four / by_warps, 0.48, 0.03);
}

}  // namespace
}  // namespace sporos::gpu
