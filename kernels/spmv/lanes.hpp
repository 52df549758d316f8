// SPDX-License-Identifier: Apache-2.0
/// @file lanes.hpp
/// Sums of products with a vector's gathered elements: in eight lanes where the processor gathers, else in
/// four partial sums.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../core/inline.hpp"
#include "../host/lane_sums.hpp"
#include "../host/packet.hpp"
#include "../host/unrolled.hpp"

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && !defined(__CUDACC__)
#include <immintrin.h>
#define SPOROS_GATHERS 1
#endif

namespace sporos::detail {

/// The sum over q < count of values[q] * x[coordinates[q]], always in the same order.
template <class T, class Coordinate>
class PartialSums {
 public:
  SPOROS_HOST_INLINE void add_eight(const T* values, const Coordinate* coordinates, const T* x) {
    add_four(values, coordinates, x);
    add_four(values + 4, coordinates + 4, x);
  }
  /// At most seven.
  SPOROS_HOST_INLINE void add_rest(const T* values, const Coordinate* coordinates, std::int64_t count,
                                   const T* x) {
    if (count >= 4) {
      add_four(values, coordinates, x);
      values += 4;
      coordinates += 4;
      count -= 4;
    }
    for (std::int64_t q = 0; q < count; ++q) part_[q] += values[q] * x[coordinates[q]];
  }
  /// to[r] = the sum of sums[r], r < count <= 8; or adds it there.
  SPOROS_HOST_INLINE static void store(const PartialSums (&sums)[8], std::int64_t count, bool accumulates,
                                       T* to) {
    for (std::int64_t r = 0; r < count; ++r) {
      const T* part = sums[r].part_;
      const T sum = (part[0] + part[1]) + (part[2] + part[3]);
      to[r] = accumulates ? to[r] + sum : sum;
    }
  }

 private:
  SPOROS_HOST_INLINE void add_four(const T* values, const Coordinate* coordinates, const T* x) {
    for (int q = 0; q < 4; ++q) part_[q] += values[q] * x[coordinates[q]];
  }
  T part_[4] = {};
};

#ifdef SPOROS_GATHERS

/// Eight coordinates of 32 or 64 bits, those that the mask names.
template <class Coordinate>
SPOROS_HOST_INLINE auto coordinates_of(const Coordinate* from, __mmask8 mask) {
  if constexpr (sizeof(Coordinate) == 4)
    return _mm256_maskz_loadu_epi32(mask, from);
  else
    return _mm512_maskz_loadu_epi64(mask, from);
}

/// sum += values * x[coordinates], in the lanes that the mask names.
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

/// The same sums in the lanes of a vector.
template <class T, class Coordinate>
class LaneSums {
 public:
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
    unrolled<8>([&](auto r) SPOROS_INLINE_LAMBDA { lanes[r] = sums[r].lanes_; });
    Packet<T, 8> sum = sums_of_lanes(lanes);
    if (count == 8 && accumulates) {
      Packet<T, 8> before;
      before.load(to, 0);
      sum.v += before.v;
    }
    if (count == 8)
      sum.store(to, 0);
    else
      for (int r = 0; r < static_cast<int>(count); ++r) to[r] = accumulates ? to[r] + sum.get(r) : sum.get(r);
  }

 private:
  Packet<T, 8> lanes_ = Packet<T, 8>::zero();
};

template <class T, class Coordinate>
inline constexpr bool gathers =
    (std::is_same_v<T, double> || std::is_same_v<T, float>) && std::is_signed_v<Coordinate> &&
    (sizeof(Coordinate) == 4 || sizeof(Coordinate) == 8);
template <class T, class Coordinate, bool Gathers = gathers<T, Coordinate>>
struct SumsOf {
  using type = PartialSums<T, Coordinate>;
};
template <class T, class Coordinate>
struct SumsOf<T, Coordinate, true> {
  using type = LaneSums<T, Coordinate>;
};
template <class T, class Coordinate>
using gathered_sums = typename SumsOf<T, Coordinate>::type;

#else

template <class T, class Coordinate>
using gathered_sums = PartialSums<T, Coordinate>;

#endif

}  // namespace sporos::detail
