// SPDX-License-Identifier: Apache-2.0
/// @file lanes.hpp
/// Sums of products with gathered elements of a vector, in eight lanes, for processors with AVX-512.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../../core/inline.hpp"
#include "../../host/lane_sums.hpp"
#include "../../host/packet.hpp"
#include "../../host/unrolled.hpp"

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#include <immintrin.h>
#define SPOROS_GATHERS_EIGHT 1
#endif

namespace sporos::detail {

#ifdef SPOROS_GATHERS_EIGHT

/// Loads those of eight coordinates of 32 or 64 bits that the mask selects.
template <class Coordinate>
SPOROS_HOST_INLINE auto coordinates_of(const Coordinate* from, __mmask8 mask) {
  if constexpr (sizeof(Coordinate) == 4)
    return _mm256_maskz_loadu_epi32(mask, from);
  else
    return _mm512_maskz_loadu_epi64(mask, from);
}

/// sum += values * x[coordinates], in the lanes selected by the mask.
template <class Coordinate>
SPOROS_HOST_INLINE void add_gathered(Packet<double, 8>& sum, const double* values,
                                     const Coordinate* coordinates, __mmask8 mask, const double* x) {
  const auto at = coordinates_of(coordinates, mask);
  __m512d gathered;
  if constexpr (sizeof(Coordinate) == 4)
    gathered = _mm512_mask_i32gather_pd(_mm512_setzero_pd(), mask, at, x, 8);
  else
    gathered = _mm512_mask_i64gather_pd(_mm512_setzero_pd(), mask, at, x, 8);
  sum.v = _mm512_fmadd_pd(_mm512_maskz_loadu_pd(mask, values), gathered, sum.v);
}
template <class Coordinate>
SPOROS_HOST_INLINE void add_gathered(Packet<float, 8>& sum, const float* values,
                                     const Coordinate* coordinates, __mmask8 mask, const float* x) {
  const auto at = coordinates_of(coordinates, mask);
  __m256 gathered;
  if constexpr (sizeof(Coordinate) == 4)
    gathered = _mm256_mmask_i32gather_ps(_mm256_setzero_ps(), mask, at, x, 4);
  else
    gathered = _mm512_mask_i64gather_ps(_mm256_setzero_ps(), mask, at, x, 4);
  sum.v = _mm256_fmadd_ps(_mm256_maskz_loadu_ps(mask, values), gathered, sum.v);
}

/// Loads eight positions.
template <class Position>
SPOROS_HOST_INLINE __m512i positions_of(const Position* from) {
  if constexpr (sizeof(Position) == 8) {
    return _mm512_loadu_si512(from);
  } else if constexpr (std::is_same_v<Position, std::int32_t>) {
    return _mm512_maskz_cvtepi32_epi64(__mmask8(-1),
                                       _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  } else {
    std::int64_t wide[8];
    for (int r = 0; r < 8; ++r) wide[r] = static_cast<std::int64_t>(from[r]);
    return _mm512_loadu_si512(wide);
  }
}

/// The elements of `from`, 24 numbers, that `at` selects, in the lanes of the mask; zero in the others.
SPOROS_HOST_INLINE Packet<double, 8> pick(const Packet<double, 8> (&from)[3], __m512i at, __mmask8 mask) {
  Packet<double, 8> out;
  out.v = _mm512_maskz_permutex2var_pd(mask, from[0].v, at, from[1].v);
  const __mmask8 last = _mm512_mask_cmpgt_epi64_mask(mask, at, _mm512_set1_epi64(15));
  out.v = _mm512_mask_permutexvar_pd(out.v, last, at, from[2].v);
  return out;
}
SPOROS_HOST_INLINE Packet<float, 8> pick(const Packet<float, 8> (&from)[3], __m512i at, __mmask8 mask) {
  Packet<float, 8> out;
  const __m256i narrow = _mm512_maskz_cvtepi64_epi32(__mmask8(-1), at);
  out.v = _mm256_maskz_permutex2var_ps(mask, from[0].v, narrow, from[1].v);
  const __mmask8 last = _mm512_mask_cmpgt_epi64_mask(mask, at, _mm512_set1_epi64(15));
  out.v = _mm256_mask_permutexvar_ps(out.v, last, narrow, from[2].v);
  return out;
}

/// The sum over q < count of values[q] * x[coordinates[q]] in the lanes of a vector, always in the same
/// order.
template <class T, class Coordinate>
class LaneSums {
 public:
  static constexpr std::int64_t most_in_short_rows = 24;

  /// Computes eight rows together, one per lane, if none has more than four elements and they have at most
  /// most_in_short_rows in total: their products are computed as if they were one row, and each row then
  /// selects its own.
  /// @param positions  [9], of the eight rows and of the end of the last
  /// @return false, having done nothing, if they have more elements
  template <class Position>
  SPOROS_HOST_INLINE static bool store_short_rows(const Position* positions, const T* values,
                                                  const Coordinate* coordinates, const T* x, bool accumulates,
                                                  T* to) {
    const auto begin = static_cast<std::int64_t>(positions[0]);
    const std::int64_t count = static_cast<std::int64_t>(positions[8]) - begin;
    if (count > most_in_short_rows) return false;
    const __m512i from = positions_of(positions);
    const __m512i length = positions_of(positions + 1) - from;
    if (_mm512_cmpgt_epi64_mask(length, _mm512_set1_epi64(4))) return false;
    const __m512i first = from - _mm512_set1_epi64(begin);
    Packet<T, 8> products[3];
    unrolled<3>([&] SPOROS_INLINE_LAMBDA(auto part) {
      const std::int64_t left = count - 8 * part;
      const auto mask = static_cast<__mmask8>((1U << (left < 0 ? 0 : left > 8 ? 8 : left)) - 1);
      products[part] = Packet<T, 8>::zero();
      add_gathered(products[part], values + begin + 8 * part, coordinates + begin + 8 * part, mask, x);
    });
    Packet<T, 8> of_row[4];
    unrolled<4>([&] SPOROS_INLINE_LAMBDA(auto t) {
      const __m512i number = _mm512_set1_epi64(t);
      of_row[t] = pick(products, first + number, _mm512_cmpgt_epi64_mask(length, number));
    });
    Packet<T, 8> sum;  // in the order of sums_of_lanes
    sum.v = (of_row[0].v + of_row[1].v) + (of_row[2].v + of_row[3].v);
    store_sums(sum, accumulates, to);
    return true;
  }

  SPOROS_HOST_INLINE void add_eight(const T* values, const Coordinate* coordinates, const T* x) {
    add_gathered(lanes_, values, coordinates, __mmask8{0xff}, x);
  }
  SPOROS_HOST_INLINE void add_rest(const T* values, const Coordinate* coordinates, std::int64_t count,
                                   const T* x) {
    add_gathered(lanes_, values, coordinates, static_cast<__mmask8>((1U << count) - 1), x);
  }
  SPOROS_HOST_INLINE static void store(const LaneSums (&sums)[8], std::int64_t count, bool accumulates,
                                       T* to) {
    Packet<T, 8> lanes[8];
    unrolled<8>([&] SPOROS_INLINE_LAMBDA(auto r) { lanes[r] = sums[r].lanes_; });
    const Packet<T, 8> sum = sums_of_lanes(lanes);
    if (count == 8)
      store_sums(sum, accumulates, to);
    else
      for (int r = 0; r < static_cast<int>(count); ++r) to[r] = accumulates ? to[r] + sum.get(r) : sum.get(r);
  }

 private:
  Packet<T, 8> lanes_ = Packet<T, 8>::zero();
};

#endif

}  // namespace sporos::detail
