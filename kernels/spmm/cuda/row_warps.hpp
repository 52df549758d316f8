// SPDX-License-Identifier: Apache-2.0
/// @file row_warps.hpp
/// Which warps compute which rows of a product by matricised dot products (dot_products.hpp).
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../cuda/scan.hpp"
#include "rows.hpp"

namespace sporos::gpu {

/// What can be chosen for matricised dot products.
struct DotTuning {
  int most_segments = 8;    ///< of a step: 4 or 8
  int buffer_bytes = 4096;  ///< gathered by a warp in a step
  int blocks = 2;           ///< per multiprocessor, at least
};

/// The number of tiles of 8 columns of a panel: enough for `columns`, but at most as many as a warp can
/// gather of a single segment.
template <class T>
constexpr int dot_tiles(std::int64_t columns, const DotTuning& tuning) {
  const int most = tuning.buffer_bytes / (64 * static_cast<int>(sizeof(T)));
  for (int tiles = 4; tiles < most; tiles *= 2)
    if (columns <= 8 * tiles) return tiles;
  return most;
}

/// How many warps a row has.
struct DotDealing {
  int most_segments = 8;  ///< of a step
  int segments = 1;       ///< for each warp

  template <class B>
  static DotDealing of(std::int64_t columns, const DotTuning& tuning) {
    return {tuning.most_segments,
            tuning.buffer_bytes / (64 * static_cast<int>(sizeof(B)) * dot_tiles<B>(columns, tuning))};
  }
  /// The segments of a row, where eight are a step: 1, 2, 4 or 8.
  KOKKOS_INLINE_FUNCTION static int segments_of(std::int64_t nonzeros) {
    return nonzeros <= 8 ? 1 : nonzeros <= 16 ? 2 : nonzeros <= 32 ? 4 : 8;
  }
  /// The number of warps of a row that is not cut: at most 1, 2, 4 or 8, but none if it is empty.
  KOKKOS_INLINE_FUNCTION std::int32_t warps(std::int64_t nonzeros) const {
    return nonzeros == 0 ? 0 : Kokkos::max(1, Kokkos::min(segments_of(nonzeros), most_segments) / segments);
  }
};

/// Which warps compute which rows. One array combines the paper's three: the row of each warp, the number of
/// warps of its row, and its place among them.
struct RowWarps {
  /// The work of one of the `warps` warps of a row: the nonzeros that it reads.
  struct alignas(16) Part {
    std::uint64_t row_and_place;     ///< row << 8 | warps << 4 | place among them
    std::uint64_t begin_and_length;  ///< the row's nonzeros: begin << 16 | length

    KOKKOS_INLINE_FUNCTION std::int64_t row() const { return static_cast<std::int64_t>(row_and_place >> 8); }
    KOKKOS_INLINE_FUNCTION int place() const { return static_cast<int>(row_and_place & 15); }
    KOKKOS_INLINE_FUNCTION std::int64_t begin() const {
      return static_cast<std::int64_t>(begin_and_length >> 16);
    }
    KOKKOS_INLINE_FUNCTION std::int64_t end() const {
      return begin() + static_cast<std::int64_t>(begin_and_length & 0xffff);
    }
  };

  DotDealing dealing;
  std::int32_t* warps = nullptr;  ///< [rows], number of warps of each row
  std::int64_t* first = nullptr;  ///< [rows + 1], first warp of each row; the last is the number of all
  Part* parts = nullptr;          ///< [most]
  std::int64_t most = 0;          ///< an upper bound from the number of rows and nonzeros
  char* scratch = nullptr;
  std::int64_t scratch_bytes = 0;

  /// What the host knows if it has waited for the warps to be found.
  struct Counts {
    std::int64_t warps = -1;     ///< -1 if unknown
    bool has_empty_rows = true;  ///< whether there may be any
  } counts;

  static RowWarps lay_out(const Kokkos::Cuda& space, Layout& layout, std::int64_t rows, std::int64_t nonzeros,
                          const DotDealing& dealing = {}) {
    RowWarps out;
    out.dealing = dealing;
    // A row of more than 8 nonzeros has fewer warps than a quarter of that.
    out.most = std::min(8 * rows, std::min(rows, nonzeros) + ceil_div(nonzeros, 4));
    out.warps = layout.take<std::int32_t>(rows);
    out.first = layout.take<std::int64_t>(rows + 1);
    out.parts = layout.take<Part>(out.most);
    out.scratch_bytes = sizes_to_positions_bytes<std::int32_t, std::int64_t>(space, rows);
    out.scratch = layout.take<char>(out.scratch_bytes);
    return out;
  }
};

namespace detail {

template <class Position>
struct CountRowWarps {
  const Position* positions;
  std::int64_t longest;
  RowWarps to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const auto nonzeros = static_cast<std::int64_t>(positions[row + 1] - positions[row]);
    to.warps[row] = nonzeros > longest ? 0 : to.dealing.warps(nonzeros);
  }
};

template <class Position>
struct CountEmptyRows {
  const Position* positions;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, std::int64_t& count) const {
    count += positions[row + 1] == positions[row];
  }
};

template <class Position>
struct WriteRowWarps {
  const Position* positions;
  RowWarps to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const auto first = static_cast<std::uint64_t>(to.first[row]);
    const auto warps = static_cast<std::uint64_t>(to.first[row + 1]) - first;
    const auto begin = static_cast<std::uint64_t>(positions[row]);
    const std::uint64_t length = static_cast<std::uint64_t>(positions[row + 1]) - begin;
    for (std::uint64_t place = 0; place < warps; ++place)
      to.parts[first + place] = {static_cast<std::uint64_t>(row) << 8 | warps << 4 | place,
                                 begin << 16 | length};
  }
};

}  // namespace detail

/// Finds the warps of each row, in the order of the stream of `space`. Rows of more than `longest` nonzeros
/// get none, like empty ones.
template <class Position>
void find_row_warps(const Kokkos::Cuda& space, const Position* positions, std::int64_t rows,
                    std::int64_t longest, const RowWarps& to) {
  using Range = Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("sporos::count_row_warps", Range(space, 0, rows),
                       detail::CountRowWarps<Position>{positions, longest, to});
  sizes_to_positions(space, rows, to.warps, to.first, nullptr, to.scratch, to.scratch_bytes);
  Kokkos::parallel_for("sporos::write_row_warps", Range(space, 0, rows),
                       detail::WriteRowWarps<Position>{positions, to});
}

/// Counts the warps that find_row_warps() has found, and waits for them.
template <class Position>
RowWarps::Counts count_row_warps(const Kokkos::Cuda& space, const Position* positions, std::int64_t rows,
                                 const RowWarps& found) {
  using Range = Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>;
  std::int64_t empty = 0;
  Kokkos::parallel_reduce("sporos::count_empty_rows", Range(space, 0, rows),
                          detail::CountEmptyRows<Position>{positions}, empty);
  return {read_back(space, found.first + rows), empty > 0};
}

}  // namespace sporos::gpu
