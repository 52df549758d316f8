// SPDX-License-Identifier: Apache-2.0
/// @file marks.hpp
/// Which columns of a row were written, and those columns in ascending order: a byte a column, 64 of them
/// read as one word of bits.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "../../core/inline.hpp"

#if defined(__AVX512BW__) && !defined(__CUDACC__)
#include <immintrin.h>
#define SPOROS_SPGEMM_AVX512 1
#elif defined(__AVX2__) && !defined(__CUDACC__)
#include <immintrin.h>
#define SPOROS_SPGEMM_AVX2 1
#endif

namespace sporos::detail {

/// Elements that writing the columns of a word may write behind the last of them.
inline constexpr std::int64_t order_slack = 16;

/// Bit b of the result is byte b of the 64 (each 0 or 1), which are cleared.
SPOROS_INLINE std::uint64_t take_64(std::uint8_t* bytes) {
#if defined(SPOROS_SPGEMM_AVX512)
  const __m512i x = _mm512_loadu_si512(bytes);
  const std::uint64_t bits = _mm512_test_epi8_mask(x, x);
  if (bits) _mm512_storeu_si512(bytes, _mm512_setzero_si512());
  return bits;
#elif defined(SPOROS_SPGEMM_AVX2)
  auto* const halves = reinterpret_cast<__m256i*>(bytes);
  const __m256i zero = _mm256_setzero_si256();
  const auto low =
      static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpgt_epi8(_mm256_loadu_si256(halves), zero)));
  const auto high = static_cast<std::uint32_t>(
      _mm256_movemask_epi8(_mm256_cmpgt_epi8(_mm256_loadu_si256(halves + 1), zero)));
  const std::uint64_t bits = low | static_cast<std::uint64_t>(high) << 32;
  if (bits) {
    _mm256_storeu_si256(halves, zero);
    _mm256_storeu_si256(halves + 1, zero);
  }
  return bits;
#else
  std::uint64_t bits = 0;
  for (int part = 0; part < 8; ++part) {
    std::uint64_t eight;
    std::memcpy(&eight, bytes + 8 * part, 8);
    if (!eight) continue;
    // The multiplication moves the lowest bit of each byte to a place of its own in the highest byte.
    if constexpr (std::endian::native == std::endian::little) {
      bits |= ((eight * 0x0102040810204080u) >> 56) << (8 * part);
    } else {
      for (int b = 0; b < 8; ++b) bits |= static_cast<std::uint64_t>(bytes[8 * part + b]) << (8 * part + b);
    }
  }
  if (bits) std::memset(bytes, 0, 64);
  return bits;
#endif
}

/// Writes base + b for each bit b, ascending; `bits` is not 0. Writes up to `order_slack` elements too many.
template <class Coordinate>
SPOROS_INLINE Coordinate* write_bits(Coordinate* to, std::uint64_t bits, Coordinate base) {
  Coordinate* const end = to + std::popcount(bits);
#if defined(SPOROS_SPGEMM_AVX512)
  if constexpr (sizeof(Coordinate) == 4) {
    if (end - to > 8) {
      const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
      for (int part = 0; part < 4; ++part) {
        const auto some = static_cast<__mmask16>(bits >> (16 * part));
        const __m512i columns =
            _mm512_add_epi32(first, _mm512_set1_epi32(static_cast<int>(base) + 16 * part));
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(some, columns));
        to += std::popcount(static_cast<unsigned>(some));
      }
      return end;
    }
  }
#endif
  do {
    for (int k = 0; k < 4; ++k) {
      to[k] = static_cast<Coordinate>(base + static_cast<Coordinate>(std::countr_zero(bits)));
      bits &= bits - 1;
    }
    to += 4;
  } while (bits);
  return end;
}

/// The columns of a window that were marked.
///
/// A store of a byte waits for nothing, where setting a bit would wait for the last bit set in the same word.
struct Marks {
  std::uint8_t* columns;  // [window, rounded up to 64]
  std::uint8_t* words;    // [window / 64, rounded up to 64]: which 64 columns hold a mark; used where Wide

  template <bool Wide>
  SPOROS_INLINE void mark(std::uint64_t j) const {
    columns[j] = 1;
    if constexpr (Wide) words[j >> 6] = 1;
  }

  /// Writes first + j for each marked column j < window, ascending, and clears the marks.
  template <bool Wide, class Coordinate>
  SPOROS_INLINE Coordinate* take(std::int64_t window, Coordinate first, Coordinate* to) const {
    const std::int64_t count = (window + 63) / 64;
    if constexpr (Wide) {
      for (std::int64_t group = 0; group * 64 < count; ++group)
        for (std::uint64_t some = take_64(words + group * 64); some; some &= some - 1) {
          const std::int64_t word = group * 64 + std::countr_zero(some);
          to = write_bits(to, take_64(columns + word * 64), static_cast<Coordinate>(first + word * 64));
        }
    } else {
      for (std::int64_t word = 0; word < count; ++word)
        if (const std::uint64_t bits = take_64(columns + word * 64))
          to = write_bits(to, bits, static_cast<Coordinate>(first + word * 64));
    }
    return to;
  }
};

}  // namespace sporos::detail
