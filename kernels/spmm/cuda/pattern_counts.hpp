// SPDX-License-Identifier: Apache-2.0
/// @file pattern_counts.hpp
/// What is counted of a sparse matrix's pattern to choose a kernel for its product with a dense one: for all
/// kernels at once, so that the GPU is waited for once.
#pragma once

#include <cmath>
#include <cstdint>
#include <ostream>
#include <type_traits>

#include "../../../core/value.hpp"
#include "../../cuda/launch.hpp"
#include "row_counts.hpp"
#include "split_tile_values.hpp"
#include "tile_nonzeros.hpp"
#include "window_values.hpp"

namespace sporos::gpu {

/// What is counted.
struct Counted {
  bool rows = false, tiles = false, split_tiles = false, windows = false;
};

struct PatternCounts {
  RowCounts rows;
  TileCounts tiles;
  SplitTileCounts split_tiles;
  ValueWindowCounts windows;
};

/// What was counted for matrices of a type, which decides what is.
template <class A>
struct CountsOf {
  PatternCounts counts;
};

/// Counts the pattern of a matrix, and waits for the result. Takes the bytes of a PatternCounts from the
/// workspace of the stream.
/// @param a  by rows, of which there are some
template <class A>
PatternCounts count_pattern(const Resources<Kokkos::Cuda>& resources, const A& a, const Counted& what) {
  using T = std::remove_const_t<typename A::value_type>;
  const Kokkos::Cuda& space = resources.space();
  auto workspace = resources.scratch().template borrow<Workspace>();
  auto* const to = reinterpret_cast<PatternCounts*>(workspace->reserve(sizeof(PatternCounts)));
  zero(space, to, 1);
  if (what.rows) start_counting_rows(space, a, &to->rows);
  if constexpr (is_narrow_float_v<T>)
    if (what.tiles) start_counting_tiles(space, a, &to->tiles);
  if constexpr (std::is_same_v<T, float>)
    if (what.split_tiles) start_counting_split_tiles(space, a, &to->split_tiles);
  if constexpr (is_narrow_float_v<T> || std::is_same_v<T, double>)
    if (what.windows) start_counting_window_steps(space, a, &to->windows);
  return read_back(space, to);
}

/// Says what was counted of a matrix of values of type T; nothing about what was not.
template <class T>
void explain_pattern(std::ostream& out, const PatternCounts& counts, std::int64_t rows, std::int64_t columns,
                     std::int64_t nonzeros) {
  const auto percent = [](std::int64_t part, std::int64_t whole) {
    return std::lround(100 * static_cast<double>(part) / static_cast<double>(whole));
  };
  if (counts.rows.lengths.longest > 0)
    out << "  pattern: rows of " << nonzeros / rows << " nonzeros on average and "
        << counts.rows.lengths.longest << " at most\n";
  const auto of_tiles = [&](int kept, std::int64_t tiles, int height, int width) {
    if (kept > 0)
      out << "  pattern: " << percent(kept, tiles) << " % of tiles of " << height << " x " << width
          << " have nonzeros, " << nonzeros / kept << " each on average\n";
  };
  of_tiles(counts.tiles.kept, TileNonzeros::of(rows, columns).tiles(), TileNonzeros::rows,
           TileNonzeros::columns);
  for (const int height : {SplitTiles::fewest_rows, SplitTiles::most_rows})
    of_tiles(counts.split_tiles.kept[SplitTileCounts::of(height)],
             SplitTiles::of(height, rows, columns).tiles(), height, SplitTiles::columns);
  if constexpr (is_narrow_float_v<T> || std::is_same_v<T, double>)
    for (const int height : window_heights)
      if (const std::int64_t steps = counts.windows.steps[ValueWindowCounts::of(height)]; steps > 0)
        out << "  pattern: " << percent(nonzeros, steps * height * ValueWindows<T>::columns)
            << " % of the elements of windows of " << height << " rows are nonzeros\n";
}

}  // namespace sporos::gpu
