// SPDX-License-Identifier: Apache-2.0
/// @file laplacian.hpp
/// The matrices of regular grids, for benchmarks on host and device.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace sporos::perf {

/// The Laplacian of a grid of n^3 points: 27 points with `corners`, else 7.
/// @tparam Rows  constructed from (rows, columns); put(column) adds to the current row, end_row() ends it
template <class Rows>
Rows laplacian_as(std::int64_t n, bool corners) {
  Rows out(n * n * n, n * n * n);
  for (std::int64_t z = 0; z < n; ++z)
    for (std::int64_t y = 0; y < n; ++y)
      for (std::int64_t x = 0; x < n; ++x) {
        for (std::int64_t c = -1; c <= 1; ++c)
          for (std::int64_t b = -1; b <= 1; ++b)
            for (std::int64_t a = -1; a <= 1; ++a) {
              if (!corners && std::abs(a) + std::abs(b) + std::abs(c) > 1) continue;
              if (x + a < 0 || x + a >= n || y + b < 0 || y + b >= n || z + c < 0 || z + c >= n) continue;
              out.put(((z + c) * n + y + b) * n + x + a);
            }
        out.end_row();
      }
  return out;
}

}  // namespace sporos::perf
