// SPDX-License-Identifier: Apache-2.0
/// @file segments.hpp
/// Segments: the stored coordinates of a level in plain arrays, from which every level that is not full is
/// built.
#pragma once

#include <concepts>
#include <cstdint>

#include "array.hpp"
#include "error.hpp"
#include "extents.hpp"

namespace sporos {

/// The coordinates below parent p are coordinates[positions[p]] to coordinates[positions[p + 1] - 1], ordered
/// and unique if the level promises that. In a branchless level, coordinates[p] is the only coordinate below
/// parent p, and `positions` is empty.
template <std::integral Position, std::integral Coordinate, class MemorySpace = Kokkos::HostSpace>
struct Segments {
  using position_type = Position;
  using coordinate_type = Coordinate;

  Array<Position, MemorySpace> positions;      ///< [parents + 1], starting at 0, not decreasing
  Array<Coordinate, MemorySpace> coordinates;  ///< [count]

  /// Room in host memory for `count` coordinates below `parents` parents; positions[0] is 0, the rest is not
  /// initialised.
  /// @throws RangeError if `Position` cannot hold `count`; MemoryError if the memory cannot be allocated
  static Segments with_room(std::int64_t parents, std::int64_t count) {
    narrow<Position>(count, "the number of coordinates of a level");
    Segments out{make_array<Position, MemorySpace>("sporos::positions", count_of_positions(parents)),
                 make_array<Coordinate, MemorySpace>("sporos::coordinates", count)};
    out.positions.data()[0] = 0;
    return out;
  }
  /// Room in host memory for the coordinates of a branchless level, one per parent.
  static Segments with_room_for_branchless(std::int64_t parents) {
    return {{}, make_array<Coordinate, MemorySpace>("sporos::coordinates", parents)};
  }
};

}  // namespace sporos
