// SPDX-License-Identifier: Apache-2.0
/// @file rows.hpp
/// Dot products of the rows of two dense matrices at the nonzeros of a sparse matrix, eight at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../../core/compiled_once.hpp"
#include "../../host/lane_sums.hpp"
#include "../../host/packet.hpp"
#include "../../host/sparse_rows.hpp"
#include "../../host/unrolled.hpp"

namespace sporos::detail {

/// dots[n] += the contribution of the columns from `at` on.
template <class T>
[[gnu::noinline]] void add_rest_of_dots(const T* left, const T* const* rows, std::int64_t at,
                                        std::int64_t inner, int count, T* dots) {
  for (int n = 0; n < count; ++n)
    for (std::int64_t column = at; column < inner; ++column) dots[n] += left[column] * rows[n][column];
}

/// to[n] = values[n] * the dot product of `left` and the row coordinates[n] of `right`, for n < Count.
///
/// @param left   [inner]
/// @param right  rows of `inner` numbers
template <int Count, class T, class Coordinate>
SPOROS_HOST_INLINE void scale_dots(const T* left, const T* right, std::int64_t inner, const T* values,
                                   const Coordinate* coordinates, T* to) {
  constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));
  constexpr int most = 8;
  using Numbers = Packet<T, lanes>;
  Numbers sums[most];  // [Count][lanes]
  const T* rows[std::size_t{Count}];
  unrolled<most>([&] SPOROS_INLINE_LAMBDA(auto n) { sums[n] = Numbers::zero(); });
  unrolled<Count>([&] SPOROS_INLINE_LAMBDA(auto n) {
    rows[n] = right + static_cast<std::int64_t>(coordinates[n]) * inner;
  });
  std::int64_t at = 0;
  for (; at + lanes <= inner; at += lanes) {
    Numbers mine;
    mine.load(left + at, 0);
    unrolled<Count>([&] SPOROS_INLINE_LAMBDA(auto n) {
      Numbers other;
      other.load(rows[n] + at, 0);
      sums[n].add_product(mine, other);
    });
  }
  T dots[most];
  sum_lanes(sums, dots);
  if (at < inner) [[unlikely]]
    add_rest_of_dots(left, rows, at, inner, Count, dots);
  T products[std::size_t{Count}];
  unrolled<Count>([&] SPOROS_INLINE_LAMBDA(auto n) { products[n] = values[n] * dots[n]; });
  unrolled<Count>([&] SPOROS_INLINE_LAMBDA(auto n) { to[n] = products[n]; });
}

/// to[q] = the value q of B, at (r, j), times the dot product of row r of C and row j of D, for rows begin <=
/// r < end.
///
/// A row of C is combined with eight rows of D at a time: it is read once for all of them, and the eight sums
/// do not wait for each other. The remainder of B's row is handled in one step.
///
/// @param c  [b.rows, inner]
/// @param d  [b.columns, inner]
/// @param to [nnz]
template <class T, class Position, class Coordinate>
[[gnu::noinline]] void scale_dots_of_rows(SparseRows<T, Position, Coordinate> b, const T* c, const T* d,
                                          std::int64_t inner, T* to, std::int64_t begin, std::int64_t end) {
  if (begin >= end) return;
  std::int64_t q = b.begin(begin);
  for (std::int64_t row = begin; row < end; ++row) {
    const T* const left = c + row * inner;
    const std::int64_t row_end = b.begin(row + 1);
    for (; q + 8 <= row_end; q += 8) scale_dots<8>(left, d, inner, b.values + q, b.coordinates + q, to + q);
    const auto rest = [&]<int Count> SPOROS_INLINE_LAMBDA() {
      scale_dots<Count>(left, d, inner, b.values + q, b.coordinates + q, to + q);
    };
    switch (row_end - q) {
      case 1:
        rest.template operator()<1>();
        break;
      case 2:
        rest.template operator()<2>();
        break;
      case 3:
        rest.template operator()<3>();
        break;
      case 4:
        rest.template operator()<4>();
        break;
      case 5:
        rest.template operator()<5>();
        break;
      case 6:
        rest.template operator()<6>();
        break;
      case 7:
        rest.template operator()<7>();
        break;
      default:
        break;
    }
    q = row_end;
  }
}

#define SPOROS_SDDMM_ROWS(EXTERN, Value)                                                               \
  EXTERN template void scale_dots_of_rows(SparseRows<Value, std::int64_t, std::int32_t>, const Value*, \
                                          const Value*, std::int64_t, Value*, std::int64_t, std::int64_t);
SPOROS_DECLARE_COMPILED(SPOROS_SDDMM_ROWS)

}  // namespace sporos::detail
