// SPDX-License-Identifier: Apache-2.0
/// @file level.hpp
/// What a level of a format may be able to do: capabilities as concepts, each with its signature, and the
/// properties that the type of a level states.
///
/// A tensor is stored as a chain of levels. Level k maps a position p of level k-1 (its parent; 0 above the
/// first level) and a coordinate i to a position q of its own; the positions of the last level index the
/// values. The capabilities follow Chou, Kjolstad, Amarasinghe, *Format Abstraction for Sparse Tensor Algebra
/// Compilers* (OOPSLA 2018), sections 3 and 4.
///
/// A level is a tag type with three parts:
///  - `Level::properties`, a LevelProperties;
///  - `Level::Storage<MemorySpace>`, which owns its arrays and makes a `View` of them;
///  - `Level::View`, a few pointers and numbers that kernels copy, and that has the capabilities below.
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstdint>

namespace sporos {

/// A half-open range of coordinates or positions.
struct Bounds {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  KOKKOS_INLINE_FUNCTION constexpr std::int64_t size() const { return end - begin; }
  constexpr bool operator==(const Bounds&) const = default;
};

/// A position, or the news that there is none.
struct Located {
  std::int64_t position = 0;
  bool found = false;
};

/// What the type of a level promises about the coordinates below one parent position.
struct LevelProperties {
  bool ordered = true;      ///< coordinates do not decrease
  bool unique = true;       ///< no coordinate stands twice
  bool full = false;        ///< every coordinate of the extent is there
  bool branchless = false;  ///< exactly one coordinate below each parent position
  bool compact = true;      ///< positions of neighbouring parents are contiguous
};

/// What one array of a tensor means.
enum class Role { values, positions, coordinates, metadata };

/// Coordinate iteration: coord_bounds(p) -> [begin, end) of coordinates; coord_access(p, i) -> q, found.
template <class View>
concept CoordinateIterable = requires(const View view, std::int64_t p, std::int64_t i) {
  { view.coord_bounds(p) } -> std::same_as<Bounds>;
  { view.coord_access(p, i) } -> std::same_as<Located>;
};

/// Position iteration: pos_bounds(p) -> [begin, end) of positions; coord_at(q) -> i.
template <class View>
concept PositionIterable = requires(const View view, std::int64_t p, std::int64_t q) {
  { view.pos_bounds(p) } -> std::same_as<Bounds>;
  { view.coord_at(q) } -> std::convertible_to<std::int64_t>;
};

/// Locate: locate(p, i) -> q, found, without iterating over the level.
template <class View>
concept Locatable = requires(const View view, std::int64_t p, std::int64_t i) {
  { view.locate(p, i) } -> std::same_as<Located>;
};

/// Insert: insert(p, i) -> q, in any order of coordinates; the level has a place for each already.
template <class View>
concept Insertable = requires(const View view, std::int64_t p, std::int64_t i) {
  { view.insert(p, i) } -> std::convertible_to<std::int64_t>;
};

/// Append: append_coord(q, i) writes the coordinate of position q; append_bounds(p, begin, end) says which
/// positions lie below p. Positions are appended in ascending order of (p, i).
template <class Appender>
concept Appendable = requires(const Appender appender, std::int64_t p, std::int64_t q, std::int64_t i) {
  appender.append_coord(q, i);
  appender.append_bounds(p, q, q);
};

/// A type that can stand as a level of a format.
template <class L>
concept Level = requires {
  { L::properties } -> std::convertible_to<LevelProperties>;
  typename L::View;
  typename L::template Storage<Kokkos::HostSpace>;
} && (CoordinateIterable<typename L::View> || PositionIterable<typename L::View>);

/// A level whose every coordinate has a position that arithmetic finds: it is located, never iterated.
template <class L>
inline constexpr bool is_full_v = L::properties.full;

}  // namespace sporos
