// SPDX-License-Identifier: Apache-2.0
/// @file merge_runs.hpp
/// The stages Sort and Merge for runs: runs of one row are added up, rows come out in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../../core/pool.hpp"
#include "../../formats/chunks.hpp"
#include "../../formats/radix_sort.hpp"
#include "../spgemm/host/product.hpp"
#include "runs.hpp"
#include "sorted_rows.hpp"

namespace sporos::detail {

/// Runs to be merged: run r has the row rows[r], or none where that is `no_key`, and the values positions[r]
/// to positions[r + 1] - 1.
template <class T, class Coordinate>
struct Runs {
  std::int64_t count = 0;
  HostArray<Key> rows;                // [count]
  HostArray<std::int64_t> positions;  // [count + 1]
  const Coordinate* coordinates = nullptr;
  const T* values = nullptr;
};

/// The rows of runs with the numbers of the runs, as a sort reads them.
struct NumberedRuns {
  static constexpr bool is_exact = false;
  const Key* rows;
  std::int64_t count;

  std::int64_t size() const { return count; }
  template <class Visitor>
  void visit(std::int64_t begin, std::int64_t end, const Visitor& visitor) const {
    for (std::int64_t run = begin; run < end; ++run)
      if (rows[run] != no_key) visitor(rows[run], static_cast<std::int32_t>(run));
  }
};

/// Merges runs.
///
/// The runs of one row are to be added up: that is a product of sparse matrices, P * R. Row n of P has a one
/// for each run of the n-th row, row r of R is run r. So sorting the numbers of the runs by their rows makes
/// P, and the product by rows does the rest, on all threads. Values of one coordinate are added in the order
/// of the runs, whatever the number of threads.
///
/// @param columns   the extent of the last level
/// @param row_bits  bits of the rows in use
template <class Value, class Position, class T, class Coordinate>
SortedRows<Value, Position, Coordinate> merge_runs(const HostThreads& threads,
                                                   const Runs<T, Coordinate>& runs, std::int64_t columns,
                                                   int row_bits) {
  const NumberedRuns source{runs.rows.data(), runs.count};
  const Key matter = (Key{1} << row_bits) - 1;
  const StableSort<std::int32_t> sorted(
      threads, partition_by_leading_bits<std::int32_t>(threads, source, row_bits, matter), matter);
  const std::int64_t count = sorted.size();
  const Key* const keys = sorted.keys();
  std::int64_t rows = 0;
  for (std::int64_t n = 0; n < count; ++n) rows += n == 0 || keys[n] != keys[n - 1];

  SortedRows<Value, Position, Coordinate> out;
  out.rows = pool().array<Key>("sporos::rows", rows);
  const auto begins = pool().array<std::int64_t>("sporos::positions", rows + 1);
  std::int64_t row = 0;
  for (std::int64_t n = 0; n < count; ++n)
    if (n == 0 || keys[n] != keys[n - 1]) {
      out.rows.data()[row] = keys[n];
      begins.data()[row++] = n;
    }
  begins.data()[rows] = count;
  const auto ones = pool().array<T>("sporos::ones", count);
  std::fill_n(ones.data(), count, T{1});

  using P = SparseRows<T, std::int64_t, std::int32_t>;
  using R = SparseRows<T, std::int64_t, Coordinate>;
  const P p{rows, runs.count, begins.data(), sorted.values()->data(), ones.data()};
  const R r{runs.count, columns, runs.positions.data(), runs.coordinates, runs.values};
  ProductByRows<T, P, R, Value, Position, Coordinate> product(threads, p, r);
  product.prepare();
  out.arrays = product.compute();
  return out;
}

}  // namespace sporos::detail
