// SPDX-License-Identifier: Apache-2.0
/// @file level.hpp
/// What a level of a format must provide: its properties, its parts and its capabilities, as concepts.
///
/// A tensor is stored as a chain of levels. Level k maps a position p of level k-1 (its parent; 0 above the
/// first level) and a coordinate i to a position q of its own; the positions of the last level index the
/// values. The capabilities follow Chou, Kjolstad, Amarasinghe, *Format Abstraction for Sparse Tensor Algebra
/// Compilers* (OOPSLA 2018), sections 3 and 4.
///
/// A level is a type with these parts:
///
///     struct MyLevel {
///       static constexpr LevelProperties properties{...};       what its type promises
///       static std::string name();                              "MyLevel"
///       struct View {...};                                      pointers and numbers that kernels copy
///       template <class MemorySpace> struct Storage {...};      owns the arrays
///       // unless the level is full:
///       using position_type = ...;                              an integer; not if branchless
///       using coordinate_type = ...;                            an integer
///       static void check_extent(std::int64_t extent);          throws RangeError if a coordinate_type
///                                                               cannot hold it
///       // optional, see BuiltAnywhere:
///       static constexpr bool builds_anywhere = true;           from_segments runs in any space
///     };
///
/// Kernels read a level through its View and build one from Segments, its coordinates in plain arrays. A new
/// level therefore works as operand and as result of every statement without being named anywhere else.
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include "segments.hpp"
#include "space.hpp"

namespace sporos {

/// A half-open range of coordinates or positions.
struct Bounds {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  KOKKOS_INLINE_FUNCTION constexpr std::int64_t size() const { return end - begin; }
  constexpr bool operator==(const Bounds&) const = default;
};

/// The result of a lookup: a position, and whether there is one.
struct Located {
  std::int64_t position = 0;
  bool found = false;
};

/// What the type of a level promises about the coordinates below one parent position.
struct LevelProperties {
  bool ordered = true;      ///< coordinates do not decrease
  bool unique = true;       ///< no coordinate occurs twice
  bool full = false;        ///< every coordinate i of the extent is stored, at position p * extent + i
  bool branchless = false;  ///< exactly one coordinate below each parent p, at position p
  bool padded = false;      ///< also stores coordinates without an entry, whose values are zero
};

/// The role of one array of a tensor.
enum class Role {
  dense,        ///< the values of a dense tensor, one for each element
  values,       ///< the values of what a sparse tensor stores
  positions,    ///< where the children of each position begin
  coordinates,  ///< the coordinate at each position
  metadata      ///< which values are stored, in the level's own encoding: indices in windows, bits
};

/// Coordinate iteration: coord_bounds(p) -> [begin, end) of coordinates.
template <class View>
concept CoordinateIterable = requires(const View view, std::int64_t p) {
  { view.coord_bounds(p) } -> std::same_as<Bounds>;
};

/// Position iteration: pos_bounds(p) -> [begin, end) of positions; coord_at(q) -> i. The positions of parent
/// 0 begin at 0, and those of every other parent begin where those of the previous parent end.
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

/// Insert: insert(p, i) -> q, with coordinates in any order; the level already has a position for each.
template <class View>
concept Insertable = requires(const View view, std::int64_t p, std::int64_t i) {
  { view.insert(p, i) } -> std::convertible_to<std::int64_t>;
};

namespace detail {

template <class L>
struct PositionOf {
  using type = std::int64_t;
};
template <class L>
  requires requires { typename L::position_type; }
struct PositionOf<L> {
  using type = typename L::position_type;
};

}  // namespace detail

/// The type of Segments from which a level that is not full is built.
template <class L, class MemorySpace = Kokkos::HostSpace>
using SegmentsOf = Segments<typename detail::PositionOf<L>::type, typename L::coordinate_type, MemorySpace>;

namespace detail {

// Arguments with which the concepts check the templates of a Storage.
struct AnyVisitor {
  template <class ArrayType>
  void operator()(Role, const char*, const ArrayType&) const {}
};
struct AnySearch {
  template <class Predicate>
  std::int64_t operator()(std::int64_t, const Predicate&) const {
    return -1;
  }
};
struct AnyArrays {
  template <int At, class T>
  HostArray<T> get(std::int64_t) const {
    return {};
  }
  template <class ArrayType>
  std::int64_t last(const ArrayType&) const {
    return 0;
  }
};

template <class L>
using HostStorage = typename L::template Storage<Kokkos::HostSpace>;

}  // namespace detail

/// What every level states about itself.
template <class L>
concept DescribedLevel = requires {
  { L::properties } -> std::convertible_to<LevelProperties>;
  { L::name() } -> std::convertible_to<std::string>;
  typename L::View;
  requires std::is_trivially_copyable_v<typename L::View>;
  typename L::template Storage<Kokkos::HostSpace>;
} && !(L::properties.full && L::properties.branchless);

/// What every Storage provides:
///
///     view()                               the View of its arrays
///     size(parents)                        the number of positions below `parents` parent positions
///     empty(parents, extent)               the level with nothing stored, unless it is full
///     for_each_array(visit)                calls visit(Role, name, array) for each array
///     copy_to<OtherSpace>()                a deep copy in another memory space
///     most_bytes(parents, count, extent)   an upper bound on the bytes of its arrays if it stores at most
///                                          `count` coordinates below at most `parents` parents
///     most_positions(parents, count, extent)  of a padded level only: an upper bound on its positions
template <class L>
concept StoredLevel =
    requires(const detail::HostStorage<L> storage, const detail::AnyVisitor visit, std::int64_t n) {
      { storage.view() } -> std::same_as<typename L::View>;
      { storage.size(n) } -> std::same_as<std::int64_t>;
      { detail::HostStorage<L>::empty(n, n) } -> std::same_as<detail::HostStorage<L>>;
      storage.for_each_array(visit);
      { storage.template copy_to<Kokkos::HostSpace>() } -> std::same_as<detail::HostStorage<L>>;
      { detail::HostStorage<L>::most_bytes(n, n, n) } -> std::same_as<std::int64_t>;
    };

/// Access to arrays from outside, for `wrap` and `validate`:
///
///     array_count                          how many arrays the level has
///     from_arrays(arrays, parents, extent) a level over the given arrays: arrays.get<At, T>(length) returns
///                                          array number At, arrays.last(array) its last element
///     fault(parents, extent, first)        what is wrong with its arrays, as a sentence that begins with
///                                          what was found, or "". first(count, broken) returns the smallest
///                                          `at` in [0, count) for which broken(at) holds, or -1; it searches
///                                          in parallel. Whether coordinates lie within the extent, in order
///                                          and unique, is checked elsewhere, for all levels alike.
template <class L>
concept WrappableLevel = requires(const detail::HostStorage<L> storage, const detail::AnyArrays arrays,
                                  const detail::AnySearch first, std::int64_t n) {
  { detail::HostStorage<L>::array_count } -> std::convertible_to<int>;
  { detail::HostStorage<L>::from_arrays(arrays, n, n) } -> std::same_as<detail::HostStorage<L>>;
  { storage.fault(n, n, first) } -> std::convertible_to<std::string>;
};

/// A level that is not full names the integer types of its positions and coordinates.
template <class L>
concept IndexedLevel = requires(std::int64_t extent) {
  requires std::integral<typename L::coordinate_type>;
  L::check_extent(extent);
} && (L::properties.branchless || requires { requires std::integral<typename L::position_type>; });

namespace detail {

template <class L, class Space, class Storage = typename L::template Storage<typename Space::memory_space>>
concept MadeFromSegmentsIn = requires(SegmentsOf<L, typename Space::memory_space> segments, std::int64_t n) {
  { Storage::template from_segments<Space>(segments, n, n) } -> std::same_as<Storage>;
};

/// Whether a level says that it is built in any space.
template <class L>
inline constexpr bool declares_builds_anywhere = [] {
  if constexpr (requires { L::builds_anywhere; })
    return static_cast<bool>(L::builds_anywhere);
  else
    return false;
}();

}  // namespace detail

/// A level that is not full can be built from its coordinates, given in the order of their positions:
///
///     from_segments<Space>(segments, parents, extent)   may keep the arrays of `segments`, and may use the
///                                                       threads of the host space `Space`
///
/// The positions are those of the coordinates in `segments`, except in a padded level: locate(p, i) of its
/// View tells the position of each coordinate.
template <class L>
concept MadeFromSegments = detail::MadeFromSegmentsIn<L, Host>;

/// A level with `static constexpr bool builds_anywhere = true`: its from_segments<Space> runs in any
/// execution space, on arrays in that space's memory, even where the host cannot read them. Results on a GPU
/// are then built there; those with other levels are built on the host and copied.
///
/// The arrays of `segments` are complete when from_segments is called, and those of the level must be when it
/// returns: a level that starts a kernel of its own waits for it.
template <class L>
concept BuiltAnywhere =
    detail::declares_builds_anywhere<L> && detail::MadeFromSegmentsIn<L, Kokkos::DefaultExecutionSpace>;

/// A type that can be used as a level of a format.
template <class L>
concept Level = DescribedLevel<L> && StoredLevel<L> && WrappableLevel<L> &&
                (L::properties.full ? CoordinateIterable<typename L::View> && Locatable<typename L::View> &&
                                          Insertable<typename L::View>
                                    : PositionIterable<typename L::View>) &&
                (L::properties.full || (IndexedLevel<L> && MadeFromSegments<L> &&
                                        (!detail::declares_builds_anywhere<L> || BuiltAnywhere<L>))) &&
                (!L::properties.padded || Locatable<typename L::View>);

/// A level that keeps its coordinates in one array: `Storage::segments()` returns the level's Segments
/// without a copy, and its View has a pointer to the coordinates. Kernels for lists of coordinates require
/// it.
template <class L>
concept StoresCoordinates =
    Level<L> && requires(const detail::HostStorage<L> storage, const typename L::View view) {
      { storage.segments() } -> std::same_as<SegmentsOf<L>>;
      { view.coordinates } -> std::convertible_to<const typename L::coordinate_type*>;
    };

/// A level that also keeps its positions in one array and is not branchless: its arrays are Segments already.
/// Kernels for matrices stored by rows require it.
template <class L>
concept StoresSegments =
    StoresCoordinates<L> && !L::properties.branchless && requires(const typename L::View view) {
      { view.positions } -> std::convertible_to<const typename L::position_type*>;
    };

/// Compiles if L is a Level; otherwise the compiler's error says what L lacks.
template <class L>
consteval bool require_level() {
  static_assert(
      DescribedLevel<L>,
      "a level states its properties (LevelProperties, not both full and branchless) and its name(), "
      "and has a trivially copyable View and a Storage<MemorySpace>");
  if constexpr (DescribedLevel<L>) {
    static_assert(StoredLevel<L>,
                  "the Storage of a level has view(), size(parents), empty(parents, extent), "
                  "for_each_array(visit), copy_to<OtherSpace>() and most_bytes(parents, count, extent)");
    static_assert(WrappableLevel<L>,
                  "the Storage of a level has array_count, from_arrays(arrays, parents, extent) and "
                  "fault(parents, extent, first), for wrap and validate");
    using View = typename L::View;
    if constexpr (L::properties.full) {
      static_assert(CoordinateIterable<View> && Locatable<View> && Insertable<View>,
                    "the View of a full level has coord_bounds(p), locate(p, i) and insert(p, i)");
    } else {
      static_assert(PositionIterable<View>,
                    "the View of a level that is not full has pos_bounds(p) and coord_at(q)");
      static_assert(IndexedLevel<L>,
                    "a level that is not full has the integer types coordinate_type and, unless it is "
                    "branchless, position_type, and check_extent(extent)");
      static_assert(!L::properties.padded || (Locatable<View> && !L::properties.branchless),
                    "a padded level is not branchless, and its View has locate(p, i)");
      if constexpr (IndexedLevel<L>) {
        static_assert(MadeFromSegments<L>,
                      "the Storage of a level that is not full has from_segments<Space>(segments, parents, "
                      "extent), from which results are built");
        static_assert(!detail::declares_builds_anywhere<L> || BuiltAnywhere<L>,
                      "a level that says builds_anywhere has from_segments<Space>(segments, parents, extent) "
                      "for every execution space, with segments in the memory of that space");
      }
    }
  }
  return Level<L>;
}

}  // namespace sporos
