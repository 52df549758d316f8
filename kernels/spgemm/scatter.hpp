// SPDX-License-Identifier: Apache-2.0
/// @file scatter.hpp
/// Rows of the product through a dense accumulator over the window of columns that they can reach.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../core/inline.hpp"
#include "marks.hpp"
#include "operand.hpp"
#include "packet.hpp"
#include "similar_rows.hpp"

namespace sporos::detail {

/// What the row of products can reach.
struct Reach {
  std::int64_t products = 0;
  std::int64_t longest = 0;     ///< the length of the longest row of B
  std::int64_t last_begin = 0;  ///< where the last of them begins
  std::int64_t first = 0;       ///< the first column
  std::int64_t window = 0;      ///< columns from the first to the last
};

/// Looks at the rows of B that a row of A names.
template <class B, class Coordinate>
SPOROS_INLINE Reach reach_of(const Coordinate* a_columns, std::int64_t count, const B& b) {
  Reach reach;
  std::int64_t last = -1;
  reach.first = b.columns;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t begin = b.begin(a_columns[k]), length = b.length(a_columns[k]);
    reach.last_begin = std::max(reach.last_begin, begin);
    if (length == 0) continue;
    reach.products += length;
    reach.longest = std::max(reach.longest, length);
    reach.first = std::min(reach.first, static_cast<std::int64_t>(b.coordinates[begin]));
    last = std::max(last, static_cast<std::int64_t>(b.coordinates[begin + length - 1]));
  }
  reach.window = last - reach.first + 1;
  return reach;
}

/// sums[j] += a[0] * row 0 of B + … + a[H - 1] * row H - 1, the rows of B having the same columns.
/// A function of its own, whose pointers are told apart: the loop then keeps everything in registers.
template <bool Wide, int H, class Sum, class Acc, class Value, class Coordinate>
SPOROS_KERNEL void add_rows(const Sum* a, const Coordinate* __restrict columns,
                            const Value* __restrict values, std::int64_t length, std::int64_t first,
                            Sum* __restrict sums, Marks marks) {
  Sum factor[H];
  for (int h = 0; h < H; ++h) factor[h] = a[h];
  std::uint8_t* __restrict const column_marks = marks.columns;
  std::uint8_t* __restrict const word_marks = marks.words;
  for (std::int64_t t = 0; t < length; ++t) {
    const auto j = static_cast<std::uint64_t>(static_cast<std::int64_t>(columns[t]) - first);
    Sum sum = sums[j];
    for (int h = 0; h < H; ++h) sum.add_product(factor[h], static_cast<Acc>(values[t + h * length]));
    sums[j] = sum;
    column_marks[j] = 1;
    if constexpr (Wide) word_marks[j >> 6] = 1;
  }
}

/// The rows of B that a row of A names, those with the same columns together.
template <bool Wide, class Acc, int N, class A, class B>
SPOROS_INLINE void scatter(const A& a, std::int64_t row, int group, const B& b, const SimilarRows& similar_b,
                           std::int64_t first, Packet<Acc, N>* sums, Marks marks) {
  using Sum = Packet<Acc, N>;
  const std::int64_t begin = a.begin(row), count = a.length(row);
  const auto* const columns = a.coordinates + begin;
  std::int64_t k = 0;
  while (k < count) {
    const auto top = static_cast<std::int64_t>(columns[k]);
    const int alike = similar_b.same[top];
    int together = 1;
    while (together < 4 && together <= alike && k + together < count &&
           static_cast<std::int64_t>(columns[k + together]) == top + together)
      ++together;
    Sum factor[4];
    for (int h = 0; h < together; ++h) {
      if constexpr (N == 1) {
        factor[h].v = static_cast<Acc>(a.values[begin + k + h]);
      } else {
        factor[h] = Sum::zero();
        for (int lane = 0; lane < group; ++lane)
          factor[h].set(lane, static_cast<Acc>(a.values[begin + lane * count + k + h]));
      }
    }
    const std::int64_t q = b.begin(top), length = b.length(top);
    const auto add = [&]<int H>() {
      add_rows<Wide, H, Sum, Acc>(factor, b.coordinates + q, b.values + q, length, first, sums, marks);
    };
    switch (together) {
      case 1:
        add.template operator()<1>();
        break;
      case 2:
        add.template operator()<2>();
        break;
      case 3:
        add.template operator()<3>();
        break;
      default:
        add.template operator()<4>();
        break;
    }
    k += together;
  }
}

/// Hands out the sums of `count` columns and clears them.
template <class Acc, int N, class Value, class Coordinate>
SPOROS_KERNEL void gather(const Coordinate* __restrict columns, std::int64_t count, std::int64_t first,
                          int group, Packet<Acc, N>* __restrict sums, Value* __restrict values) {
  if constexpr (N == 1) {
    for (std::int64_t t = 0; t < count; ++t) {
      const auto j = static_cast<std::uint64_t>(static_cast<std::int64_t>(columns[t]) - first);
      values[t] = static_cast<Value>(sums[j].v);
      sums[j].v = Acc{};
    }
  } else {
    for (std::int64_t t = 0; t < count; ++t) {
      const auto j = static_cast<std::uint64_t>(static_cast<std::int64_t>(columns[t]) - first);
      const Packet<Acc, N> sum = sums[j];
      sums[j] = Packet<Acc, N>::zero();
      for (int lane = 0; lane < group; ++lane) values[lane * count + t] = static_cast<Value>(sum.get(lane));
    }
  }
}

/// `group` <= N rows of the product, from row `row` of A on, which have the same columns in A.
/// @param sums   zero over the window, and left so
/// @param marks  clear over the window, and left so
/// @return elements in each of the rows, which stand behind one another
template <class Acc, int N, class A, class B, class Value, class Coordinate>
std::int64_t multiply_by_scatter(const A& a, std::int64_t row, int group, const B& b,
                                 const SimilarRows& similar_b, const Reach& reach, Packet<Acc, N>* sums,
                                 Marks marks, Coordinate* columns, Value* values) {
  const auto first = static_cast<Coordinate>(reach.first);
  const bool wide = reach.window / 64 > reach.products;
  Coordinate* end = nullptr;
  if (wide) {
    scatter<true>(a, row, group, b, similar_b, reach.first, sums, marks);
    end = marks.take<true>(reach.window, first, columns);
  } else {
    scatter<false>(a, row, group, b, similar_b, reach.first, sums, marks);
    end = marks.take<false>(reach.window, first, columns);
  }
  const std::int64_t count = end - columns;
  gather<Acc, N>(columns, count, reach.first, group, sums, values);
  for (int lane = 1; lane < group; ++lane) std::copy(columns, columns + count, columns + lane * count);
  return count;
}

}  // namespace sporos::detail
