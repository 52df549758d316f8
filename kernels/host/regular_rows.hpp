// SPDX-License-Identifier: Apache-2.0
/// @file regular_rows.hpp
/// Whether the rows of a matrix are of about the same length.
#pragma once

#include <cstdint>

namespace sporos::detail {

/// Whether the branches of loops over rows cost little. They are predicted if neighbouring rows have about
/// the same number of nonzeros, which is assumed if, of sixteen rows in each of three places of the matrix,
/// most are as long as the one before. Nor does one misprediction per row matter if rows are long.
template <class Matrix>
bool has_regular_rows(const Matrix& a) {
  constexpr std::int64_t rows = 16, long_row = 24;
  if (a.nnz() >= long_row * a.rows) return true;
  if (a.rows < 4 * rows) return false;
  int equal = 0;
  for (int place = 1; place <= 3; ++place) {
    const std::int64_t first = a.rows / 4 * place;
    for (std::int64_t row = first; row + 1 < first + rows; ++row) equal += a.length(row) == a.length(row + 1);
  }
  return equal >= 3 * (rows - 1) * 3 / 4;
}

}  // namespace sporos::detail
