// SPDX-License-Identifier: Apache-2.0
/// @file similar_rows.hpp
/// Runs of neighbouring rows whose columns are the same, or the same except for a shift by one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../../core/inline.hpp"
#include "../../host/sparse_rows.hpp"

namespace sporos::detail {

/// For each row, how many of the rows after it are similar.
///
/// The rows of one node of a finite-element matrix have the same columns; the columns of rows along a grid
/// line shift by one from row to row. In both cases, one symbolic computation serves all of them.
struct SimilarRows {
  std::uint8_t* same = nullptr;     // [rows]: how many rows after this one have its columns, up to 255
  std::uint8_t* shifted = nullptr;  // [rows]: how many rows after it are each the previous one shifted by one
  bool frequent = false;      ///< enough rows have the columns of the next that looking for them pays off
  bool shifts = false;        ///< some rows are the previous one shifted
  bool same_often = false;    ///< the same, even if the pattern of the result is known
  bool shifts_often = false;  ///< enough rows are shifted that it pays off even if the pattern is known
  int repeated = 0;  ///< length of the rows, at most most_repeated, if all have it and most repeat; else 0
};

/// How many rows have the same columns as the next row, and how many have them except for a shift.
struct SimilarCount {
  std::int64_t same = 0, shifted = 0;
  std::int64_t of = 0;  ///< rows in the sample
};

/// The most elements of repeated rows: as many as are summed in registers.
inline constexpr int most_repeated = 4;

/// How far the columns of row + 1 are shifted relative to those of `row`: 0 or 1; otherwise -1.
template <class Rows>
SPOROS_HOST_INLINE int shift_to_next(const Rows& matrix, std::int64_t row) {
  using Coordinate = typename Rows::coordinate_type;
  const std::int64_t here = matrix.begin(row), next = matrix.begin(row + 1);
  const std::int64_t length = next - here;
  if (length == 0 || matrix.begin(row + 2) - next != length) return -1;
  const Coordinate* const a = matrix.coordinates + here;
  const Coordinate* const b = matrix.coordinates + next;
  const auto shift = static_cast<Coordinate>(b[0] - a[0]);
  if ((shift != 0 && shift != 1) || static_cast<Coordinate>(b[length - 1] - a[length - 1]) != shift)
    return -1;
  Coordinate difference = 0;
  for (std::int64_t t = 0; t < length; ++t)
    difference = static_cast<Coordinate>(difference | (static_cast<Coordinate>(a[t] + shift) ^ b[t]));
  return difference ? -1 : static_cast<int>(shift);
}

/// How many rows are similar to the next, in a sample of at most 256 rows from all over the matrix.
template <class Rows>
SimilarCount sample_similar_rows(const Rows& matrix) {
  constexpr std::int64_t places = 32, rows = 8;
  SimilarCount count;
  const std::int64_t each = std::min(rows, (matrix.rows - 1) / places);
  for (std::int64_t place = 0; place < places; ++place) {
    const std::int64_t first = (matrix.rows - 1 - each) * place / (places - 1);
    for (std::int64_t row = first; row < first + each; ++row) {
      const int shift = shift_to_next(matrix, row);
      count.same += shift == 0;
      count.shifted += shift == 1;
      ++count.of;
    }
  }
  return count;
}

/// The same, except that all rows of a small matrix count as similar: looking for those that are takes hardly
/// longer than a sample.
template <class Rows>
SimilarCount expected_similar_rows(const Rows& matrix) {
  constexpr std::int64_t small = 512;
  if (matrix.rows <= small) return {matrix.rows, matrix.rows, matrix.rows};
  return sample_similar_rows(matrix);
}

/// Whether so many rows of a sample are similar to the next that finding them pays off. Shifted rows are of
/// use only if those of the other matrix are as well.
inline bool has_similar_rows(const SimilarCount& sample, const SimilarCount& other) {
  constexpr std::int64_t least = 16;  // one similar row in this many pays off
  const std::int64_t shifted = other.shifted > 0 ? sample.shifted : 0;
  return sample.of > 0 && least * (sample.same + shifted) >= sample.of;
}

/// The length of the rows if they suit scatter_repeated, judged from a sample; otherwise 0.
/// @param longest  short_length of the matrix
template <class Rows>
int repeated_length(const Rows& matrix, std::int64_t longest) {
  if (longest == 0 || longest > most_repeated || longest * matrix.rows != matrix.nnz()) return 0;
  const SimilarCount count = sample_similar_rows(matrix);
  return 2 * count.same > count.of ? static_cast<int>(longest) : 0;
}

/// Fills `similar` for rows [begin, end); runs end at `end`. Cost: reads all coordinates of similar rows, and
/// mostly only the first of others.
template <class Rows>
SimilarCount find_similar_rows(const Rows& matrix, std::int64_t begin, std::int64_t end,
                               const SimilarRows& similar) {
  SimilarCount count;
  if (begin >= end) return count;
  similar.same[end - 1] = similar.shifted[end - 1] = 0;
  for (std::int64_t row = end - 2; row >= begin; --row) {
    similar.same[row] = similar.shifted[row] = 0;
    const int shift = shift_to_next(matrix, row);
    if (shift < 0) continue;
    auto& run = shift ? similar.shifted : similar.same;
    run[row] = static_cast<std::uint8_t>(std::min(run[row + 1] + 1, 255));
    ++(shift ? count.shifted : count.same);
  }
  return count;
}

}  // namespace sporos::detail
