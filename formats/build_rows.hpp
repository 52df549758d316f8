// SPDX-License-Identifier: Apache-2.0
/// @file build_rows.hpp
/// Builds formats of rows (a full level over one that stores coordinates: CSR, CSC) by a counting sort over
/// the rows.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "../core/array.hpp"
#include "../core/tensor.hpp"
#include "chunks.hpp"
#include "keys.hpp"
#include "radix_sort.hpp"
#include "structure.hpp"

namespace sporos::detail {

/// Whether RowBuilder can make tensors of format F.
template <TensorFormat F>
inline constexpr bool is_row_format = [] {
  if constexpr (F::levels == 2)
    return Structure<F>::full(0) && Structure<F>::segmented(1) && Structure<F>::unique(1);
  else
    return false;
}();

/// Builds tensors of row formats from entries that ascend within each row and repeat no coordinate, so that a
/// stable counting sort by rows suffices.
template <TensorFormat F, TensorValue Value>
  requires is_row_format<F>
class RowBuilder {
 public:
  using level_type = typename F::template level<1>;
  using Position = typename level_type::position_type;
  using Coordinate = typename level_type::coordinate_type;

  RowBuilder(const HostThreads& threads, const Packing<F>& packing, const Extents<F::order>& extents)
      : threads_(threads),
        row_(packing.template bits_of<0>()),
        column_(packing.template bits_of<1>()),
        extents_(extents),
        rows_(F::level_extents(extents)[0]) {}

  /// Sorts few entries on one thread.
  /// @return false, having done nothing, if the general way is faster
  template <class Source>
  bool sort_few(const Source& source) {
    if (!Source::is_exact || !are_few(source.size())) return false;
    start(source.size());
    Position* const ends = segments_.positions.data() + 1;
    std::fill_n(ends, rows_, Position{0});
    source.visit(0, source.size(), [ends, row = row_](Key key, const Value&) { ++ends[row.of(key)]; });
    sum_to_begins(ends, rows_);
    values_ = make_array<Value>("sporos::Tensor values", source.size());
    Coordinate* const coordinates = segments_.coordinates.data();
    Value* const values = values_.data();
    source.visit(0, source.size(), [=, row = row_, column = column_](Key key, const Value& value) {
      const Position at = ends[row.of(key)]++;
      coordinates[at] = static_cast<Coordinate>(column.of(key));
      values[at] = value;
    });
    return true;
  }

  /// Sorts entries partitioned by their leading bits.
  /// @return false, having done nothing, if the general way is faster
  bool sort(const Partitioned<Value>& parts) {
    const int shift = row_.width - parts.digit.bits;
    const std::int64_t count = parts.count();
    const std::int64_t largest = parts.largest();
    if (count == 0 || !std::in_range<Position>(count) || shift < 0 || largest > most_together) return false;
    const std::int64_t rows_together = std::min(rows_, std::int64_t{1} << shift);
    if (rows_together > 16 * largest + 1024) return false;
    start(count);
    values_ = parts.values;
    const auto part_count = static_cast<std::int64_t>(parts.bounds.size()) - 1;
    const std::int64_t threads =
        count <= few_items ? 1 : std::min<std::int64_t>(threads_.concurrency(), part_count);
    const ScratchArray<std::uint32_t> ends(threads * rows_together);
    const ScratchArray<Value> values(threads * largest);
    std::atomic<std::int64_t> next{0};
    for_each_worker(threads_, threads, [&](std::int64_t thread) {
      for (std::int64_t part = next++; part < part_count; part = next++)
        place_part(parts, part, std::min(part << shift, rows_), std::min((part + 1) << shift, rows_),
                   ends.data() + thread * rows_together, values.data() + thread * largest);
    });
    Position* const positions = segments_.positions.data();
    std::fill(positions + std::min(part_count << shift, rows_) + 1, positions + rows_ + 1,
              static_cast<Position>(count));
    return true;
  }

  /// The tensor of the entries that have been sorted.
  template <HostSpace Space>
  Tensor<Value, F, Space> tensor() {
    using Levels = typename Tensor<Value, F, Space>::level_storage;
    Levels levels;
    std::get<0>(levels) = std::tuple_element_t<0, Levels>::empty(1, rows_);
    std::get<1>(levels) = std::tuple_element_t<1, Levels>::template from_segments<Space>(
        std::move(segments_), rows_, F::level_extents(extents_)[1]);
    return Tensor<Value, F, Space>(extents_, std::move(levels), values_);
  }

 private:
  static constexpr std::int64_t few_alone = 1 << 18;  ///< entries that fit in cache without being partitioned
  static constexpr std::int64_t most_together = 1 << 16;  ///< entries of a part that fit in a core's cache

  bool are_few(std::int64_t count) const {
    const std::int64_t most = threads_.concurrency() == 1 ? few_alone : few_items;
    return std::in_range<Position>(count) && count <= most && rows_ <= 2 * count + 1024;
  }

  void start(std::int64_t count) {
    level_type::check_extent(F::level_extents(extents_)[1]);
    segments_ = SegmentsOf<level_type>::with_room(rows_, count);
  }

  template <class Count>
  static void sum_to_begins(Count* counts, std::int64_t length) {
    Count sum = 0;
    for (std::int64_t at = 0; at < length; ++at) {
      const Count count = counts[at];
      counts[at] = sum;
      sum = static_cast<Count>(sum + count);
    }
  }

  /// Puts the rows [first, last) of one part into order.
  /// @param ends    scratch, [last - first]
  /// @param values  scratch, [entries of the part]
  void place_part(const Partitioned<Value>& parts, std::int64_t part, std::int64_t first, std::int64_t last,
                  std::uint32_t* ends, Value* values) const {
    const KeyBits row_bits = row_, column_bits = column_;
    const std::int64_t begin = parts.bounds[static_cast<std::size_t>(part)];
    const std::int64_t count = parts.bounds[static_cast<std::size_t>(part) + 1] - begin;
    const Key* const keys = parts.keys.data() + begin;
    Value* const home = values_.data() + begin;
    Coordinate* const coordinates = segments_.coordinates.data() + begin;
    std::fill_n(ends, last - first, 0);
    for (std::int64_t e = 0; e < count; ++e) ++ends[row_bits.of(keys[e]) - first];
    std::uint32_t sum = 0;
    Position* const positions = segments_.positions.data() + first + 1;
    for (std::int64_t row = 0; row < last - first; ++row) {
      sum += std::exchange(ends[row], sum);
      positions[row] = static_cast<Position>(begin + sum);
    }
    for (std::int64_t e = 0; e < count; ++e) {
      const std::uint32_t at = ends[row_bits.of(keys[e]) - first]++;
      coordinates[at] = static_cast<Coordinate>(column_bits.of(keys[e]));
      values[at] = home[e];
    }
    std::copy_n(values, count, home);
  }

  HostThreads threads_;
  KeyBits row_, column_;
  Extents<F::order> extents_;
  std::int64_t rows_;
  SegmentsOf<level_type> segments_;
  Array<Value> values_;
};

}  // namespace sporos::detail
