// SPDX-License-Identifier: Apache-2.0
/// @file rows.hpp
/// y = A * x for rows of a sparse matrix, eight at a time.
#pragma once

#include <cstdint>

#include "../../host/sparse_rows.hpp"
#include "../../host/unrolled.hpp"
#include "lanes.hpp"

/// Prefetches the cache line at an address that will be written soon.
#if defined(__GNUC__)
#define SPOROS_PREFETCH_TO_WRITE(address) __builtin_prefetch(address, 1)
#else
#define SPOROS_PREFETCH_TO_WRITE(address) static_cast<void>(address)
#endif

namespace sporos::detail {

/// y[r] = the sum over row r of A's values times x, or y[r] plus it, for begin <= r < end.
///
/// Rows of up to eight nonzeros, which most rows of most matrices are, take a single step whatever their
/// length; eight rows of up to four nonzeros may take one step together. Values and coordinates are
/// prefetched a few cache lines ahead, since the processor's own prefetching of one stream does not use the
/// full memory bandwidth. The sum of a row does not depend on where the rows are divided.
template <class T, class Position, class Coordinate>
[[gnu::noinline]] void multiply_vector_rows(SparseRows<T, Position, Coordinate> a, const T* x, T* y,
                                            std::int64_t begin, std::int64_t end, bool accumulates) {
  using Sums = gathered_sums<T, Coordinate>;
  constexpr std::int64_t ahead = 4096 / std::int64_t{sizeof(T)};
  if (begin >= end) return;
  std::int64_t q = a.begin(begin);
  const auto add_row = [&](Sums& sum, std::int64_t row) SPOROS_INLINE_LAMBDA {
    const std::int64_t row_end = a.begin(row + 1);
    for (; q + 8 <= row_end; q += 8) {
      SPOROS_PREFETCH(a.values + q + ahead);
      SPOROS_PREFETCH(a.coordinates + q + ahead);
      sum.add_eight(a.values + q, a.coordinates + q, x);
    }
    SPOROS_PREFETCH(a.values + q + ahead);
    SPOROS_PREFETCH(a.coordinates + q + ahead);
    sum.add_rest(a.values + q, a.coordinates + q, row_end - q, x);
    q = row_end;
  };
  std::int64_t row = begin;
  for (; row + 8 <= end; row += 8) {
    SPOROS_PREFETCH_TO_WRITE(y + row + 64);
    if constexpr (Sums::takes_short_rows) {
      if (Sums::store_short_rows(a.positions + row, a.values, a.coordinates, x, accumulates, y + row)) {
        q = a.begin(row + 8);
        SPOROS_PREFETCH(a.values + q + ahead);
        SPOROS_PREFETCH(a.coordinates + q + ahead);
        continue;
      }
    }
    Sums sums[8];
    unrolled<8>([&](auto r) SPOROS_INLINE_LAMBDA { add_row(sums[r], row + r); });
    Sums::store(sums, 8, accumulates, y + row);
  }
  if (row < end) {
    Sums sums[8];
    for (std::int64_t r = 0; r < end - row; ++r) add_row(sums[r], row + r);
    Sums::store(sums, end - row, accumulates, y + row);
  }
}

}  // namespace sporos::detail
