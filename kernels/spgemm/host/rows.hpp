// SPDX-License-Identifier: Apache-2.0
/// @file rows.hpp
/// Rows of the product one after the other, each by the way that its operands suggest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "../../../core/stream_copy.hpp"
#include "../../host/packet.hpp"
#include "../../host/sparse_rows.hpp"
#include "diagonals.hpp"
#include "few.hpp"
#include "few_in_lanes.hpp"
#include "marks.hpp"
#include "scatter.hpp"
#include "similar_rows.hpp"

namespace sporos::detail {

/// Rows in blocks: what is decided for several rows together is decided within a block, so that the result
/// does not depend on how blocks are dealt to threads. 48 is a multiple of the groups that finite elements
/// make.
inline std::int64_t rows_in_block(std::int64_t rows) { return rows >= 4096 ? 48 : rows >= 256 ? 12 : 4; }

/// Elements that computing a row may write behind its last one.
inline constexpr std::int64_t row_slack = order_slack + 8;

/// The arrays that one thread computes rows with. Those over the columns of B are zero as far as `clean`
/// says.
template <class Acc>
struct RowSpace {
  static constexpr int most_lanes = vector_bytes == 64 ? 8 : 4;
  /// Columns beyond which a packet each would not stay in the caches.
  static constexpr std::int64_t widest_group = 1 << 14;

  std::byte* sums;  // [columns of B] numbers, or [widest_group] packets of up to most_lanes numbers
  Marks marks;      // [columns of B]
  DiagonalSpace<Acc> diagonals{};  ///< none where no rows shift
  std::int64_t clean_sums = 0;     ///< bytes
  std::int64_t clean_marks = 0;    ///< columns

  /// Makes sure that `window` packets of Sum are zero and as many marks clear.
  template <class Sum>
  Sum* open(std::int64_t window) {
    open_marks(window);
    const std::int64_t bytes = window * static_cast<std::int64_t>(sizeof(Sum));
    if (bytes > clean_sums) {
      const std::int64_t more = std::min(2 * bytes, sums_bytes);
      std::fill(sums + clean_sums, sums + more, std::byte{0});
      clean_sums = more;
    }
    return reinterpret_cast<Sum*>(sums);
  }
  void open_marks(std::int64_t window) {
    if (window <= clean_marks) return;
    const std::int64_t more = std::min((2 * window + 4095) / 4096 * 4096, marks_columns);
    std::fill(marks.bytes + clean_marks, marks.bytes + more, std::uint8_t{0});
    std::fill(marks.bits + clean_marks / 64, marks.bits + more / 64, std::uint64_t{0});
    std::fill(marks.words + clean_marks / 64, marks.words + more / 64, std::uint8_t{0});
    clean_marks = more;
  }

  std::int64_t sums_bytes = 0;     ///< room
  std::int64_t marks_columns = 0;  ///< room, a multiple of 4096
};

/// Where rows are written, one behind the other: small results at once, large ones through a buffer that
/// stays in the caches and past them from there.
template <class Coordinate, class Value>
class RowOutput {
 public:
  /// @param columns,values  room for all elements, and row_slack
  /// @param buffer_columns,buffer_values  room for buffered() elements, those of a block of rows, and
  /// row_slack
  RowOutput(Coordinate* columns, Value* values, Coordinate* buffer_columns, Value* buffer_values)
      : columns_(columns), values_(values), buffer_columns_(buffer_columns), buffer_values_(buffer_values) {}

  static constexpr std::int64_t buffered() { return 2048; }
  /// Elements from which on a result goes past the caches.
  static constexpr std::int64_t most_at_once =
      (std::int64_t{16} << 20) / static_cast<std::int64_t>(sizeof(Value) + sizeof(Coordinate));

  Coordinate* columns() const { return streams_ ? buffer_columns_ + in_buffer_ : columns_ + size_; }
  Value* values() const { return streams_ ? buffer_values_ + in_buffer_ : values_ + size_; }

  /// `count` elements more have been written.
  void advance(std::int64_t count) {
    if (streams_) {
      in_buffer_ += count;
      if (in_buffer_ >= buffered()) flush();
    } else {
      size_ += count;
      streams_ = size_ > most_at_once;
    }
  }
  void flush() {
    if (in_buffer_ == 0) return;
    stream_copy(buffer_columns_, in_buffer_, columns_ + size_);
    stream_copy(buffer_values_, in_buffer_, values_ + size_);
    size_ += in_buffer_;
    in_buffer_ = 0;
    finish_stream_copies();
  }

  std::int64_t size() const { return size_; }

 private:
  Coordinate* columns_;
  Value* values_;
  Coordinate* buffer_columns_;
  Value* buffer_values_;
  std::int64_t size_ = 0, in_buffer_ = 0;
  bool streams_ = false;
};

/// Computes rows of A * B.
/// @tparam Acc  the type in which products are formed and summed
template <class Acc, class A, class B>
class RowProduct {
 public:
  /// @param even  even_length of b
  /// @param few   most rows are of a few products, and none are similar
  RowProduct(const A& a, const B& b, std::int64_t even, bool few, const SimilarRows& similar_a,
             const SimilarRows& similar_b, RowSpace<Acc>& space)
      : a_(a),
        b_(b),
        even_(even),
        few_(few && b.columns < std::int64_t{1} << 28),
        similar_a_(similar_a),
        similar_b_(similar_b),
        space_(space),
        diagonals_(a, b, similar_a, similar_b, space.diagonals, space.marks),
        shifts_(similar_a.shifts && similar_b.shifts),
        block_(rows_in_block(a.rows)),
        far_(!few &&
             b.nnz() * static_cast<std::int64_t>(sizeof(*b.values) + sizeof(*b.coordinates)) > near_bytes),
        last_safe_(b.nnz() - 4) {}

  /// Rows begin to end - 1, one behind the other, to where `output` stands, which moves on. `ends[r]` becomes
  /// the number of elements up to the end of row r, counted from `from`.
  /// @return the number of elements of all rows
  template <class Position, class Coordinate, class Value>
  std::int64_t compute(std::int64_t begin, std::int64_t end, std::int64_t from, Position* ends,
                       RowOutput<Coordinate, Value>& output) {
    std::int64_t size = 0;
    for (std::int64_t row = begin; row < end;) {
      const std::int64_t block_end = std::min(end, (row / block_ + 1) * block_);
      if (far_) fetch_ahead(row + 1);
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

  /// The values of rows begin to end - 1 of a product whose pattern is known.
  /// @param positions,columns  the pattern
  /// @param some_columns,some_values  room for the elements of a block of rows, and row_slack
  template <class Position, class Coordinate, class Value>
  void refill(std::int64_t begin, std::int64_t end, const Position* positions, const Coordinate* columns,
              Coordinate* some_columns, Value* some_values, Value* values) {
    for (std::int64_t row = begin; row < end;) {
      const std::int64_t block_end = std::min(end, (row / block_ + 1) * block_);
      if (far_) fetch_ahead(row + 1);
      const auto from = static_cast<std::int64_t>(positions[row]);
      const auto [rows, elements] = next<true>(row, block_end, columns + from, some_columns, some_values,
                                               static_cast<std::int64_t>(positions[row + 1]) - from);
      std::copy_n(some_values, rows * elements, values + from);
      row += rows;
    }
  }

 private:
  using Done = typename DiagonalProduct<Acc, A, B>::Done;

  /// Asks for the rows of B that row `row` of A names, and for the positions of those of the row behind it.
  SPOROS_HOST_INLINE void fetch_ahead(std::int64_t row) const {
    if (row + 1 >= a_.rows) return;
    const std::int64_t begin = a_.begin(row), end = std::min(a_.begin(row + 1), begin + most_ahead);
    for (std::int64_t q = begin; q < end; ++q) {
      const std::int64_t at = b_.begin(a_.coordinates[q]);
      SPOROS_PREFETCH(b_.coordinates + at);
      SPOROS_PREFETCH(b_.values + at);
    }
    const std::int64_t behind = std::min(a_.begin(row + 2), a_.begin(row + 1) + most_ahead);
    for (std::int64_t q = a_.begin(row + 1); q < behind; ++q)
      SPOROS_PREFETCH(b_.positions + a_.coordinates[q]);
  }

  /// The row and those behind it that go with it.
  /// @tparam Known   whether the columns of the product are known; `columns` are then written or not
  /// @param known    the columns of the row, `size` of them
  template <bool Known, class Coordinate, class Value>
  Done next(std::int64_t row, std::int64_t end, const Coordinate* known, Coordinate* columns, Value* values,
            std::int64_t size = 0) {
    const std::int64_t begin = a_.begin(row), count = a_.length(row);
    const auto* const a_columns = a_.coordinates + begin;
    if constexpr (few_in_lanes<Acc, A, B, Coordinate, Value>)
      if (few_ && count <= 8) {
        const std::int64_t elements =
            multiply_few_in_lanes(a_.values + begin, a_columns, count, b_, columns, values);
        if (elements >= 0) return {1, elements};
      }
    if (count == 0) return {1, 0};
    if (count == 1) return {1, scale(static_cast<Acc>(a_.values[begin]), a_columns[0], columns, values)};
    if (const std::int64_t rows = shifts_ ? diagonals_.rows_from(row, end) : 0) {
      space_.open_marks(diagonals_.window());
      return diagonals_.multiply(row, rows, columns, values);
    }
    const Reach reach = reach_of(a_columns, count, b_, even_);
    if (reach.products == 0) return {1, 0};
    if (reach.products <= 8) {
      const bool brief = reach.longest <= 4 && reach.last_begin <= last_safe_;
      if (b_.columns < std::int64_t{1} << 28)
        return {1, multiply_few<std::uint32_t, Acc, A>(a_.values + begin, a_columns, count, b_, brief,
                                                       columns, values)};
      return {1, multiply_few<std::uint64_t, Acc, A>(a_.values + begin, a_columns, count, b_, brief, columns,
                                                     values)};
    }
    const int alike =
        similar_a_.same ? static_cast<int>(std::min<std::int64_t>(similar_a_.same[row] + 1, end - row)) : 1;
    if (alike == 1 || reach.window > RowSpace<Acc>::widest_group)
      return {1, by_scatter<Known, 1>(row, 1, reach, known, size, columns, values)};
    if constexpr (RowSpace<Acc>::most_lanes == 8)
      if (alike > 4) {
        const int group = std::min(alike, 8);
        return {group, by_scatter<Known, 8>(row, group, reach, known, size, columns, values)};
      }
    const int group = alike == 5 || alike == 6 ? 3 : std::min(alike, 4);
    return {group, by_scatter<Known, 4>(row, group, reach, known, size, columns, values)};
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

  /// One row of B times a number.
  template <class Coordinate, class Value>
  std::int64_t scale(Acc factor, typename A::coordinate_type row, Coordinate* columns, Value* values) const {
    const std::int64_t begin = b_.begin(row), length = b_.length(row);
    for (std::int64_t t = 0; t < length; ++t) columns[t] = static_cast<Coordinate>(b_.coordinates[begin + t]);
    for (std::int64_t t = 0; t < length; ++t)
      values[t] = static_cast<Value>(factor * static_cast<Acc>(b_.values[begin + t]));
    return length;
  }

  static constexpr std::int64_t most_ahead = 64;  ///< rows of B asked for ahead of time
  /// Bytes of B from which on asking pays: what the caches near a core may not hold.
  static constexpr std::int64_t near_bytes = std::int64_t{1} << 20;

  const A& a_;
  const B& b_;
  const std::int64_t even_;
  const bool few_;
  const SimilarRows similar_a_, similar_b_;
  RowSpace<Acc>& space_;
  DiagonalProduct<Acc, A, B> diagonals_;
  const bool shifts_;
  const std::int64_t block_;
  float yield_ = 1;               ///< elements of a row made of a product, as the last row had them
  const bool far_;                ///< B's rows come from far
  const std::int64_t last_safe_;  ///< 4 elements of B can be read from here on
};

}  // namespace sporos::detail
