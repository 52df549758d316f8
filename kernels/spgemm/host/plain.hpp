// SPDX-License-Identifier: Apache-2.0
/// @file plain.hpp
/// Rows of about ten to thirty products, on some processors sixty, computed by one function that does not
/// look at B first: deciding how to compute such a row would take as long as its products.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "../../../core/inline.hpp"
#include "../../host/packet.hpp"
#include "few_in_lanes.hpp"
#include "marks.hpp"

namespace sporos::detail {

/// Marks of columns, in two levels of bits, all clear between rows.
struct PlainMarks {
  std::uint64_t* bits;    // [columns / 64, rounded up]: a bit for each column
  std::uint64_t* groups;  // [columns / 4096, rounded up]: a bit for each word of `bits`
  std::int64_t group_count;
};

/// How the sums of a row are taken from the accumulator.
enum class SumsTaken : std::uint8_t {
  with_columns,  ///< each with its column: the fewest instructions, but a loop for each word of marks
  in_a_row,      ///< after all columns: fewer loops end where it cannot be predicted if rows vary in length
  in_lanes       ///< the same, eight at a time by instructions that gather and scatter
};

/// values[e] = sums[columns[e]] for e < count, and then all these sums are zero.
template <bool InLanes, class Acc, class Coordinate, class Value>
SPOROS_HOST_INLINE void take_sums(Packet<Acc, 1>* __restrict sums, const Coordinate* __restrict columns,
                                  std::int64_t count, Value* __restrict values) {
#ifdef SPOROS_SPGEMM_FEW_IN_LANES
  if constexpr (InLanes) {
    static_assert(std::is_same_v<Acc, double> && std::is_same_v<Value, double> && sizeof(Coordinate) == 4);
    const auto for_each_eight = [&](const auto& body) {
      for (std::int64_t at = 0; at < count; at += 8) {
        const auto mask = static_cast<__mmask8>(count - at < 8 ? (1 << (count - at)) - 1 : 0xff);
        body(at, mask, _mm256_maskz_loadu_epi32(mask, columns + at));
      }
    };
    for_each_eight([&](std::int64_t at, __mmask8 mask, __m256i of) {
      _mm512_mask_storeu_pd(values + at, mask,
                            _mm512_mask_i32gather_pd(_mm512_setzero_pd(), mask, of, sums, sizeof(double)));
    });
    for_each_eight([&](std::int64_t, __mmask8 mask, __m256i of) {
      _mm512_mask_i32scatter_pd(sums, mask, of, _mm512_setzero_pd(), sizeof(double));
    });
    return;
  }
#endif
  for (std::int64_t e = 0; e < count; ++e) values[e] = static_cast<Value>(sums[columns[e]].get(0));
  for (std::int64_t e = 0; e < count; ++e) sums[columns[e]] = Packet<Acc, 1>::zero();
}

/// Computes a row of the product: the sum of a[k] times row a_columns[k] of `b`, k < count, in the order of
/// k.
/// @tparam Taken     how the sums are taken; unless with_columns, up to order_slack columns are written past
///                   the last one
/// @tparam OneGroup  whether marks.group_count is 1: the only word of groups then stays in a register,
///                   so that marks do not wait for each other
/// @param sums  [columns of b], zero before and after
/// @return the number of elements
template <SumsTaken Taken, bool OneGroup, class Acc, class A, class B, class Coordinate, class Value>
SPOROS_HOST_KERNEL std::int64_t multiply_plainly(const typename A::value_type* __restrict a,
                                                 const typename A::coordinate_type* __restrict a_columns,
                                                 std::int64_t count, const B& b,
                                                 Packet<Acc, 1>* __restrict sums, PlainMarks marks,
                                                 Coordinate* __restrict columns, Value* __restrict values) {
  std::uint64_t* __restrict const bits = marks.bits;
  std::uint64_t* __restrict const groups = marks.groups;
  std::uint64_t only_group = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t begin = b.begin(a_columns[k]), end = begin + b.length(a_columns[k]);
    Packet<Acc, 1> factor;
    factor.set(0, static_cast<Acc>(a[k]));
    for (std::int64_t q = begin; q < end; ++q) {
      const auto j = static_cast<std::uint64_t>(b.coordinates[q]);
      Packet<Acc, 1> sum = sums[j];
      sum.add_product(factor, static_cast<Acc>(b.values[q]));
      sums[j] = sum;
      bits[j >> 6] |= std::uint64_t{1} << (j & 63);
      (OneGroup ? only_group : groups[j >> 12]) |= std::uint64_t{1} << ((j >> 6) & 63);
    }
  }
  if constexpr (Taken != SumsTaken::with_columns) {
    Coordinate* to = columns;
    for (std::int64_t group = 0; group < (OneGroup ? 1 : marks.group_count); ++group) {
      for (std::uint64_t words = OneGroup ? only_group : groups[group]; words; words &= words - 1) {
        const std::int64_t word = group * 64 + std::countr_zero(words);
        to = write_bits(to, bits[word], static_cast<Coordinate>(word * 64));
        bits[word] = 0;
      }
      if constexpr (!OneGroup) groups[group] = 0;
    }
    take_sums<Taken == SumsTaken::in_lanes>(sums, columns, to - columns, values);
    return to - columns;
  }
  std::int64_t elements = 0;
  for (std::int64_t group = 0; group < (OneGroup ? 1 : marks.group_count); ++group) {
    for (std::uint64_t words = OneGroup ? only_group : groups[group]; words; words &= words - 1) {
      const std::int64_t word = group * 64 + std::countr_zero(words);
      for (std::uint64_t some = bits[word]; some; some &= some - 1, ++elements) {
        const std::int64_t j = word * 64 + std::countr_zero(some);
        columns[elements] = static_cast<Coordinate>(j);
        values[elements] = static_cast<Value>(sums[j].get(0));
        sums[j] = Packet<Acc, 1>::zero();
      }
      bits[word] = 0;
    }
    if constexpr (!OneGroup) groups[group] = 0;
  }
  return elements;
}

}  // namespace sporos::detail
