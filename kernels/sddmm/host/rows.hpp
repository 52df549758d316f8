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
#include "form.hpp"

namespace sporos::detail {

/// to[n] = values[n] * the dot product of `left` and row coordinates[n] of `right`, for n < Count.
///
/// @tparam Lanes  number of lanes of the vectors
/// @param left    [inner]
/// @param right   rows of `inner` numbers
template <int Count, int Lanes, class T, class Coordinate>
SPOROS_HOST_INLINE void scale_dots(const T* left, const T* right, std::int64_t inner, const T* values,
                                   const Coordinate* coordinates, T* to) {
  constexpr int most = 8;
  using Numbers = Packet<T, Lanes>;
  Numbers sums[most];  // [Count][Lanes]
  const T* rows[std::size_t{Count}];
  unrolled<most>([&] SPOROS_INLINE_LAMBDA(auto n) { sums[n] = Numbers::zero(); });
  unrolled<Count>([&] SPOROS_INLINE_LAMBDA(auto n) {
    rows[n] = right + static_cast<std::int64_t>(coordinates[n]) * inner;
  });
  std::int64_t at = 0;
  for (; at + Lanes <= inner; at += Lanes) {
    Numbers mine;
    mine.load(left + at, 0);
    unrolled<Count>([&] SPOROS_INLINE_LAMBDA(auto n) {
      Numbers other;
      other.load(rows[n] + at, 0);
      sums[n].add_product(mine, other);
    });
  }
  if (at < inner) {
    const int rest = static_cast<int>(inner - at);
    Numbers mine;
    load_some(mine, left + at, rest);
    unrolled<Count>([&] SPOROS_INLINE_LAMBDA(auto n) {
      Numbers other;
      load_some(other, rows[n] + at, rest);
      sums[n].add_product(mine, other);
    });
  }
  T dots[most];
  sum_lanes(sums, dots);
  T products[std::size_t{Count}];
  unrolled<Count>([&] SPOROS_INLINE_LAMBDA(auto n) { products[n] = values[n] * dots[n]; });
  unrolled<Count>([&] SPOROS_INLINE_LAMBDA(auto n) { to[n] = products[n]; });
}

/// to[q] = value q of B, at (r, j), times the dot product of row r of C and row j of D, for rows begin <= r <
/// end.
///
/// A row of C is combined with eight rows of D at a time: it is read once for all of them, and the eight sums
/// do not wait for each other. The remainder of B's row is handled in one step.
///
/// @tparam Lanes  number of lanes of the vectors
/// @param c  [b.rows, inner]
/// @param d  [b.columns, inner]
/// @param to [nnz]
template <int Lanes, class T, class Position, class Coordinate>
[[gnu::noinline]] void scale_dots_in_lanes(SparseRows<T, Position, Coordinate> b, const T* c, const T* d,
                                           std::int64_t inner, T* to, std::int64_t begin, std::int64_t end) {
  if (begin >= end) return;
  std::int64_t q = b.begin(begin);
  for (std::int64_t row = begin; row < end; ++row) {
    const T* const left = c + row * inner;
    const std::int64_t row_end = b.begin(row + 1);
    for (; q + 8 <= row_end; q += 8)
      scale_dots<8, Lanes>(left, d, inner, b.values + q, b.coordinates + q, to + q);
    const auto rest = [&]<int Count> SPOROS_INLINE_LAMBDA() {
      scale_dots<Count, Lanes>(left, d, inner, b.values + q, b.coordinates + q, to + q);
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

/// Computes the same in vectors of the given form.
template <class T, class Position, class Coordinate>
[[gnu::noinline]] void scale_dots_of_rows(SddmmForm form, SparseRows<T, Position, Coordinate> b, const T* c,
                                          const T* d, std::int64_t inner, T* to, std::int64_t begin,
                                          std::int64_t end) {
  constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));
  if constexpr (has_half_vectors)
    if (form == SddmmForm::half) return scale_dots_in_lanes<lanes / 2>(b, c, d, inner, to, begin, end);
  scale_dots_in_lanes<lanes>(b, c, d, inner, to, begin, end);
}

#define SPOROS_SDDMM_ROWS(EXTERN, Value)                                                                  \
  EXTERN template void scale_dots_of_rows(SddmmForm, SparseRows<Value, std::int64_t, std::int32_t>,       \
                                          const Value*, const Value*, std::int64_t, Value*, std::int64_t, \
                                          std::int64_t);
SPOROS_DECLARE_COMPILED(SPOROS_SDDMM_ROWS)

}  // namespace sporos::detail
