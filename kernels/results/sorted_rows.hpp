// SPDX-License-Identifier: Apache-2.0
/// @file sorted_rows.hpp
/// The stage Compress where results come in rows: sorted rows become the levels of a result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../../core/pool.hpp"
#include "../../formats/build_rows.hpp"
#include "../../formats/keyed_entries.hpp"
#include "../spgemm/host/multiply.hpp"
#include "replace.hpp"

namespace sporos::detail {

/// Rows in ascending order, each once, of coordinates in ascending order, each once.
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

/// The type of the coordinates of a level, 64 bits where it stores none.
template <class Level>
struct CoordinateOf {
  using type = std::int64_t;
};
template <class Level>
  requires requires { typename Level::coordinate_type; }
struct CoordinateOf<Level> {
  using type = typename Level::coordinate_type;
};

/// Makes a result of its rows.
template <HostSpace Space, class Value, TensorFormat F, class Position, class Coordinate>
void replace_by_rows(const Space& space, const Tensor<Value, F, Space>& result, const Packing<F>& packing,
                     const SortedRows<Value, Position, Coordinate>& sorted) {
  if constexpr (is_row_format<F>) {
    const std::int64_t rows = F::level_extents(result.extents())[0];
    const int shift = packing.template bits_of<0>().shift;
    ProductArrays<Value, Position, Coordinate> arrays{pool().array<Position>("sporos::positions", rows + 1),
                                                      sorted.arrays.coordinates, sorted.arrays.values};
    std::int64_t row = 0;
    for (std::int64_t n = 0; n < static_cast<std::int64_t>(sorted.rows.extent(0)); ++n) {
      const auto at = static_cast<std::int64_t>(sorted.rows.data()[n] >> shift);
      while (row <= at) arrays.positions.data()[row++] = sorted.arrays.positions.data()[n];
    }
    while (row <= rows) arrays.positions.data()[row++] = static_cast<Position>(sorted.size());
    replace_rows(result, std::move(arrays));
  } else {
    replace_by_entries(space, result, packing, RowEntries<Value, Position, Coordinate>(sorted));
  }
}

}  // namespace sporos::detail
