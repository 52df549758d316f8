// SPDX-License-Identifier: Apache-2.0
/// @file compact_columns.hpp
/// The rows of a matrix over only those columns that occur in it, so that arrays over its columns are no
/// longer than its nonzeros, whatever its extent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "../../core/pool.hpp"
#include "../../formats/chunks.hpp"
#include "../../formats/radix_sort.hpp"
#include "../host/sparse_rows.hpp"

namespace sporos::detail {

/// The coordinates of nonzeros with their numbers, in the form that a sort reads.
template <class Coordinate>
struct NumberedColumns {
  static constexpr bool is_exact = true;
  const Coordinate* coordinates;
  std::int64_t count;

  std::int64_t size() const { return count; }
  template <class Visitor>
  void visit(std::int64_t begin, std::int64_t end, const Visitor& visitor) const {
    for (std::int64_t n = begin; n < end; ++n)
      visitor(static_cast<Key>(coordinates[n]), static_cast<std::int32_t>(n));
  }
};

/// Numbers the columns of a matrix in ascending order, as far as they occur:
///
///     columns of the matrix   7 900000  |  7  |  42 900000        extent 10^6
///     the same, numbered      0 2       |  0  |  1  2             extent 3
///     occurring               7 42 900000
///
/// Rows that are computed from the numbered ones have the numbers as columns, still ascending, and get the
/// columns back at the end.
/// @tparam Rows  the matrix, as SparseRows
template <class Rows>
class CompactColumns {
  using Coordinate = typename Rows::coordinate_type;

 public:
  /// Whether arrays over the columns that occur are worth the time in which the columns are sorted: they are
  /// shorter, and those over the extent would leave a core's own caches.
  static bool pay(const Rows& matrix) {
    constexpr std::int64_t near = 32768;  // columns: an array over them is in a core's own caches
    constexpr std::int64_t least = 2;     // columns for each nonzero
    return matrix.columns > near && matrix.nnz() < matrix.columns / least &&
           matrix.nnz() <= std::numeric_limits<std::int32_t>::max();
  }
  /// Seconds for each nonzero.
  static constexpr double seconds_of_nonzero = 15e-9;
  /// Bytes for each nonzero, while the columns are sorted and after: keys and numbers with a spare, the
  /// number of each nonzero's column, the columns that occur.
  static constexpr std::int64_t bytes_of_nonzero =
      2 * (sizeof(Key) + sizeof(std::int32_t)) + 2 * sizeof(Coordinate);

  /// @pre the rows of the matrix are all of its tensor's, so that positions begin at 0
  CompactColumns(const HostThreads& threads, const Rows& matrix)
      : matrix_(matrix), numbers_(pool().array<Coordinate>("sporos::numbered columns", matrix.nnz())) {
    const std::int64_t count = matrix.nnz();
    const int bits = bits_for(matrix.columns - 1);
    const Key matter = (Key{1} << bits) - 1;
    const NumberedColumns<Coordinate> columns{matrix.coordinates, count};
    const StableSort<std::int32_t> sorted(
        threads, partition_by_leading_bits<std::int32_t>(threads, columns, bits, matter), matter);
    const Key* const keys = sorted.keys();
    const std::int32_t* const places = sorted.values()->data();
    const auto is_new = [keys](std::int64_t n) { return n == 0 || keys[n] != keys[n - 1]; };
    const std::int64_t chunks = chunks_for(threads, count);
    const std::vector<std::int64_t> begins = counts_before_chunks(threads, count, chunks, is_new);
    occurring_ = pool().array<Coordinate>("sporos::occurring columns", begins.back());
    for_each_part(threads, count, chunks, [&](std::int64_t begin, std::int64_t end, std::int64_t chunk) {
      std::int64_t next = begins[static_cast<std::size_t>(chunk)];
      for (std::int64_t n = begin; n < end; ++n) {
        if (is_new(n)) occurring_.data()[next++] = static_cast<Coordinate>(keys[n]);
        numbers_.data()[places[n]] = static_cast<Coordinate>(next - 1);
      }
    });
  }

  /// The matrix over the columns that occur.
  Rows rows() const {
    Rows out = matrix_;
    out.columns = static_cast<std::int64_t>(occurring_.extent(0));
    out.coordinates = numbers_.data();
    return out;
  }
  /// Replaces `count` numbers of columns by the columns.
  template <class Number>
  void restore(const HostThreads& threads, Number* numbers, std::int64_t count) const {
    const Coordinate* const occurring = occurring_.data();
    for_each_part(threads, count, chunks_for(threads, count),
                  [&](std::int64_t begin, std::int64_t end, std::int64_t) {
                    for (std::int64_t n = begin; n < end; ++n)
                      numbers[n] = static_cast<Number>(occurring[static_cast<std::int64_t>(numbers[n])]);
                  });
  }

 private:
  Rows matrix_;
  HostArray<Coordinate> numbers_;    // [nnz]
  HostArray<Coordinate> occurring_;  // [columns that occur]
};

}  // namespace sporos::detail
