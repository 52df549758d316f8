// SPDX-License-Identifier: Apache-2.0
/// @file interior.hpp
/// Which rows of a matrix need nothing that other ranks own.
#pragma once

#include <Kokkos_Core.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../core/level.hpp"
#include "numbering.hpp"

namespace sporos::detail {

/// Consecutive rows of a matrix, and their nonzeros.
struct RowRange {
  Bounds rows, nonzeros;
  bool reads_halo = false;  ///< whether their columns may belong to other ranks
};

/// A rank's rows of a CSR matrix, in three parts: the longest run of rows whose columns are all the rank's
/// own, the rows before it and the rows after it.
///
///     rows of rank 1    columns of rank 0 │ of rank 1 │ of rank 2
///                  ┌                   a │ b c       │
///        first     │                     │ d   e     │ f
///                  └                     │           │
///        interior    the longest run     │ g h       │           needs nothing of others
///                    of such rows        │   i   j   │
///        last      [                     │     k     │     l
template <class T>
class InteriorRows {
 public:
  static constexpr std::size_t first = 0, interior = 1, last = 2;

  InteriorRows() = default;
  /// @param matrix  by rows
  /// @param own     the columns that the rank owns
  InteriorRows(const T& matrix, const Bounds& own) {
    const auto segments = matrix.template level<1>().segments();
    positions_ = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), segments.positions);
    coordinates_ = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), segments.coordinates);
    const std::int64_t rows = matrix.extent(0);
    Bounds longest, run;
    for (std::int64_t row = 0; row < rows; ++row) {
      // Columns ascend.
      const std::int64_t begin = position(row), end = position(row + 1);
      const bool inside = begin == end || (column(begin) >= own.begin && column(end - 1) < own.end);
      run = inside ? Bounds{run.begin, row + 1} : Bounds{row + 1, row + 1};
      if (run.size() > longest.size()) longest = run;
    }
    parts_[first].rows = {0, longest.begin};
    parts_[interior].rows = longest;
    parts_[last].rows = {longest.end, rows};
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const Bounds& of = parts_[part].rows;
      parts_[part].nonzeros = {position(of.begin), position(of.end)};
      parts_[part].reads_halo = part != interior;
    }
  }

  const std::array<RowRange, 3>& parts() const { return parts_; }

  /// The position of a row's first nonzero in the matrix, and the column of a nonzero.
  std::int64_t position(std::int64_t row) const {
    return static_cast<std::int64_t>(positions_(static_cast<std::size_t>(row)));
  }
  std::int64_t column(std::int64_t q) const {
    return static_cast<std::int64_t>(coordinates_(static_cast<std::size_t>(q)));
  }

  /// The columns of the first and the last rows, ascending: other ranks' and the rank's own.
  /// @param extent  number of all columns
  std::vector<std::int64_t> columns_of_halo(std::int64_t extent) const {
    std::int64_t count = 0;
    for (const RowRange& part : parts_)
      if (part.reads_halo) count += part.nonzeros.size();
    CoordinateSet found(extent, count);
    for (const RowRange& part : parts_)
      if (part.reads_halo)
        for (std::int64_t q = part.nonzeros.begin; q < part.nonzeros.end; ++q) found.add(column(q));
    return found.take();
  }

 private:
  using Level = typename T::format_type::template level<1>;
  std::array<RowRange, 3> parts_;
  typename Array<typename Level::position_type, typename T::memory_space>::HostMirror positions_;
  typename Array<typename Level::coordinate_type, typename T::memory_space>::HostMirror coordinates_;
};

}  // namespace sporos::detail
