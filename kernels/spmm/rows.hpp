// SPDX-License-Identifier: Apache-2.0
/// @file rows.hpp
/// C = A * B for rows of a sparse matrix A, B and C dense and row-major: a tile of C's row stays in registers
/// while A's row is walked.
#pragma once

#include <cstdint>

#include "../spgemm/operand.hpp"
#include "../spgemm/packet.hpp"
#include "../spgemm/stream_copy.hpp"
#include "../unrolled.hpp"

namespace sporos::detail {

/// What happens to what C held.
enum class Store {
  write,       ///< it is replaced
  write_past,  ///< it is replaced, past the caches
  add          ///< it is added to
};

/// `Packets` packets of `Lanes` columns of C's row: to = the sum over q of values[q] * B's row
/// coordinates[q].
///
/// @param b  the tile's first column in B's first row; rows of B are `width` numbers apart
template <int Packets, int Lanes, Store How, class T, class Coordinate>
SPOROS_HOST_INLINE void multiply_tile(const T* values, const Coordinate* coordinates, std::int64_t count,
                                      const T* b, std::int64_t width, T* to) {
  using Columns = Packet<T, Lanes>;
  Columns sums[Packets];  // [Packets][Lanes]
  unrolled<Packets>([&](auto p) SPOROS_INLINE_LAMBDA { sums[p] = Columns::zero(); });
  for (std::int64_t q = 0; q < count; ++q) {
    const T* const row = b + static_cast<std::int64_t>(coordinates[q]) * width;
    const T value = values[q];
    unrolled<Packets>([&](auto p) SPOROS_INLINE_LAMBDA {
      Columns from;
      from.load(row + p * Lanes, 0);
      sums[p].add_product(from, value);
    });
  }
  if constexpr (How == Store::add) {
    unrolled<Packets>([&](auto p) SPOROS_INLINE_LAMBDA {
      Columns before;
      before.load(to + p * Lanes, 0);
      before.add_product(sums[p], T{1});
      before.store(to + p * Lanes, 0);
    });
  } else if constexpr (How == Store::write_past) {
    T row[Packets * Lanes];
    unrolled<Packets>([&](auto p) SPOROS_INLINE_LAMBDA { sums[p].store(row + p * Lanes, 0); });
    stream_copy(row, Packets * Lanes, to);
  } else {
    unrolled<Packets>([&](auto p) SPOROS_INLINE_LAMBDA { sums[p].store(to + p * Lanes, 0); });
  }
}

/// One column.
template <Store How, class T, class Coordinate>
SPOROS_HOST_INLINE void multiply_column(const T* values, const Coordinate* coordinates, std::int64_t count,
                                        const T* b, std::int64_t width, T* to) {
  T sum{};
  for (std::int64_t q = 0; q < count; ++q)
    sum += values[q] * b[static_cast<std::int64_t>(coordinates[q]) * width];
  *to = How == Store::add ? *to + sum : sum;
}

/// The columns of one row from `first` on that are left to tiles of at most `Packets` packets of `Lanes`.
template <int Packets, int Lanes, Store How, class T, class Coordinate>
SPOROS_HOST_INLINE void multiply_row(const T* values, const Coordinate* coordinates, std::int64_t count,
                                     const T* b, std::int64_t width, std::int64_t first, T* to) {
  if constexpr (Lanes == 1) {
    for (; first < width; ++first)
      multiply_column<How>(values, coordinates, count, b + first, width, to + first);
  } else {
    for (; first + Packets * Lanes <= width; first += Packets * Lanes)
      multiply_tile<Packets, Lanes, How>(values, coordinates, count, b + first, width, to + first);
    if (first == width) return;
    constexpr int fewer = Packets > 1 ? Packets / 2 : 1;
    constexpr int narrower = Packets > 1 ? Lanes : Lanes / 2;
    multiply_row<fewer, narrower, How>(values, coordinates, count, b, width, first, to);
  }
}

/// C[r] = the sum over row r of A's values times B's rows, for begin <= r < end.
///
/// @param b  [a.columns, width]
/// @param c  [a.rows, width]
template <Store How, class T, class Position, class Coordinate>
[[gnu::noinline]] void multiply_matrix_rows(SparseRows<T, Position, Coordinate> a, const T* b, T* c,
                                            std::int64_t width, std::int64_t begin, std::int64_t end) {
  constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));
  // As many as leave registers for what is multiplied.
  constexpr int most_packets = vector_bytes == 64 ? 16 : 8;
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t q = a.begin(row);
    multiply_row<most_packets, lanes, How>(a.values + q, a.coordinates + q, a.begin(row + 1) - q, b, width,
                                           std::int64_t{0}, c + row * width);
  }
  if constexpr (How == Store::write_past) finish_stream_copies();
}

}  // namespace sporos::detail
