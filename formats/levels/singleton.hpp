// SPDX-License-Identifier: Apache-2.0
/// @file singleton.hpp
/// The singleton level: one coordinate below each parent position, as in the columns of COO.
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include "../../core/array.hpp"
#include "../../core/error.hpp"
#include "../../core/level.hpp"

namespace sporos {

/// Exactly one coordinate below each parent position, at the same position: coordinates[p].
/// Below a level that is not unique, it continues each of the repeated coordinates.
///
///     COO of a 3 x 3 matrix             root
///         . 5 .                         ├─ 0
///         . . .                         │  └─ 1: 5          level 0 coordinates  0 2 2
///         7 . 9                         ├─ 2                level 1 coordinates  1 0 2
///                                       │  └─ 0: 7
///                                       └─ 2
///                                          └─ 2: 9
///
/// @tparam Coordinate  integer type of `coordinates`
/// @tparam Ordered     whether coordinates ascend where the coordinates above them are equal
/// @tparam Unique      whether no coordinate occurs twice where the coordinates above are equal
template <std::integral Coordinate = std::int32_t, bool Ordered = true, bool Unique = true>
struct Singleton {
  using coordinate_type = Coordinate;
  static constexpr LevelProperties properties{
      .ordered = Ordered, .unique = Unique, .full = false, .branchless = true};
  static constexpr bool builds_anywhere = true;

  struct View {
    const Coordinate* coordinates = nullptr;

    KOKKOS_INLINE_FUNCTION Bounds pos_bounds(std::int64_t p) const { return {p, p + 1}; }
    KOKKOS_INLINE_FUNCTION std::int64_t coord_at(std::int64_t q) const {
      return static_cast<std::int64_t>(coordinates[q]);
    }
  };

  template <class MemorySpace>
  struct Storage {
    Array<Coordinate, MemorySpace> coordinates;

    View view() const { return {coordinates.data()}; }
    std::int64_t size(std::int64_t /*parents*/) const {
      return static_cast<std::int64_t>(coordinates.extent(0));
    }
    static Storage empty(std::int64_t /*parents*/, std::int64_t extent) {
      check_extent(extent);
      return {make_array<Coordinate, MemorySpace>("sporos::Singleton coordinates", 0)};
    }

    /// Keeps the coordinates of `segments` as they are.
    template <class Space>
    static Storage from_segments(SegmentsOf<Singleton, MemorySpace> segments, std::int64_t /*parents*/,
                                 std::int64_t /*extent*/) {
      return {std::move(segments.coordinates)};
    }
    SegmentsOf<Singleton, MemorySpace> segments() const { return {{}, coordinates}; }

    template <class Visitor>
    void for_each_array(Visitor&& visit) const {
      visit(Role::coordinates, "coordinates", coordinates);
    }
    template <class OtherSpace>
    Storage<OtherSpace> copy_to() const {
      return {copy_array<OtherSpace>(coordinates)};
    }
    static std::int64_t most_bytes(std::int64_t /*parents*/, std::int64_t count, std::int64_t /*extent*/) {
      return count * static_cast<std::int64_t>(sizeof(Coordinate));
    }

    static constexpr int array_count = 1;
    template <class Arrays>
    static Storage from_arrays(const Arrays& arrays, std::int64_t parents, std::int64_t /*extent*/) {
      return {arrays.template get<0, Coordinate>(parents)};
    }

    template <class First>
    std::string fault(std::int64_t parents, std::int64_t /*extent*/, const First&) const {
      if (size(parents) == parents) return "";
      return text("it has ", size(parents), " coordinates, but there are ", parents,
                  " positions above it: it holds one below each");
    }
  };

  /// Throws RangeError if `Coordinate` cannot hold the last coordinate of `extent`.
  static void check_extent(std::int64_t extent) {
    if (extent > 0) narrow<Coordinate>(extent - 1, "the last coordinate of a singleton level");
  }

  static std::string name() {
    return text("Singleton", Ordered ? "" : " unordered", Unique ? "" : " not unique");
  }
};

}  // namespace sporos
