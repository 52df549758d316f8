// SPDX-License-Identifier: Apache-2.0
/// @file merge_runs.hpp
/// The stages Sort and Merge for runs: runs of one row are added up, and rows come out in order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../core/pool.hpp"
#include "../../formats/chunk_counts.hpp"
#include "../../formats/chunks.hpp"
#include "../../formats/radix_sort.hpp"
#include "../spgemm/host/product.hpp"
#include "fiber_runs.hpp"
#include "runs.hpp"
#include "sorted_rows.hpp"

namespace sporos::detail {

/// Runs to be merged. Run r belongs to row rows[r], or to none if that is `no_key`, and has the values
/// positions[r] to positions[r + 1] - 1.
template <class T, class Coordinate>
struct Runs {
  std::int64_t count = 0;
  HostArray<Key> rows;                // [count]
  HostArray<std::int64_t> positions;  // [count + 1]
  const Coordinate* coordinates = nullptr;
  const T* values = nullptr;
};

/// The all array: what has been merged so far, one merge after another, as runs: one for each row of each
/// merge.
template <class T, class Coordinate>
class MergedRuns {
 public:
  using Rows = SortedRows<T, std::int64_t, Coordinate>;

  /// @param most  the largest possible number of values; memory that is not written is not touched
  explicit MergedRuns(std::int64_t most) { reserve(std::min(most, most_reserved) + row_slack); }

  bool empty() const { return merges_.empty(); }
  /// The number of values.
  std::int64_t size() const { return size_; }
  /// The number of values of the first merge.
  std::int64_t first_size() const { return merges_.front().size(); }

  /// Memory for the values of the next merge.
  std::pair<HostArray<Coordinate>, HostArray<T>> room() const {
    const auto rest = std::pair(size_, static_cast<std::int64_t>(values_.extent(0)));
    return {Kokkos::subview(coordinates_, rest), Kokkos::subview(values_, rest)};
  }
  /// Adds a merge, whose values are in that memory, or elsewhere if it was too small.
  void add(const Rows& rows) {
    if (rows.arrays.values.data() != values_.data() + size_) {
      if (size_ + rows.size() > static_cast<std::int64_t>(values_.extent(0))) grow(size_ + rows.size());
      std::copy_n(rows.arrays.coordinates.data(), rows.size(), coordinates_.data() + size_);
      std::copy_n(rows.arrays.values.data(), rows.size(), values_.data() + size_);
    }
    merges_.push_back(rows);
    size_ += rows.size();
  }

  Runs<T, Coordinate> runs(const HostThreads& threads) const {
    Runs<T, Coordinate> out;
    for (const Rows& some : merges_) out.count += static_cast<std::int64_t>(some.rows.extent(0));
    out.rows = pool().array<Key>("sporos::rows", out.count);
    out.positions = pool().array<std::int64_t>("sporos::positions", out.count + 1);
    std::int64_t row = 0, at = 0;
    for (const Rows& some : merges_) {
      const auto count = static_cast<std::int64_t>(some.rows.extent(0));
      const auto copy = [&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (std::int64_t n = begin; n < end; ++n) {
          out.rows.data()[row + n] = some.rows.data()[n];
          out.positions.data()[row + n] = at + some.arrays.positions.data()[n];
        }
      };
      for_each_part(threads, count, chunks_for(threads, count), copy);
      row += count;
      at += some.size();
    }
    out.positions.data()[row] = at;
    out.coordinates = coordinates_.data();
    out.values = values_.data();
    return out;
  }

  /// Hands the memory back to the pool.
  void release() {
    pool().keep(coordinates_, size_);
    pool().keep(values_, size_);
    *this = MergedRuns(0);
  }

 private:
  /// The number of values for which memory is reserved before it is known how many there will be.
  static constexpr std::int64_t most_reserved = std::int64_t{1} << 28;

  void reserve(std::int64_t capacity) {
    coordinates_ = pool().reserve<Coordinate>("sporos::merged coordinates", capacity);
    values_ = pool().reserve<T>("sporos::merged values", capacity);
  }
  void grow(std::int64_t least) {
    const auto coordinates = coordinates_;
    const auto values = values_;
    reserve(least + least / 2 + row_slack);
    std::copy_n(coordinates.data(), size_, coordinates_.data());
    std::copy_n(values.data(), size_, values_.data());
  }

  HostArray<Coordinate> coordinates_;
  HostArray<T> values_;
  std::vector<Rows> merges_;
  std::int64_t size_ = 0;
};

/// The rows of runs with the numbers of the runs, in the form that a sort reads.
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

/// Rows in ascending order, each once, and where the runs of each row begin among the sorted runs.
struct RowsOfRuns {
  HostArray<Key> rows;             // [rows]
  HostArray<std::int64_t> begins;  // [rows + 1]

  std::int64_t size() const { return static_cast<std::int64_t>(rows.extent(0)); }
  std::int64_t runs() const { return begins.data()[size()]; }
};

/// The numbers of runs, put in the order of the sorted runs.
struct RunNumbers {
  HostArray<std::int32_t> numbers;  // [count]

  void make(std::int64_t count) { numbers = pool().array<std::int32_t>("sporos::runs", count); }
  void put(std::int64_t place, std::int64_t run) const {
    numbers.data()[place] = static_cast<std::int32_t>(run);
  }
};

/// The fibers and factors of runs, put in the order of the sorted runs.
template <class T>
struct SortedFibers : FibersOfRuns<T> {
  const FiberArray<T>& runs;

  explicit SortedFibers(const FiberArray<T>& of) : runs(of) {}
  void put(std::int64_t place, std::int64_t run) const {
    this->fibers.data()[place] = runs.fibers()[run];
    this->factors.data()[place] = runs.factors()[run];
  }
};

/// The rows of runs that have been counted. The counts become the places where each chunk puts its next run.
/// @param counts  counts for each row, which is (key - first) >> shift
inline RowsOfRuns rows_of_counts(const HostThreads& threads, ChunkCounts& counts, Key first, int shift) {
  const ChunkCounts::Sum all = counts.sum(threads);
  RowsOfRuns out{pool().array<Key>("sporos::rows", all.rows),
                 pool().array<std::int64_t>("sporos::positions", all.rows + 1)};
  out.begins.data()[all.rows] = all.items;
  counts.make_places(threads, [&](std::int64_t row, const ChunkCounts::Sum& before, std::int64_t end) {
    if (end == before.items) return;
    out.rows.data()[before.rows] = first + (static_cast<Key>(row) << shift);
    out.begins.data()[before.rows] = before.items;
  });
  return out;
}

/// Sorts runs by counting, which takes two passes over the runs. Rows must be so close together that there
/// are not many more possible rows than runs.
/// @param first   the least row
/// @param shift   number of bits of a key below those of the row
/// @param sorted  see sort_runs
template <class Sorted>
RowsOfRuns count_runs(const HostThreads& threads, const NumberedRuns& runs, ChunkCounts counts, Key first,
                      int shift, Sorted& sorted) {
  const auto row_of = [first, shift](Key row) { return static_cast<std::int64_t>((row - first) >> shift); };
  const std::int64_t chunks = counts.chunks();
  for_each_part(threads, runs.count, chunks, [&](std::int64_t begin, std::int64_t end, std::int64_t chunk) {
    counts.clear(chunk);
    std::int32_t* const of = counts.of(chunk);
    for (std::int64_t run = begin; run < end; ++run)
      if (runs.rows[run] != no_key) ++of[row_of(runs.rows[run])];
  });
  RowsOfRuns out = rows_of_counts(threads, counts, first, shift);
  sorted.make(out.runs());
  for_each_part(threads, runs.count, chunks, [&](std::int64_t begin, std::int64_t end, std::int64_t chunk) {
    std::int32_t* const next = counts.of(chunk);
    for (std::int64_t run = begin; run < end; ++run)
      if (runs.rows[run] != no_key) sorted.put(next[row_of(runs.rows[run])]++, run);
  });
  return out;
}

/// The least and the greatest row of runs; `no_key` and 0 if there is none.
inline std::pair<Key, Key> range_of_rows(const HostThreads& threads, const NumberedRuns& runs) {
  const std::int64_t chunks = chunks_for(threads, runs.count);
  std::vector<std::pair<Key, Key>> ranges(static_cast<std::size_t>(chunks));
  for_each_part(threads, runs.count, chunks, [&](std::int64_t begin, std::int64_t end, std::int64_t chunk) {
    Key first = no_key, last = 0;
    for (std::int64_t run = begin; run < end; ++run) {
      const Key row = runs.rows[run];
      first = std::min(first, row);
      last = std::max(last, row == no_key ? Key{0} : row);
    }
    ranges[static_cast<std::size_t>(chunk)] = {first, last};
  });
  std::pair<Key, Key> all{no_key, 0};
  for (const auto& [first, last] : ranges) all = {std::min(all.first, first), std::max(all.second, last)};
  return all;
}

/// Sorts runs by their rows, and those of one row by their numbers.
/// @param shift     number of bits of a key below those of the row
/// @param row_bits  number of bits of a key in use
/// @param sorted    RunNumbers or SortedFibers, made in the order of the sorted runs
template <class Sorted>
RowsOfRuns sort_runs(const HostThreads& threads, const NumberedRuns& runs, int shift, int row_bits,
                     Sorted& sorted) {
  auto [first, last] = range_of_rows(threads, runs);
  if (first == no_key) first = 0;
  const auto window = static_cast<std::int64_t>((last - first) >> shift) + 1;
  const std::int64_t parts = chunks_for(threads, runs.count);
  if (ChunkCounts::pay(window, runs.count, parts))
    return count_runs(threads, runs, ChunkCounts(parts, window), first, shift, sorted);

  const Key matter = (Key{1} << row_bits) - 1;
  const StableSort<std::int32_t> in_order(
      threads, partition_by_leading_bits<std::int32_t>(threads, runs, row_bits, matter), matter);
  const std::int64_t count = in_order.size();
  const Key* const keys = in_order.keys();
  const std::int32_t* const numbers = in_order.values()->data();
  const std::int64_t chunks = chunks_for(threads, count);
  const auto begins_row = [&](std::int64_t n) { return n == 0 || keys[n] != keys[n - 1]; };
  const std::vector<std::int64_t> begins = counts_before_chunks(threads, count, chunks, begins_row);
  RowsOfRuns out{pool().array<Key>("sporos::rows", begins.back()),
                 pool().array<std::int64_t>("sporos::positions", begins.back() + 1)};
  sorted.make(count);
  for_each_part(threads, count, chunks, [&](std::int64_t begin, std::int64_t end, std::int64_t chunk) {
    std::int64_t row = begins[static_cast<std::size_t>(chunk)];
    for (std::int64_t n = begin; n < end; ++n) {
      if (begins_row(n)) {
        out.rows.data()[row] = keys[n];
        out.begins.data()[row++] = n;
      }
      sorted.put(n, numbers[n]);
    }
  });
  out.begins.data()[begins.back()] = count;
  return out;
}

/// Adds up runs of the same row, on all threads, as a product of sparse matrices by rows, P * R. Row n of P
/// has a factor for each run of the n-th row; the column of that factor is the row of R of which the run is a
/// multiple.
/// @param rows  the rows of P
/// @param room  memory for the values, used if it suffices
/// @param finds_similar_rows  see ProductByRows::prepare; requires that the columns of P ascend
template <class Value, class Position, class Coordinate, class P, class R>
SortedRows<Value, Position, Coordinate> add_runs(
    const HostThreads& threads, const HostArray<Key>& rows, const P& p, const R& r,
    const std::pair<HostArray<Coordinate>, HostArray<Value>>& room, bool finds_similar_rows) {
  ProductByRows<typename P::value_type, P, R, Value, Position, Coordinate> product(threads, p, r);
  product.prepare(finds_similar_rows);
  return {rows, product.compute({room.first, room.second})};
}

/// Merges runs: all factors of P are one, and run r is row r of R. Values of one coordinate are added in the
/// order of the runs, for any number of threads.
///
/// @param columns   the extent of the last level
/// @param shift     number of bits of a key below those of the row
/// @param row_bits  number of bits of a key in use
/// @param room      memory for the values, used if it suffices
template <class Value, class Position, class T, class Coordinate>
SortedRows<Value, Position, Coordinate> merge_runs(
    const HostThreads& threads, const Runs<T, Coordinate>& runs, std::int64_t columns, int shift,
    int row_bits, const std::pair<HostArray<Coordinate>, HostArray<Value>>& room = {}) {
  RunNumbers numbers;
  const RowsOfRuns sorted = sort_runs(threads, {runs.rows.data(), runs.count}, shift, row_bits, numbers);
  const std::int64_t count = sorted.runs();
  const auto ones = pool().array<T>("sporos::ones", count);
  const auto fill = [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    std::fill(ones.data() + begin, ones.data() + end, T{1});
  };
  for_each_part(threads, count, chunks_for(threads, count), fill);
  const SparseRows<T, std::int64_t, std::int32_t> p{sorted.size(), runs.count, sorted.begins.data(),
                                                    numbers.numbers.data(), ones.data()};
  const SparseRows<T, std::int64_t, Coordinate> r{runs.count, columns, runs.positions.data(),
                                                  runs.coordinates, runs.values};
  return add_runs<Value, Position, Coordinate>(threads, sorted.rows, p, r, room, false);
}

/// Whether the columns of each row ascend without repetitions.
template <class Rows>
bool have_ascending_columns(const HostThreads& threads, const Rows& matrix) {
  std::atomic<bool> ascend{true};
  const auto look = [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    for (std::int64_t row = begin; row < end; ++row)
      for (std::int64_t at = matrix.begin(row) + 1; at < matrix.begin(row + 1); ++at)
        if (matrix.coordinates[at] <= matrix.coordinates[at - 1]) return ascend.store(false);
  };
  for_each_part(threads, matrix.rows, chunks_for(threads, matrix.rows), look);
  return ascend;
}

/// Merges runs that are multiples of fibers (rows of `r`) in the same way.
/// @param runs  the runs, in the order of their rows
template <class Value, class Position, class Coordinate, class T, class R>
SortedRows<Value, Position, Coordinate> merge_fibers(
    const HostThreads& threads, const RowsOfRuns& rows, const FibersOfRuns<T>& runs, const R& r,
    const std::pair<HostArray<Coordinate>, HostArray<Value>>& room = {}) {
  const SparseRows<T, std::int64_t, std::int32_t> p{rows.size(), r.rows, rows.begins.data(),
                                                    runs.fibers.data(), runs.factors.data()};
  return add_runs<Value, Position, Coordinate>(threads, rows.rows, p, r, room,
                                               have_ascending_columns(threads, p));
}

}  // namespace sporos::detail
