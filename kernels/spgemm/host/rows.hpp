// SPDX-License-Identifier: Apache-2.0
/// @file rows.hpp
/// Computes rows of the product one after another, each by the strategy that suits its operands.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../../core/inline.hpp"
#include "../../host/packet.hpp"
#include "../../host/regular_rows.hpp"
#include "../../host/sparse_rows.hpp"
#include "diagonals.hpp"
#include "few.hpp"
#include "few_in_lanes.hpp"
#include "form.hpp"
#include "places.hpp"
#include "plain.hpp"
#include "reach.hpp"
#include "row_output.hpp"
#include "row_space.hpp"
#include "row_strategy.hpp"
#include "scaled.hpp"
#include "scatter.hpp"
#include "similar_rows.hpp"

namespace sporos::detail {

/// Rows per block. What is decided for several rows together is decided within a block, so that the result
/// does not depend on how blocks are dealt out to threads. 48 is a multiple of the sizes of most groups of
/// similar rows in finite-element matrices.
inline std::int64_t rows_in_block(std::int64_t rows) { return rows >= 4096 ? 48 : rows >= 256 ? 12 : 4; }

/// How many products most rows have.
enum class RowLengths : std::uint8_t {
  brief,   ///< so few that looking for similar rows costs more than they do
  medium,  ///< about ten to thirty, or to sixty in the forms plain and in_a_row, over not too many columns
  any
};

/// Computes rows of A * B.
/// @tparam Acc  the type in which products are formed and summed
template <class Acc, class A, class B>
class RowProduct {
 public:
  /// @param longest      short_length of b
  /// @param lengths      brief only if no rows are known to be similar
  /// @param in_caches    whether most rows of B that a row of A refers to are in the caches, because
  ///                     the previous row of A referred to them or their neighbours
  /// @param form         how rows of few products are sorted if most are that short, and how the sums of
  ///                     plain rows are taken
  RowProduct(const A& a, const B& b, std::int64_t longest, RowLengths lengths, bool in_caches,
             SpgemmForm form, const SimilarRows& similar_a, const SimilarRows& similar_b,
             RowSpace<Acc>& space)
      : a_(a),
        b_(b),
        short_(longest),
        mostly_single_(2 * a.nnz() < 3 * a.rows),
        with_columns_(lengths != RowLengths::medium || (takes_with_columns(form, b) && has_regular_rows(a))),
        in_lanes_(form == SpgemmForm::lanes),
        tries_lanes_(lengths == RowLengths::brief && few_columns<std::uint32_t> > b.columns && in_lanes_),
        shifts_(similar_a.shifts && similar_b.shifts),
        all_plain_(lengths == RowLengths::medium && !shifts_ && !similar_a.frequent),
        similar_a_(all_plain_ ? SimilarRows{} : similar_a),
        similar_b_(similar_b),
        space_(space),
        diagonals_(a, b, similar_a, similar_b, space.diagonals, space.marks),
        block_(rows_in_block(a.rows)),
        rows_ahead_(fits_caches(b)                 ? 0
                    : lengths == RowLengths::brief ? (mostly_single_ ? most_rows_ahead : 0)
                    : in_caches                    ? 0
                                                   : 1),
        last_safe_(b.begin(b.rows) - brief_row),
        plain_(lengths == RowLengths::medium) {}

  /// Whether B is so small that it is sure to fit in a core's private caches.
  static bool fits_caches(const B& b) {
    constexpr std::int64_t near_bytes = std::int64_t{1} << 20;
    return b.nnz() * static_cast<std::int64_t>(sizeof(*b.values) + sizeof(*b.coordinates)) <= near_bytes;
  }

  /// Computes rows [begin, end), one after another, to where `output` stands, which moves on. `ends[r]`
  /// becomes the number of elements up to the end of row r, counted from `from`.
  /// @return the number of elements of all rows
  template <class Position, class Coordinate, class Value>
  std::int64_t compute(std::int64_t begin, std::int64_t end, std::int64_t from, Position* ends,
                       RowOutput<Coordinate, Value>& output) {
    std::int64_t size = 0;
    for (std::int64_t row = begin; row < end;) {
      if (plain_) {
        const std::int64_t plain_end = end_of_plain_rows(row, end);
        size += compute_plainly(row, plain_end, from + size, ends, output);
        row = plain_end;
        if (row == end) break;
      }
      const std::int64_t block_end = std::min(end, (row / block_ + 1) * block_);
      if (rows_ahead_ > 0) fetch_ahead(row + rows_ahead_);
      const auto [rows, elements] = next<false>(row, block_end, static_cast<const Coordinate*>(nullptr),
                                                output.columns(), output.values());
      for (std::int64_t r = 0; r < rows; ++r) {
        size += elements;
        ends[row + r] = static_cast<Position>(from + size);
      }
      output.advance(rows * elements);
      row += rows;
    }
    output.flush();
    return size;
  }

  /// Computes the values of rows [begin, end) of a product whose pattern is known, each in a dense
  /// accumulator over all columns. Sums may be rounded differently from those of compute().
  template <class Position, class Coordinate, class Value>
  void refill_plainly(std::int64_t begin, std::int64_t end, const Position* positions,
                      const Coordinate* columns, Value* values) {
    auto* const sums = space_.template open<Packet<Acc, 1>>(b_.columns);
    for (std::int64_t row = begin; row < end; ++row) {
      if (rows_ahead_ > 0) fetch_ahead(row + rows_ahead_);
      refill_row(a_, row, b_, sums, columns, static_cast<std::int64_t>(positions[row]),
                 static_cast<std::int64_t>(positions[row + 1]), values);
    }
  }

  /// Finds the places of the products of rows [begin, end) of a product whose pattern is known.
  /// @param places  with room for one number per product
  /// @return false if a row is too long to number its elements
  template <class Position, class Coordinate>
  bool find_places(std::int64_t begin, std::int64_t end, const Position* positions, const Coordinate* columns,
                   PlaceInRow* places) {
    auto* const place_of = space_.template open<PlaceInRow>(b_.columns);
    for (std::int64_t row = begin; row < end; ++row) {
      const auto first = static_cast<std::int64_t>(positions[row]);
      const auto count = static_cast<std::int64_t>(positions[row + 1]) - first;
      if (count > most_elements_with_places) return false;
      places = find_places_of_row(a_, row, b_, columns + first, count, place_of, places);
    }
    return true;
  }

  /// Computes the values of rows [begin, end) of a product whose products' places are known. Sums may be
  /// rounded differently from those of compute().
  template <class Position>
  void refill_by_places(std::int64_t begin, std::int64_t end, const Position* positions,
                        const PlaceInRow* places, Acc* values) {
    for (std::int64_t row = begin; row < end;) {
      const std::int64_t block_end = std::min(end, (row / block_ + 1) * block_);
      std::fill(values + positions[row], values + positions[block_end], Acc{});
      for (; row < block_end; ++row) {
        if (rows_ahead_ > 0) fetch_ahead(row + rows_ahead_);
        places = refill_row_by_places(a_, row, b_, places, values + positions[row]);
      }
    }
  }

  /// Computes the values of rows [begin, end) of a product whose pattern is known, as compute() does.
  /// @param positions,columns         the pattern
  /// @param some_columns,some_values  with room for the elements of a block of rows and row_slack
  template <class Position, class Coordinate, class Value>
  void refill(std::int64_t begin, std::int64_t end, const Position* positions, const Coordinate* columns,
              Coordinate* some_columns, Value* some_values, Value* values) {
    for (std::int64_t row = begin; row < end;) {
      const std::int64_t block_end = std::min(end, (row / block_ + 1) * block_);
      if (rows_ahead_ > 0) fetch_ahead(row + rows_ahead_);
      const auto from = static_cast<std::int64_t>(positions[row]);
      const auto [rows, elements] = next<true>(row, block_end, columns + from, some_columns, some_values,
                                               static_cast<std::int64_t>(positions[row + 1]) - from);
      std::copy_n(some_values, rows * elements, values + from);
      row += rows;
    }
  }

 private:
  using Done = typename DiagonalProduct<Acc, A, B>::Done;

  /// Whether plain rows of regular lengths take each sum with its column in this form.
  static bool takes_with_columns(SpgemmForm form, const B& b) {
    return form != SpgemmForm::in_a_row &&
           (form != SpgemmForm::plain || b.columns <= RowSpace<Acc>::marks_step);
  }

  /// The instance of multiply_plainly for these marks.
  template <class Coordinate, class Value>
  auto plain_multiply(const PlainMarks& marks) const {
    const auto with = [&]<SumsTaken Taken>() {
      return marks.group_count == 1 ? multiply_plainly<Taken, true, Acc, A, B, Coordinate, Value>
                                    : multiply_plainly<Taken, false, Acc, A, B, Coordinate, Value>;
    };
    if (with_columns_) return with.template operator()<SumsTaken::with_columns>();
    if constexpr (few_in_lanes<Acc, A, B, Coordinate, Value>)
      if (in_lanes_) return with.template operator()<SumsTaken::in_lanes>();
    return with.template operator()<SumsTaken::in_a_row>();
  }

  /// The end of the rows from `row` on that are plain, or refer to one row of B or none, whatever B is.
  std::int64_t end_of_plain_rows(std::int64_t row, std::int64_t end) const {
    if (all_plain_) return end;
    constexpr int fewest = DiagonalLimits::fewest_rows - 1;
    const auto may_be_shifted = [&](std::int64_t r) {
      return shifts_ && similar_a_.shifted[r] >= fewest &&
             similar_b_.shifted[a_.coordinates[a_.begin(r)]] >= fewest;
    };
    while (row < end && !may_be_shifted(row) && !(similar_a_.same && similar_a_.same[row] > 0)) ++row;
    return row;
  }

  /// Does the work of compute() for such rows.
  template <class Position, class Coordinate, class Value>
  std::int64_t compute_plainly(std::int64_t begin, std::int64_t end, std::int64_t from, Position* ends,
                               RowOutput<Coordinate, Value>& output) {
    auto* const sums = space_.template open<Packet<Acc, 1>>(b_.columns);
    const PlainMarks marks = space_.plain_marks();
    const auto multiply = plain_multiply<Coordinate, Value>(marks);
    std::int64_t size = 0;
    for (std::int64_t row = begin; row < end; ++row) {
      if (rows_ahead_ > 0) fetch_ahead(row + rows_ahead_);
      const std::int64_t at = a_.begin(row), count = a_.length(row);
      const std::int64_t elements = count == 1
                                        ? multiply_scaled(static_cast<Acc>(a_.values[at]),
                                                          static_cast<std::int64_t>(a_.coordinates[at]), b_,
                                                          output.columns(), output.values())
                                        : multiply(a_.values + at, a_.coordinates + at, count, b_, sums,
                                                   marks, output.columns(), output.values());
      size += elements;
      ends[row] = static_cast<Position>(from + size);
      output.advance(elements);
    }
    return size;
  }

  /// Whether brief_row elements can be read from the beginning of any of these rows of B, and none has more.
  SPOROS_HOST_INLINE bool are_brief(const typename A::coordinate_type* a_columns, std::int64_t count) const {
    bool are = true;
    for (std::int64_t k = 0; k < count; ++k)
      are = are && b_.length(a_columns[k]) <= brief_row && b_.begin(a_columns[k]) <= last_safe_;
    return are;
  }

  /// Prefetches the rows of B that row `row` of A refers to, and the positions of those that a later row
  /// refers to.
  SPOROS_HOST_INLINE void fetch_ahead(std::int64_t row) const {
    const std::int64_t next = row + rows_ahead_;
    if (next >= a_.rows) return;
    const std::int64_t begin = a_.begin(row), end = std::min(a_.begin(row + 1), begin + most_ahead);
    for (std::int64_t q = begin; q < end; ++q) {
      const std::int64_t at = b_.begin(a_.coordinates[q]);
      SPOROS_PREFETCH(b_.coordinates + at);
      SPOROS_PREFETCH(b_.values + at);
    }
    const std::int64_t behind = std::min(a_.begin(next + 1), a_.begin(next) + most_ahead);
    for (std::int64_t q = a_.begin(next); q < behind; ++q) SPOROS_PREFETCH(b_.positions + a_.coordinates[q]);
  }

  /// Answers what strategy_of asks about a row.
  struct Row {
    SPOROS_HOST_INLINE Row(RowProduct& product, std::int64_t row, std::int64_t block_end)
        : of(product),
          at(row),
          end(block_end),
          begin(product.a_.begin(row)),
          count(product.a_.length(row)),
          plain(product.plain_) {}

    SPOROS_HOST_INLINE std::int64_t shifted() {
      return shifted_rows = of.shifts_ ? of.diagonals_.rows_from(at, end) : 0;
    }
    SPOROS_HOST_INLINE const Reach& look_at_b() {
      return reach = reach_of(of.a_.coordinates + begin, count, of.b_, of.short_);
    }
    SPOROS_HOST_INLINE int alike() {
      return alike_rows = of.similar_a_.same
                              ? static_cast<int>(std::min<std::int64_t>(of.similar_a_.same[at] + 1, end - at))
                              : 1;
    }

    RowProduct& of;
    const std::int64_t at, end;  ///< the row, and the end of its block
    const std::int64_t begin, count;
    const bool plain;
    std::int64_t shifted_rows = 0;
    Reach reach;
    int alike_rows = 1;
  };

  /// Computes row `at` of the product, and those rows before `end` that are computed together with it.
  /// @tparam Known  whether the columns of the product are known; then `columns` may or may not be written
  /// @param known   the columns of the row, `size` of them
  template <bool Known, class Coordinate, class Value>
  Done next(std::int64_t at, std::int64_t end, const Coordinate* known, Coordinate* columns, Value* values,
            std::int64_t size = 0) {
    Row row(*this, at, end);
    const auto* const a_columns = a_.coordinates + row.begin;
    const auto* const a_values = a_.values + row.begin;
    if constexpr (few_in_lanes<Acc, A, B, Coordinate, Value>)
      if (tries_lanes_ && row.count <= row_of_few_products && !(mostly_single_ && row.count == 1))
          [[likely]] {
        const std::int64_t elements =
            multiply_few_in_lanes(a_values, a_columns, row.count, b_, columns, values);
        if (elements >= 0) [[likely]]
          return {1, elements};
      }
    switch (strategy_of(row)) {
      case RowStrategy::empty:
        return {1, 0};
      case RowStrategy::scaled:
        return {1, multiply_scaled(static_cast<Acc>(a_values[0]), static_cast<std::int64_t>(a_columns[0]), b_,
                                   columns, values)};
      case RowStrategy::shifted:
        space_.open_marks(diagonals_.window());
        return diagonals_.multiply(at, row.shifted_rows, columns, values);
      case RowStrategy::plain: {
        auto* const sums = space_.template open<Packet<Acc, 1>>(b_.columns);
        if constexpr (Known) {
          refill_row(a_, at, b_, sums, known, 0, size, values);
          return {1, size};
        } else {
          const PlainMarks marks = space_.plain_marks();
          const auto multiply = plain_multiply<Coordinate, Value>(marks);
          return {1, multiply(a_values, a_columns, row.count, b_, sums, marks, columns, values)};
        }
      }
      case RowStrategy::few: {
        const bool brief = are_brief(a_columns, row.count);
        if (b_.columns < few_columns<std::uint32_t>)
          return {1, multiply_few<std::uint32_t, Acc, A>(a_values, a_columns, row.count, b_, brief, columns,
                                                         values)};
        return {1, multiply_few<std::uint64_t, Acc, A>(a_values, a_columns, row.count, b_, brief, columns,
                                                       values)};
      }
      case RowStrategy::alike: {
        const Reach reach = row.reach;  // passed on by address, so that `row` can stay in registers
        const int rows = rows_at_once(row.alike_rows);
        if constexpr (most_alike_lanes == 8)
          if (rows > 4) return {rows, by_scatter<Known, 8>(at, rows, reach, known, size, columns, values)};
        return {rows, by_scatter<Known, 4>(at, rows, reach, known, size, columns, values)};
      }
      case RowStrategy::scattered: {
        const Reach reach = row.reach;
        return {1, by_scatter<Known, 1>(at, 1, reach, known, size, columns, values)};
      }
    }
    return {1, 0};
  }

  template <bool Known, int N, class Coordinate, class Value>
  std::int64_t by_scatter(std::int64_t row, int group, const Reach& reach, const Coordinate* known,
                          std::int64_t size, Coordinate* columns, Value* values) {
    auto* const sums = space_.template open<Packet<Acc, N>>(reach.window);
    if constexpr (Known) {
      refill_by_scatter<Acc, N>(a_, row, group, b_, similar_b_, reach, sums, space_.marks, known, size,
                                values);
      return size;
    } else {
      const auto expected = static_cast<std::int64_t>(yield_ * static_cast<float>(reach.products));
      const std::int64_t elements = multiply_by_scatter<Acc, N>(
          a_, row, group, b_, similar_b_, reach, expected, sums, space_.marks, columns, values);
      yield_ = static_cast<float>(elements) / static_cast<float>(reach.products);
      return elements;
    }
  }

  static constexpr std::int64_t most_ahead = 64;  ///< the most rows of B that are prefetched for a row
  /// How many rows of A ahead rows of B are prefetched if each row of A refers to only one: the latency of
  /// memory is then spread over many rows.
  static constexpr std::int64_t most_rows_ahead = 8;

  const A& a_;
  const B& b_;
  const std::int64_t short_;
  const bool mostly_single_;  ///< whether most rows of A have at most one element
  const bool with_columns_;   ///< whether plain rows take each sum with its column
  const bool in_lanes_;       ///< whether to use instructions that gather and scatter
  const bool tries_lanes_;    ///< whether to try multiply_few_in_lanes, which gathers
  const bool shifts_;
  const bool all_plain_;  ///< whether every row is plain, unless it refers to one row of B or none
  const SimilarRows similar_a_, similar_b_;
  RowSpace<Acc>& space_;
  DiagonalProduct<Acc, A, B> diagonals_;
  const std::int64_t block_;
  float yield_ = 1;  ///< elements per product of the row gathered last: a guess for the next one
  const std::int64_t rows_ahead_;  ///< how many rows of A ahead rows of B are prefetched; 0 for none
  const std::int64_t last_safe_;   ///< the last position from which brief_row elements of B can be read
  const bool plain_;
};

}  // namespace sporos::detail
