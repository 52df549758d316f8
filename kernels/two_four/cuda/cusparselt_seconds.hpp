// SPDX-License-Identifier: Apache-2.0
/// @file cusparselt_seconds.hpp
/// How long cuSPARSELt's default algorithm is expected to take; depends on numbers alone and is tested on the
/// host.
#pragma once

#include <cstdint>

#include "../../cuda/ceil_div.hpp"

namespace sporos::gpu {

/// The seconds that cuSPARSELt's default algorithm takes for C [m, n] = A [m, k] B [k, n], A 2:4 sparse, with
/// 16-bit values.
///
/// The constants fit the times of version 0.8 on an H200 (perf_tests/results/cuda_two_four_h200.json) by
/// least squares of relative errors: what is expected is 0.86 to 1.17 times what was measured, and 0.73
/// to 1.21 times on an H100. The sizes of tiles are those that fit best of 64, 128 and 256. All 20 shapes
/// have k = 4096 or 11008, so that the launch and what a round takes beside its terms are chosen to be a
/// little more than those of the project's own kernel. On each of the shapes, on both GPUs, the default
/// algorithm takes 1.7 to 3 times as long as that kernel; by this model it is slower than choose_two_four()
/// expects that to be on all others as well.
inline double cusparselt_seconds(std::int64_t m, std::int64_t n, std::int64_t k, int multiprocessors) {
  constexpr std::int64_t rows_of_tile = 128, columns_of_tile = 64;
  constexpr double launch = 3e-6;
  constexpr double column = 4.2e-9;    // of A, in each round of tiles, one on each multiprocessor
  constexpr std::int64_t store = 256;  // storing the tiles of a round takes as long as so many columns
  constexpr double bytes_per_second = 3.5e12;
  constexpr double bytes_of_element = 1.125;  // of A: half of the values, 4 bits of metadata for four
  constexpr double bytes_of_value = 2;
  const std::int64_t tiles = ceil_div(m, rows_of_tile) * ceil_div(n, columns_of_tile);
  const auto rounds = static_cast<double>(ceil_div(tiles, std::int64_t{multiprocessors}));
  const auto rows = static_cast<double>(m), columns = static_cast<double>(n), inner = static_cast<double>(k);
  const double bytes = bytes_of_element * rows * inner + bytes_of_value * columns * (inner + rows);
  return launch + rounds * static_cast<double>(k + store) * column + bytes / bytes_per_second;
}

}  // namespace sporos::gpu
