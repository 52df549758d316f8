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

TEST(MmaTraits, NeighboursAreSummedWhereLanesHoldThem) {
  for (int lane = 0; lane < 32; ++lane)
    for (int r = 0; r < 2; ++r)
      for (int half = 0; half < 2; ++half)
        EXPECT_EQ(MmaM16N8K16::k_of_neighbours(lane % 4 * 4 + r * 2 + half),
                  MmaM16N8K16::of_b(lane, r, half).row);
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
    const int lane = row * 4 + row / 2, r = row % 2;
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

/// Pieces of a row stay in it; what a warp reads at once, of any tile and segment, lies in different banks.
template <int Pieces, bool IsNarrow>
void expect_gathered_rows() {
  using Rows = GatheredRows<Pieces, IsNarrow>;
  std::set<int> places;
  for (int row = 0; row < 64; ++row)
    for (int piece = 0; piece < Pieces; ++piece) {
      const int place = Rows::offset(row, piece);
      EXPECT_EQ(place / Rows::row_bytes, row);
      EXPECT_TRUE(places.insert(place).second);
      EXPECT_EQ(place, Rows::offset(row, 0) ^ piece * Rows::piece_bytes);
      for (int bit = 1; bit <= 32; bit *= 2) {
        const int first = row / bit * bit;
        EXPECT_EQ(place, first * Rows::row_bytes + (Rows::offset(row - first, piece) ^
                                                    Rows::place_of_first(first) * Rows::piece_bytes));
      }
    }
  for (int segment = 0; segment < 64; segment += 8)
    for (int piece = 0; piece < Pieces; piece += IsNarrow ? 1 : 2)
      for (int first = 0; first < 8; first += IsNarrow ? 8 : 4) {
        std::set<int> of_banks;  // 16 bytes are four banks of 32
        for (int row = first; row < first + (IsNarrow ? 8 : 4); ++row)
          for (int next = 0; next < (IsNarrow ? 1 : 2); ++next)
            of_banks.insert(Rows::offset(segment + row, piece + next) / 16 % 8);
        EXPECT_EQ(of_banks.size(), 8u) << segment << ", " << piece;
      }
}
TEST(MmaTraits, GatheredRowsAreReadWithoutBankConflicts) {
  expect_gathered_rows<4, true>();
  expect_gathered_rows<8, true>();
  expect_gathered_rows<32, true>();
  expect_gathered_rows<4, false>();
  expect_gathered_rows<8, false>();
  expect_gathered_rows<32, false>();
}

TEST(MmaTraits, LanesHoldEveryElementOfASparseOperandOnce) {
  using Sparse = MmaSparseM16N8K32;
  std::set<std::pair<int, int>> of_a, of_b, of_metadata;
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 4; ++r)
      for (int half = 0; half < 2; ++half) {
        const auto a = Sparse::of_a(lane, r, half), b = Sparse::of_b(lane, r, half);
        ASSERT_TRUE(a.row >= 0 && a.row < Sparse::m && a.column >= 0 && a.column < Sparse::k / 2);
        ASSERT_TRUE(b.row >= 0 && b.row < Sparse::k && b.column >= 0 && b.column < Sparse::n);
        EXPECT_TRUE(of_a.insert({a.row, a.column}).second);
        EXPECT_TRUE(of_b.insert({b.row, b.column}).second);
      }
    for (const int below : {0, 8}) {
      const auto place = Sparse::of_metadata(lane);
      ASSERT_TRUE(place.row < 8 && place.column % 16 == 0);
      EXPECT_TRUE(of_metadata.insert({place.row + below, place.column}).second);
    }
  }
  EXPECT_EQ(of_a.size(), 16u * 16);
  EXPECT_EQ(of_b.size(), 32u * 8);
  EXPECT_EQ(of_metadata.size(), 16u * (Sparse::columns_of_metadata / 16));
  EXPECT_EQ(*of_metadata.rbegin(), std::pair(15, 48));
}

/// As in the tables and figures of the PTX ISA: of the four columns of a window, a lane holds the two
/// elements that are kept; lanes 0 and 1 of four hold the metadata of the instruction with selector 0, lanes
/// 2 and 3 that of the one with selector 1.
TEST(MmaTraits, LanesHoldTheSparseElementsThatTheInstructionSays) {
  using Sparse = MmaSparseM16N8K32;
  static_assert(Sparse::of_a(0, 0, 1) == Sparse::Place{0, 1});
  static_assert(Sparse::of_a(5, 1, 0) == Sparse::Place{9, 2});
  static_assert(Sparse::of_a(6, 2, 1) == Sparse::Place{1, 13});
  static_assert(Sparse::of_a(31, 3, 1) == Sparse::Place{15, 15});
  static_assert(Sparse::of_b(5, 3, 1) == Sparse::Place{27, 1});
  static_assert(Sparse::of_b(31, 1, 0) == Sparse::Place{14, 7});
  static_assert(Sparse::of_d(31, 3) == Sparse::Place{15, 7});
  static_assert(Sparse::of_metadata(0) == Sparse::Place{0, 0});
  static_assert(Sparse::of_metadata(1) == Sparse::Place{0, 16});
  static_assert(Sparse::of_metadata(30) == Sparse::Place{7, 32});
}

/// A matrix of eight lines of 16 bytes gives each lane two neighbours of line `lane / 4`, or with
/// `transposed` of the eight elements in place `lane / 4` of all lines: what the lanes hold comes from the
/// lines whose addresses they give.
TEST(MmaTraits, LoadedMatricesAreTheSparseInstructionsOperands) {
  using Sparse = MmaSparseM16N8K32;
  for (int lane = 0; lane < 32; ++lane)
    for (int r = 0; r < 4; ++r)
      for (int half = 0; half < 2; ++half) {
        const int line = lane / 4, in_line = lane % 4 * 2 + half;
        const int of_line = r * 8 + line,
                  of_transposed = r * 8 + in_line;  // the lanes that give the addresses
        EXPECT_EQ(
            Sparse::of_a(lane, r, half),
            (Sparse::Place{Sparse::row_of_address(of_line), Sparse::half_of_address(of_line) * 8 + in_line}));
        EXPECT_EQ(Sparse::of_b(lane, r, half), (Sparse::Place{Sparse::rows_of_address(of_line) * 8 + in_line,
                                                              Sparse::column_of_address(of_line)}));
        EXPECT_EQ(Sparse::of_b(lane, r, half), (Sparse::Place{of_transposed, line}));
      }
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
