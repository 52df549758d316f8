// SPDX-License-Identifier: Apache-2.0
/// @file row_output.hpp
/// Where rows of the product are written: one after another, bypassing the caches once there are many.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "../../../core/large_pages.hpp"
#include "../../../core/stream_copy.hpp"
#include "marks.hpp"

namespace sporos::detail {

/// How many elements computing a row may write past its last one: the columns of a whole word of marks, or
/// the 8 products of a short row.
inline constexpr std::int64_t row_slack = order_slack + 8;

/// Where rows are written, one after another: directly while the result may fit in the caches; after that
/// into a buffer that stays in the caches, and from there to memory, bypassing them.
template <class Coordinate, class Value>
class RowOutput {
 public:
  /// @param columns,values  with room for all elements and row_slack
  /// @param buffer_columns,buffer_values  with room for buffered() elements, those of a block of rows,
  ///                                      and row_slack
  RowOutput(Coordinate* columns, Value* values, Coordinate* buffer_columns, Value* buffer_values)
      : columns_(columns), values_(values), buffer_columns_(buffer_columns), buffer_values_(buffer_values) {}

  /// Makes pages of the arrays be populated ahead of the rows.
  void populate(PopulateAhead columns, PopulateAhead values) {
    column_pages_ = columns;
    value_pages_ = values;
    look_ahead();
  }

  /// The bytes at the front of the arrays that have been populated.
  std::int64_t populated_columns() const { return column_pages_.backed(); }
  std::int64_t populated_values() const { return value_pages_.backed(); }

  /// The number of elements from which on the buffer is emptied.
  static constexpr std::int64_t buffered() { return 2048; }
  /// The number of elements from which on a result bypasses the caches.
  static constexpr std::int64_t most_at_once =
      (std::int64_t{16} << 20) / static_cast<std::int64_t>(sizeof(Value) + sizeof(Coordinate));

  /// Where the next row is to be written.
  Coordinate* columns() const { return streams_ ? buffer_columns_ + in_buffer_ : columns_ + size_; }
  Value* values() const { return streams_ ? buffer_values_ + in_buffer_ : values_ + size_; }

  /// Says that `count` more elements have been written.
  void advance(std::int64_t count) {
    if (streams_) {
      in_buffer_ += count;
      if (in_buffer_ >= buffered()) flush();
    } else {
      size_ += count;
      if (size_ > next_look_) [[unlikely]]
        look_ahead();
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

  /// The number of elements written, once they are flushed.
  std::int64_t size() const { return size_; }

 private:
  /// Prepares for the elements after those written so far, and records after how many to do so next.
  void look_ahead() {
    streams_ = size_ > most_at_once;
    next_look_ = most_at_once;
    const auto populate = [&](PopulateAhead& pages, std::int64_t element_bytes) {
      pages.after((size_ + row_slack) * element_bytes);
      if (!pages.is_done()) next_look_ = std::min(next_look_, pages.backed() / element_bytes - row_slack);
    };
    populate(column_pages_, sizeof(Coordinate));
    populate(value_pages_, sizeof(Value));
  }

  Coordinate* columns_;
  Value* values_;
  Coordinate* buffer_columns_;
  Value* buffer_values_;
  std::int64_t size_ = 0, in_buffer_ = 0;
  std::int64_t next_look_ = most_at_once;
  PopulateAhead column_pages_, value_pages_;
  bool streams_ = false;
};

}  // namespace sporos::detail
