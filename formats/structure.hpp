// SPDX-License-Identifier: Apache-2.0
/// @file structure.hpp
/// What the levels of a format alone determine: which coordinates distinguish the positions of a level.
#pragma once

#include <array>
#include <cstddef>

#include "../core/format.hpp"
#include "../core/level.hpp"

namespace sporos::detail {

/// Facts about the chain of levels of F, known at compile time.
template <TensorFormat F>
struct Structure {
  static constexpr int levels = F::levels;

  static constexpr bool full(int k) { return F::properties[static_cast<std::size_t>(k)].full; }
  static constexpr bool unique(int k) { return F::properties[static_cast<std::size_t>(k)].unique; }
  static constexpr bool branchless(int k) { return F::properties[static_cast<std::size_t>(k)].branchless; }
  /// A level with any number of coordinates below each parent.
  static constexpr bool segmented(int k) { return !full(k) && !branchless(k); }

  /// The last level whose coordinate distinguishes positions of level k. A segmented level that is not unique
  /// has a position for each tuple of the branchless levels that continue it (the columns of COO).
  static constexpr std::array<int, static_cast<std::size_t>(levels) + 1> depth = [] {
    std::array<int, static_cast<std::size_t>(levels) + 1> out{};
    int open = -1;  // depth of the current run of branchless levels
    for (int k = 0; k < levels; ++k) {
      if (branchless(k)) {
        open = open > k ? open : k;
      } else {
        open = k;
        if (segmented(k) && !unique(k))
          while (open + 1 < levels && branchless(open + 1)) ++open;
      }
      out[static_cast<std::size_t>(k)] = open;
    }
    return out;
  }();

  /// Whether entries at the same coordinate get positions of their own. They do if a segmented level that is
  /// not unique is continued by branchless levels down to the last one, which is not unique either.
  static constexpr bool keeps_duplicates = [] {
    for (int k = 0; k < levels; ++k)
      if (segmented(k) && !unique(k) && depth[static_cast<std::size_t>(k)] == levels - 1)
        return !unique(levels - 1);
    return false;
  }();

  /// Whether zeros are stored where there is no entry, because the innermost level is full.
  static constexpr bool padded = F::is_dense || F::stores_padding;
};

/// Whether a matrix has a segment of ascending coordinates for each coordinate of mode Outer, as CSR has for
/// mode 0 and CSC for mode 1.
template <class F, int Outer>
inline constexpr bool stores_segments_of_mode = false;
template <int Outer, int Inner, class Lines, class InLine>
inline constexpr bool stores_segments_of_mode<Format<Map<Dim<Outer>, Dim<Inner>>, Lines, InLine>, Outer> =
    Lines::properties.full && StoresSegments<InLine> && InLine::properties.ordered &&
    InLine::properties.unique;
template <class F>
inline constexpr bool is_by_rows = stores_segments_of_mode<F, 0>;
template <class F>
inline constexpr bool is_by_columns = stores_segments_of_mode<F, 1>;

/// Whether a matrix is one list of coordinates, ascending by the outer mode, then by the inner, as COO is.
template <class F>
inline constexpr bool is_coordinate_list = false;
template <int Outer, int Inner, class First, class Second>
inline constexpr bool is_coordinate_list<Format<Map<Dim<Outer>, Dim<Inner>>, First, Second>> =
    StoresSegments<First> && First::properties.ordered && !First::properties.unique &&
    StoresCoordinates<Second> && Second::properties.branchless && Second::properties.ordered &&
    Second::properties.unique;

}  // namespace sporos::detail
