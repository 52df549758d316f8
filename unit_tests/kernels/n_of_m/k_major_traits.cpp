// SPDX-License-Identifier: Apache-2.0
/// @file k_major_traits.cpp
/// How matrices are copied k-major for tensor cores: places in shared memory, and the order of parts.
#include <gtest/gtest.h>

#include <set>
#include <sporos/kernels/n_of_m/cuda/k_major_traits.hpp>
#include <utility>

namespace sporos::gpu {
namespace {

TEST(KMajorBatches, HaveTheirRowsOneBatchBehindTheOther) {
  constexpr KMajorBatches stored{.k = 3, .rows = 5, .stride = 8, .batches = 4};
  for (int batch = 0; batch < 4; ++batch)
    for (int row = 0; row < 5; ++row)
      for (int k = 0; k < 3; ++k) EXPECT_EQ(stored.place(k, batch * 5 + row), (batch * 3 + k) * 8 + row);
}

TEST(TransposedTile, EveryPieceHasAPlaceOfItsOwn) {
  std::set<int> places;
  for (int row = 0; row < TransposedTile::size; ++row)
    for (int piece = 0; piece < 8; ++piece) {
      const int place = TransposedTile::place(row, piece);
      EXPECT_TRUE(place >= 0 && place < TransposedTile::bytes && place % 16 == 0);
      EXPECT_TRUE(places.insert(place).second);
    }
}
TEST(TransposedTile, PiecesThatAreStoredOrLoadedTogetherShareNoBank) {
  for (int row = 0; row < TransposedTile::size; ++row) {
    std::set<int> banks;
    for (int piece = 0; piece < 8; ++piece) banks.insert(TransposedTile::place(row, piece) % 128);
    EXPECT_EQ(banks.size(), 8u);
  }
  for (int part = 0; part < 2; ++part)
    for (int matrix = 0; matrix < 4; ++matrix)
      for (int piece = 0; piece < 8; ++piece) {
        std::set<int> banks;
        for (int line = 0; line < 8; ++line)
          banks.insert(TransposedTile::place(part * 32 + TransposedTile::row_of_matrix(matrix, line), piece) %
                       128);
        EXPECT_EQ(banks.size(), 8u);
      }
}
TEST(TransposedTile, ALaneOfFourHoldsEightConsecutiveRows) {
  for (int t = 0; t < 4; ++t)
    for (int e = 0; e < 8; ++e) EXPECT_EQ(TransposedTile::row_of_matrix(e / 2, t * 2 + e % 2), t * 8 + e);
}

/// Every part comes once, those of a stage one behind the other, and stages of tiles that are computed at the
/// same time before their next ones.
void expect_order(const KMajorOrder& order) {
  std::set<std::pair<int, int>> begins;
  int group = 0, stage = 0;
  for (int at = 0; at < order.parts(); ++at) {
    const auto part = order[at];
    EXPECT_TRUE(begins.insert({part.row, part.column}).second);
    EXPECT_EQ(part.row / KMajorOrder::tile_rows, part.row_tile);
    EXPECT_EQ(part.column / order.stage, part.of_stage);
    EXPECT_LT(part.row_tile, order.row_tiles());
    EXPECT_LT(part.of_stage, order.stages());
    const auto begin = order[at / order.parts_of_stage() * order.parts_of_stage()];
    EXPECT_EQ(part.row_tile, begin.row_tile);
    EXPECT_EQ(part.of_stage, begin.of_stage);
    const std::pair before{group, stage};
    group = part.row_tile / order.tiles_together;
    stage = part.of_stage;
    EXPECT_LE(before, (std::pair{group, stage}));
  }
  for (int row = 0; row < order.m; row += KMajorOrder::rows)
    for (int column = 0; column < order.k; column += KMajorOrder::columns)
      EXPECT_TRUE(begins.contains({row, column}));
}
TEST(KMajorOrder, EveryPartComesOnceAndInTheOrderInWhichItIsNeeded) {
  expect_order({512, 512, 128, 2});
  expect_order({300, 200, 128, 2});
  expect_order({1, 1, 32, 5});
  expect_order({640, 96, 256, 3});
}

}  // namespace
}  // namespace sporos::gpu
