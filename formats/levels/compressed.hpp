// SPDX-License-Identifier: Apache-2.0
/// @file compressed.hpp
/// The compressed level: for each parent position, a segment of stored coordinates.
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "../../core/array.hpp"
#include "../../core/error.hpp"
#include "../../core/extents.hpp"
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
/// @tparam Unique      whether a coordinate occurs at most once below one parent
template <std::integral Position = std::int64_t, std::integral Coordinate = std::int32_t, bool Ordered = true,
          bool Unique = true>
struct Compressed {
  using position_type = Position;
  using coordinate_type = Coordinate;
  static constexpr LevelProperties properties{
      .ordered = Ordered, .unique = Unique, .full = false, .branchless = false};
  static constexpr bool builds_anywhere = true;

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

  template <class MemorySpace>
  struct Storage {
    Array<Position, MemorySpace> positions;
    Array<Coordinate, MemorySpace> coordinates;

    View view() const { return {positions.data(), coordinates.data()}; }
    std::int64_t size(std::int64_t /*parents*/) const {
      return static_cast<std::int64_t>(coordinates.extent(0));
    }
    static Storage empty(std::int64_t parents, std::int64_t extent) {
      check_extent(extent);
      return {
          zeroed_array<Position, MemorySpace>("sporos::Compressed positions", count_of_positions(parents)),
          make_array<Coordinate, MemorySpace>("sporos::Compressed coordinates", 0)};
    }

    /// Keeps the arrays of `segments` as they are.
    template <class Space>
    static Storage from_segments(Segments<Position, Coordinate, MemorySpace> segments,
                                 std::int64_t /*parents*/, std::int64_t /*extent*/) {
      return {std::move(segments.positions), std::move(segments.coordinates)};
    }
    Segments<Position, Coordinate, MemorySpace> segments() const { return {positions, coordinates}; }

    template <class Visitor>
    void for_each_array(Visitor&& visit) const {
      visit(Role::positions, "positions", positions);
      visit(Role::coordinates, "coordinates", coordinates);
    }
    template <class OtherSpace>
    Storage<OtherSpace> copy_to() const {
      return {copy_array<OtherSpace>(positions), copy_array<OtherSpace>(coordinates)};
    }
    static std::int64_t most_bytes(std::int64_t parents, std::int64_t count, std::int64_t /*extent*/) {
      return (parents + 1) * static_cast<std::int64_t>(sizeof(Position)) +
             count * static_cast<std::int64_t>(sizeof(Coordinate));
    }

    static constexpr int array_count = 2;
    template <class Arrays>
    static Storage from_arrays(const Arrays& arrays, std::int64_t parents, std::int64_t /*extent*/) {
      Storage out;
      out.positions = arrays.template get<0, Position>(parents + 1);
      out.coordinates = arrays.template get<1, Coordinate>(arrays.last(out.positions));
      return out;
    }

    template <class First>
    std::string fault(std::int64_t parents, std::int64_t /*extent*/, const First& first) const {
      const auto held = static_cast<std::int64_t>(positions.extent(0));
      const std::int64_t count = size(parents);
      if (held != parents + 1)
        return text("it has ", held, " positions, but there are ", parents,
                    " positions above it: it must have ", parents, " + 1");
      if (parents == 0)
        return count == 0 ? "" : text("it has ", count, " coordinates, but no position above them");
      const auto at = [&](std::int64_t p) {
        return static_cast<std::int64_t>(positions(static_cast<std::size_t>(p)));
      };
      if (at(0) != 0) return text("positions[0] is ", at(0), ", but must be 0");
      const std::int64_t p = first(parents, [&](std::int64_t parent) { return at(parent + 1) < at(parent); });
      if (p >= 0)
        return text("positions[", p + 1, "] is ", at(p + 1), ", less than positions[", p, "], which is ",
                    at(p), ": positions must not decrease");
      if (at(parents) != count)
        return text("the last of the positions, positions[", parents, "], is ", at(parents),
                    ", but there are ", count, " coordinates: it must be their number");
      return "";
    }
  };

  /// Throws RangeError if `Coordinate` cannot hold the last coordinate of `extent`.
  static void check_extent(std::int64_t extent) {
    if (extent > 0) narrow<Coordinate>(extent - 1, "the last coordinate of a compressed level");
  }

  static std::string name() {
    return text("Compressed", Ordered ? "" : " unordered", Unique ? "" : " not unique");
  }
};

}  // namespace sporos
