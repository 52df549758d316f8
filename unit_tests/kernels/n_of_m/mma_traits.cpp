// SPDX-License-Identifier: Apache-2.0
/// @file mma_traits.cpp
/// Which lane holds which element of tensor core operands.
#include <gtest/gtest.h>

#include <set>
#include <sporos/kernels/cuda/mma_traits.hpp>
#include <utility>

namespace sporos::gpu {
namespace {

TEST(MmaTraits, LanesHoldEveryElementOnce) {
  std::set<std::pair<int, int>> of_b, of_d;
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 2; ++r)
      for (int half = 0; half < 2; ++half) {
        const auto place = MmaM16N8K16::of_b(lane, r, half);
        ASSERT_TRUE(place.row >= 0 && place.row < 16 && place.column >= 0 && place.column < 8);
        EXPECT_TRUE(of_b.insert({place.row, place.column}).second);
      }
    for (int r = 0; r < 4; ++r) {
      const auto place = MmaM16N8K16::of_d(lane, r);
      ASSERT_TRUE(place.row >= 0 && place.row < 16 && place.column >= 0 && place.column < 8);
      EXPECT_TRUE(of_d.insert({place.row, place.column}).second);
    }
  }
  EXPECT_EQ(of_b.size(), 16u * 8);
  EXPECT_EQ(of_d.size(), 16u * 8);
}

/// As in the tables of the PTX ISA.
TEST(MmaTraits, LanesHoldTheElementsThatTheInstructionSays) {
  static_assert(MmaM16N8K16::of_b(0, 0, 0) == MmaM16N8K16::Place{0, 0});
  static_assert(MmaM16N8K16::of_b(5, 1, 1) == MmaM16N8K16::Place{11, 1});
  static_assert(MmaM16N8K16::of_b(31, 1, 0) == MmaM16N8K16::Place{14, 7});
  static_assert(MmaM16N8K16::of_d(0, 2) == MmaM16N8K16::Place{8, 0});
  static_assert(MmaM16N8K16::of_d(6, 1) == MmaM16N8K16::Place{1, 5});
  static_assert(MmaM16N8K16::of_d(31, 3) == MmaM16N8K16::Place{15, 7});
}

TEST(MmaTraits, ASmallerInstructionsLanesHoldEveryElementAndItsDiagonal) {
  std::set<std::pair<int, int>> narrow, tf32;
  for (int lane = 0; lane < 32; ++lane)
    for (int which = 0; which < 2; ++which) {
      narrow.insert({MmaM16N8K8::row(lane), MmaM16N8K8::k_of_narrow(lane, which)});
      tf32.insert({MmaM16N8K8::row(lane), MmaM16N8K8::k_of_tf32(lane, which)});
    }
  EXPECT_EQ(narrow.size(), 8u * 8);
  EXPECT_EQ(tf32, narrow);
  // The sums lie as those of the larger instruction do.
  for (int row = 0; row < 8; ++row) {
    const int lane = MmaM16N8K8::lane_of_diagonal(row), r = MmaM16N8K8::register_of_diagonal(row);
    EXPECT_EQ(MmaM16N8K16::of_d(lane, r), (MmaM16N8K16::Place{row, row}));
    EXPECT_EQ(MmaM16N8K16::of_d(lane, r + 2), (MmaM16N8K16::Place{row + 8, row}));
  }
}

TEST(MmaTraits, LanesAddressEveryColumnAndHalfOfRowsOnce) {
  std::set<std::pair<int, int>> seen;
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_TRUE(
        seen.insert({MmaM16N8K16::column_of_address(lane), MmaM16N8K16::rows_of_address(lane)}).second);
  EXPECT_EQ(seen.size(), 32u);
  EXPECT_EQ(*seen.rbegin(), std::pair(15, 1));
}

TEST(MmaTraits, ALaneOfFourHoldsEightConsecutiveColumns) {
  for (int t = 0; t < 4; ++t)
    for (int e = 0; e < 8; ++e) {
      const int tile = e / 2, in_tile = MmaM16N8K16::of_d(t, e % 2).column;
      EXPECT_EQ(ColumnsOfWarp::column(tile, in_tile), t * 8 + e);
    }
}
TEST(MmaTraits, ALaneOfFourHoldsAFourthOfEachGroupOfColumns) {
  for (const int columns : {16, 8})
    for (int t = 0; t < 4; ++t)
      for (int e = 0; e < columns / 4; ++e) {
        const int tile = e / 2, in_tile = MmaM16N8K16::of_d(t, e % 2).column;
        EXPECT_EQ(ColumnsOfWarp::column(tile, in_tile, columns), t * columns / 4 + e);
      }
}

/// Eight rows' pieces of the same number lie in all banks, and no two pieces in one place.
template <int Pieces>
void expect_swizzled_rows() {
  std::set<int> places;
  for (int piece = 0; piece < Pieces; ++piece) {
    std::set<int> banks;
    for (int row = 0; row < 8; ++row) {
      const int place = SwizzledRows<Pieces>::place(row, piece);
      EXPECT_TRUE(places.insert(place).second);
      EXPECT_EQ(place / SwizzledRows<Pieces>::row_bytes, row);
      banks.insert(place % 128);
    }
    EXPECT_EQ(banks.size(), 8u);
  }
}
TEST(MmaTraits, ShortRowsShareNoBank) {
  expect_swizzled_rows<2>();
  expect_swizzled_rows<4>();
}

TEST(MmaTraits, SwizzledRowsOfDifferentRemaindersShareNoBank) {
  for (unsigned piece = 0; piece < 8; ++piece) {
    std::set<unsigned> banks;
    for (const unsigned row : {8u, 17u, 2u, 27u, 60u, 5u, 14u, 23u})
      banks.insert((Swizzle128::row_offset(row) ^ piece * Swizzle128::piece_bytes) % 128);
    EXPECT_EQ(banks.size(), 8u);
  }
}

}  // namespace
}  // namespace sporos::gpu
