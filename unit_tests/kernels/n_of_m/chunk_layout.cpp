// SPDX-License-Identifier: Apache-2.0
/// @file chunk_layout.cpp
/// How N:M matrices are cut into chunks for CUDA cores, where chunks and lists of rows hold what; and which
/// GPUs have the instructions of sm_90a.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <sporos/kernels/cuda/sm_90a.hpp>
#include <sporos/kernels/n_of_m/cuda/chunk_layout.hpp>
#include <vector>

namespace sporos::test {
namespace {

using gpu::most_units;
using gpu::NmChunkLayout;
using gpu::NmChunks;

TEST(NmChunks, HoldAllThatIsKept) {
  for (int window = 1; window <= 256; ++window)
    for (const int kept : {1, (window + 7) / 8, (window + 1) / 2, window})
      for (const bool is_listed : {false, true}) {
        const NmChunks cut = is_listed ? NmChunks::of_listed(kept, window) : NmChunks::of(kept, window);
        EXPECT_EQ(cut.rows % NmChunks::rows_at_a_time, 0);
        EXPECT_LE(cut.rows, NmChunks::most_rows);
        EXPECT_GE(cut.chunks * cut.rows, cut.kept_rows());
        if (cut.windows > 1) {
          EXPECT_LE(cut.dense_rows(),
                    is_listed ? NmChunks::most_dense_rows_if_listed : NmChunks::most_dense_rows);
        }
        if (cut.windows > 1 && is_listed) {
          EXPECT_LE(cut.kept_rows(), NmChunks::most_kept_rows_if_listed);
        }
      }
}
/// Few rows of listed ones are in shared memory, so sections are longer and less of their chunks is padding.
TEST(NmChunks, AreLongerWhereRowsAreListed) {
  EXPECT_EQ(NmChunks::of(1, 32).dense_rows(), 64);
  EXPECT_EQ(NmChunks::of(1, 32).rows, 4);  // of which two are kept
  EXPECT_EQ(NmChunks::of_listed(1, 32).dense_rows(), 256);
  EXPECT_EQ(NmChunks::of_listed(1, 32).rows, 8);
  EXPECT_EQ(NmChunks::of_listed(2, 32).kept_rows(), 12);
  EXPECT_EQ(NmChunks::of_listed(4, 32).kept_rows(), 12);
  EXPECT_EQ(NmChunks::of_listed(3, 64).kept_rows(), 12);
  EXPECT_EQ(NmChunks::of_listed(32, 256).chunks, 2);
}

TEST(NmChunkLayout, CountsTheUnitsOfATile) {
  for (const int columns : {64, 128, 256})
    for (int unit = 4; unit <= 512; unit += 4) {
      int most = 0;
      for (int tile = 0; tile < 600; ++tile)
        most = std::max(most, ((tile + 1) * columns - 1) / unit - tile * columns / unit + 1);
      EXPECT_LE(most, most_units(columns, unit)) << columns << ", " << unit;
      if (unit % columns == 0 || columns % unit == 0) {
        EXPECT_EQ(most, most_units(columns, unit));
      }
    }
}

/// As for tiles of 128 columns in units of 32, of floats.
NmChunkLayout layout_of(int kept, int window, int rows_at_a_time) {
  NmChunkLayout out{NmChunks::of_listed(kept, window), 128, 32, 4, 256};
  out.listed_rows = std::min(out.cut.dense_rows(), 4 * out.cut.kept_rows());
  out.rows_at_a_time = rows_at_a_time;
  return out;
}

TEST(NmChunkLayout, ListsHaveAPlaceForEachRow) {
  for (const auto& [kept, window] : {std::array{1, 8}, {1, 32}, {2, 32}, {4, 32}, {3, 64}, {32, 256}})
    for (const int rows_at_a_time : {4, 8}) {
      const NmChunkLayout layout = layout_of(kept, window, rows_at_a_time);
      EXPECT_EQ(layout.turns() % NmChunkLayout::turns_together, 0);
      EXPECT_GE(layout.list_size(), layout.listed_rows);
      std::set<int> places;
      for (int at = 0; at < layout.list_size(); ++at) {
        EXPECT_TRUE(layout.in_list(at) >= 0 && layout.in_list(at) < layout.list_size());
        EXPECT_TRUE(places.insert(layout.in_list(at)).second);
        // Threads that copy together find their rows side by side.
        EXPECT_EQ(layout.in_list(at) / layout.turns(), at % rows_at_a_time);
      }
      // Every row of a list is found at its place, however many there are.
      for (int count = 0; count <= layout.listed_rows; ++count) {
        std::vector<std::uint16_t> list(static_cast<std::size_t>(layout.list_size()), NmChunkLayout::no_row);
        const auto row = [&](int at) { return at + at / 3 * (layout.cut.dense_rows() > 200 ? 1 : 0); };
        for (int at = 0; at < count; ++at)
          list[static_cast<std::size_t>(layout.in_list(at))] = static_cast<std::uint16_t>(row(at));
        for (int at = 0; at < count; ++at) ASSERT_EQ(layout.place_in_list(list.data(), row(at)), at);
      }
    }
}

TEST(NmChunkLayout, ListsFollowTheChunks) {
  const NmChunkLayout layout = layout_of(2, 32, 8);  // sections of 192 rows, of which 48 or fewer are listed
  EXPECT_EQ(layout.listed_rows, 48);
  EXPECT_EQ(layout.turns(), 8);
  EXPECT_EQ(layout.chunk_bytes(), 12 * 128 * 4 + 4 * 12 * 4);
  EXPECT_EQ(layout.section_bytes(), 49 * 256);
  EXPECT_EQ(layout.copied_bytes(), 48 * 256);
  EXPECT_EQ(layout.lists(700, 300), 3 * 4);
  EXPECT_EQ(layout.lists_at(700, 300), 3 * 4 * layout.chunk_bytes());
  EXPECT_EQ(layout.lists_at(700, 300) % 16, 0);
  EXPECT_EQ(layout.bytes(700, 300), 3 * 4 * (layout.chunk_bytes() + 64 * 2));

  NmChunkLayout whole = layout;
  whole.listed_rows = 0;
  EXPECT_EQ(whole.copied_rows(), 192);
  EXPECT_EQ(whole.lists(700, 300), 0);
  EXPECT_EQ(whole.bytes(700, 300), whole.lists_at(700, 300));
}

TEST(Sm90a, IsThereOnComputeCapability90WithCodeForIt) {
  for (int major = 5; major <= 13; ++major) {
    EXPECT_EQ(gpu::runs_sm_90a(major, true), major == 9);
    EXPECT_FALSE(gpu::runs_sm_90a(major, false));
  }
}

}  // namespace
}  // namespace sporos::test
