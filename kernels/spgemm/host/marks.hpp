// SPDX-License-Identifier: Apache-2.0
/// @file marks.hpp
/// Marks that record which columns of a row have been written, and list these columns in ascending order.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "../../../core/inline.hpp"

#if defined(__AVX512BW__)
#include <immintrin.h>
#define SPOROS_SPGEMM_AVX512 1
#elif defined(__AVX2__)
#include <immintrin.h>
#define SPOROS_SPGEMM_AVX2 1
#endif

namespace sporos::detail {

/// How many elements may be written past the last one when the columns of a word are written.
inline constexpr std::int64_t order_slack = 32;

/// The word whose bit b is byte b of 64 bytes, each 0 or 1.
SPOROS_HOST_INLINE std::uint64_t bits_of_64(const std::uint8_t* bytes) {
#if defined(SPOROS_SPGEMM_AVX512)
  const __m512i x = _mm512_loadu_si512(bytes);
  return _mm512_test_epi8_mask(x, x);
#elif defined(SPOROS_SPGEMM_AVX2)
  const auto* const halves = reinterpret_cast<const __m256i*>(bytes);
  const __m256i zero = _mm256_setzero_si256();
  const auto low =
      static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpgt_epi8(_mm256_loadu_si256(halves), zero)));
  const auto high = static_cast<std::uint32_t>(
      _mm256_movemask_epi8(_mm256_cmpgt_epi8(_mm256_loadu_si256(halves + 1), zero)));
  return low | static_cast<std::uint64_t>(high) << 32;
#else
  std::uint64_t bits = 0;
  for (int part = 0; part < 8; ++part) {
    std::uint64_t eight;
    std::memcpy(&eight, bytes + 8 * part, 8);
    if (!eight) continue;
    // The multiplication moves the lowest bit of each byte to a different bit of the highest byte.
    if constexpr (std::endian::native == std::endian::little) {
      bits |= ((eight * 0x0102040810204080u) >> 56) << (8 * part);
    } else {
      for (int b = 0; b < 8; ++b) bits |= static_cast<std::uint64_t>(bytes[8 * part + b]) << (8 * part + b);
    }
  }
  return bits;
#endif
}

/// Returns the same word, and clears the bytes.
SPOROS_HOST_INLINE std::uint64_t take_64(std::uint8_t* bytes) {
  const std::uint64_t bits = bits_of_64(bytes);
  if (bits) std::memset(bytes, 0, 64);
  return bits;
}

#if defined(SPOROS_SPGEMM_AVX512) && defined(__AVX512VBMI2__)
/// Writes base + each of the lowest `count` bytes, a register at a time. The masks are all ones: with the
/// intrinsics that take no mask, g++ 12 warns of undefined registers in its own header.
template <class Coordinate>
SPOROS_HOST_INLINE void write_bytes(Coordinate* to, __m512i bytes, std::int64_t count, Coordinate base) {
  if constexpr (sizeof(Coordinate) == 4) {
    const __m512i first = _mm512_set1_epi32(static_cast<int>(base));
    const auto write = [&](int part, __m128i some) {
      _mm512_storeu_si512(to + 16 * part,
                          _mm512_add_epi32(first, _mm512_maskz_cvtepu8_epi32(__mmask16(-1), some)));
    };
    write(0, _mm512_maskz_extracti32x4_epi32(__mmask8(-1), bytes, 0));
    if (count <= 16) return;
    write(1, _mm512_maskz_extracti32x4_epi32(__mmask8(-1), bytes, 1));
    if (count <= 32) return;
    write(2, _mm512_maskz_extracti32x4_epi32(__mmask8(-1), bytes, 2));
    write(3, _mm512_maskz_extracti32x4_epi32(__mmask8(-1), bytes, 3));
  } else {
    static_assert(sizeof(Coordinate) == 8);
    const __m512i first = _mm512_set1_epi64(static_cast<long long>(base));
    alignas(64) std::uint8_t some[64];
    _mm512_store_si512(some, bytes);
    std::int64_t at = 0;
    do {
      const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(some + at));
      _mm512_storeu_si512(to + at, _mm512_add_epi64(first, _mm512_maskz_cvtepu8_epi64(__mmask8(-1), eight)));
      at += 8;
    } while (at < count);
  }
}
#endif

/// Writes base + b for each bit b that is set, ascending, and up to order_slack further elements.
template <class Coordinate>
SPOROS_HOST_INLINE Coordinate* write_bits(Coordinate* to, std::uint64_t bits, Coordinate base) {
  const auto count = static_cast<std::int64_t>(std::popcount(bits));
#if defined(SPOROS_SPGEMM_AVX512) && defined(__AVX512VBMI2__)
  if constexpr (sizeof(Coordinate) == 4 || sizeof(Coordinate) == 8) {
    alignas(64) static constexpr auto numbers = [] {
      std::array<std::uint8_t, 64> of{};
      for (std::uint8_t b = 0; b < 64; ++b) of[b] = b;
      return of;
    }();
    write_bytes(to, _mm512_maskz_compress_epi8(bits, _mm512_load_si512(numbers.data())), count, base);
    return to + count;
  }
#endif
  std::int64_t at = 0;
  do {
    for (int k = 0; k < 4; ++k, ++at) {
      to[at] = static_cast<Coordinate>(base + static_cast<Coordinate>(std::countr_zero(bits)));
      bits &= bits - 1;
    }
  } while (bits);
  return to + count;
}

/// How marks are kept, which depends on how often a row writes into its window, and to how many of its
/// columns.
enum class Marking {
  crowded,  ///< often, in every word of 64 columns: a byte for each column, because storing a byte waits for
            ///< nothing, while setting a bit waits for the previous one in the same word
  even,     ///< a few in most words: a bit for each column
  sparse,   ///< most words stay empty: a bit for each column, and a byte for each word that is not empty
  none      ///< the columns are known, so nothing is marked
};

/// The columns of a window that have been marked. All arrays are zero between rows.
struct Marks {
  std::uint8_t* bytes;  // [window, rounded up to 64]
  std::uint64_t* bits;  // [window / 64, rounded up]
  std::uint8_t* words;  // [window / 64, rounded up to 64]

  /// Chooses how to keep the marks of a row.
  /// @param elements  approximate number of columns that will be marked
  static Marking marking(std::int64_t products, std::int64_t elements, std::int64_t window) {
    constexpr std::int64_t crowd = 4;  // products per word beyond which bits wait longer than bytes cost
    const std::int64_t words = window / 64 + 1;
    return products >= crowd * words ? Marking::crowded : elements >= words ? Marking::even : Marking::sparse;
  }

  template <Marking Density>
  SPOROS_HOST_INLINE void mark([[maybe_unused]] std::uint64_t j) const {
    if constexpr (Density == Marking::crowded) {
      bytes[j] = 1;
    } else if constexpr (Density != Marking::none) {
      bits[j >> 6] |= std::uint64_t{1} << (j & 63);
      if constexpr (Density == Marking::sparse) words[j >> 6] = 1;
    }
  }

  /// Writes first + j for each marked column j < window, ascending, and clears the marks.
  template <Marking Density, class Coordinate>
  SPOROS_HOST_INLINE Coordinate* take(std::int64_t window, Coordinate first, Coordinate* to) const {
    const std::int64_t count = (window + 63) / 64;
    if constexpr (Density == Marking::crowded) {
      for (std::int64_t word = 0; word < count; ++word)
        if (const std::uint64_t some = take_64(bytes + word * 64))
          to = write_bits(to, some, static_cast<Coordinate>(first + word * 64));
    } else if constexpr (Density == Marking::even) {
      for (std::int64_t word = 0; word < count; ++word) {
        const std::uint64_t some = bits[word];
        bits[word] = 0;
        to = write_bits(to, some, static_cast<Coordinate>(first + word * 64));
      }
    } else {
      for (std::int64_t group = 0; group * 64 < count; ++group)
        for (std::uint64_t some = take_64(words + group * 64); some; some &= some - 1) {
          const std::int64_t word = group * 64 + std::countr_zero(some);
          to = write_bits(to, bits[word], static_cast<Coordinate>(first + word * 64));
          bits[word] = 0;
        }
    }
    return to;
  }
};

}  // namespace sporos::detail
