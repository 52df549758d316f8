// SPDX-License-Identifier: Apache-2.0
/// @file sorted_rows.hpp
/// The stage Compress for results that come in rows: sorted rows become the levels of a result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../../core/pool.hpp"
#include "../../formats/build_rows.hpp"
#include "../../formats/chunks.hpp"
#include "../../formats/keyed_entries.hpp"
#include "../spgemm/host/multiply.hpp"
#include "replace.hpp"

namespace sporos::detail {

/// Rows in ascending order, each once, whose coordinates ascend without repetitions.
template <class Value, class Position, class Coordinate>
struct SortedRows {
  HostArray<Key> rows;  // [rows] the coordinates of all levels but the last, packed
  ProductArrays<Value, Position, Coordinate> arrays;

  std::int64_t size() const { return static_cast<std::int64_t>(arrays.values.extent(0)); }
};

/// Sorted rows as entries of a format, in the order of its levels.
template <class Value, class Position, class Coordinate>
class RowEntries final : public KeyedEntries<Value> {
 public:
  explicit RowEntries(const SortedRows<Value, Position, Coordinate>& rows)
      : rows_(rows), values_(Array<Value>(rows.arrays.values)) {}

  std::int64_t size() const override { return rows_.size(); }
  typename KeyedEntries<Value>::Block read(std::int64_t begin, std::int64_t end,
                                           typename KeyedEntries<Value>::Buffer& buffer) const override {
    const std::int64_t count = std::min(end - begin, KeyedEntries<Value>::most);
    const Position* const positions = rows_.arrays.positions.data();
    const Position* const last = positions + rows_.rows.extent(0);
    const Position* row = std::upper_bound(positions, last, static_cast<Position>(begin)) - 1;
    for (std::int64_t e = 0; e < count; ++e) {
      while (static_cast<std::int64_t>(row[1]) <= begin + e) ++row;
      buffer.keys[e] =
          rows_.rows.data()[row - positions] | static_cast<Key>(rows_.arrays.coordinates.data()[begin + e]);
    }
    return {buffer.keys, rows_.arrays.values.data() + begin, count};
  }
  const Array<Value>* values() const override { return &values_; }

 private:
  const SortedRows<Value, Position, Coordinate>& rows_;
  Array<Value> values_;
};

/// The type of the coordinates of a level; 64 bits wide if it stores none.
template <class Level>
struct CoordinateOf {
  using type = std::int64_t;
};
template <class Level>
  requires requires { typename Level::coordinate_type; }
struct CoordinateOf<Level> {
  using type = typename Level::coordinate_type;
};

/// The format made of all levels of F but the last.
template <class F>
struct OuterFormat;
template <class... Expressions, class... Levels>
struct OuterFormat<Format<Map<Expressions...>, Levels...>> {
  template <std::size_t... K>
  static auto outer(std::index_sequence<K...>)
      -> Format<Map<Dim<static_cast<int>(K)>...>, std::tuple_element_t<K, std::tuple<Levels...>>...>;
  using type = decltype(outer(std::make_index_sequence<sizeof...(Levels) - 1>{}));
};

/// Whether the last level of F stores segments of coordinates, one for each position of the level above it,
/// and these are the rows. The outer levels are then built from the rows, and the last one exists already.
template <TensorFormat F>
inline constexpr bool has_row_levels = [] {
  constexpr int last = F::levels - 1;
  if (F::is_blocked || last < 1) return false;
  for (int k = 0; k < last; ++k)
    if (!Structure<F>::unique(k)) return false;
  return Structure<F>::segmented(last) && Structure<F>::unique(last) && Structure<F>::segmented(last - 1);
}();

/// The keys of rows, without the bits of the last level. They have no values.
class RowKeys final : public KeyedEntries<std::uint8_t> {
 public:
  RowKeys(const HostArray<Key>& rows, int shift)
      : rows_(rows), shift_(shift), values_(make_array<std::uint8_t>("sporos::rows", size())) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(rows_.extent(0)); }
  Block read(std::int64_t begin, std::int64_t end, Buffer& buffer) const override {
    const std::int64_t count = std::min(end - begin, most);
    for (std::int64_t n = 0; n < count; ++n) buffer.keys[n] = rows_.data()[begin + n] >> shift_;
    return {buffer.keys, values_.data() + begin, count};
  }
  const Array<std::uint8_t>* values() const override { return &values_; }

 private:
  const HostArray<Key>& rows_;
  int shift_;
  Array<std::uint8_t> values_;
};

/// Makes the result: its outer levels from the rows, and the last one from their coordinates.
template <HostSpace Space, class Value, TensorFormat F, class Position, class Coordinate>
void replace_by_row_levels(const Space& space, const Tensor<Value, F, Space>& result,
                           const Packing<F>& packing, const SortedRows<Value, Position, Coordinate>& sorted) {
  constexpr int last = F::levels - 1;
  using Outer = typename OuterFormat<F>::type;
  const auto extents = F::level_extents(result.extents());
  Extents<last> outer_extents{};
  std::copy_n(extents.begin(), last, outer_extents.begin());
  const RowKeys keys(sorted.rows, packing.template bits_of<last>().width);
  const auto outer =
      Builder<Outer, std::uint8_t>(space, keys, Packing<Outer>(largest_coordinates<Outer>(outer_extents)),
                                   outer_extents, Duplicates::sum, true)
          .template build<Space>();
  using Level = std::remove_cvref_t<decltype(result.template level<last>())>;
  auto columns = Level::template from_segments<Space>({sorted.arrays.positions, sorted.arrays.coordinates},
                                                      keys.size(), extents[last]);
  result.replace(result.extents(), std::tuple_cat(outer.levels(), std::tuple(std::move(columns))),
                 Array<Value>(sorted.arrays.values));
}

/// Makes the result from its rows.
template <HostSpace Space, class Value, TensorFormat F, class Position, class Coordinate>
void replace_by_rows(const Space& space, const Tensor<Value, F, Space>& result, const Packing<F>& packing,
                     const SortedRows<Value, Position, Coordinate>& sorted) {
  if constexpr (is_row_format<F>) {
    const std::int64_t rows = F::level_extents(result.extents())[0];
    const int shift = packing.template bits_of<0>().shift;
    ProductArrays<Value, Position, Coordinate> arrays{pool().array<Position>("sporos::positions", rows + 1),
                                                      sorted.arrays.coordinates, sorted.arrays.values};
    const auto stored = static_cast<std::int64_t>(sorted.rows.extent(0));
    const auto row_of = [&](std::int64_t n) {
      return static_cast<std::int64_t>(sorted.rows.data()[n] >> shift);
    };
    // The position of a row is that of the first stored row at or after it.
    const auto place_rows = [&](std::int64_t begin, std::int64_t end, std::int64_t) {
      std::int64_t row = begin > 0 ? row_of(begin - 1) + 1 : 0;
      for (std::int64_t n = begin; n < end; ++n)
        while (row <= row_of(n)) arrays.positions.data()[row++] = sorted.arrays.positions.data()[n];
    };
    for_each_part(space, stored, chunks_for(space, stored), place_rows);
    for (std::int64_t row = stored > 0 ? row_of(stored - 1) + 1 : 0; row <= rows; ++row)
      arrays.positions.data()[row] = static_cast<Position>(sorted.size());
    replace_rows(result, std::move(arrays));
  } else {
    if constexpr (has_row_levels<F>)
      if (sorted.size() > 0) return replace_by_row_levels(space, result, packing, sorted);
    replace_by_entries(space, result, packing, RowEntries<Value, Position, Coordinate>(sorted));
  }
}

}  // namespace sporos::detail
