// SPDX-License-Identifier: Apache-2.0
/// @file own_columns.hpp
/// Which nonzeros of a matrix need nothing that other ranks own.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/level.hpp"
#include "interior.hpp"
#include "numbering.hpp"

namespace sporos::detail {

/// Some nonzeros of consecutive rows of a matrix.
struct SomeNonzeros {
  Bounds rows;
  std::vector<std::int64_t> begins{0};  ///< where each row begins in `places`; and the end of the last
  std::vector<std::int64_t> places;     ///< positions in the matrix

  /// Drops empty rows before the first nonzero and after the last.
  void trim() {
    std::size_t first = 0, end = begins.size() - 1;
    while (first < end && begins[first + 1] == 0) ++first;
    while (end > first && begins[end - 1] == begins[end]) --end;
    rows = {rows.begin + static_cast<std::int64_t>(first), rows.begin + static_cast<std::int64_t>(end)};
    begins = {begins.begin() + static_cast<std::ptrdiff_t>(first),
              begins.begin() + static_cast<std::ptrdiff_t>(end) + 1};
  }
};

/// A rank's nonzeros of a CSR matrix, in two parts: those in columns that it owns, and the others.
///
///     rows of rank 1    columns of rank 0 │ of rank 1 │ of rank 2
///                  0                    a │ b c       │              own:    b c │ d │   │ e f
///                  1                      │ d         │              others:   a │   │   │   g
///                  2                      │           │
///                  3                      │   e   f   │ g
///
/// Meant for matrices with hardly any interior of consecutive rows, such as those of graphs: the product with
/// the columns that the rank owns is computed while the halo travels, and the product with the others is
/// added to it.
struct ColumnsByOwner {
  SomeNonzeros own;
  SomeNonzeros others;                        ///< without empty rows at both ends
  std::vector<std::int64_t> columns_of_halo;  ///< ascending

  /// @param extent  number of all columns
  template <class T>
  ColumnsByOwner(const InteriorRows<T>& matrix, const Bounds& rows, const Bounds& own_columns,
                 std::int64_t extent) {
    own.rows = others.rows = rows;
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      for (std::int64_t q = matrix.position(row); q < matrix.position(row + 1); ++q) {
        const std::int64_t column = matrix.column(q);
        (column >= own_columns.begin && column < own_columns.end ? own : others).places.push_back(q);
      }
      own.begins.push_back(std::ssize(own.places));
      others.begins.push_back(std::ssize(others.places));
    }
    others.trim();
    CoordinateSet found(extent, std::ssize(others.places));
    for (const std::int64_t q : others.places) found.add(matrix.column(q));
    columns_of_halo = found.take();
  }
};

}  // namespace sporos::detail
