// SPDX-License-Identifier: Apache-2.0
/// @file units.hpp
/// The product of a dense and an N:M sparse matrix on the host.
///
/// Rows of A are packed in panels, in which each column follows the one before, so that the numbers
/// multiplied by one kept row of B are neighbours. Units of several columns are computed with a vector of
/// columns in each register. Narrower units are computed with a vector of rows, in wide panels, so that each
/// nonzero that is read serves many rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../../host/packet.hpp"
#include "../../host/unrolled.hpp"
#include "../view.hpp"

namespace sporos::detail {

/// Rows of A that are packed together, and the same for units of fewer than four columns. A single row is a
/// panel of its own.
inline constexpr int rows_of_panel = 8, rows_of_wide_panel = 32;

/// Packs rows [row, row + R) of A: to[k][r] = a[(row + r) * a_row + k * a_column], with zeros below the last
/// row and after the last column.
/// @param to  [padded_k, R]
template <int R, class T>
void pack_panel(const T* a, std::int64_t rows, std::int64_t columns, std::int64_t a_row,
                std::int64_t a_column, std::int64_t row, std::int64_t padded_k, T* to) {
  const auto count = static_cast<int>(std::min<std::int64_t>(R, rows - row));
  const T* const from = a + row * a_row;
  for (std::int64_t k = 0; k < columns; ++k)
    for (int r = 0; r < R; ++r) to[k * R + r] = r < count ? from[r * a_row + k * a_column] : T{};
  std::fill(to + columns * R, to + padded_k * R, T{});
}

/// Computes, for `Rows` rows of a panel of R, `Packets` packets of columns of a unit.
/// @param values  those of the unit's first position, from the first of these columns on
/// @param panel   at the first of these rows
/// @param to      [Rows], `pitch` numbers apart
template <int R, int Rows, int Packets, int Lanes, class T>
SPOROS_HOST_INLINE void sum_columns(const NmView<T>& b, std::int64_t first_position, const T* values,
                                    const T* panel, T* to, std::int64_t pitch) {
  using Columns = Packet<T, Lanes>;
  Columns sums[static_cast<std::size_t>(Rows)][static_cast<std::size_t>(Packets)];
  unrolled<Rows>([&] SPOROS_INLINE_LAMBDA(auto r) {
    unrolled<Packets>([&] SPOROS_INLINE_LAMBDA(auto p) { sums[r][p] = Columns::zero(); });
  });
  const std::uint8_t* indices = b.indices + first_position;
  const std::int64_t to_next = (b.window_stride - b.kept) * b.unit;  // from the end of a window to the next
  for (std::int64_t row = 0; row < b.rows; row += b.window, indices += b.window_stride, values += to_next) {
    const T* const of_window = panel + row * R;
    for (int slot = 0; slot < b.kept; ++slot, values += b.unit) {
      Columns columns[static_cast<std::size_t>(Packets)];
      unrolled<Packets>([&] SPOROS_INLINE_LAMBDA(auto p) { columns[p].load(values + p * Lanes, 0); });
      const T* const factors = of_window + static_cast<std::int64_t>(indices[slot]) * R;
      unrolled<Rows>([&] SPOROS_INLINE_LAMBDA(auto r) {
        const T factor = factors[r];
        unrolled<Packets>([&] SPOROS_INLINE_LAMBDA(auto p) { sums[r][p].add_product(columns[p], factor); });
      });
    }
  }
  unrolled<Rows>([&] SPOROS_INLINE_LAMBDA(auto r) {
    unrolled<Packets>([&] SPOROS_INLINE_LAMBDA(auto p) { sums[r][p].store(to + r * pitch + p * Lanes, 0); });
  });
}

/// Computes one column of a unit, with all R rows of a panel in the lanes of packets.
/// @param to  [R], `pitch` numbers apart
template <int R, class T>
SPOROS_HOST_INLINE void sum_column(const NmView<T>& b, std::int64_t first_position, const T* values,
                                   const T* panel, T* to, std::int64_t pitch) {
  constexpr int lanes = std::min(R, vector_bytes / static_cast<int>(sizeof(T)));
  constexpr int packets = R / lanes;
  constexpr int chains = packets < 4 ? 2 : 1;  // each sum waits for the previous one of its chain
  using RowsOf = Packet<T, lanes>;
  RowsOf sums[static_cast<std::size_t>(packets)][static_cast<std::size_t>(chains)];
  unrolled<packets>([&] SPOROS_INLINE_LAMBDA(auto p) {
    unrolled<chains>([&] SPOROS_INLINE_LAMBDA(auto c) { sums[p][c] = RowsOf::zero(); });
  });
  const auto add = [&] SPOROS_INLINE_LAMBDA(const T* factors, T value, auto chain) {
    unrolled<packets>([&] SPOROS_INLINE_LAMBDA(auto p) {
      RowsOf rows;
      rows.load(factors + p * lanes, 0);
      sums[p][chain].add_product(rows, value);
    });
  };
  const std::uint8_t* indices = b.indices + first_position;
  const std::int64_t to_next = (b.window_stride - b.kept) * b.unit;
  for (std::int64_t row = 0; row < b.rows; row += b.window, indices += b.window_stride, values += to_next) {
    const T* const of_window = panel + row * R;
    const auto factors = [&] SPOROS_INLINE_LAMBDA(int slot) {
      return of_window + static_cast<std::int64_t>(indices[slot]) * R;
    };
    int slot = 0;
    for (; slot + 2 <= b.kept; slot += 2, values += 2 * b.unit) {
      add(factors(slot), values[0], std::integral_constant<int, 0>{});
      add(factors(slot + 1), values[b.unit], std::integral_constant<int, chains - 1>{});
    }
    if (slot < b.kept) {
      add(factors(slot), values[0], std::integral_constant<int, 0>{});
      values += b.unit;
    }
  }
  T out[static_cast<std::size_t>(R)];
  unrolled<packets>([&] SPOROS_INLINE_LAMBDA(auto p) {
    if constexpr (chains > 1) sums[p][0].add(sums[p][chains - 1]);
    sums[p][0].store(out + p * lanes, 0);
  });
  for (int r = 0; r < R; ++r) to[r * pitch] = out[r];
}

/// Computes one column of a unit for a panel of one row: four windows at a time, since each sum waits for the
/// previous one.
/// @return the sum
template <class T>
SPOROS_HOST_INLINE T sum_column_of_row(NmView<T> b, std::int64_t first_position, const T* values,
                                       const T* panel) {
  constexpr int at_once = 4;
  const std::uint8_t* indices = b.indices + first_position;
  T sums[at_once] = {};
  const auto add_windows = [&] SPOROS_INLINE_LAMBDA(auto windows, const T* of_window) {
    for (int slot = 0; slot < b.kept; ++slot)
      unrolled<windows>([&] SPOROS_INLINE_LAMBDA(auto w) {
        const std::int64_t at = w * b.window_stride + slot;
        const T factor = of_window[w * b.window + static_cast<std::int64_t>(indices[at])];
        sums[w] = multiply_add<T>(values[at * b.unit], factor, sums[w]);
      });
    indices += windows * b.window_stride;
    values += windows * b.window_stride * b.unit;
  };
  std::int64_t row = 0;
  for (; row + (at_once - 1) * b.window < b.rows; row += at_once * b.window)
    add_windows(std::integral_constant<int, at_once>{}, panel + row);
  for (; row < b.rows; row += b.window) add_windows(std::integral_constant<int, 1>{}, panel + row);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Computes `count` columns of a unit for a panel of one row. Of 2:4 sparsity the compiler knows the numbers,
/// and unrolls the loop.
/// @param values  those of the unit's first position, from the first of these columns on
template <class T>
[[gnu::noinline]] void sum_columns_of_row(const NmView<T>& b, std::int64_t first_position, const T* values,
                                          std::int64_t count, const T* panel, T* to) {
  NmView<T> two_four = b;
  two_four.kept = 2, two_four.window = 4, two_four.unit = 1, two_four.window_stride = 2;
  const bool is_two_four = b.kept == 2 && b.window == 4 && b.unit == 1 && b.window_stride == 2;
  for (std::int64_t j = 0; j < count; ++j)
    to[j] = is_two_four ? sum_column_of_row(two_four, first_position, values + j, panel)
                        : sum_column_of_row(b, first_position, values + j, panel);
}

/// Computes the sums of the first `rows` rows of a panel in the columns [begin, end) of a unit.
/// @param to  [R, end - begin], rows `pitch` numbers apart; further rows may be written
template <int R, int Lanes, class T>
SPOROS_HOST_INLINE void sum_unit(const NmView<T>& b, std::int64_t of_unit, std::int64_t begin,
                                 std::int64_t end, const T* panel, int rows, T* to, std::int64_t pitch) {
  constexpr int full = vector_bytes / static_cast<int>(sizeof(T));
  const std::int64_t first = b.position(0, of_unit);
  const T* const values = b.values + first * b.unit;
  if constexpr (R <= rows_of_panel && Lanes > 2) {
    // As many sums as fit in the registers: 8 x 2 of 32 registers, or 4 x 2 of 16, twice; of one row, 1 x 4,
    // so that few sums wait for the previous one.
    constexpr int at_once = R == 1 ? 1 : vector_registers == 32 ? rows_of_panel : rows_of_panel / 2;
    const auto sum = [&]<int Packets>() {
      constexpr int columns = Packets * Lanes;
      for (; begin + columns <= end; begin += columns, to += columns)
        for (int row = 0; row < rows; row += at_once)
          sum_columns<R, at_once, Packets, Lanes>(b, first, values + begin, panel + row, to + row * pitch,
                                                  pitch);
    };
    if constexpr (R == 1 && Lanes == full) sum.template operator()<4>();
    if constexpr (Lanes == full) sum.template operator()<2>();
    sum.template operator()<1>();
    if (begin < end) sum_unit<R, Lanes / 2>(b, of_unit, begin, end, panel, rows, to, pitch);
  } else if constexpr (R == 1) {
    sum_columns_of_row(b, first, values + begin, end - begin, panel, to);
  } else {
    for (; begin < end; ++begin, ++to) sum_column<R>(b, first, values + begin, panel, to, pitch);
  }
}

/// sums[r, j] = the sum over k of A(row + r, k) B(k, j), for the first `rows` rows of a panel and the columns
/// of some units.
/// @param panel  [padded k, R], made by pack_panel()
/// @param rows   1 to R
/// @param sums   [R, columns of these units]
template <int R, class T>
[[gnu::noinline]] void multiply_units(const NmView<T>& b, std::int64_t first_unit, std::int64_t last_unit,
                                      const T* panel, int rows, T* sums, std::int64_t pitch) {
  for (std::int64_t unit = first_unit; unit < last_unit; ++unit)
    sum_unit<R, vector_bytes / static_cast<int>(sizeof(T))>(
        b, unit, 0, std::min(b.unit, b.columns - unit * b.unit), panel, rows,
        sums + (unit - first_unit) * b.unit, pitch);
}

}  // namespace sporos::detail
