// SPDX-License-Identifier: Apache-2.0
/// @file rows.hpp
/// C = A * B for rows of a sparse matrix A, with B and C dense and row-major: a tile of C's row stays in
/// registers while A's row is traversed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../../core/compiled_once.hpp"
#include "../../../core/stream_copy.hpp"
#include "../../host/packet.hpp"
#include "../../host/sparse_rows.hpp"
#include "../../host/unrolled.hpp"
#include "form.hpp"

namespace sporos::detail {

/// What to do with the old values of C.
enum class Store {
  write,       ///< replace them
  write_past,  ///< replace them with stores that bypass the caches
  add          ///< add to them
};

/// The nonzeros of one row of A.
template <class T, class Coordinate>
struct RowOf {
  const T* values;                // [count]
  const Coordinate* coordinates;  // [readable]
  std::int64_t count;
  std::int64_t readable;  ///< number of coordinates from here to the end of A's last row
};

/// Computes `Packets` packets of `Lanes` columns of C's row: to = the sum over q of row.values[q] * row
/// row.coordinates[q] of B.
///
/// @tparam Prefetches  whether rows of B are prefetched, `ahead` nonzeros ahead
/// @param b  the tile's first column in B's first row; rows of B are `width` numbers apart
template <int Packets, int Lanes, Store Write, bool Prefetches, class T, class Coordinate>
SPOROS_HOST_INLINE void multiply_tile(const RowOf<T, Coordinate>& row, const T* b, std::int64_t width,
                                      std::int64_t ahead, T* to) {
  using Columns = Packet<T, Lanes>;
  constexpr int columns_of_line = 64 / static_cast<int>(sizeof(T));
  Columns sums[std::size_t{Packets}];  // [Packets][Lanes]
  unrolled<Packets>([&] SPOROS_INLINE_LAMBDA(auto p) { sums[p] = Columns::zero(); });
  for (std::int64_t q = 0; q < row.count; ++q) {
    if constexpr (Prefetches && Packets * Lanes >= columns_of_line) {
      const std::int64_t later = q + ahead < row.readable ? q + ahead : q;
      const T* const soon = b + static_cast<std::int64_t>(row.coordinates[later]) * width;
      unrolled<Packets * Lanes / columns_of_line>(
          [&] SPOROS_INLINE_LAMBDA(auto line) { SPOROS_PREFETCH(soon + line * columns_of_line); });
    }
    const T* const from = b + static_cast<std::int64_t>(row.coordinates[q]) * width;
    const T value = row.values[q];
    unrolled<Packets>([&] SPOROS_INLINE_LAMBDA(auto p) {
      Columns columns;
      columns.load(from + p * Lanes, 0);
      sums[p].add_product(columns, value);
    });
  }
  if constexpr (Write == Store::add) {
    unrolled<Packets>([&] SPOROS_INLINE_LAMBDA(auto p) {
      Columns before;
      before.load(to + p * Lanes, 0);
      before.add_product(sums[p], T{1});
      before.store(to + p * Lanes, 0);
    });
  } else if constexpr (Write == Store::write_past) {
    T columns[std::size_t{Packets * Lanes}];
    unrolled<Packets>([&] SPOROS_INLINE_LAMBDA(auto p) { sums[p].store(columns + p * Lanes, 0); });
    stream_copy(columns, Packets * Lanes, to);
  } else {
    unrolled<Packets>([&] SPOROS_INLINE_LAMBDA(auto p) { sums[p].store(to + p * Lanes, 0); });
  }
}

/// Computes a single column.
template <Store Write, class T, class Coordinate>
SPOROS_HOST_INLINE void multiply_column(const RowOf<T, Coordinate>& row, const T* b, std::int64_t width,
                                        T* to) {
  T sum{};
  for (std::int64_t q = 0; q < row.count; ++q)
    sum += row.values[q] * b[static_cast<std::int64_t>(row.coordinates[q]) * width];
  *to = Write == Store::add ? *to + sum : sum;
}

/// Computes the columns of one row from `first` on in tiles of at most `Packets` packets of `Lanes`.
template <int Packets, int Lanes, Store Write, bool Prefetches, class T, class Coordinate>
SPOROS_HOST_INLINE void multiply_row(const RowOf<T, Coordinate>& row, const T* b, std::int64_t width,
                                     std::int64_t ahead, std::int64_t first, T* to) {
  if constexpr (Lanes == 1) {
    for (; first < width; ++first) multiply_column<Write>(row, b + first, width, to + first);
  } else {
    for (; first + Packets * Lanes <= width; first += Packets * Lanes)
      multiply_tile<Packets, Lanes, Write, Prefetches>(row, b + first, width, ahead, to + first);
    if (first == width) return;
    constexpr int fewer = Packets > 1 ? Packets / 2 : 1;
    constexpr int narrower = Packets > 1 ? Lanes : Lanes / 2;
    multiply_row<fewer, narrower, Write, Prefetches>(row, b, width, ahead, first, to);
  }
}

/// C[r] = the sum over row r of A's values times B's rows, for begin <= r < end.
///
/// A tile has 8 packets, fewer than there are registers: for the second tile A's row is traversed again, and
/// B's rows are already half fetched.
///
/// @tparam Prefetches  whether rows of B are prefetched, `ahead` nonzeros ahead
/// @param b  [a.columns, width]
/// @param c  [a.rows, width]
template <Store Write, bool Prefetches, class T, class Position, class Coordinate>
[[gnu::noinline]] void multiply_some_rows(SparseRows<T, Position, Coordinate> a, const T* b, T* c,
                                          std::int64_t width, std::int64_t ahead, std::int64_t begin,
                                          std::int64_t end) {
  constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));
  const std::int64_t nnz = a.nnz();
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t q = a.begin(row);
    multiply_row<8, lanes, Write, Prefetches>(
        RowOf<T, Coordinate>{a.values + q, a.coordinates + q, a.begin(row + 1) - q, nnz - q}, b, width, ahead,
        std::int64_t{0}, c + row * width);
  }
  if constexpr (Write == Store::write_past) finish_stream_copies();
}

/// Computes the same in the given form.
/// @param accumulates  whether to add to C, which is then not written around the caches
template <class T, class Position, class Coordinate>
[[gnu::noinline]] void multiply_matrix_rows(SpmmForm form, bool accumulates,
                                            SparseRows<T, Position, Coordinate> a, const T* b, T* c,
                                            std::int64_t width, std::int64_t begin, std::int64_t end) {
  const auto run = [&]<Store Write>() {
    if (form.ahead > 0)
      multiply_some_rows<Write, true>(a, b, c, width, form.ahead, begin, end);
    else
      multiply_some_rows<Write, false>(a, b, c, width, 0, begin, end);
  };
  if (accumulates)
    run.template operator()<Store::add>();
  else if (form.past)
    run.template operator()<Store::write_past>();
  else
    run.template operator()<Store::write>();
}

#define SPOROS_SPMM_ROWS(EXTERN, Value)                                                                    \
  EXTERN template void multiply_matrix_rows(SpmmForm, bool, SparseRows<Value, std::int64_t, std::int32_t>, \
                                            const Value*, Value*, std::int64_t, std::int64_t, std::int64_t);
SPOROS_DECLARE_COMPILED(SPOROS_SPMM_ROWS)

}  // namespace sporos::detail
