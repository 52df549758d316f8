// SPDX-License-Identifier: Apache-2.0
/// @file strips.hpp
/// Loops over strips: if a schedule has cut loops with split and pos, each strip restricts the loops over its
/// variables to a range of their coordinates, in lexicographic order.
///
/// A strip of `size` coordinates of i begins at a multiple of `size`. A strip of (i, j), which were fused,
/// begins where i * J + j is a multiple of `size`; or, if positions of an operand are counted, at the
/// coordinates of the position with such a number. Strips always cover all coordinates, so whatever an
/// expression holds besides that operand is computed too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../../core/inline.hpp"
#include "../../core/loop_schedule.hpp"
#include "../../core/schedule.hpp"
#include "stream/stream.hpp"

namespace sporos {

/// The coordinates that loops have bound, and the strips that are open.
/// @tparam Variables  the largest number of variables of a strip
template <int Loops, int Strips, int Variables>
struct StrippedCoordinates : stream::Coordinates<Loops> {
  static constexpr std::size_t strips = Strips > 0 ? Strips : 1;

  std::int64_t first[strips][std::size_t{Variables}];  ///< where the open strip begins
  std::int64_t last[strips][std::size_t{Variables}];   ///< where the next strip begins
};

namespace detail {

/// Whether a leaf of access A is in an expression.
template <class A, class E>
constexpr bool has_leaf() {
  if constexpr (stream::AnyLeaf<E>)
    return std::is_same_v<typename E::access, A>;
  else
    return fold<E>([]<class... C>(TypeList<C...>) { return (has_leaf<A, C>() || ...); });
}

/// The first leaf of access A in an expression.
template <class A, class E>
SPOROS_INLINE const auto& leaf_of(const E& e) {
  if constexpr (stream::AnyLeaf<E>)
    return e;
  else if constexpr (has_one_child<E>)
    return leaf_of<A>(e.operand);
  else if constexpr (has_leaf<A, decltype(E::left)>())
    return leaf_of<A>(e.left);
  else
    return leaf_of<A>(e.right);
}

/// The positions of level `Level` below an operand whose levels above K are bound.
template <int Level, class A, class Compute, int K>
SPOROS_INLINE Bounds positions_below(const stream::Leaf<A, Compute, K>& leaf) {
  using L = stream::Leaf<A, Compute, K>;
  const auto& level = leaf.view->template level<Level>();
  constexpr LevelProperties properties = A::format::properties[static_cast<std::size_t>(Level)];
  Bounds above{leaf.begin, L::is_range ? leaf.end : leaf.begin + 1};
  if constexpr (Level > K) above = positions_below<Level - 1>(leaf);
  if constexpr (properties.branchless) {
    return above;
  } else if constexpr (properties.full) {
    const std::int64_t extent = level.coord_bounds(0).end;
    return {above.begin * extent, above.end * extent};
  } else {
    if (above.begin >= above.end) return {0, 0};
    return {level.pos_bounds(above.begin).begin, level.pos_bounds(above.end - 1).end};
  }
}

/// The coordinates of levels K to `Level` at a position of level `Level`.
template <int Level, class A, class Compute, int K>
SPOROS_INLINE void coordinates_at(const stream::Leaf<A, Compute, K>& leaf, std::int64_t position,
                                  std::int64_t* coordinates) {
  const auto& level = leaf.view->template level<Level>();
  constexpr LevelProperties properties = A::format::properties[static_cast<std::size_t>(Level)];
  std::int64_t parent = position;
  if constexpr (properties.full) {
    const std::int64_t extent = level.coord_bounds(0).end;
    parent = position / extent;
    coordinates[Level - K] = position % extent;
  } else {
    coordinates[Level - K] = level.coord_at(position);
  }
  if constexpr (Level > K) {
    if constexpr (!properties.full && !properties.branchless) {
      // The last parent whose positions begin at this one or before it.
      Bounds among = positions_below<Level - 1>(leaf);
      while (among.end - among.begin > 1) {
        const std::int64_t middle = among.begin + among.size() / 2;
        (level.pos_bounds(middle).begin <= position ? among.begin : among.end) = middle;
      }
      parent = among.begin;
    }
    coordinates_at<Level - 1>(leaf, parent, coordinates);
  }
}

/// Where the strips of one loop begin.
template <class Traits, int At, class E>
class StripPlaces {
  using Bounds_ = typename Traits::bounds_type;
  static constexpr int variables = Traits::stripped.strips[At].variables.size;
  static constexpr int operand = Traits::stripped.strips[At].operand;

  /// The operand whose positions are counted, and the level of the last variable.
  static auto access() {
    if constexpr (operand >= 0)
      return std::type_identity<
          std::remove_cvref_t<decltype(*std::get<operand>(typename Traits::strip_operands{}))>>{};
    else
      return std::type_identity<void>{};
  }
  using A = typename decltype(access())::type;
  static constexpr int level = [] {
    if constexpr (operand >= 0)
      return A::level_names.find(Traits::stripped.strips[At].variables[variables - 1]);
    else
      return -1;
  }();
  static constexpr bool counts_positions = [] {
    if constexpr (operand < 0)
      return false;
    else
      return has_leaf<A, E>();
  }();

 public:
  SPOROS_INLINE StripPlaces(const E& e, const Bounds_& bounds) : e_(e), bounds_(bounds) {
    if constexpr (counts_positions) {
      positions_ = positions_below<level>(leaf_of<A>(e));
      count_ = strips_of(positions_.size());
    } else if constexpr (operand < 0) {
      std::int64_t extent = 1;
      for (int at = 0; at < variables; ++at) extent *= extent_of(at);
      count_ = strips_of(extent);
    }
  }

  /// The number of strips: at least one.
  SPOROS_INLINE std::int64_t count() const { return count_; }

  /// Writes the coordinates where strip `number` begins; for `count()`, where the last one ends.
  SPOROS_INLINE void begin(std::int64_t number, std::int64_t* coordinates) const {
    for (int at = 0; at < variables; ++at) coordinates[at] = 0;
    if (number == count_) {
      // Beyond every coordinate, and beyond the 0 at which terms without the variable are added.
      coordinates[0] = extent_of(0) > 0 ? extent_of(0) : 1;
    } else if (number > 0) {
      std::int64_t place = number * bounds_.strips[At].size;
      if constexpr (counts_positions)
        coordinates_at<level>(leaf_of<A>(e_), positions_.begin + place, coordinates);
      else
        for (int at = variables - 1; at >= 0; --at) {
          coordinates[at] = place % extent_of(at);
          place /= extent_of(at);
        }
    }
  }

  /// The first strip that covers coordinates of the first variable from `coordinate` on.
  SPOROS_INLINE std::int64_t first_at(std::int64_t coordinate) const {
    std::int64_t low = 0, high = count_;
    std::int64_t coordinates[std::size_t{variables}];
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      begin(middle, coordinates);
      // A strip that begins within a coordinate leaves a part of that to the previous strip.
      (coordinates[0] < coordinate ? low : high) = middle;
    }
    return low;
  }

 private:
  SPOROS_INLINE std::int64_t strips_of(std::int64_t number) const {
    const std::int64_t size = bounds_.strips[At].size;
    const std::int64_t strips = number / size + (number % size > 0 ? 1 : 0);
    return strips > 0 ? strips : 1;
  }
  SPOROS_INLINE std::int64_t extent_of(int at) const {
    constexpr NameList names = Traits::stripped.strips[At].variables, loops = Traits::order;
    return bounds_.extent[loops.find(names[at])];
  }

  const E& e_;
  const Bounds_& bounds_;
  Bounds positions_{};
  std::int64_t count_ = 1;
};

/// Restricts the range of the loop at `Depth` to strip `At`.
template <class Traits, int At, int Depth, class Env>
SPOROS_INLINE void restrict_to_strip(Bounds& range, const Env& env) {
  constexpr NameList variables = Traits::stripped.strips[At].variables, loops = Traits::order;
  constexpr int member = variables.find(loops[Depth]);
  if constexpr (member < variables.size) {
    bool in_first = true, in_last = true;
    for (int at = 0; at < member; ++at) {
      const std::int64_t c = env.at[loops.find(variables[at])];
      in_first = in_first && c == env.first[At][at];
      in_last = in_last && c == env.last[At][at];
    }
    const std::int64_t end = env.last[At][member] + (member + 1 < variables.size ? 1 : 0);
    if (in_first && env.first[At][member] > range.begin) range.begin = env.first[At][member];
    if (in_last && end < range.end) range.end = end;
    if (range.end < range.begin) range.end = range.begin;
  }
}

}  // namespace detail

/// Whether a loop over strips runs before the loop at `Depth`, and is not yet open.
template <class Traits, int Depth>
constexpr bool opens_strips() {
  return Traits::opened < Traits::strips && Traits::stripped.strips[Traits::opened].depth == Depth;
}

/// Whether open strips restrict the loop at `Depth`.
template <class Traits, int Depth>
constexpr bool is_stripped() {
  for (int at = 0; at < Traits::opened; ++at)
    if (Traits::stripped.strips[at].variables.contains(Traits::order[Depth])) return true;
  return false;
}

/// The part of a range of the loop at `Depth` that lies in the open strips.
template <class Traits, int Depth, class Env>
SPOROS_INLINE Bounds in_strips(Bounds range, const Env& env) {
  [&]<std::size_t... At>(std::index_sequence<At...>) {
    (detail::restrict_to_strip<Traits, static_cast<int>(At), Depth>(range, env), ...);
  }(std::make_index_sequence<static_cast<std::size_t>(Traits::opened)>{});
  return range;
}

/// The same traits with one more loop over strips open.
template <class Traits>
struct StripOpened : Traits {
  static constexpr int opened = Traits::opened + 1;
};

/// Calls run() for each strip of the next loop over strips that overlaps the open ones, and at least once.
template <class Traits, int Depth, class Env, class E, class F>
SPOROS_INLINE void for_each_strip(const typename Traits::bounds_type& bounds, Env& env, const E& e,
                                  const F& run) {
  constexpr int at = Traits::opened;
  constexpr NameList variables = Traits::stripped.strips[at].variables, loops = Traits::order;
  constexpr int loop = loops.find(variables[0]);
  constexpr bool shared = at == 0 && Traits::shares_strips;
  const detail::StripPlaces<Traits, at, E> places(e, bounds);
  Bounds range{0, bounds.extent[loop]};
  std::int64_t begin = 0, end = places.count();
  if constexpr (shared) {
    begin = bounds.outermost.begin;
    end = bounds.outermost.end;
  } else {
    if constexpr (loop == 0 && !Traits::shares_strips) range = bounds.outermost;
    for (int other = 0; other < at; ++other) {
      constexpr StrippedLoops stripped = Traits::stripped;
      if (stripped.strips[other].variables[0] != variables[0]) continue;
      const std::int64_t last = env.last[other][0] + (stripped.strips[other].variables.size > 1 ? 1 : 0);
      if (env.first[other][0] > range.begin) range.begin = env.first[other][0];
      if (last < range.end) range.end = last;
    }
    begin = places.first_at(range.begin);
  }
  for (std::int64_t number = begin; number < end; ++number) {
    places.begin(number, env.first[at]);
    if (!shared && number > begin && env.first[at][0] >= range.end) break;
    places.begin(number + 1, env.last[at]);
    run();
  }
}

}  // namespace sporos
