// SPDX-License-Identifier: Apache-2.0
/// @file segments.hpp
/// Segments: the stored coordinates of a level in plain arrays, the form in which every level can be made.
#pragma once

#include <concepts>
#include <cstdint>

#include "array.hpp"
#include "error.hpp"

namespace sporos {

/// The coordinates below parent p are coordinates[positions[p]] to coordinates[positions[p + 1] - 1], in the
/// order and as unique as the level promises. Below a branchless level's parent p stands coordinates[p]
/// alone, and `positions` stays empty.
template <std::integral Position, std::integral Coordinate, class MemorySpace = Kokkos::HostSpace>
struct Segments {
  using position_type = Position;
  using coordinate_type = Coordinate;

  Array<Position, MemorySpace> positions;      ///< [parents + 1], from 0, not decreasing
  Array<Coordinate, MemorySpace> coordinates;  ///< [count]

  /// Room in host memory for `count` coordinates below `parents` parents; positions[0] is 0, the rest is not
  /// initialised.
  /// @throws RangeError where `Position` cannot hold `count`
  static Segments with_room(std::int64_t parents, std::int64_t count) {
    narrow<Position>(count, "the number of coordinates of a level");
    Segments out{make_array<Position, MemorySpace>("sporos::positions", parents + 1),
                 make_array<Coordinate, MemorySpace>("sporos::coordinates", count)};
    out.positions.data()[0] = 0;
    return out;
  }
  /// The same for a branchless level, which has as many coordinates as parents.
  static Segments with_room_for_branchless(std::int64_t parents) {
    return {{}, make_array<Coordinate, MemorySpace>("sporos::coordinates", parents)};
  }
};

}  // namespace sporos
