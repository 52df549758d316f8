// SPDX-License-Identifier: Apache-2.0
/// @file format.hpp
/// Format: a chain of levels and the map from a tensor's dimensions to them, as a type.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "error.hpp"
#include "extents.hpp"
#include "level.hpp"

namespace sporos {

/// How the coordinate of a level is computed from the coordinate of a mode.
enum class DimensionPart { whole, quotient, remainder };

/// The dimension expression `d`: the coordinate of mode D itself.
template <int D>
struct Dim {
  static constexpr int mode = D;
  static constexpr DimensionPart part = DimensionPart::whole;
  static constexpr std::int64_t block = 1;

  static constexpr std::int64_t extent(std::int64_t mode_extent) { return mode_extent; }
  KOKKOS_INLINE_FUNCTION static constexpr std::int64_t of(std::int64_t coordinate) { return coordinate; }
  static std::string str() { return text('d', D); }
};

/// The dimension expression `d / Block`: which block of `Block` coordinates the coordinate is in.
template <int D, std::int64_t Block>
struct Quotient {
  static_assert(Block > 0, "a block has at least one coordinate");
  static constexpr int mode = D;
  static constexpr DimensionPart part = DimensionPart::quotient;
  static constexpr std::int64_t block = Block;

  static constexpr std::int64_t extent(std::int64_t mode_extent) {
    return mode_extent / Block + (mode_extent % Block > 0);
  }
  KOKKOS_INLINE_FUNCTION static constexpr std::int64_t of(std::int64_t coordinate) {
    return coordinate / Block;
  }
  static std::string str() { return text('d', D, " / ", Block); }
};

/// The dimension expression `d % Block`: the place of the coordinate inside its block.
template <int D, std::int64_t Block>
struct Remainder {
  static_assert(Block > 0, "a block has at least one coordinate");
  static constexpr int mode = D;
  static constexpr DimensionPart part = DimensionPart::remainder;
  static constexpr std::int64_t block = Block;

  static constexpr std::int64_t extent(std::int64_t) { return Block; }
  KOKKOS_INLINE_FUNCTION static constexpr std::int64_t of(std::int64_t coordinate) {
    return coordinate % Block;
  }
  static std::string str() { return text('d', D, " % ", Block); }
};

/// The map from modes to levels: expression k gives the coordinate of level k.
template <class... Expressions>
struct Map {};

template <class DimensionMap, class... Levels>
struct Format;

/// A storage format: level k holds the coordinates `Expressions[k]` of the tensor.
///
///     CSR        = Format<Map<Dim<0>, Dim<1>>, Dense, Compressed<>>
///     CSC        = Format<Map<Dim<1>, Dim<0>>, Dense, Compressed<>>
///     BCSR<2, 3> = Format<Map<Quotient<0, 2>, Quotient<1, 3>, Remainder<0, 2>, Remainder<1, 3>>,
///                         Dense, Compressed<>, Dense, Dense>
template <class... Expressions, class... Levels>
struct Format<Map<Expressions...>, Levels...> {
  static_assert(
      sizeof...(Expressions) == sizeof...(Levels),
      "a format has one dimension expression for each level: Format<Map<Dim<0>, Dim<1>>, Dense, Dense>");
  static_assert((require_level<Levels>() && ...));

  static constexpr int levels = static_cast<int>(sizeof...(Levels));
  static constexpr int order = [] {
    int count = 0;
    ((count = std::max(count, Expressions::mode + 1)), ...);
    return count;
  }();

  template <int K>
  using level = std::tuple_element_t<static_cast<std::size_t>(K), std::tuple<Levels...>>;
  template <int K>
  using expression = std::tuple_element_t<static_cast<std::size_t>(K), std::tuple<Expressions...>>;

  static constexpr std::array<LevelProperties, sizeof...(Levels)> properties{Levels::properties...};
  static constexpr std::array<int, sizeof...(Levels)> mode_of_level{Expressions::mode...};

  /// Whether every level is full: the tensor is dense, and the position of a value is computed by arithmetic.
  static constexpr bool is_dense = (Levels::properties.full && ...);
  /// Whether a mode is split over several levels.
  static constexpr bool is_blocked = ((Expressions::part != DimensionPart::whole) || ...);
  /// Whether zeros are stored next to entries: a full innermost level has a value for every coordinate below
  /// one that a sparse level stores, and a padded level also stores coordinates without entries.
  static constexpr bool stores_padding = [] {
    if constexpr (levels == 0)
      return false;
    else
      return !is_dense && (properties.back().full || (Levels::properties.padded || ...));
  }();
  /// Whether coordinates ascend in every level, so that entries have only one order.
  static constexpr bool is_ordered = (Levels::properties.ordered && ...);
  /// Whether each coordinate tuple has at most one position.
  static constexpr bool is_unique = [] {
    bool last = true;  // tuples are unique if the last level that is not full is unique
    ((last = Levels::properties.full ? last : Levels::properties.unique), ...);
    return last;
  }();

  /// The extents of the levels of a tensor with the given extents.
  static Extents<levels> level_extents(const Extents<order>& extents) {
    return {Expressions::extent(extents[Expressions::mode])...};
  }

  /// The coordinates in the levels that belong to a coordinate of the tensor.
  KOKKOS_INLINE_FUNCTION static Extents<levels> level_coordinates(const Extents<order>& coordinate) {
    return {Expressions::of(coordinate[Expressions::mode])...};
  }

  /// The coordinate of the tensor that belongs to coordinates in the levels.
  KOKKOS_INLINE_FUNCTION static Extents<order> coordinate(const Extents<levels>& at) {
    Extents<order> out{};
    std::size_t k = 0;
    ((out[Expressions::mode] +=
      Expressions::part == DimensionPart::quotient ? at[k] * Expressions::block : at[k],
      ++k),
     ...);
    return out;
  }

  /// "Dense(d0), Compressed(d1)"
  static std::string str() {
    std::string out;
    ((out += (out.empty() ? "" : ", ") + text(Levels::name(), '(', Expressions::str(), ')')), ...);
    return out;
  }

  static_assert(
      [] {
        bool below_padded = false, holds = true;
        ((holds = holds && (!below_padded || Levels::properties.full),
          below_padded = below_padded || Levels::properties.padded),
         ...);
        return holds;
      }(),
      "every level below a padded one is full");

  // A mode is stored by a single level, or by a quotient level and, further down, its remainder level.
  static_assert(
      [] {
        constexpr std::array<int, sizeof...(Levels)> modes{Expressions::mode...};
        constexpr std::array<DimensionPart, sizeof...(Levels)> parts{Expressions::part...};
        constexpr std::array<std::int64_t, sizeof...(Levels)> blocks{Expressions::block...};
        for (int d = 0; d < order; ++d) {
          int whole = 0;
          std::int64_t open = 0;
          bool closed = false;
          for (std::size_t k = 0; k < modes.size(); ++k) {
            if (modes[k] != d) continue;
            if (parts[k] == DimensionPart::whole) ++whole;
            if (parts[k] == DimensionPart::quotient) {
              if (open) return false;
              open = blocks[k];
            }
            if (parts[k] == DimensionPart::remainder) {
              if (closed || open != blocks[k]) return false;
              closed = true;
            }
          }
          if (!(whole == 1 && open == 0) && !(whole == 0 && open > 0 && closed)) return false;
        }
        return true;
      }(),
      "each mode of a format is stored by one level (Dim<d>), or by Quotient<d, b> above "
      "Remainder<d, b> with the same block b");
};

template <class T>
inline constexpr bool is_format_v = false;
template <class DimensionMap, class... Levels>
inline constexpr bool is_format_v<Format<DimensionMap, Levels...>> = true;

/// A storage format: any `Format<Map<…>, Levels…>`.
template <class F>
concept TensorFormat = is_format_v<F>;

}  // namespace sporos
