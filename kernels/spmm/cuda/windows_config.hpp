// SPDX-License-Identifier: Apache-2.0
/// @file windows_config.hpp
/// What a warp computes at a time of a product by windows of rows (windows.hpp), and the memory it takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "../../../core/value.hpp"
#include "../../cuda/mma_traits.hpp"
#include "../../cuda/warp.hpp"
#include "window_mma.hpp"

namespace sporos::gpu {

/// What a warp computes at a time.
/// @tparam T        the type of the values: double, half or bfloat16
/// @tparam Rows     rows per window: 8, 16 or 32
/// @tparam Columns  columns per panel: 16, 32 or 64
template <class T, int Rows, int Columns>
struct WindowsConfig {
  using value_type = T;
  using Mma = WindowMma<T>;
  using Sum = typename Mma::Sum;
  static constexpr int rows = Rows, columns = Columns;
  /// Whether rows of B go by way of shared memory, where they are transposed.
  static constexpr bool is_staged = is_narrow_float_v<T>;
  static constexpr int threads = 256, warps = threads / warp_size;
  static constexpr int row_tiles = Rows / Mma::n, column_tiles = Columns / Mma::m;
  static constexpr int sums = row_tiles * column_tiles * 4;  ///< per lane
  static constexpr int blocks = 2;                           ///< at least this many per multiprocessor

  /// A lane has two of the 16 columns of each instruction. Pairs of several instructions are neighbours, in
  /// pieces of up to 16 bytes of B; neighbouring fours of lanes have neighbouring pieces.
  static constexpr int columns_of_piece = std::min(16 / static_cast<int>(sizeof(T)), Columns / 8);
  static constexpr int pairs_of_piece = columns_of_piece / 2, pieces = column_tiles / pairs_of_piece;

  /// A lane's first column in the panel.
  KOKKOS_INLINE_FUNCTION static constexpr int column_of_lane(int lane) { return lane / 4 * columns_of_piece; }
  /// Where the pair of a tile of 16 columns is, after a lane's first column.
  KOKKOS_INLINE_FUNCTION static constexpr int column_of_pair(int tile) {
    return tile / pairs_of_piece * 8 * columns_of_piece + tile % pairs_of_piece * 2;
  }

  /// Without shared memory: how many steps are loaded to registers together, and whether the next ones are
  /// loaded while some are multiplied: as many as fit.
  static constexpr int buffers = Rows * Columns <= 512 ? 2 : 1;
  static constexpr int steps_at_once = (Columns == 16 && Rows <= 16) || (Rows == 8 && Columns == 32) ? 2 : 1;

  /// The ring of a warp: of each step 16 rows of B, in pieces of 16 bytes, and the values of the window.
  static constexpr int stages = 4;
  static constexpr int dense_bytes = Mma::k * Columns * static_cast<int>(sizeof(T)),
                       value_bytes = Mma::k * Rows * static_cast<int>(sizeof(T)),
                       stage_bytes = dense_bytes + value_bytes, ring_bytes = stages * stage_bytes;
  static constexpr int bytes_to_share_window = warps / 2 * warp_size * sums * static_cast<int>(sizeof(Sum));

  /// Bytes of shared memory of a block.
  /// @param parts  warps that share a window
  static constexpr int shared_bytes(int parts) {
    return std::max(is_staged ? warps * ring_bytes : 0, parts > 1 ? bytes_to_share_window : 0);
  }

  static_assert(sums * sizeof(Sum) <= 256, "sums and the rows of B on their way fit in the registers");
  static_assert(!is_staged || Columns == 32 || Columns == 64,
                "rows of 64 or 128 bytes are loaded transposed");
};

/// The configurations that are compiled for values of a type; the first has the lowest windows and the
/// narrowest panels.
template <class... Config>
struct WindowsConfigs {
  using First = std::tuple_element_t<0, std::tuple<Config...>>;
  /// Calls visit(std::type_identity<Config>) for each.
  template <class Visit>
  static void for_each(const Visit& visit) {
    (visit(std::type_identity<Config>{}), ...);
  }
};
template <class T>
struct WindowsConfigsOf;
template <>
struct WindowsConfigsOf<double>
    : WindowsConfigs<WindowsConfig<double, 8, 16>, WindowsConfig<double, 8, 32>, WindowsConfig<double, 8, 64>,
                     WindowsConfig<double, 16, 16>, WindowsConfig<double, 16, 32>,
                     WindowsConfig<double, 16, 64>, WindowsConfig<double, 32, 16>,
                     WindowsConfig<double, 32, 32>> {};
template <class T>
  requires is_narrow_float_v<T>
struct WindowsConfigsOf<T>
    : WindowsConfigs<WindowsConfig<T, 8, 32>, WindowsConfig<T, 8, 64>, WindowsConfig<T, 16, 32>> {};

}  // namespace sporos::gpu
