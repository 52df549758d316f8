// SPDX-License-Identifier: Apache-2.0
/// @file cusparselt_seconds.cpp
/// What cuSPARSELt's default algorithm is expected to take, beside measured times and the project's kernel.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/kernels/two_four/cuda/cusparselt_seconds.hpp>
#include <sporos/kernels/two_four/cuda/tiles.hpp>

namespace sporos::gpu {
namespace {

constexpr int multiprocessors = 132;

/// Microseconds on an H200, from perf_tests/results/cuda_two_four_h200.json.
TEST(CusparseltSeconds, AreNearWhatWasMeasured) {
  struct Measured {
    std::int64_t m, n, k;  // m rows of the sparse matrix
    double microseconds;
  };
  for (const Measured& at : {Measured{4096, 256, 4096, 29.5}, Measured{4096, 512, 11008, 125.3},
                             Measured{11008, 1024, 4096, 233.9}, Measured{4096, 4096, 4096, 312.0},
                             Measured{11008, 4096, 11008, 2205.6}}) {
    const double expected = cusparselt_seconds(at.m, at.n, at.k, multiprocessors) * 1e6;
    EXPECT_NEAR(expected, at.microseconds, 0.18 * at.microseconds) << at.m << ' ' << at.n << ' ' << at.k;
  }
}

TEST(CusparseltSeconds, AreMoreThanThoseOfTheKernelHere) {
  constexpr ClusterCounts clusters{0, multiprocessors, 66, 40, 30};
  for (std::int64_t m = 16; m <= 65536; m *= 2)
    for (std::int64_t n = 8; n <= 65536; n *= 2)
      for (std::int64_t k = 16; k <= 131072; k *= 2)
        for (const std::int64_t tail : {0, 16})
          EXPECT_GT(
              cusparselt_seconds(m + tail, n + tail, k + tail, multiprocessors),
              choose_two_four(m + tail, n + tail, (k + tail + 127) / 128, multiprocessors, clusters).seconds)
              << m + tail << " x " << n + tail << " x " << k + tail;
}

}  // namespace
}  // namespace sporos::gpu
