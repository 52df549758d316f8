// SPDX-License-Identifier: Apache-2.0
/// @file similar_rows.hpp
/// Runs of neighbouring rows whose columns are the same, or the same but for a shift by one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "operand.hpp"

namespace sporos::detail {

/// How far the rows behind each row resemble it.
///
/// Rows of one finite-element node have the same columns; rows along a grid line have columns that shift by
/// one from row to row. Both share one symbolic computation.
struct SimilarRows {
  std::uint8_t* same = nullptr;     // [rows]: how many rows behind this one have its columns, up to 255
  std::uint8_t* shifted = nullptr;  // [rows]: how many rows behind it are each its predecessor shifted by one
  bool frequent = false;            ///< so many rows have the columns of the next that looking for them pays
};

/// Fills `similar` for the rows from `begin` to `end`; runs end there. Cost: the coordinates of similar rows
/// are read, of others mostly the first.
/// @return how many rows have the columns of the next
template <class Rows>
std::int64_t find_similar_rows(const Rows& matrix, std::int64_t begin, std::int64_t end,
                               const SimilarRows& similar) {
  using Coordinate = typename Rows::coordinate_type;
  if (begin >= end) return 0;
  std::int64_t same = 0;
  similar.same[end - 1] = similar.shifted[end - 1] = 0;
  for (std::int64_t row = end - 2; row >= begin; --row) {
    similar.same[row] = similar.shifted[row] = 0;
    const std::int64_t here = matrix.begin(row), next = matrix.begin(row + 1);
    const std::int64_t length = next - here;
    if (length == 0 || matrix.begin(row + 2) - next != length) continue;
    const Coordinate* const a = matrix.coordinates + here;
    const Coordinate* const b = matrix.coordinates + next;
    const auto shift = static_cast<Coordinate>(b[0] - a[0]);
    if ((shift != 0 && shift != 1) || static_cast<Coordinate>(b[length - 1] - a[length - 1]) != shift)
      continue;
    Coordinate difference = 0;
    for (std::int64_t t = 0; t < length; ++t)
      difference = static_cast<Coordinate>(difference | (static_cast<Coordinate>(a[t] + shift) ^ b[t]));
    if (difference) continue;
    auto& run = shift ? similar.shifted : similar.same;
    run[row] = static_cast<std::uint8_t>(std::min(run[row + 1] + 1, 255));
    same += shift == 0;
  }
  return same;
}

}  // namespace sporos::detail
