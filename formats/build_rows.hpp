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
#include <optional>
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

/// Builds tensors of row formats from entries that come in ascending order within each row, each coordinate
/// once, so that a stable counting sort by rows suffices. Its functions return nothing where the general way
/// is faster.
template <HostSpace Space, TensorFormat F, TensorValue Value>
  requires is_row_format<F>
class RowBuilder {
 public:
  using level_type = typename F::template level<1>;
  using Position = typename level_type::position_type;
  using Coordinate = typename level_type::coordinate_type;
  using tensor_type = Tensor<Value, F, Space>;

  RowBuilder(const Space& space, const Packing<F, 1>& packing, const Extents<F::order>& extents)
      : space_(space), packing_(packing), extents_(extents), rows_(F::level_extents(extents)[0]) {}

  /// From few entries; on one thread.
  template <class Source>
  std::optional<tensor_type> build_few_in_order(const Source& source) {
    if (!Source::exact || !are_few(source.size())) return {};
    start(source.size());
    const Packing<F, 1> packing = packing_;
    Position* const ends = segments_.positions.data() + 1;
    std::fill_n(ends, rows_, Position{0});
    source.visit(0, source.size(),
                 [&](const auto& key, const auto&) { ++ends[packing.template coordinate<0>(key)]; });
    sum_to_begins(ends, rows_);
    values_ = make_array<Value>("sporos::Tensor values", source.size());
    Coordinate* const coordinates = segments_.coordinates.data();
    Value* const values = values_.data();
    source.visit(0, source.size(), [=](const auto& key, const auto& value) {
      const Position at = ends[packing.template coordinate<0>(key)]++;
      coordinates[at] = static_cast<Coordinate>(packing.template coordinate<1>(key));
      values[at] = value;
    });
    return finish();
  }

  /// From entries partitioned by their leading bits.
  std::optional<tensor_type> build_in_order(const Partitioned<1, Value>& parts) {
    const int shift = packing_.template bits<0>() - parts.digit.bits;
    const std::int64_t count = parts.count();
    const std::int64_t largest = parts.largest();
    if (count == 0 || !std::in_range<Position>(count) || shift < 0 || largest > most_together) return {};
    const std::int64_t rows_together = std::min(rows_, std::int64_t{1} << shift);
    if (rows_together > 16 * largest + 1024) return {};
    start(count);
    values_ = parts.values;
    const auto part_count = static_cast<std::int64_t>(parts.bounds.size()) - 1;
    const std::int64_t threads =
        count <= few_items ? 1 : std::min<std::int64_t>(space_.concurrency(), part_count);
    const ScratchArray<std::uint32_t> ends(threads * rows_together);
    const ScratchArray<Value> values(threads * largest);
    std::atomic<std::int64_t> next{0};
    for_each_worker(space_, threads, [&](std::int64_t thread) {
      for (std::int64_t part = next++; part < part_count; part = next++)
        place_part(parts, part, std::min(part << shift, rows_), std::min((part + 1) << shift, rows_),
                   ends.data() + thread * rows_together, values.data() + thread * largest);
    });
    Position* const positions = segments_.positions.data();
    std::fill(positions + std::min(part_count << shift, rows_) + 1, positions + rows_ + 1,
              static_cast<Position>(count));
    return finish();
  }

 private:
  static constexpr std::int64_t few_alone = 1 << 18;  ///< entries that fit in cache without being partitioned
  static constexpr std::int64_t most_together = 1 << 16;  ///< entries of a part that fit in a core's cache

  bool are_few(std::int64_t count) const {
    const std::int64_t most = space_.concurrency() == 1 ? few_alone : few_items;
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
  void place_part(const Partitioned<1, Value>& parts, std::int64_t part, std::int64_t first,
                  std::int64_t last, std::uint32_t* ends, Value* values) const {
    const Packing<F, 1> packing = packing_;
    const std::int64_t begin = parts.bounds[static_cast<std::size_t>(part)];
    const std::int64_t count = parts.bounds[static_cast<std::size_t>(part) + 1] - begin;
    const Key<1>* const keys = parts.keys.data() + begin;
    Value* const home = values_.data() + begin;
    Coordinate* const coordinates = segments_.coordinates.data() + begin;
    std::fill_n(ends, last - first, 0);
    for (std::int64_t e = 0; e < count; ++e) ++ends[packing.template coordinate<0>(keys[e]) - first];
    std::uint32_t sum = 0;
    Position* const positions = segments_.positions.data() + first + 1;
    for (std::int64_t row = 0; row < last - first; ++row) {
      sum += std::exchange(ends[row], sum);
      positions[row] = static_cast<Position>(begin + sum);
    }
    for (std::int64_t e = 0; e < count; ++e) {
      const std::uint32_t at = ends[packing.template coordinate<0>(keys[e]) - first]++;
      coordinates[at] = static_cast<Coordinate>(packing.template coordinate<1>(keys[e]));
      values[at] = home[e];
    }
    std::copy_n(values, count, home);
  }

  tensor_type finish() {
    using Levels = typename tensor_type::level_storage;
    Levels levels;
    std::get<0>(levels) = std::tuple_element_t<0, Levels>::empty(1, rows_);
    std::get<1>(levels) = std::tuple_element_t<1, Levels>::template from_segments<Space>(
        std::move(segments_), rows_, F::level_extents(extents_)[1]);
    return tensor_type(extents_, std::move(levels), values_);
  }

  const Space& space_;
  Packing<F, 1> packing_;
  Extents<F::order> extents_;
  std::int64_t rows_;
  SegmentsOf<level_type> segments_;
  Array<Value> values_;
};

}  // namespace sporos::detail
