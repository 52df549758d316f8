// SPDX-License-Identifier: Apache-2.0
/// @file statistics.hpp
/// What can be counted about entries without putting them into a format.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "input.hpp"

namespace sporos::tool {

/// How the entries fall onto the coordinates of one mode.
struct ModeStatistics {
  std::int64_t extent = 0;
  std::int64_t used = 0;   ///< coordinates with an entry
  std::int64_t least = 0;  ///< entries at one coordinate, over all coordinates
  std::int64_t most = 0;
};

/// How the entries of a matrix lie.
struct MatrixStatistics {
  std::int64_t diagonal = 0;         ///< entries on the diagonal
  std::int64_t lower_bandwidth = 0;  ///< largest i - j of an entry (i, j), at least 0
  std::int64_t upper_bandwidth = 0;
  bool symmetric_pattern = false;
  bool symmetric = false;  ///< pattern and values, which of complex entries are mirrored as they are
  bool hermitian = false;
};

struct Statistics {
  std::int64_t entries = 0;
  std::int64_t duplicates = 0;  ///< entries whose coordinates an earlier one has
  std::int64_t zeros = 0;       ///< entries whose value is 0
  std::int64_t not_finite = 0;  ///< entries that are infinite or no number
  double least = 0, most = 0;   ///< of the finite values, of complex ones the moduli; 0 where there are none
  std::vector<ModeStatistics> modes;
  std::optional<MatrixStatistics> matrix;  ///< of square matrices

  std::int64_t nonzeros() const { return entries - duplicates; }
};

/// Cost: a sort of the entries, and of those of a square matrix another.
Statistics statistics(const AnyEntries& entries);

/// Entries sorted by coordinates, duplicates merged, optionally without those that are 0: what a tensor of
/// them holds, by no means of the library's own.
AnyEntries merged(const AnyEntries& entries, Duplicates duplicates, bool drop_zeros);

/// Whether two lists hold the same extents, coordinates and values, in whatever order. Values compare bit by
/// bit but for the sign of a zero; integers compare with the doubles that are the same number.
bool same_entries(const AnyEntries& a, const AnyEntries& b);

}  // namespace sporos::tool
