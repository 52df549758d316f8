// SPDX-License-Identifier: Apache-2.0
/// @file statistics.hpp
/// Statistics of entries that do not require a storage format.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "input.hpp"

namespace sporos::tool {

/// How the entries are distributed over the coordinates of one mode.
struct ModeStatistics {
  std::int64_t extent = 0;
  std::int64_t used = 0;   ///< coordinates with an entry
  std::int64_t least = 0;  ///< fewest entries at a coordinate, over all coordinates
  std::int64_t most = 0;
  /// Number of coordinates by their number of entries: [0] without any, [b] with 2^(b-1) to 2^b - 1.
  std::vector<std::int64_t> lengths;
};

/// How the entries of a matrix are distributed.
struct MatrixStatistics {
  std::int64_t diagonal = 0;         ///< entries on the diagonal
  std::int64_t lower_bandwidth = 0;  ///< largest i - j of an entry (i, j), at least 0
  std::int64_t upper_bandwidth = 0;
  bool symmetric_pattern = false;
  bool symmetric = false;  ///< in pattern and values; complex values are not conjugated
  bool hermitian = false;
};

struct Statistics {
  std::int64_t entries = 0;
  std::int64_t duplicates = 0;  ///< entries with the same coordinates as an earlier one
  std::int64_t zeros = 0;       ///< entries whose value is 0
  std::int64_t not_finite = 0;  ///< entries that are infinite or NaN
  double least = 0, most = 0;   ///< range of the finite values, or of complex ones' moduli; 0 if there are
                                ///< none
  std::vector<ModeStatistics> modes;
  std::optional<MatrixStatistics> matrix;  ///< for square matrices

  std::int64_t nonzeros() const { return entries - duplicates; }
};

/// Cost: one sort of the entries, in parallel, unless they are in order. Memory: at most one and a third
/// times that of a matrix with real values, one and a half times with complex ones, and less for tensors;
/// twice as much if the bits of all extents together exceed 63.
/// @param progress  if given, is called from time to time with the fraction done, by one thread at a time
Statistics statistics(const AnyEntries& entries, const std::function<void(double)>& progress = {});

/// The number of side x side blocks of a matrix that contain entries. Cost: as for statistics().
std::int64_t count_blocks(const AnyEntries& entries, int side);

/// Entries sorted by coordinates, with duplicates merged and optionally without zeros: what a tensor made
/// from them stores. Only their order comes from the library, and it is checked.
AnyEntries merged(const AnyEntries& entries, Duplicates duplicates, bool drop_zeros);

/// Whether two lists hold the same extents, coordinates and values, in any order. Values are compared bit by
/// bit, except for the sign of zero; integers are equal to doubles with the same value.
bool same_entries(const AnyEntries& a, const AnyEntries& b);

}  // namespace sporos::tool
