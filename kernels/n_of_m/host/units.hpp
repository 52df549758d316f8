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

/// Rows of A that are packed together, and the same for units of fewer than four columns.
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

/// Computes, for `Rows` rows of a panel, `Packets` packets of columns of a unit.
/// @param values  those of the unit's first position, from the first of these columns on
/// @param to      [Rows], `pitch` numbers apart
template <int Rows, int Packets, int Lanes, class T>
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
    const T* const of_window = panel + row * rows_of_panel;
    for (int slot = 0; slot < b.kept; ++slot, values += b.unit) {
      Columns columns[static_cast<std::size_t>(Packets)];
      unrolled<Packets>([&] SPOROS_INLINE_LAMBDA(auto p) { columns[p].load(values + p * Lanes, 0); });
      const T* const factors = of_window + static_cast<std::int64_t>(indices[slot]) * rows_of_panel;
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

/// Computes the sums of a panel of rows in the columns [begin, end) of a unit.
/// @param to  [R, end - begin], rows `pitch` numbers apart
template <int R, int Lanes, class T>
SPOROS_HOST_INLINE void sum_unit(const NmView<T>& b, std::int64_t of_unit, std::int64_t begin,
                                 std::int64_t end, const T* panel, T* to, std::int64_t pitch) {
  constexpr int full = vector_bytes / static_cast<int>(sizeof(T));
  const std::int64_t first = b.position(0, of_unit);
  const T* const values = b.values + first * b.unit;
  if constexpr (R == rows_of_panel && Lanes > 2) {
    // As many sums as fit in the registers: 8 x 2 of 32 registers, or 4 x 2 of 16, twice.
    constexpr int rows = vector_registers == 32 ? rows_of_panel : rows_of_panel / 2;
    constexpr int packets = Lanes == full ? 2 : 1;
    for (; begin + packets * Lanes <= end; begin += packets * Lanes, to += packets * Lanes)
      for (int row = 0; row < rows_of_panel; row += rows)
        sum_columns<rows, packets, Lanes>(b, first, values + begin, panel + row, to + row * pitch, pitch);
    if (packets > 1 && begin + Lanes <= end) {
      for (int row = 0; row < rows_of_panel; row += rows)
        sum_columns<rows, 1, Lanes>(b, first, values + begin, panel + row, to + row * pitch, pitch);
      begin += Lanes;
      to += Lanes;
    }
    if (begin < end) sum_unit<R, Lanes / 2>(b, of_unit, begin, end, panel, to, pitch);
  } else {
    for (; begin < end; ++begin, ++to) sum_column<R>(b, first, values + begin, panel, to, pitch);
  }
}

/// sums[r, j] = the sum over k of A(row + r, k) B(k, j), for the rows of a panel and the columns of some
/// units.
/// @param panel  [padded k, R], made by pack_panel()
/// @param sums   [R, columns of these units]
template <int R, class T>
[[gnu::noinline]] void multiply_units(const NmView<T>& b, std::int64_t first_unit, std::int64_t last_unit,
                                      const T* panel, T* sums, std::int64_t pitch) {
  for (std::int64_t unit = first_unit; unit < last_unit; ++unit)
    sum_unit<R, vector_bytes / static_cast<int>(sizeof(T))>(
        b, unit, 0, std::min(b.unit, b.columns - unit * b.unit), panel, sums + (unit - first_unit) * b.unit,
        pitch);
}

}  // namespace sporos::detail
