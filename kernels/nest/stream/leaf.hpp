// SPDX-License-Identifier: Apache-2.0
/// @file leaf.hpp
/// Leaf: an operand with some of its levels bound; its coordinates, and what is read and found in it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../../core/inline.hpp"
#include "expression.hpp"

namespace sporos::stream {

/// The coordinates that the loops have bound so far, by the depth of their loops.
template <int Loops>
struct Coordinates {
  std::int64_t at[std::size_t{Loops > 0 ? Loops : 1}];
};

/// An operand of access type A with its levels 0 to K-1 bound.
///
/// Its position at level K-1 is `begin`; if that level is not unique, all positions in [begin, end) have the
/// bound coordinates.
///
/// @tparam A        the access: which variable each level has
/// @tparam Compute  the type in which the statement computes; values are converted to it as they are read
template <class A, class Compute, int K>
struct Leaf {
  using access = A;
  using compute = Compute;
  using view_type = typename A::tensor_type::view_type;
  static constexpr int bound_levels = K;
  static constexpr int levels = A::format::levels;

  const view_type* view;
  std::int64_t begin;
  std::int64_t end;

  /// The properties of the next level.
  static constexpr LevelProperties next() { return A::format::properties[static_cast<std::size_t>(K)]; }
  /// Whether [begin, end) may be more than one position.
  static constexpr bool is_range = [] {
    if constexpr (K == 0)
      return false;
    else
      return !A::format::properties[static_cast<std::size_t>(K - 1)].unique;
  }();
  /// Whether the next level stores coordinates of the variable.
  static constexpr bool walks(char variable) {
    if constexpr (K < levels)
      return A::level_names[K] == variable && !next().full;
    else
      return false;
  }
};

template <class E>
concept AnyLeaf = requires { typename E::view_type; };

/// Whether level K of an operand is accessed at one coordinate, without a variable.
template <class A, int K>
inline constexpr bool is_fixed = A::level_names[K] == no_variable;

/// Whether the coordinates of a variable are counted from another one than the first coordinate of level K.
template <class A, int K>
constexpr bool is_shifted() {
  if constexpr (is_part_v<typename A::tensor_type>)
    return A::tensor_type::restricts(A::format::template expression<K>::mode);
  else
    return false;
}

/// The coordinate in level K of an operand that belongs to coordinate c of its variable.
template <class A, int K, class View>
SPOROS_INLINE std::int64_t level_coordinate(const View& view, std::int64_t c) {
  using Expression = typename A::format::template expression<K>;
  if constexpr (is_shifted<A, K>())
    return Expression::of(view.first[Expression::mode] + c);
  else
    return Expression::of(c);
}
/// The coordinate in level K of an operand that belongs to what the loops have bound.
template <class Order, class A, int K, class View, class Env>
SPOROS_INLINE std::int64_t bound_coordinate(const View& view, [[maybe_unused]] const Env& env) {
  if constexpr (is_fixed<A, K>)
    return level_coordinate<A, K>(view, 0);
  else
    return level_coordinate<A, K>(view, env.at[Order::names.find(A::level_names[K])]);
}

/// A stored value of an operand, in the type in which the statement computes. Padding is stored as 0, and
/// read as the zero of the semiring.
template <class A, class Compute>
SPOROS_INLINE Compute read(const typename A::value_type& value) {
  if constexpr (is_semiring_element_v<Compute> && A::format::stores_padding)
    if (value == typename A::value_type(0)) return Compute{};
  return static_cast<Compute>(value);
}

/// The positions of coordinate c at the next level of an operand; empty if it is not stored. Takes time
/// logarithmic in the length of the fiber.
template <class A, class Compute, int K>
SPOROS_INLINE Bounds search(const Leaf<A, Compute, K>& leaf, std::int64_t c) {
  using L = Leaf<A, Compute, K>;
  static_assert(L::next().ordered,
                "a level without order cannot be searched for a coordinate: convert the operand");
  const auto& level = leaf.view->template level<K>();
  Bounds all = L::is_range ? Bounds{leaf.begin, leaf.end} : level.pos_bounds(leaf.begin);
  const auto first_not_below = [&] SPOROS_INLINE_LAMBDA(std::int64_t wanted) {
    std::int64_t low = all.begin;
    std::int64_t high = all.end;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (level.coord_at(middle) < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  return {first_not_below(c), first_not_below(c + 1)};
}

/// Prefetches the first cache lines of the row at coordinate c of `Variable`, in every operand whose next
/// level is full over that variable, with one more full level below.
template <char Variable, class A, class Compute, int K>
SPOROS_INLINE void fetch(const Leaf<A, Compute, K>& leaf, std::int64_t c) {
  using L = Leaf<A, Compute, K>;
  constexpr bool rows = [] {
    constexpr auto k = static_cast<std::size_t>(K);
    if (K + 2 != L::levels || A::level_names[K] != Variable) return false;
    return A::format::properties[k].full && A::format::properties[k + 1].full;
  }();
  if constexpr (rows) {
    const std::int64_t row =
        leaf.view->template level<K>().locate(leaf.begin, level_coordinate<A, K>(*leaf.view, c)).position;
    const auto& inner = leaf.view->template level<K + 1>();
    const auto* const values = leaf.view->values + inner.locate(row, 0).position;
    constexpr std::int64_t bytes_of_line = 64;
    constexpr std::int64_t lines = 4;  // the processor fetches the next ones by itself once these are read
    constexpr std::int64_t line = bytes_of_line / static_cast<std::int64_t>(sizeof *values);
    for (std::int64_t at = 0; at < lines; ++at) SPOROS_PREFETCH(values + at * line);
  }
}
template <char Variable, class E>
SPOROS_INLINE void fetch(const E& e, std::int64_t c) {
  if constexpr (has_one_child<E>) {
    fetch<Variable>(e.operand, c);
  } else if constexpr (has_two_children<E>) {
    fetch<Variable>(e.left, c);
    fetch<Variable>(e.right, c);
  }
}

}  // namespace sporos::stream
