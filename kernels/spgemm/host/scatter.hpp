// SPDX-License-Identifier: Apache-2.0
/// @file scatter.hpp
/// Computes rows of the product in a dense accumulator over the window of columns that they can reach.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../../../core/inline.hpp"
#include "../../host/packet.hpp"
#include "../../host/sparse_rows.hpp"
#include "marks.hpp"
#include "reach.hpp"
#include "similar_rows.hpp"

namespace sporos::detail {

/// The most rows of B with the same columns that are added together: with more, their factors do not stay in
/// registers.
inline constexpr int most_added_together = 4;

/// sums[j] += a[0] * b(0, j) + … + a[H - 1] * b(H - 1, j) for H rows of B that have the same columns j.
template <Marking Density, int H, class Sum, class Value, class Coordinate>
SPOROS_HOST_INLINE void add_rows(const Sum* a, const Coordinate* __restrict columns,
                                 const Value* __restrict values, std::int64_t length, std::int64_t first,
                                 Sum* __restrict sums, const Marks& marks) {
  using Acc = typename Sum::value_type;
  for (std::int64_t t = 0; t < length; ++t) {
    const auto j = static_cast<std::uint64_t>(static_cast<std::int64_t>(columns[t]) - first);
    Sum sum = sums[j];
    for (int h = 0; h < H; ++h) sum.add_product(a[h], static_cast<Acc>(values[t + h * length]));
    sums[j] = sum;
    marks.mark<Density>(j);
  }
}

/// Adds up the rows of B that `group` rows of A refer to. It is not inlined, so that the compiler knows that
/// its pointers do not alias, and keeps everything in registers.
/// @tparam Alike  whether to look for rows of B with the same columns, which are then added together
template <Marking Density, bool Alike, class Acc, int N, class A, class B>
SPOROS_HOST_KERNEL void scatter(const A& a, std::int64_t row, int group, const B& b,
                                const std::uint8_t* same_b, std::int64_t first,
                                Packet<Acc, N>* __restrict sums, Marks marks) {
  using Sum = Packet<Acc, N>;
  const std::int64_t begin = a.begin(row), count = a.length(row);
  const auto* const columns = a.coordinates + begin;
  const auto* const a_values = a.values + begin;
  const auto* const b_positions = b.positions;
  const auto* const b_columns = b.coordinates;
  const auto* const b_values = b.values;
  const auto factor_at = [&](std::int64_t k) {
    Sum factor = Sum::zero();
    for (int lane = 0; lane < group; ++lane) factor.set(lane, static_cast<Acc>(a_values[lane * count + k]));
    return factor;
  };
  for (std::int64_t k = 0; k < count;) {
    const auto top = static_cast<std::int64_t>(columns[k]);
    const auto q = static_cast<std::int64_t>(b_positions[top]);
    const std::int64_t length = static_cast<std::int64_t>(b_positions[top + 1]) - q;
    int together = 1;
    if constexpr (Alike) {
      const int alike = same_b[top];
      while (together < most_added_together && together <= alike && k + together < count &&
             static_cast<std::int64_t>(columns[k + together]) == top + together)
        ++together;
    }
    Sum factor[most_added_together] = {factor_at(k)};
    if constexpr (Alike) {
      for (int h = 1; h < together; ++h) factor[h] = factor_at(k + h);
      if (together == 2)
        add_rows<Density, 2>(factor, b_columns + q, b_values + q, length, first, sums, marks);
      else if (together == 3)
        add_rows<Density, 3>(factor, b_columns + q, b_values + q, length, first, sums, marks);
      else if (together == 4)
        add_rows<Density, 4>(factor, b_columns + q, b_values + q, length, first, sums, marks);
    }
    if (together == 1) add_rows<Density, 1>(factor, b_columns + q, b_values + q, length, first, sums, marks);
    k += together;
  }
}

/// The same for one row of A, where all rows of B have L elements, and most have the same columns as the next
/// row, as where rows are members and columns the groups that they are in. Each addition to a sum in memory
/// would wait for the last one; so rows with the same columns are summed in registers, even and odd ones
/// apart.
template <Marking Density, int L, class Acc, class A, class B>
SPOROS_HOST_KERNEL void scatter_repeated(const A& a, std::int64_t row, const B& b, std::int64_t first,
                                         Packet<Acc, 1>* __restrict sums, Marks marks) {
  constexpr int lanes = static_cast<int>(std::bit_ceil(unsigned{L}));
  const auto* k = a.coordinates + a.begin(row);
  const auto* const end = a.coordinates + a.begin(row + 1);
  const auto* factor = a.values + a.begin(row);
  while (k != end) {
    auto top = static_cast<std::int64_t>(*k);
    const auto* columns = b.coordinates + top * L;
    const auto* values = b.values + top * L;
    const auto* const wanted = columns;
    Packet<Acc, lanes> even{}, odd{};
    const auto add = [&](Packet<Acc, lanes>& to) {
      Packet<Acc, lanes> some{};
      if constexpr (L == lanes && L > 1 && std::is_same_v<typename B::value_type, Acc> && !is_complex_v<Acc>)
        some.load(values, 0);
      else
        for (int t = 0; t < L; ++t) some.set(t, static_cast<Acc>(values[t]));
      to.add_product(some, static_cast<Acc>(*factor));
    };
    const auto repeats = [&] {
      ++k, ++factor, ++top, columns += L, values += L;
      return k != end && static_cast<std::int64_t>(*k) == top &&
             std::memcmp(columns, wanted, L * sizeof *columns) == 0;
    };
    for (;;) {
      add(even);
      if (!repeats()) break;
      add(odd);
      if (!repeats()) break;
    }
    for (int t = 0; t < L; ++t) {
      const auto j = static_cast<std::uint64_t>(static_cast<std::int64_t>(wanted[t]) - first);
      sums[j].v += even.get(t) + odd.get(t);
      marks.mark<Density>(j);
    }
  }
}

template <Marking Density, class Acc, class A, class B>
SPOROS_HOST_INLINE void scatter_repeated(const A& a, std::int64_t row, const B& b, int length,
                                         std::int64_t first, Packet<Acc, 1>* sums, Marks marks) {
  switch (length) {
    case 1:
      return scatter_repeated<Density, 1, Acc>(a, row, b, first, sums, marks);
    case 2:
      return scatter_repeated<Density, 2, Acc>(a, row, b, first, sums, marks);
    case 3:
      return scatter_repeated<Density, 3, Acc>(a, row, b, first, sums, marks);
    default:
      return scatter_repeated<Density, 4, Acc>(a, row, b, first, sums, marks);
  }
}

/// Adds up the rows of B that `group` rows of A refer to, in the way that suits how similar these are.
template <Marking Density, class Acc, int N, class A, class B>
void scatter_similar(const A& a, std::int64_t row, int group, const B& b, const SimilarRows& similar_b,
                     std::int64_t first, Packet<Acc, N>* sums, const Marks& marks) {
  if constexpr (N > 1) {
    scatter<Density, true, Acc, N>(a, row, group, b, similar_b.same, first, sums, marks);
  } else {
    if constexpr (Density == Marking::sparse || Density == Marking::none)
      if (similar_b.repeated > 0)
        return scatter_repeated<Density, Acc>(a, row, b, similar_b.repeated, first, sums, marks);
    similar_b.frequent
        ? scatter<Density, true, Acc, N>(a, row, group, b, similar_b.same, first, sums, marks)
        : scatter<Density, false, Acc, N>(a, row, group, b, similar_b.same, first, sums, marks);
  }
}

/// Moves the sums of `count` columns to `values`, and sets them to zero.
template <class Acc, int N, class Value, class Coordinate>
SPOROS_HOST_KERNEL void gather(const Coordinate* __restrict columns, std::int64_t count, std::int64_t first,
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

/// Computes `group` <= N rows of the product, from row `row` on, whose rows of A have the same columns.
/// @param elements  a guess of how many elements a row will have
/// @param sums      zero over the window before and after
/// @param marks     clear over the window before and after
/// @return the number of elements in each of the rows, which are written one after another
template <class Acc, int N, class A, class B, class Value, class Coordinate>
std::int64_t multiply_by_scatter(const A& a, std::int64_t row, int group, const B& b,
                                 const SimilarRows& similar_b, const Reach& reach, std::int64_t elements,
                                 Packet<Acc, N>* sums, Marks marks, Coordinate* columns, Value* values) {
  const auto first = static_cast<Coordinate>(reach.first);
  Coordinate* end = nullptr;
  const auto fill = [&]<Marking Density>() {
    scatter_similar<Density, Acc, N>(a, row, group, b, similar_b, reach.first, sums, marks);
    end = marks.take<Density>(reach.window, first, columns);
  };
  // Repeated rows of B are marked only once, so few marks are set.
  switch (N == 1 && similar_b.repeated > 0 ? Marking::sparse
                                           : Marks::marking(reach.products, elements, reach.window)) {
    case Marking::crowded:
      fill.template operator()<Marking::crowded>();
      break;
    case Marking::even:
      fill.template operator()<Marking::even>();
      break;
    case Marking::sparse:
      fill.template operator()<Marking::sparse>();
      break;
    case Marking::none:
      break;
  }
  const std::int64_t count = end - columns;
  gather<Acc, N>(columns, count, reach.first, group, sums, values);
  for (int lane = 1; lane < group; ++lane) std::copy(columns, columns + count, columns + lane * count);
  return count;
}

/// Computes the values of a row whose columns are known: those from `begin` to `end`.
/// @param sums  [columns of B], zero before and after
template <class Acc, class A, class B, class Coordinate, class Value>
SPOROS_HOST_INLINE void refill_row(const A& a, std::int64_t row, const B& b, Packet<Acc, 1>* __restrict sums,
                                   const Coordinate* __restrict columns, std::int64_t begin, std::int64_t end,
                                   Value* __restrict values) {
  for (std::int64_t k = a.begin(row); k < a.begin(row + 1); ++k) {
    const std::int64_t first = b.begin(a.coordinates[k]), last = first + b.length(a.coordinates[k]);
    Packet<Acc, 1> factor;
    factor.set(0, static_cast<Acc>(a.values[k]));
    for (std::int64_t q = first; q < last; ++q)
      sums[b.coordinates[q]].add_product(factor, static_cast<Acc>(b.values[q]));
  }
  for (std::int64_t q = begin; q < end; ++q) {
    values[q] = static_cast<Value>(sums[columns[q]].get(0));
    sums[columns[q]] = Packet<Acc, 1>::zero();
  }
}

/// Computes the values of `group` such rows whose `count` columns are known.
template <class Acc, int N, class A, class B, class Value, class Coordinate>
void refill_by_scatter(const A& a, std::int64_t row, int group, const B& b, const SimilarRows& similar_b,
                       const Reach& reach, Packet<Acc, N>* sums, Marks marks, const Coordinate* columns,
                       std::int64_t count, Value* values) {
  scatter_similar<Marking::none, Acc, N>(a, row, group, b, similar_b, reach.first, sums, marks);
  gather<Acc, N>(columns, count, reach.first, group, sums, values);
}

}  // namespace sporos::detail
