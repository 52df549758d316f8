// SPDX-License-Identifier: Apache-2.0
/// @file merge_runs.hpp
/// The stages Sort and Merge for runs: runs of one row are added up, rows come out in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

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

/// The all array: what has been merged so far, one merge behind the other, as runs: one for each row of each
/// merge.
template <class T, class Coordinate>
class MergedRuns {
 public:
  using Rows = SortedRows<T, std::int64_t, Coordinate>;

  /// @param most  values that there can be; memory that is not written is not touched
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
  /// Adds a merge, whose values are in that memory or, where it was too small, elsewhere.
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
  /// Values for which memory is reserved before it is known how many there will be.
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

/// The numbers of runs, sorted by their rows; those of one row in ascending order.
struct SortedRuns {
  std::int64_t count = 0;           ///< runs that have a row
  HostArray<Key> rows;              // [rows] in ascending order, each once
  HostArray<std::int64_t> begins;   // [rows + 1] where the runs of a row begin
  HostArray<std::int32_t> numbers;  // [count]
};

/// Sorts the numbers of runs by counting, where rows lie so close that there are few more than runs: two
/// passes over the runs.
/// @param first   the least row
/// @param window  the number of rows from there to the last
/// @param shift   bits of a key below those of the rows
inline SortedRuns count_runs(const HostThreads& threads, const NumberedRuns& runs, Key first,
                             std::int64_t window, int shift) {
  const std::int64_t chunks = chunks_for(threads, runs.count);
  const auto counts = pool().array<std::int32_t>("sporos::runs of rows", chunks * window);
  const auto counts_of = [&](std::int64_t chunk) { return counts.data() + chunk * window; };
  const auto row_of = [first, shift](Key row) { return static_cast<std::int64_t>((row - first) >> shift); };
  for_each_part(threads, runs.count, chunks, [&](std::int64_t begin, std::int64_t end, std::int64_t chunk) {
    std::int32_t* const of = counts_of(chunk);
    std::fill_n(of, window, 0);
    for (std::int64_t run = begin; run < end; ++run)
      if (runs.rows[run] != no_key) ++of[row_of(runs.rows[run])];
  });
  struct Begin {
    std::int64_t rows = 0, runs = 0;
  };
  const std::int64_t parts = chunks_for(threads, window);
  std::vector<Begin> begins(static_cast<std::size_t>(parts) + 1);
  const auto runs_of_row = [&](std::int64_t row) {
    std::int64_t sum = 0;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sum += counts_of(chunk)[row];
    return sum;
  };
  for_each_part(threads, window, parts, [&](std::int64_t begin, std::int64_t end, std::int64_t part) {
    Begin& counted = begins[static_cast<std::size_t>(part) + 1];
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t of_row = runs_of_row(row);
      counted.rows += of_row > 0;
      counted.runs += of_row;
    }
  });
  for (std::size_t part = 1; part < begins.size(); ++part) {
    begins[part].rows += begins[part - 1].rows;
    begins[part].runs += begins[part - 1].runs;
  }
  const Begin total = begins.back();
  SortedRuns out{total.runs, pool().array<Key>("sporos::rows", total.rows),
                 pool().array<std::int64_t>("sporos::positions", total.rows + 1),
                 pool().array<std::int32_t>("sporos::runs", total.runs)};
  out.begins.data()[total.rows] = total.runs;
  // The counts become the places where each chunk puts its next run of a row.
  for_each_part(threads, window, parts, [&](std::int64_t begin, std::int64_t end, std::int64_t part) {
    Begin at = begins[static_cast<std::size_t>(part)];
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t before = at.runs;
      for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
        at.runs += std::exchange(counts_of(chunk)[row], static_cast<std::int32_t>(at.runs));
      if (at.runs == before) continue;
      out.rows.data()[at.rows] = first + (static_cast<Key>(row) << shift);
      out.begins.data()[at.rows++] = before;
    }
  });
  for_each_part(threads, runs.count, chunks, [&](std::int64_t begin, std::int64_t end, std::int64_t chunk) {
    std::int32_t* const next = counts_of(chunk);
    std::int32_t* const numbers = out.numbers.data();
    for (std::int64_t run = begin; run < end; ++run)
      if (runs.rows[run] != no_key) numbers[next[row_of(runs.rows[run])]++] = static_cast<std::int32_t>(run);
  });
  return out;
}

/// The least and the greatest row of runs; `no_key` and 0 where there is none.
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

/// Sorts the numbers of runs.
/// @param shift     bits of a key below those of the rows
/// @param row_bits  bits of a key in use
inline SortedRuns sort_runs(const HostThreads& threads, const NumberedRuns& runs, int shift, int row_bits) {
  auto [first, last] = range_of_rows(threads, runs);
  if (first == no_key) first = 0;
  const auto window = static_cast<std::int64_t>((last - first) >> shift) + 1;
  if (window <= 2 * runs.count / chunks_for(threads, runs.count) + 64)
    return count_runs(threads, runs, first, window, shift);

  const Key matter = (Key{1} << row_bits) - 1;
  const StableSort<std::int32_t> sorted(
      threads, partition_by_leading_bits<std::int32_t>(threads, runs, row_bits, matter), matter);
  const std::int64_t count = sorted.size();
  const Key* const keys = sorted.keys();
  const std::int64_t chunks = chunks_for(threads, count);
  std::vector<std::int64_t> begins(static_cast<std::size_t>(chunks) + 1);
  const auto begins_row = [&](std::int64_t n) { return n == 0 || keys[n] != keys[n - 1]; };
  for_each_part(threads, count, chunks, [&](std::int64_t begin, std::int64_t end, std::int64_t chunk) {
    std::int64_t rows = 0;
    for (std::int64_t n = begin; n < end; ++n) rows += begins_row(n);
    begins[static_cast<std::size_t>(chunk) + 1] = rows;
  });
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  SortedRuns out{count, pool().array<Key>("sporos::rows", begins.back()),
                 pool().array<std::int64_t>("sporos::positions", begins.back() + 1), *sorted.values()};
  for_each_part(threads, count, chunks, [&](std::int64_t begin, std::int64_t end, std::int64_t chunk) {
    std::int64_t row = begins[static_cast<std::size_t>(chunk)];
    for (std::int64_t n = begin; n < end; ++n)
      if (begins_row(n)) {
        out.rows.data()[row] = keys[n];
        out.begins.data()[row++] = n;
      }
  });
  out.begins.data()[begins.back()] = count;
  return out;
}

/// Merges runs.
///
/// The runs of one row are to be added up: that is a product of sparse matrices, P * R. Row n of P has a one
/// for each run of the n-th row, row r of R is run r. So sorting the numbers of the runs by their rows makes
/// P, and the product by rows does the rest, on all threads. Values of one coordinate are added in the order
/// of the runs, whatever the number of threads.
///
/// @param columns   the extent of the last level
/// @param shift     bits of a key below those of the rows
/// @param row_bits  bits of a key in use
/// @param room      where the values are put, if there is enough of it
template <class Value, class Position, class T, class Coordinate>
SortedRows<Value, Position, Coordinate> merge_runs(
    const HostThreads& threads, const Runs<T, Coordinate>& runs, std::int64_t columns, int shift,
    int row_bits, const std::pair<HostArray<Coordinate>, HostArray<Value>>& room = {}) {
  const SortedRuns sorted = sort_runs(threads, {runs.rows.data(), runs.count}, shift, row_bits);
  const auto rows = static_cast<std::int64_t>(sorted.rows.extent(0));
  const auto ones = pool().array<T>("sporos::ones", sorted.count);
  const auto fill = [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    std::fill(ones.data() + begin, ones.data() + end, T{1});
  };
  for_each_part(threads, sorted.count, chunks_for(threads, sorted.count), fill);

  using P = SparseRows<T, std::int64_t, std::int32_t>;
  using R = SparseRows<T, std::int64_t, Coordinate>;
  const P p{rows, runs.count, sorted.begins.data(), sorted.numbers.data(), ones.data()};
  const R r{runs.count, columns, runs.positions.data(), runs.coordinates, runs.values};
  ProductByRows<T, P, R, Value, Position, Coordinate> product(threads, p, r);
  product.prepare(false);
  return {sorted.rows, product.compute({room.first, room.second})};
}

}  // namespace sporos::detail
