// SPDX-License-Identifier: Apache-2.0
/// @file compressed.hpp
/// The compressed level: for each parent position, a segment of stored coordinates.
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstdint>
#include <string>

#include "../../core/array.hpp"
#include "../../core/error.hpp"
#include "../../core/level.hpp"

namespace sporos {

/// The coordinates below parent p are coordinates[positions[p]] to coordinates[positions[p + 1] - 1].
///
///     columns of a CSR matrix           root
///         . 5 .                         ├─ 0
///         . . .                         │  └─ 1: 5          positions    0 1 1 3
///         7 . 9                         ├─ 1                coordinates  1 0 2
///                                       └─ 2
///                                          ├─ 0: 7
///                                          └─ 2: 9
///
/// @tparam Position    integer type of `positions`
/// @tparam Coordinate  integer type of `coordinates`
/// @tparam Ordered     whether coordinates below one parent ascend
/// @tparam Unique      whether a coordinate stands at most once below one parent
template <std::integral Position = std::int64_t, std::integral Coordinate = std::int32_t, bool Ordered = true,
          bool Unique = true>
struct Compressed {
  using position_type = Position;
  using coordinate_type = Coordinate;
  static constexpr LevelProperties properties{
      .ordered = Ordered, .unique = Unique, .full = false, .branchless = false, .compact = true};

  struct View {
    const Position* positions = nullptr;
    const Coordinate* coordinates = nullptr;

    KOKKOS_INLINE_FUNCTION Bounds pos_bounds(std::int64_t p) const {
      return {static_cast<std::int64_t>(positions[p]), static_cast<std::int64_t>(positions[p + 1])};
    }
    KOKKOS_INLINE_FUNCTION std::int64_t coord_at(std::int64_t q) const {
      return static_cast<std::int64_t>(coordinates[q]);
    }

    /// Binary search: O(log of the segment's length).
    KOKKOS_INLINE_FUNCTION Located locate(std::int64_t p, std::int64_t i) const
      requires(Ordered && Unique)
    {
      auto [begin, end] = pos_bounds(p);
      while (begin < end) {
        const std::int64_t middle = begin + (end - begin) / 2;
        if (coord_at(middle) < i)
          begin = middle + 1;
        else
          end = middle;
      }
      return {begin, begin < pos_bounds(p).end && coord_at(begin) == i};
    }
  };

  /// Writes the level in ascending order of (parent, coordinate).
  struct Appender {
    Position* positions = nullptr;
    Coordinate* coordinates = nullptr;

    KOKKOS_INLINE_FUNCTION void append_coord(std::int64_t q, std::int64_t i) const {
      coordinates[q] = static_cast<Coordinate>(i);
    }
    KOKKOS_INLINE_FUNCTION void append_bounds(std::int64_t p, std::int64_t /*begin*/,
                                              std::int64_t end) const {
      positions[p + 1] = static_cast<Position>(end);
    }
  };

  template <class MemorySpace>
  struct Storage {
    Array<Position, MemorySpace> positions;
    Array<Coordinate, MemorySpace> coordinates;

    View view() const { return {positions.data(), coordinates.data()}; }
    Appender appender() const { return {positions.data(), coordinates.data()}; }

    std::int64_t size(std::int64_t /*parents*/) const {
      return static_cast<std::int64_t>(coordinates.extent(0));
    }

    /// The level with no coordinate stored: parents + 1 positions, all 0.
    static Storage empty(std::int64_t parents, std::int64_t extent) {
      check_extent(extent);
      return {zeroed_array<Position, MemorySpace>("sporos::Compressed positions", parents + 1),
              make_array<Coordinate, MemorySpace>("sporos::Compressed coordinates", 0)};
    }

    /// Room for `count` coordinates below `parents` parents, for an Appender to fill; positions[0] is 0
    /// already.
    /// @throws RangeError where `Position` cannot hold `count`
    static Storage with_room(std::int64_t parents, std::int64_t count, std::int64_t extent) {
      check_extent(extent);
      narrow<Position>(count, "the number of coordinates of a compressed level");
      Storage storage{make_array<Position, MemorySpace>("sporos::Compressed positions", parents + 1),
                      make_array<Coordinate, MemorySpace>("sporos::Compressed coordinates", count)};
      if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible)
        storage.positions.data()[0] = 0;
      else
        Kokkos::deep_copy(Kokkos::subview(storage.positions, 0), Position{0});
      return storage;
    }

    template <class Visitor>
    void for_each_array(Visitor&& visit) const {
      visit(Role::positions, "positions", positions);
      visit(Role::coordinates, "coordinates", coordinates);
    }

    template <class OtherSpace>
    Storage<OtherSpace> copy_to() const {
      return {copy_array<OtherSpace>(positions), copy_array<OtherSpace>(coordinates)};
    }
  };

  /// Throws RangeError where `Coordinate` cannot hold the last coordinate of `extent`.
  static void check_extent(std::int64_t extent) {
    if (extent > 0) narrow<Coordinate>(extent - 1, "the last coordinate of a compressed level");
  }

  static std::string name() {
    return text("Compressed", Ordered ? "" : " unordered", Unique ? "" : " not unique");
  }
};

}  // namespace sporos
