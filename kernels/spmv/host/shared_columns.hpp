// SPDX-License-Identifier: Apache-2.0
/// @file shared_columns.hpp
/// A sparse matrix in which neighbouring rows with the same columns share them, for products with vectors.
///
/// Matrices of finite elements have such rows where a node has several unknowns. This is the one-dimensional
/// case of the variable block structure that Vuduc and Moon exploit ("Fast Sparse Matrix-Vector
/// Multiplication by Exploiting Variable Block Structure", HPCC 2005, section 2): blocks of whole rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <utility>

#include "../../../core/array.hpp"
#include "../../../core/inline.hpp"
#include "../../../core/pool.hpp"
#include "../../../core/space.hpp"
#include "../../../formats/chunks.hpp"
#include "../../host/packet.hpp"
#include "../../host/row_chunks.hpp"
#include "../../host/sparse_rows.hpp"
#include "row_sums.hpp"

namespace sporos::detail {

/// A matrix in groups of up to `most_rows` consecutive rows with the same columns. A group stores each column
/// once, and the values of a column one after another, a row in each lane of a vector:
///
///     rows r to r + 2      columns    values
///     a . . b . c          0 3 5      a d g  b e h  c f i
///     d . . e . f
///     g . . h . i
///
/// No value is stored that the matrix does not have.
template <class T, class Position, class Coordinate>
class SharedColumns {
 public:
  using Matrix = SparseRows<T, Position, Coordinate>;
  static constexpr int most_rows = std::clamp(vector_bytes / static_cast<int>(sizeof(T)), 4, 8);

  struct Size {
    std::int64_t groups = 0;
    std::int64_t columns = 0;  ///< of all groups together
  };
  /// The size of the groups of a matrix. Cost: reads the columns of rows that are alike, and hardly more than
  /// the first ones of others.
  static Size size_of(const Matrix& a) {
    Size size;
    for (std::int64_t first = 0; first < a.rows; first += rows_in_window) add_size_of_window(a, first, size);
    return size;
  }
  /// The bytes of groups of this size that hold `nonzeros` values.
  static std::int64_t bytes(Size size, std::int64_t nonzeros) {
    return array_bytes<Group>(size.groups + 1) + array_bytes<Coordinate>(size.columns) +
           array_bytes<T>(nonzeros + slack);
  }

  bool is_empty() const { return groups_.extent(0) == 0; }
  std::int64_t bytes() const {
    return is_empty() ? 0
                      : bytes({count(), static_cast<std::int64_t>(columns_.extent(0))},
                              static_cast<std::int64_t>(values_.extent(0)) - slack);
  }
  /// The bytes that the copy of a matrix takes, with those that are needed to make it.
  static std::int64_t most_bytes(const Matrix& a) { return most_bytes(a, size_of(a)); }
  static std::int64_t most_bytes(const Matrix& a, Size size) {
    return bytes(size, a.nnz()) + array_bytes<Size>(windows_of(a) + 1);
  }

  /// Copies a matrix.
  void copy(const HostThreads& threads, const Matrix& a, bool /*is_deterministic*/) {
    const std::int64_t windows = windows_of(a);
    const auto ends = pool().array<Size>("sporos::windows of rows", windows + 1);
    const auto for_each_window = [&](const auto& body) {
      for_each_part(threads, windows, chunks_for(threads, windows, 4),
                    [&](std::int64_t begin, std::int64_t end, std::int64_t) {
                      for (std::int64_t window = begin; window < end; ++window) body(window);
                    });
    };
    ends.data()[0] = {};
    for_each_window([&](std::int64_t window) {
      Size& size = ends.data()[window + 1] = {};
      add_size_of_window(a, window * rows_in_window, size);
    });
    for (std::int64_t window = 0; window < windows; ++window) {
      ends.data()[window + 1].groups += ends.data()[window].groups;
      ends.data()[window + 1].columns += ends.data()[window].columns;
    }
    const Size all = ends.data()[windows];
    const auto groups = pool().array<Group>("sporos::groups of rows", all.groups + 1);
    const auto columns = pool().array<Coordinate>("sporos::shared columns", all.columns);
    const auto values = pool().array<T>("sporos::values of groups", a.nnz() + slack);
    for_each_window([&](std::int64_t window) {
      Size at = ends.data()[window];
      for_each_group(a, window * rows_in_window, [&](std::int64_t row, std::int64_t rows) {
        const std::int64_t begin = a.begin(row), length = a.length(row);
        const std::int64_t first = begin - a.begin(0);
        groups.data()[at.groups++] = {row, at.columns, first};
        std::copy_n(a.coordinates + begin, length, columns.data() + at.columns);
        at.columns += length;
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t t = 0; t < length; ++t)
            values.data()[first + t * rows + r] = a.values[begin + r * length + t];
      });
    });
    groups.data()[all.groups] = {a.rows, all.columns, a.nnz()};
    std::fill_n(values.data() + a.nnz(), slack, T{});
    groups_ = groups;
    columns_ = columns;
    values_ = values;
  }

  /// y = A * x, or y += A * x.
  /// @param a  the matrix that was copied
  void multiply(const HostThreads& threads, const Matrix& /*a*/, const T* x, T* y, bool accumulates) const {
    const Groups groups{count(), groups_.data(), columns_.data(), values_.data()};
    const bool is_far = groups.nnz() * static_cast<std::int64_t>(sizeof(T)) >= far_bytes;
    for_each_row_chunk(threads, groups, 1, [&](std::int64_t begin, std::int64_t end) {
      if (is_far)
        multiply_groups<true>(groups, x, y, begin, end, accumulates);
      else
        multiply_groups<false>(groups, x, y, begin, end, accumulates);
    });
  }

  void explain(std::ostream& out, const Matrix& a) const {
    const Size size = size_of(a);
    out << "  operands: A is copied once, in " << size.groups << " groups of up to " << most_rows
        << " rows with the same columns (" << size.columns << " columns for " << a.nnz() << " elements)\n"
        << "  result: located, each row of a group summed in a lane of its own\n";
  }

 private:
  /// Where a group begins: its first row, and its first element in the arrays of columns and of values.
  struct Group {
    std::int64_t row, columns, values;
  };

  /// The groups in the form in which rows are shared among threads.
  struct Groups {
    std::int64_t rows;  ///< number of groups
    const Group* groups;
    const Coordinate* coordinates;
    const T* values;

    std::int64_t begin(std::int64_t group) const { return groups[group].values; }
    std::int64_t nnz() const { return groups[rows].values; }
  };

  /// Groups end at multiples of this many rows, wherever a copy is divided among threads: a multiple of the
  /// usual numbers of rows.
  static constexpr std::int64_t rows_in_window = 768;
  /// How many values are read past the last one.
  static constexpr std::int64_t slack = most_rows;

  static std::int64_t windows_of(const Matrix& a) { return (a.rows + rows_in_window - 1) / rows_in_window; }
  std::int64_t count() const { return static_cast<std::int64_t>(groups_.extent(0)) - 1; }

  static bool have_same_columns(const Matrix& a, std::int64_t left, std::int64_t right) {
    const std::int64_t length = a.length(left);
    const Coordinate *const l = a.coordinates + a.begin(left), *const r = a.coordinates + a.begin(right);
    return a.length(right) == length &&
           (length == 0 || (l[length - 1] == r[length - 1] && std::equal(l, l + length, r)));
  }

  /// Calls body(row, rows) for the groups of the window that begins at `first`. If so many rows are alike
  /// that they fit into two groups, but not into one, both get about as many.
  template <class Body>
  static void for_each_group(const Matrix& a, std::int64_t first, const Body& body) {
    const std::int64_t end = std::min(first + rows_in_window, a.rows);
    for (std::int64_t row = first; row < end;) {
      const std::int64_t last = std::min(row + 2 * most_rows, end);
      std::int64_t alike = 1;
      while (row + alike < last && have_same_columns(a, row, row + alike)) ++alike;
      while (alike > most_rows) {
        const std::int64_t rows = alike < 2 * most_rows ? (alike + 1) / 2 : most_rows;
        body(row, rows);
        row += rows;
        alike -= rows;
      }
      body(row, alike);
      row += alike;
    }
  }
  static void add_size_of_window(const Matrix& a, std::int64_t first, Size& size) {
    for_each_group(a, first, [&](std::int64_t row, std::int64_t) {
      ++size.groups;
      size.columns += a.length(row);
    });
  }

  template <bool Prefetches>
  [[gnu::noinline]] static void multiply_groups(Groups groups, const T* __restrict x, T* __restrict y,
                                                std::int64_t begin, std::int64_t end, bool accumulates) {
    for (std::int64_t at = begin; at < end; ++at) {
      const Group &group = groups.groups[at], &next = groups.groups[at + 1];
      const T* const values = groups.values + group.values;
      const Coordinate* const columns = groups.coordinates + group.columns;
      const std::int64_t length = next.columns - group.columns;
      const std::int64_t rows = next.row - group.row;
      if (rows == 1) {
        if constexpr (Prefetches) prefetch_row(values, columns);
        const T sum = ScalarRowSum<T, Coordinate>::template of<Prefetches>(values, columns, 0, length, x);
        y[group.row] = accumulates ? y[group.row] + sum : sum;
        continue;
      }
      const auto sum_if = [&]<int Rows>() {
        if (rows != Rows) return false;
        sum_group<Rows, Prefetches>(values, columns, length, x, y + group.row, accumulates);
        return true;
      };
      [&]<int... Other>(std::integer_sequence<int, Other...>) {
        static_cast<void>((sum_if.template operator()<2 + Other>() || ...));
      }(std::make_integer_sequence<int, most_rows - 1>());
    }
  }

  /// y[r] = the sum over t < length of values[t * Rows + r] * x[columns[t]], or y[r] plus it, for r < Rows,
  /// in four partial sums: each addition waits for the previous one to the same sum.
  template <int Rows, bool Prefetches>
  SPOROS_HOST_INLINE static void sum_group(const T* values, const Coordinate* columns, std::int64_t length,
                                           const T* __restrict x, T* __restrict y, bool accumulates) {
    constexpr int lanes = Rows <= 2 ? 2 : Rows <= 4 ? 4 : 8;
    using Lanes = Packet<T, lanes>;
    Lanes sums[4] = {Lanes::zero(), Lanes::zero(), Lanes::zero(), Lanes::zero()};
    const auto add = [&] SPOROS_INLINE_LAMBDA(Lanes & sum, std::int64_t t) {
      Lanes some;
      some.load(values + t * Rows, 0);
      sum.add_product(some, x[columns[t]]);
    };
    std::int64_t t = 0;
    for (; t + 4 <= length; t += 4) {
      if constexpr (Prefetches) {
        SPOROS_PREFETCH(values + t * Rows + nonzeros_ahead<T>);
        SPOROS_PREFETCH(columns + t + nonzeros_ahead<T> / Rows);
      }
      add(sums[0], t);
      add(sums[1], t + 1);
      add(sums[2], t + 2);
      add(sums[3], t + 3);
    }
    for (; t < length; ++t) add(sums[0], t);
    sums[0].add(sums[2]);
    sums[1].add(sums[3]);
    sums[0].add(sums[1]);
    for (int r = 0; r < Rows; ++r) y[r] = accumulates ? y[r] + sums[0].get(r) : sums[0].get(r);
  }

  HostArray<Group> groups_;        // [groups + 1]
  HostArray<Coordinate> columns_;  // [columns]
  HostArray<T> values_;            // [nonzeros + slack]
};

}  // namespace sporos::detail
