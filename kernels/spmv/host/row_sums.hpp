// SPDX-License-Identifier: Apache-2.0
/// @file row_sums.hpp
/// The sum of one row's values times gathered elements of a vector, in two forms: with scalar loads, for any
/// processor, and with gather instructions.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../../../core/inline.hpp"
#include "../../host/forms.hpp"
#include "../../host/packet.hpp"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define SPOROS_GATHERS_FOUR 1
#endif

namespace sporos::detail {

/// The size in bytes from which on a matrix does not stay in the caches. A smaller one is not prefetched:
/// that would cost short rows more than it gains.
inline constexpr std::int64_t far_bytes = std::int64_t{16} << 20;

/// How far ahead of a row values and coordinates are prefetched.
enum class SpmvPrefetch {
  near,  ///< 4 KiB of values
  far    ///< 1024 nonzeros
};
inline constexpr std::array<NamedForm<SpmvPrefetch>, 2> spmv_prefetches{
    {{SpmvPrefetch::near, "near", true}, {SpmvPrefetch::far, "far", true}}};

/// The distance for this processor, unless SPOROS_SPMV_PREFETCH names one.
/// @throws RangeError if it names none
inline SpmvPrefetch spmv_prefetch() {
  const auto* const named = form_from_environment("SPOROS_SPMV_PREFETCH", spmv_prefetches);
  return named ? named->form : prefetches_further() ? SpmvPrefetch::far : SpmvPrefetch::near;
}

/// How many nonzeros ahead that is. On Zen 5, 1024 instead of 512 let stencils of doubles be read at 0.92 of
/// the speed of a triad instead of 0.80 to 0.85; more gains nothing, and an Intel Xeon takes the same time
/// for any number from 512 to 8192. (Floats: 1024 anywhere; on Zen 5, twice as many cost 7 %.)
template <class T>
inline const std::int64_t nonzeros_ahead = [] {
  constexpr std::int64_t near = 4096 / std::int64_t{sizeof(T)}, far = 1024;
  try {
    return spmv_prefetch() == SpmvPrefetch::far ? far : near;
  } catch (const RangeError&) {  // thrown again by the first product; this runs before main
    return near;
  }
}();

/// Prefetches what will be read `nonzeros_ahead` later than a row.
template <class T, class Coordinate>
SPOROS_HOST_INLINE void prefetch_row(const T* values, const Coordinate* coordinates) {
  SPOROS_PREFETCH(values + nonzeros_ahead<T>);
  SPOROS_PREFETCH(coordinates + nonzeros_ahead<T>);
}

/// Four coordinates; 32-bit ones are loaded in pairs, since a row consists mostly of loads.
template <class Coordinate>
SPOROS_HOST_INLINE std::array<std::int64_t, 4> four_coordinates(const Coordinate* coordinates) {
  if constexpr (sizeof(Coordinate) == 4 && std::endian::native == std::endian::little) {
    std::uint64_t pair[2];
    std::memcpy(pair, coordinates, sizeof pair);
    const auto low = [](std::uint64_t both) {
      return static_cast<std::int64_t>(static_cast<std::uint32_t>(both));
    };
    const auto high = [](std::uint64_t both) { return static_cast<std::int64_t>(both >> 32); };
    return {low(pair[0]), high(pair[0]), low(pair[1]), high(pair[1])};
  } else {
    const auto at = [&](int lane) { return static_cast<std::int64_t>(coordinates[lane]); };
    return {at(0), at(1), at(2), at(3)};
  }
}

/// elements = x[coordinates[0]] to x[coordinates[3]], by scalar loads.
template <class T, class Coordinate>
SPOROS_HOST_INLINE void load_elements(Packet<T, 4>& elements, const T* x, const Coordinate* coordinates) {
  const auto at = four_coordinates(coordinates);
  const T loaded[4] = {x[at[0]], x[at[1]], x[at[2]], x[at[3]]};
  elements.load(loaded, 0);
}

/// Sums with scalar loads. A long row is summed in eight partial sums, since each addition waits for the
/// previous one to the same sum; a short row in a single one: its few additions overlap with those of the
/// next rows.
template <class T, class Coordinate>
struct ScalarRowSum {
  static constexpr std::int64_t least_in_lanes = 12;  ///< nonzeros from which on eight partial sums pay off

  /// The sum of elements [begin, end).
  template <bool Prefetches>
  SPOROS_HOST_INLINE static T of(const T* values, const Coordinate* coordinates, std::int64_t begin,
                                 std::int64_t end, const T* x) {
    if (end - begin >= least_in_lanes) return of_long_row<Prefetches>(values, coordinates, begin, end, x);
    T sum{};
    SPOROS_UNROLLED_BY_FOUR  // otherwise half of the instructions would be loop control
        for (std::int64_t q = begin; q < end; ++q) sum = multiply_add<T>(values[q], x[coordinates[q]], sum);
    return sum;
  }

 private:
  /// Not inlined, which leaves the registers to the loop over short rows.
  template <bool Prefetches>
  SPOROS_HOST_KERNEL static T of_long_row(const T* values, const Coordinate* coordinates, std::int64_t begin,
                                          std::int64_t end, const T* x) {
    const auto add_four = [&] SPOROS_INLINE_LAMBDA(Packet<T, 4> & lanes, std::int64_t at) {
      Packet<T, 4> value, element;
      value.load(values + at, 0);
      load_elements(element, x, coordinates + at);
      lanes.add_product(value, element);
    };
    auto even = Packet<T, 4>::zero(), odd = Packet<T, 4>::zero();
    std::int64_t q = begin;
    for (; q + 8 <= end; q += 8) {
      if constexpr (Prefetches) prefetch_row(values + q, coordinates + q);
      add_four(even, q);
      add_four(odd, q + 4);
    }
    if (q + 4 <= end) {
      add_four(even, q);
      q += 4;
    }
    T rest{};
    for (; q < end; ++q) rest = multiply_add<T>(values[q], x[coordinates[q]], rest);
    even.add(odd);
    return ((even.get(0) + even.get(2)) + (even.get(1) + even.get(3))) + rest;
  }
};

#ifdef SPOROS_GATHERS_FOUR

/// Sums four elements at a time by gather instructions; the last one to three are masked, so that no branch
/// depends on their number.
template <class T, class Coordinate>
struct GatheredRowSum {
  static constexpr bool is_double = std::is_same_v<T, double>;
  static constexpr bool is_narrow = sizeof(Coordinate) == 4;

  /// The sum of elements [begin, end).
  template <bool Prefetches>
  SPOROS_HOST_INLINE static T of(const T* values, const Coordinate* coordinates, std::int64_t begin,
                                 std::int64_t end, const T* x) {
    auto lanes = Packet<T, 4>::zero();
    std::int64_t q = begin;
    for (; q + 8 <= end; q += 8) {
      if constexpr (Prefetches) prefetch_row(values + q, coordinates + q);
      add<false>(lanes, values + q, coordinates + q, first_lanes(4), x);
      add<false>(lanes, values + q + 4, coordinates + q + 4, first_lanes(4), x);
    }
    if (q + 4 <= end) {
      add<false>(lanes, values + q, coordinates + q, first_lanes(4), x);
      q += 4;
    }
    add<true>(lanes, values + q, coordinates + q, first_lanes(end - q), x);
    return (lanes.get(0) + lanes.get(2)) + (lanes.get(1) + lanes.get(3));
  }

  /// sum += values * x[coordinates], in each of four lanes.
  SPOROS_HOST_INLINE static void add_four(Packet<T, 4>& sum, const T* values, const Coordinate* coordinates,
                                          const T* x) {
    add<false>(sum, values, coordinates, first_lanes(4), x);
  }

 private:
  /// A mask of the first `count` of four lanes of 64 bits.
  SPOROS_HOST_INLINE static __m256i first_lanes(std::int64_t count) {
    alignas(32) static constexpr std::int64_t all_then_none[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(all_then_none + 4 - count));
  }
  /// The same mask for lanes of 32 bits.
  SPOROS_HOST_INLINE static __m128i narrowed(__m256i mask) {
    return _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(_mm256_castsi256_si128(mask)),
                                           _mm_castsi128_ps(_mm256_extracti128_si256(mask, 1)), 0x88));
  }

  /// Gathers with a mask even if all lanes are selected: g++ warns about the intrinsics without a mask.
  /// @tparam Masked  whether values and coordinates outside the mask must not be read
  template <bool Masked>
  SPOROS_HOST_INLINE static void add(Packet<T, 4>& sum, const T* values, const Coordinate* coordinates,
                                     __m256i mask, const T* x) {
    const __m128i narrow = narrowed(mask);
    Packet<T, 4> value, element;
    if constexpr (!Masked)
      value.load(values, 0);
    else if constexpr (is_double)
      value.v = _mm256_maskload_pd(values, mask);
    else
      value.v = _mm_maskload_ps(values, narrow);
    if constexpr (is_narrow) {
      __m128i at;
      if constexpr (Masked)
        at = _mm_maskload_epi32(reinterpret_cast<const int*>(coordinates), narrow);
      else
        std::memcpy(&at, coordinates, sizeof at);
      if constexpr (is_double)
        element.v = _mm256_mask_i32gather_pd(_mm256_setzero_pd(), x, at, _mm256_castsi256_pd(mask), 8);
      else
        element.v = _mm_mask_i32gather_ps(_mm_setzero_ps(), x, at, _mm_castsi128_ps(narrow), 4);
    } else {
      __m256i at;
      if constexpr (Masked)
        at = _mm256_maskload_epi64(reinterpret_cast<const long long*>(coordinates), mask);
      else
        std::memcpy(&at, coordinates, sizeof at);
      if constexpr (is_double)
        element.v = _mm256_mask_i64gather_pd(_mm256_setzero_pd(), x, at, _mm256_castsi256_pd(mask), 8);
      else
        element.v = _mm256_mask_i64gather_ps(_mm_setzero_ps(), x, at, _mm_castsi128_ps(narrow), 4);
    }
    sum.add_product(value, element);
  }
};

#endif

/// The sum of a row, element by element.
template <class Matrix>
typename Matrix::value_type sum_of_row(const Matrix& a, std::int64_t row,
                                       const typename Matrix::value_type* x) {
  using T = typename Matrix::value_type;
  T sum{};
  for (std::int64_t q = a.begin(row); q < a.begin(row + 1); ++q)
    sum = multiply_add<T>(a.values[q], x[a.coordinates[q]], sum);
  return sum;
}

}  // namespace sporos::detail
