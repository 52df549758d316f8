// SPDX-License-Identifier: Apache-2.0
/// @file near_rows.hpp
/// Whether neighbouring rows of a matrix have neighbouring columns, so that what they touch is in the caches.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sporos::detail {

/// Whether most columns of a row are equal or near to columns of the previous row, as on grids and meshes
/// that are numbered along their lines; judged by a sample of at most 256 rows.
template <class Rows>
bool has_near_rows(const Rows& matrix) {
  constexpr std::int64_t most_rows = 256;
  constexpr std::int64_t near = 8;  // rows apart that lie in neighbouring cache lines
  if (2 > matrix.rows) return false;
  const std::int64_t step = std::max<std::int64_t>(1, matrix.rows / most_rows);
  std::int64_t count = 0, of = 0;
  for (std::int64_t row = step; row < matrix.rows; row += step) {
    const auto* before = matrix.coordinates + matrix.begin(row - 1);
    const auto* const before_end = matrix.coordinates + matrix.begin(row);
    for (std::int64_t q = matrix.begin(row); q < matrix.begin(row + 1); ++q, ++of) {
      const auto column = static_cast<std::int64_t>(matrix.coordinates[q]);
      while (before != before_end && static_cast<std::int64_t>(*before) < column - near) ++before;
      count += before != before_end && static_cast<std::int64_t>(*before) <= column + near;
    }
  }
  return 4 * count > 3 * of;
}

}  // namespace sporos::detail
