// SPDX-License-Identifier: Apache-2.0
/// @file few_in_lanes.hpp
/// Computes a row of few products in the lanes of a vector, without a branch that depends on the row: if rows
/// are short, a mispredicted branch costs more than their products.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>

#include "../../../core/inline.hpp"
#include "few.hpp"
#include "marks.hpp"

#if defined(SPOROS_SPGEMM_AVX512) && defined(__AVX512VBMI2__) && defined(__AVX512BITALG__) && \
    defined(__AVX512DQ__) && defined(__AVX512VL__)
#define SPOROS_SPGEMM_FEW_IN_LANES 1
#endif

namespace sporos::detail {

/// Whether multiply_few_in_lanes supports these types on this processor.
template <class Acc, class A, class B, class Coordinate, class Value>
inline constexpr bool few_in_lanes =
#ifdef SPOROS_SPGEMM_FEW_IN_LANES
    std::same_as<Acc, double> && std::same_as<Value, double> &&
    std::same_as<typename A::value_type, double> && std::same_as<typename B::value_type, double> &&
    std::same_as<typename A::coordinate_type, std::int32_t> &&
    std::same_as<typename B::coordinate_type, std::int32_t> && std::same_as<Coordinate, std::int32_t> &&
    std::signed_integral<typename B::position_type> && sizeof(typename B::position_type) >= 4;
#else
    false;
#endif

#ifdef SPOROS_SPGEMM_FEW_IN_LANES

static_assert(row_of_few_products == 8);  // the lanes of a vector of doubles

/// A mask of all lanes: with the intrinsics that take no mask, g++ 12 warns of undefined registers in its own
/// header.
inline constexpr __mmask8 all_lanes = 0xff;

/// Moves lane t - By to lane t; the first lanes get the last ones of `fill`, or zero.
template <int By>
SPOROS_HOST_INLINE __m256i moved_up(__m256i lanes, __m256i fill) {
  return _mm256_maskz_alignr_epi32(all_lanes, lanes, fill, 8 - By);
}
template <int By>
SPOROS_HOST_INLINE __m512d moved_up(__m512d lanes) {
  return _mm512_castsi512_pd(
      _mm512_maskz_alignr_epi64(all_lanes, _mm512_castpd_si512(lanes), _mm512_setzero_si512(), 8 - By));
}

/// Orders pairs of keys: `partners` has each key's partner in the same lane. The greater key of a pair goes
/// to its lane in `upper`, the lesser to the other lane.
SPOROS_HOST_INLINE __m256i ordered(__m256i keys, __m256i partners, __mmask8 upper) {
  return _mm256_mask_max_epu32(_mm256_min_epu32(keys, partners), upper, keys, partners);
}

/// Sorts eight keys by a bitonic network: runs of two, of four, of eight (Batcher, Sorting Networks and Their
/// Applications, AFIPS 1968).
SPOROS_HOST_INLINE __m256i sorted_8(__m256i k) {
  const __m256i backwards = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
  k = ordered(k, _mm256_shuffle_epi32(k, 0b10'11'00'01), 0b10101010);
  k = ordered(k, _mm256_shuffle_epi32(k, 0b00'01'10'11), 0b11001100);
  k = ordered(k, _mm256_shuffle_epi32(k, 0b10'11'00'01), 0b10101010);
  k = ordered(k, _mm256_maskz_permutexvar_epi32(all_lanes, backwards, k), 0b11110000);
  k = ordered(k, _mm256_shuffle_epi32(k, 0b01'00'11'10), 0b11001100);
  return ordered(k, _mm256_shuffle_epi32(k, 0b10'11'00'01), 0b10101010);
}

/// The positions at which eight rows begin, for those rows that the mask selects.
template <class Position>
SPOROS_HOST_INLINE __m512i positions_of(const Position* positions, __m256i rows, __mmask8 mask) {
  if constexpr (sizeof(Position) == 4)
    return _mm512_maskz_cvtepi32_epi64(
        all_lanes, _mm256_mmask_i32gather_epi32(_mm256_setzero_si256(), mask, rows, positions, 4));
  else
    return _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), mask, rows, positions, 8);
}

/// Computes the row that is the sum of a[k] times row a_columns[k] of `b`, for k < count <= 8 and fewer than
/// few_columns<std::uint32_t> columns. Writes 8 elements, whatever their actual number. The products of a
/// column are summed in pairs.
/// @return the number of elements; -1, with nothing written, if there are more than 8 products
template <class B>
SPOROS_HOST_INLINE std::int64_t multiply_few_in_lanes(const double* a, const std::int32_t* a_columns,
                                                      std::int64_t count, const B& b, std::int32_t* columns,
                                                      double* values) {
  const __m256i none = _mm256_setzero_si256(), ones = _mm256_set1_epi32(-1);
  const auto rows = static_cast<__mmask8>((1U << count) - 1);
  const __m256i tops = _mm256_maskz_loadu_epi32(rows, a_columns);
  const __m512i begins = positions_of(b.positions, tops, rows);
  const __m512i ends = positions_of(b.positions + 1, tops, rows);
  const __m256i lengths = _mm512_maskz_cvtepi64_epi32(all_lanes, _mm512_sub_epi64(ends, begins));
  // The number of products up to the end of each row of B.
  __m256i up_to = _mm256_add_epi32(lengths, moved_up<1>(lengths, none));
  up_to = _mm256_add_epi32(up_to, moved_up<2>(up_to, none));
  up_to = _mm256_add_epi32(up_to, moved_up<4>(up_to, none));
  const auto products = static_cast<std::uint32_t>(_mm256_extract_epi32(up_to, 7));
  if (products > 8) return -1;
  const auto active = static_cast<__mmask8>((1U << products) - 1);

  // Product t comes from the row of B whose number is the count of rows that end at or before t; bit 8 t + k
  // says whether row k does.
  const __m512i each_eight =
      _mm512_maskz_broadcastq_epi64(all_lanes, _mm256_maskz_cvtepi32_epi8(all_lanes, up_to));
  alignas(64) static constexpr auto product_numbers = [] {
    std::array<std::uint8_t, 64> out{};
    for (std::size_t at = 0; at < 64; ++at) out[at] = static_cast<std::uint8_t>(at / 8);
    return out;
  }();
  const __mmask64 ended = _mm512_cmple_epu8_mask(each_eight, _mm512_load_si512(product_numbers.data()));
  const __m512i row = _mm512_maskz_cvtepu8_epi64(
      all_lanes, _mm_popcnt_epi8(_mm_cvtsi64_si128(static_cast<long long>(ended))));
  const __m512i iota = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  const __m512i before =
      _mm512_sub_epi64(begins, _mm512_maskz_cvtepi32_epi64(all_lanes, _mm256_sub_epi32(up_to, lengths)));
  const __m512i at = _mm512_add_epi64(_mm512_maskz_permutexvar_epi64(all_lanes, row, before), iota);
  const __m512d product =
      _mm512_mul_pd(_mm512_maskz_permutexvar_pd(all_lanes, row, _mm512_maskz_loadu_pd(rows, a)),
                    _mm512_mask_i64gather_pd(_mm512_setzero_pd(), active, at, b.values, 8));

  // The product's number after the column tells products of one column apart.
  const __m256i column = _mm512_mask_i64gather_epi32(ones, active, at, b.coordinates, 4);
  const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i keys = sorted_8(_mm256_or_si256(_mm256_slli_epi32(column, product_bits), numbers));
  const __m256i sorted = _mm256_srli_epi32(keys, product_bits);
  const __m512i from = _mm512_maskz_cvtepu32_epi64(all_lanes, keys);  // the permutation reads 3 bits of each
  __m512d sum = _mm512_maskz_permutexvar_pd(all_lanes, from, product);
  const auto same_as_before = [&](__m256i earlier) { return _mm256_cmpeq_epi32_mask(sorted, earlier); };
  sum = _mm512_mask_add_pd(sum, same_as_before(moved_up<1>(sorted, ones)), sum, moved_up<1>(sum));
  sum = _mm512_mask_add_pd(sum, same_as_before(moved_up<2>(sorted, ones)), sum, moved_up<2>(sum));
  sum = _mm512_mask_add_pd(sum, same_as_before(moved_up<4>(sorted, ones)), sum, moved_up<4>(sum));

  const __m256i next = _mm256_maskz_alignr_epi32(all_lanes, ones, sorted, 1);
  const __mmask8 last = _mm256_mask_cmpneq_epi32_mask(active, sorted, next);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(columns), _mm256_maskz_compress_epi32(last, sorted));
  _mm512_storeu_pd(values, _mm512_maskz_compress_pd(last, sum));
  return std::popcount(static_cast<unsigned>(last));
}

#endif

}  // namespace sporos::detail
