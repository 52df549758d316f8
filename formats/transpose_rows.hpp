// SPDX-License-Identifier: Apache-2.0
/// @file transpose_rows.hpp
/// Converts a matrix stored by rows to one stored by columns, or the reverse: a counting sort without keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../core/level.hpp"
#include "../core/pool.hpp"
#include "../core/tensor.hpp"
#include "build_rows.hpp"
#include "chunk_counts.hpp"
#include "chunks.hpp"
#include "near_rows.hpp"

namespace sporos::detail {

/// Whether the rows of matrices of one format are the columns of matrices of the other: CSR and CSC.
template <TensorFormat From, TensorFormat To>
inline constexpr bool are_transposed_rows = [] {
  if constexpr (From::order == 2 && is_row_format<From> && is_row_format<To> && !From::is_blocked &&
                !To::is_blocked)
    return From::mode_of_level[0] == To::mode_of_level[1] && From::mode_of_level[1] == To::mode_of_level[0] &&
           StoresSegments<typename From::template level<1>> && StoresSegments<typename To::template level<1>>;
  else
    return false;
}();

/// The rows of a matrix, read from its view.
template <class View>
struct RowsOfView {
  std::int64_t rows;
  View view;
  decltype(View::coordinates) coordinates = view.coordinates;

  std::int64_t begin(std::int64_t row) const { return static_cast<std::int64_t>(view.positions[row]); }
};

/// Converts between such formats. Each nonzero is written once, directly to its place; if the places are
/// spread over more memory than the caches hold, partitioning the nonzeros first is faster.
/// @return nothing if another way is faster, or has to report what is wrong
template <TensorFormat To, HostSpace Space, TensorValue Value, TensorFormat From>
  requires are_transposed_rows<From, To>
std::optional<Tensor<Value, To, Space>> transpose_rows(const Space& space,
                                                       const Tensor<Value, From, Space>& t) {
  using Level = typename To::template level<1>;
  using Position = typename Level::position_type;
  using Coordinate = typename Level::coordinate_type;
  constexpr std::int64_t in_caches = std::int64_t{1} << 19;  // number of nonzeros that stay there wherever
                                                             // they go
  const HostThreads threads(space);
  const auto extents = To::level_extents(t.extents());
  const std::int64_t rows = extents[0], columns = extents[1], count = t.nnz();
  const std::int64_t chunks = std::min(chunks_for(threads, count), std::max<std::int64_t>(columns, 1));
  if (count == 0 || !std::in_range<Position>(count) || !std::in_range<Coordinate>(columns - 1) ||
      !ChunkCounts::pay(rows, count, chunks))
    return std::nullopt;
  const auto view = t.template level<1>().view();
  const RowsOfView<std::remove_const_t<decltype(view)>> source{columns, view};
  if (count > in_caches && !has_near_rows(source)) return std::nullopt;

  // Each chunk is a range of columns, with about the same number of nonzeros as the others.
  const auto cut = [&](std::int64_t chunk) {
    const std::int64_t wanted = chunk_bounds(count, chunk, chunks).first;
    return chunk == chunks
               ? columns
               : std::lower_bound(view.positions, view.positions + columns, wanted) - view.positions;
  };
  ChunkCounts counts(chunks, rows);
  for_each_chunk(threads, chunks, [&](std::int64_t chunk) {
    counts.clear(chunk);
    std::int32_t* const of = counts.of(chunk);
    const std::int64_t end = source.begin(cut(chunk + 1));
    for (std::int64_t q = source.begin(cut(chunk)); q < end; ++q) ++of[view.coordinates[q]];
  });
  counts.sum(threads);
  const auto positions = pool().array<Position>("sporos::positions", rows + 1);
  const auto coordinates = pool().array<Coordinate>("sporos::coordinates", count);
  const auto values = pool().array<Value>("sporos::Tensor values", count);
  positions.data()[0] = 0;
  counts.make_places(threads,
                     [to = positions.data()](std::int64_t row, const ChunkCounts::Sum&, std::int64_t end) {
                       to[row + 1] = static_cast<Position>(end);
                     });
  for_each_chunk(threads, chunks, [&](std::int64_t chunk) {
    std::int32_t* const next = counts.of(chunk);
    Coordinate* const to_coordinates = coordinates.data();
    Value* const to_values = values.data();
    const Value* const from = t.values().data();
    const std::int64_t end = cut(chunk + 1);
    for (std::int64_t column = cut(chunk); column < end; ++column)
      for (std::int64_t q = source.begin(column), behind = source.begin(column + 1); q < behind; ++q) {
        const std::int32_t place = next[view.coordinates[q]]++;
        to_coordinates[place] = static_cast<Coordinate>(column);
        to_values[place] = from[q];
      }
  });

  using Levels = typename Tensor<Value, To, Space>::level_storage;
  Levels levels;
  std::get<0>(levels) = std::tuple_element_t<0, Levels>::empty(1, rows);
  std::get<1>(levels) = std::tuple_element_t<1, Levels>::template from_segments<Space>(
      {Array<Position>(positions), Array<Coordinate>(coordinates)}, rows, columns);
  return Tensor<Value, To, Space>(t.extents(), std::move(levels), Array<Value>(values));
}

}  // namespace sporos::detail
