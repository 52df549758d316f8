// SPDX-License-Identifier: Apache-2.0
/// @file sparse_rows.hpp
/// A sparse matrix by rows as the host's kernels see it: plain arrays.
#pragma once

#include <cstdint>

#include "../../core/inline.hpp"

namespace sporos {

/// A view of a matrix in compressed sparse rows: row r has the columns coordinates[positions[r]] to
/// coordinates[positions[r + 1] - 1], ascending, each once, and the values at the same positions. They may be
/// rows of a larger matrix, whose positions do not begin with 0.
template <class Value, class Position, class Coordinate>
struct SparseRows {
  using value_type = Value;
  using position_type = Position;
  using coordinate_type = Coordinate;

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const Position* positions = nullptr;      // [rows + 1]
  const Coordinate* coordinates = nullptr;  // [nnz]
  const Value* values = nullptr;            // [nnz]

  std::int64_t nnz() const { return rows > 0 ? begin(rows) - begin(0) : 0; }
  std::int64_t begin(std::int64_t row) const { return static_cast<std::int64_t>(positions[row]); }
  std::int64_t length(std::int64_t row) const { return begin(row + 1) - begin(row); }
};

}  // namespace sporos
