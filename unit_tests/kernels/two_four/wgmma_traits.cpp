// SPDX-License-Identifier: Apache-2.0
/// @file wgmma_traits.cpp
/// Which thread holds which element of the operands of four warps, and how these are described.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <sporos/kernels/cuda/wgmma_traits.hpp>
#include <utility>

namespace sporos::gpu {
namespace {

TEST(WgmmaTraits, ThreadsHoldEverySumOnce) {
  std::set<std::pair<int, int>> seen;
  for (int thread = 0; thread < WgmmaSparse::threads; ++thread)
    for (int r = 0; r < 256 / 2; ++r) {
      const auto place = WgmmaSparse::of_d(thread, r);
      ASSERT_TRUE(place.row >= 0 && place.row < 64 && place.column >= 0 && place.column < 256);
      EXPECT_TRUE(seen.insert({place.row, place.column}).second);
    }
  EXPECT_EQ(seen.size(), 64u * 256);
}

/// As in the figures of the PTX ISA.
TEST(WgmmaTraits, ThreadsHoldTheSumsThatTheInstructionSays) {
  static_assert(WgmmaSparse::of_d(0, 0) == WgmmaSparse::Place{0, 0});
  static_assert(WgmmaSparse::of_d(0, 3) == WgmmaSparse::Place{8, 1});
  static_assert(WgmmaSparse::of_d(5, 4) == WgmmaSparse::Place{1, 10});
  static_assert(WgmmaSparse::of_d(127, 127) == WgmmaSparse::Place{63, 255});
}

TEST(WgmmaTraits, ThreadsHoldEveryElementOfTf32Once) {
  std::set<std::pair<int, int>> seen;
  for (int thread = 0; thread < WgmmaTf32::threads; ++thread)
    for (int r = 0; r < 4; ++r) {
      const auto place = WgmmaTf32::of_a(thread, r);
      ASSERT_TRUE(place.row >= 0 && place.row < 64 && place.column >= 0 && place.column < 8);
      EXPECT_TRUE(seen.insert({place.row, place.column}).second);
    }
  EXPECT_EQ(seen.size(), 64u * 8);
  static_assert(WgmmaTf32::of_a(0, 1) == WgmmaTf32::Place{8, 0});
  static_assert(WgmmaTf32::of_a(0, 2) == WgmmaTf32::Place{0, 4});
  static_assert(WgmmaTf32::of_a(37, 3) == WgmmaTf32::Place{25, 5});
}

/// Of the 32 columns of a row, 16 go to threads of even number and 16 to those of odd number, and two rows
/// share a register.
TEST(WgmmaTraits, EveryBitOfMetadataGoesToItsThread) {
  for (int thread = 0; thread < WgmmaSparse::threads; ++thread) {
    EXPECT_EQ(WgmmaSparse::row_of_metadata(thread), thread / 32 * 16 + thread % 32 / 4);
    for (int bit = 0; bit < 32; ++bit) {
      const bool is_here = bit / 16 == thread % 2;
      const std::uint32_t one = std::uint32_t{1} << bit;
      EXPECT_EQ(WgmmaSparse::metadata(thread, one, 0), is_here ? std::uint32_t{1} << bit % 16 : 0);
      EXPECT_EQ(WgmmaSparse::metadata(thread, 0, one), is_here ? std::uint32_t{1} << (bit % 16 + 16) : 0);
    }
  }
}

/// As in the table of the PTX ISA: address, leading and stride offsets in units of 16 bytes, and the swizzle.
TEST(WgmmaTraits, MatricesInSharedMemoryAreDescribed) {
  constexpr auto description = SharedMatrix::describe(0x12400, SharedMatrix::Lines::of_128_bytes, 64 * 128);
  EXPECT_EQ(description & 0x3fff, 0x1240u);
  EXPECT_EQ(description >> 16 & 0x3fff, 512u);
  EXPECT_EQ(description >> 32 & 0x3fff, 64u);
  EXPECT_EQ(description >> 62, 1u);
  constexpr auto of_64 = SharedMatrix::describe(0x400, SharedMatrix::Lines::of_64_bytes);
  EXPECT_EQ(of_64 >> 32 & 0x3fff, 32u);
  EXPECT_EQ(of_64 >> 62, 2u);
  EXPECT_EQ((of_64 + SharedMatrix::offset(32)) & 0x3fff, 0x42u);
}

}  // namespace
}  // namespace sporos::gpu
