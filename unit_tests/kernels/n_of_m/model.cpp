// SPDX-License-Identifier: Apache-2.0
/// @file model.cpp
/// What the model of N:M products on CUDA cores says: of the paper's examples, and of an H200.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <sporos/kernels/n_of_m/cuda/model.hpp>
#include <sstream>

namespace sporos::test {
namespace {

using namespace gpu;

/// The large tiles of the paper's Table I, 64 x 128, on its A100: 192 KB of shared memory, 14.7 TFLOPS
/// measured and 1935 GB/s (section IV-A and Figure 10), at the sparsities that it evaluates.
TEST(NmModel, FindsThePapersTransitionFromComputingToMemory) {
  const double operations_of_element = 14.7e12 / (1935e9 / 4);
  const auto intensity = [](int kept) {
    const int dense_rows = most_dense_rows_of_block(192 * 1024, 64, 128, kept, 32);
    return arithmetic_intensity(64, 128, dense_rows, dense_rows * kept / 32.0);
  };
  EXPECT_GT(intensity(16), operations_of_element);  // 50 % and 62.5 %: bound by computing
  EXPECT_GT(intensity(12), operations_of_element);
  EXPECT_LT(intensity(8), operations_of_element);  // 75 % and 87.5 %: by memory
  EXPECT_LT(intensity(4), operations_of_element);
}

TEST(NmModel, HasTheFormulasOfThePaper) {
  // Equation 3, by hand: 2 * 64 * 128 * 96 / (64 * 192 + 96 * 128 + 2 * 64 * 128).
  EXPECT_DOUBLE_EQ(arithmetic_intensity(64, 128, 192, 96), 38.4);
  // Equation 5: 8 * 192 * (64 + 64) is all of the shared memory.
  EXPECT_EQ(most_dense_rows_of_block(192 * 1024, 64, 128, 16, 32), 192);
  EXPECT_EQ(most_dense_rows_of_block(192 * 1024 - 1, 64, 128, 16, 32), 160);
  // Dense, it is the intensity of a product of dense matrices; it falls with each row that is not kept.
  double before = arithmetic_intensity(64, 128, 96, 96);
  EXPECT_DOUBLE_EQ(before, 2.0 * 64 * 128 * 96 / (96 * (64 + 128) + 2 * 64 * 128));
  for (const double kept : {64.0, 48.0, 24.0, 12.0}) {
    EXPECT_LT(arithmetic_intensity(64, 128, 96, kept), before);
    before = arithmetic_intensity(64, 128, 96, kept);
  }
  // What packing leaves of the dense rows: N/M of them for one unit, at most all.
  EXPECT_DOUBLE_EQ(kept_by_any(8, 32, 1), 0.25);
  EXPECT_NEAR(kept_by_any(4, 32, 8), 0.656, 1e-3);
  EXPECT_DOUBLE_EQ(kept_by_any(32, 32, 4), 1);
}

constexpr NmTileShape large_tile{128, 256, 16, 8, 8, 4, 4, 1}, small_tile{64, 128, 8, 8, 4, 4, 4, 3};

NmPrediction predict(int kept, const std::array<std::int64_t, 3>& shape) {
  const NmChunks cut = NmChunks::of(kept, 32);
  const auto [m, n, k] = shape;
  NmPrediction best;
  for (int shared = 1; shared <= 8; shared *= 2) {
    const NmPrediction of_large = predict_blocks(nm_device(132), large_tile, nm_large_block_times, cut, m, n,
                                                 k, shared),
                       of_small = predict_blocks(nm_device(132), small_tile, nm_small_block_times, cut, m, n,
                                                 k, shared);
    for (const NmPrediction& one : {of_large, of_small})
      if (one.seconds < best.seconds) best = one;
  }
  return best;
}

/// perf_tests/results/cuda_n_of_m_layers_h200.json, sporos_blocks_by_columns, in microseconds.
TEST(NmModel, PredictsWhatWasMeasuredOnAnH200) {
  struct Measured {
    int kept;
    std::array<std::int64_t, 3> shape;
    double microseconds;
  };
  for (const auto& [kept, shape, microseconds] :
       {Measured{16, {4096, 8192, 8192}, 5802.6}, Measured{16, {1024, 13824, 5120}, 1582.2},
        Measured{16, {256, 4096, 11008}, 259.17}, Measured{12, {4096, 8192, 8192}, 4444.5},
        Measured{12, {1024, 13824, 5120}, 1210.8}, Measured{12, {256, 4096, 11008}, 199.74},
        Measured{8, {4096, 8192, 8192}, 2921.4}, Measured{8, {1024, 13824, 5120}, 799.97},
        Measured{8, {256, 4096, 11008}, 132.26}, Measured{4, {4096, 8192, 8192}, 1456.2},
        Measured{4, {1024, 13824, 5120}, 434.5}, Measured{4, {256, 4096, 11008}, 74.933}}) {
    const NmPrediction prediction = predict(kept, shape);
    EXPECT_NEAR(prediction.seconds * 1e6 / microseconds, 1, 0.15) << kept << " of 32, " << shape[0];
    if (kept > 4) {
      EXPECT_EQ(prediction.bound(), NmBound::issue);
    }
  }
}

TEST(NmModel, SaysWhatBinds) {
  EXPECT_EQ(predict(16, {4096, 4096, 4096}).bound(), NmBound::issue);
  // So small that a block's beginning and end are most of the time.
  EXPECT_EQ(predict(4, {128, 128, 128}).bound(), NmBound::waiting);
  // Hardly any k: the result takes longer to write than to compute.
  EXPECT_EQ(predict(16, {65536, 65536, 8}).bound(), NmBound::memory);
  // Small tiles of which little is kept: rows of the dense factor that are copied and not multiplied.
  // Packing, which copies only those that some unit of a tile keeps, takes them off the L2 cache.
  const NmChunks cut = NmChunks::of(2, 32);
  const auto of_small = [&](double part) {
    return predict_blocks(nm_device(132), small_tile, nm_small_block_times, cut, 4096, 4096, 4096, 1, part);
  };
  EXPECT_EQ(of_small(1).bound(), NmBound::l2_cache);
  EXPECT_EQ(of_small(kept_by_any(2, 32, 4)).bound(), NmBound::issue);
  EXPECT_LT(of_small(kept_by_any(2, 32, 4)).seconds, 0.7 * of_small(1).seconds);
}

/// Listing rows is tried where an eighth or less is kept and the columns of a warp share a unit.
TEST(NmModel, SaysWhereRowsCanBeListed) {
  EXPECT_TRUE(can_list_rows(4, 32, 32, 32) && can_list_rows(1, 8, 64, 32) && can_list_rows(3, 64, 96, 32));
  EXPECT_FALSE(can_list_rows(5, 32, 32, 32) || can_list_rows(1, 4, 32, 32));
  EXPECT_FALSE(can_list_rows(2, 32, 16, 32) || can_list_rows(2, 32, 48, 32));
  EXPECT_DOUBLE_EQ(part_of_listed_rows(2, 32, 128, 32), kept_by_any(2, 32, 4));
  EXPECT_DOUBLE_EQ(part_of_listed_rows(2, 32, 256, 32), kept_by_any(2, 32, 8));
  EXPECT_DOUBLE_EQ(part_of_listed_rows(2, 32, 128, 128), 1.0 / 16);
}

/// The fewer rows are kept, and the fewer units a tile has, the more listing them saves.
TEST(NmModel, ChoosesToListRowsWhereFewAreKept) {
  const auto gain = [](const NmTileShape& tile, const NmBlockTimes& times, int kept, int unit) {
    const auto seconds = [&](const NmChunks& cut, double cost) {
      return predict_blocks(nm_device(132), tile, times, cut, 4096, 4096, 4096, 1, cost).seconds;
    };
    return seconds(NmChunks::of(kept, 32), 1) /
           seconds(NmChunks::of_listed(kept, 32),
                   part_of_listed_rows(kept, 32, tile.block_n, unit) * nm_cost_of_listed_row);
  };
  const auto of_small = [&](int kept, int unit) {
    return gain(small_tile, nm_small_block_times, kept, unit);
  };
  const auto of_large = [&](int kept, int unit) {
    return gain(large_tile, nm_large_block_times, kept, unit);
  };
  EXPECT_GT(of_small(2, 32), 1.3);
  EXPECT_GT(of_small(1, 32), of_small(2, 32));
  EXPECT_GT(of_small(2, 32), of_small(4, 32));
  EXPECT_GE(of_small(4, 128), of_small(4, 32));
  // A large tile's eight units keep two thirds of the rows of a window, which then cost more than all.
  EXPECT_LT(of_large(4, 32), 1);
  EXPECT_GT(of_large(1, 32), 1);
}

TEST(NmModel, ComparesTheIntensityOfATileWithThatOfTheDevice) {
  const NmDevice device = nm_device(132);
  EXPECT_DOUBLE_EQ(operations_of_element(device, 4), 65e12 / (4.28e12 / 4));
  EXPECT_DOUBLE_EQ(operations_of_element(device, 8), 32.5e12 / (4.28e12 / 8));
  // A tile's sums stay in registers: it reads k rows, and writes its results once.
  const NmChunks cut = NmChunks::of(8, 32);
  EXPECT_DOUBLE_EQ(arithmetic_intensity(large_tile, cut, 4096, 1, 1),
                   arithmetic_intensity(128, 256, 4096, 1024));
  EXPECT_DOUBLE_EQ(arithmetic_intensity(small_tile, cut, 4096, 4, 0.5),
                   arithmetic_intensity(64, 128, 512, 256));
  std::ostringstream out;
  write_intensity(out, 38.4, {1, 1e12, 1e9, 1e12, 4e12}, 4);
  EXPECT_EQ(out.str(), "  arithmetic intensity: 38.4 operations per element of a tile, the device's 2\n");
}

/// Tensor cores: kernels/cuda/README.md has the cycles of 128 rows of a tile of 128 x 256.
TEST(NmModel, SaysWhatBindsTensorCores) {
  const auto bound = [](int planes, int block_m, int block_n, int kept, double seconds) {
    return predict_gathering(nm_device(132), block_m, block_n, planes, kept, 32, 4096, 4096, 4096, seconds)
        .bound();
  };
  EXPECT_EQ(bound(1, 128, 256, 16, 205e-6), NmBound::shared_memory);
  EXPECT_EQ(bound(1, 128, 256, 4, 94e-6), NmBound::l2_cache);
}

}  // namespace
}  // namespace sporos::test
