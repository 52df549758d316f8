// SPDX-License-Identifier: Apache-2.0
/// @file structure.hpp
/// What follows from the levels of a format alone: which coordinates tell the positions of a level apart.
#pragma once

#include <array>
#include <cstddef>

#include "../core/format.hpp"

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

  /// The last level whose coordinate tells positions of level k apart. A segmented level that is not unique
  /// has a position for each tuple of the branchless levels that continue it (the columns of COO).
  static constexpr std::array<int, static_cast<std::size_t>(levels) + 1> depth = [] {
    std::array<int, static_cast<std::size_t>(levels) + 1> out{};
    int open = -1;  // depth of the run of branchless levels that we are in
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

  /// Whether entries of equal coordinates get positions of their own: a segmented level that is not unique is
  /// continued to the last level, which is not unique either.
  static constexpr bool keeps_duplicates = [] {
    for (int k = 0; k < levels; ++k)
      if (segmented(k) && !unique(k) && depth[static_cast<std::size_t>(k)] == levels - 1)
        return !unique(levels - 1);
    return false;
  }();

  /// Whether values are stored that no entry stands for: the innermost level is full.
  static constexpr bool padded = levels == 0 || full(levels - 1);
};

}  // namespace sporos::detail
