// SPDX-License-Identifier: Apache-2.0
/// @file diagonals.hpp
/// Computes many rows of the product at once if the columns of both operands only shift from row to row, as
/// along the lines of a grid.
///
/// R neighbouring rows of A then have the same columns except for the shift, and so have the rows of B that
/// they refer to, and so has the product. One symbolic pass, the program, says which products add up to which
/// element of a row. Stored by diagonals, elements of neighbouring rows are contiguous, and each diagonal of
/// the product is a sum of products of contiguous vectors, formed in registers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "../../../core/inline.hpp"
#include "../../host/packet.hpp"
#include "../../host/sparse_rows.hpp"
#include "marks.hpp"
#include "similar_rows.hpp"

namespace sporos::detail {

/// The largest rows that a DiagonalProduct multiplies, and how many rows at once.
struct DiagonalLimits {
  static constexpr std::int64_t fewest_rows = 6;  ///< fewer rows are not worth a program
  static constexpr std::int64_t columns = 128;    ///< the most columns of a row of A
  static constexpr std::int64_t products = 2048;  ///< the most products for a row of the product
  static constexpr std::int64_t overhang = 8;     ///< how far rows of B may be shifted and still share a part
  static constexpr std::int64_t window = std::int64_t{1} << 22;  ///< columns that a row can reach
  /// Rows computed at once, and the stride from one diagonal to the next: many rows if everything fits in the
  /// L1 cache, otherwise few.
  static constexpr std::int64_t rows = 48, stride = rows + overhang;
  static constexpr std::int64_t few_rows = 16, few_stride = few_rows + 2 * overhang;
  static constexpr std::int64_t numbers_of_many = 3072;  ///< numbers of B up to which there are many rows
};

/// The arrays of a DiagonalProduct.
template <class Acc>
struct DiagonalSpace {
  using Real = real_part_t<Acc>;
  static constexpr std::int64_t planes = is_complex_v<Acc> ? 2 : 1;
  static constexpr std::int64_t a_plane = DiagonalLimits::columns * DiagonalLimits::stride;
  static constexpr std::int64_t b_plane = DiagonalLimits::products * DiagonalLimits::few_stride + 64;
  static constexpr std::int64_t sums_plane = DiagonalLimits::products * DiagonalLimits::stride;

  std::int32_t* columns;    // [products + order_slack] of a row of the product, relative to A's first column
  std::int32_t* b_columns;  // [products] of the rows of B, one after another, relative to A's first column
  std::uint32_t* begin;     // [products + 1] where an element's pairs begin
  std::uint32_t* a_at;      // [products] where the first factor of a pair is in a_values
  std::uint32_t* b_at;      // [products] where the second factor is in b_values
  std::uint32_t* slot;      // [window] from a column to its element
  Real* a_values;           // [planes, a_plane]
  Real* b_values;           // [planes, b_plane]
  Real* sums;               // [planes, sums_plane]
};

/// Multiplies runs of shifted rows, and keeps the program of the last run, because grid lines repeat it.
template <class Acc, class A, class B>
class DiagonalProduct {
 public:
  using Real = real_part_t<Acc>;
  using Limits = DiagonalLimits;
  using Space = DiagonalSpace<Acc>;

  DiagonalProduct(const A& a, const B& b, const SimilarRows& similar_a, const SimilarRows& similar_b,
                  const Space& space, const Marks& marks)
      : a_(a), b_(b), similar_a_(similar_a), similar_b_(similar_b), space_(space), marks_(marks) {}

  /// How many of the rows from `row` to `end` can be multiplied together; 0 if it does not pay off.
  std::int64_t rows_from(std::int64_t row, std::int64_t end) {
    std::int64_t rows = std::min<std::int64_t>(similar_a_.shifted[row] + 1, end - row);
    const std::int64_t count = a_.length(row);
    if (rows < Limits::fewest_rows || count > Limits::columns) return 0;
    const auto* const columns = a_.coordinates + a_.begin(row);
    std::int64_t products = 0, first = b_.columns, last = -1;
    for (std::int64_t k = 0; k < count; ++k) {
      const auto c = static_cast<std::int64_t>(columns[k]);
      rows = std::min<std::int64_t>(rows, similar_b_.shifted[c] + 1);
      if (rows < Limits::fewest_rows) return 0;  // an empty row of B as well: no row is a shifted copy of it
      const std::int64_t q = b_.begin(c), length = b_.length(c);
      products += length;
      first = std::min(first, static_cast<std::int64_t>(b_.coordinates[q]));
      last = std::max(last, static_cast<std::int64_t>(b_.coordinates[q + length - 1]));
    }
    if (products > Limits::products || last - first >= Limits::window ||
        std::max(b_.rows, b_.columns) > std::numeric_limits<std::int32_t>::max())
      return 0;
    first_ = first;
    window_ = last - first + 1;
    products_ = products;
    return rows;
  }

  /// The number of columns that the row examined by rows_from can reach.
  std::int64_t window() const { return window_; }

  /// What multiply() has computed: the rows, and the elements in each of them.
  struct Done {
    std::int64_t rows, elements;
  };

  /// Multiplies `rows` rows from `row` on, as many as rows_from has found. How many are in the arrays at once
  /// depends on what was multiplied before; the result does not.
  template <class Value, class Coordinate>
  Done multiply(std::int64_t row, std::int64_t rows, Coordinate* columns, Value* values) {
    for (std::int64_t done = 0; done < rows;) {
      const std::int64_t some =
          multiply_some(row + done, rows - done, columns + done * elements_, values + done * elements_);
      done += some;
      first_ += some;
    }
    return {rows, elements_};
  }

 private:
  /// A run of rows of B that are stored by diagonals together.
  struct Part {
    std::int64_t column;  ///< its first row, relative to A's first column
    std::int64_t length;  ///< elements in each of its rows
    std::int64_t beyond;  ///< rows that it has in addition to those of the product
    std::int64_t at;      ///< where its numbers begin
  };
  /// A column of the row of A.
  struct Column {
    std::int64_t offset;  ///< from A's first column
    std::int64_t part;
    std::int64_t delta;  ///< from the part's first row
  };

  /// Multiplies as many of `rows` rows from `row` on as fit in the arrays.
  /// @return how many rows that is
  template <class Value, class Coordinate>
  std::int64_t multiply_some(std::int64_t row, std::int64_t rows, Coordinate* columns, Value* values) {
    if (!knows(row, std::min(rows, most_rows_))) {
      lay_out(row, rows);
      make_program(row);
    }
    rows = std::min(rows, most_rows_);
    fetch(row, rows);
    constexpr int lanes = vector_bytes / static_cast<int>(sizeof(Real));
    std::int64_t r = 0;
    for (; r + 4 * lanes <= rows; r += 4 * lanes) sum<lanes, 4>(r);
    for (; r + 2 * lanes <= rows; r += 2 * lanes) sum<lanes, 2>(r);
    for (; r < rows; r += lanes) sum<lanes, 1>(r);
    columns_to_rows<Acc>(space_.sums, stride_, Space::sums_plane, rows, elements_, values, elements_);
    write_columns(space_.columns, elements_, static_cast<Coordinate>(a_.coordinates[a_.begin(row)]), rows,
                  columns);
    return rows;
  }

  /// to[q * count + s] = columns[s] + origin + q for q < rows, s < count, and up to 7 more elements: whole
  /// vectors are written, and the next row's overwrite the excess.
  template <class Coordinate>
  SPOROS_HOST_KERNEL static void write_columns(const std::int32_t* __restrict columns, std::int64_t count,
                                               Coordinate origin, std::int64_t rows,
                                               Coordinate* __restrict to) {
    constexpr int at_once = 8;
    static_assert(at_once - 1 <= order_slack);
    for (std::int64_t q = 0; q < rows; ++q, ++origin, to += count)
      for (std::int64_t s = 0; s < count; s += at_once)
        for (int t = 0; t < at_once; ++t)
          to[s + t] = static_cast<Coordinate>(static_cast<Coordinate>(columns[s + t]) + origin);
  }

  /// Whether the program is that of `rows` rows from `row` on.
  bool knows(std::int64_t row, std::int64_t rows) const {
    if (a_.length(row) != count_) return false;
    const auto* const columns = a_.coordinates + a_.begin(row);
    const auto origin = static_cast<std::int64_t>(columns[0]);
    const std::int32_t* expected = space_.b_columns;
    for (std::int64_t k = 0; k < count_; ++k) {
      const auto c = static_cast<std::int64_t>(columns[k]);
      const Column& column = columns_[static_cast<std::size_t>(k)];
      const Part& part = parts_[static_cast<std::size_t>(column.part)];
      if (c - origin != column.offset || b_.length(c) != part.length) return false;
      if (column.delta == 0 && similar_b_.shifted[c] < part.beyond + rows - 1) return false;
      const auto* const coordinates = b_.coordinates + b_.begin(c);
      std::int32_t difference = 0;
      for (std::int64_t t = 0; t < part.length; ++t)
        difference |=
            static_cast<std::int32_t>(static_cast<std::int64_t>(coordinates[t]) - origin) ^ expected[t];
      if (difference) return false;
      expected += part.length;
    }
    return true;
  }

  /// Cuts the required rows of B into parts, and decides how many rows are computed at once.
  void lay_out(std::int64_t row, std::int64_t rows) {
    most_rows_ = Limits::rows;
    stride_ = Limits::stride;
    if (cut(row, std::min(rows, most_rows_)) > Limits::numbers_of_many) {
      most_rows_ = Limits::few_rows;
      stride_ = Limits::few_stride;
      cut(row, std::min(rows, most_rows_));
    }
  }
  std::int64_t cut(std::int64_t row, std::int64_t rows) {
    count_ = a_.length(row);
    part_count_ = 0;
    const auto* const columns = a_.coordinates + a_.begin(row);
    const auto origin = static_cast<std::int64_t>(columns[0]);
    std::int64_t at = 0;
    for (std::int64_t k = 0; k < count_; ++k) {
      const auto c = static_cast<std::int64_t>(columns[k]);
      std::int64_t delta = 0;
      if (part_count_ > 0) {
        Part& part = parts_[static_cast<std::size_t>(part_count_ - 1)];
        delta = c - origin - part.column;
        if (delta <= Limits::overhang && similar_b_.shifted[origin + part.column] >= delta + rows - 1)
          part.beyond = delta;
        else
          delta = 0;
      }
      if (delta == 0) {
        const std::int64_t length = b_.length(c);
        parts_[static_cast<std::size_t>(part_count_++)] = {c - origin, length, 0, at};
        at += length * stride_;
      }
      columns_[static_cast<std::size_t>(k)] = {c - origin, part_count_ - 1, delta};
    }
    return at;
  }

  /// Finds the elements of the row, and for each of them the products that add up to it, in the order of A's
  /// columns.
  void make_program(std::int64_t row) {
    const auto* const columns = a_.coordinates + a_.begin(row);
    const auto origin = static_cast<std::int64_t>(columns[0]);
    const std::int64_t first = first_ - origin;
    std::int32_t* to = space_.b_columns;
    for (std::int64_t k = 0; k < count_; ++k) {
      const auto c = static_cast<std::int64_t>(columns[k]);
      const auto* const coordinates = b_.coordinates + b_.begin(c);
      for (std::int64_t t = 0; t < b_.length(c); ++t) {
        const std::int64_t j = static_cast<std::int64_t>(coordinates[t]) - origin;
        marks_.mark<Marking::sparse>(static_cast<std::uint64_t>(j - first));
        *to++ = static_cast<std::int32_t>(j);
      }
    }
    const std::int32_t* const end =
        marks_.take<Marking::sparse>(window_, static_cast<std::int32_t>(first), space_.columns);
    elements_ = end - space_.columns;
    for (std::int64_t s = 0; s < elements_; ++s) {
      space_.slot[space_.columns[s] - first] = static_cast<std::uint32_t>(s);
      space_.begin[s + 1] = 0;
    }
    for (std::int64_t p = 0; p < products_; ++p) ++space_.begin[space_.slot[space_.b_columns[p] - first] + 1];
    space_.begin[0] = 0;
    for (std::int64_t s = 0; s < elements_; ++s) space_.begin[s + 1] += space_.begin[s];
    std::int64_t p = 0;
    for (std::int64_t k = 0; k < count_; ++k) {
      const Column& column = columns_[static_cast<std::size_t>(k)];
      const Part& part = parts_[static_cast<std::size_t>(column.part)];
      for (std::int64_t t = 0; t < part.length; ++t, ++p) {
        const std::uint32_t pair = space_.begin[space_.slot[space_.b_columns[p] - first]]++;
        space_.a_at[pair] = static_cast<std::uint32_t>(k * stride_);
        space_.b_at[pair] = static_cast<std::uint32_t>(part.at + t * stride_ + column.delta);
      }
    }
    // Each `begin` has moved to where the next element's pairs begin.
    for (std::int64_t s = elements_; s > 0; --s) space_.begin[s] = space_.begin[s - 1];
    space_.begin[0] = 0;
  }

  /// Stores the values of A and B by diagonals.
  void fetch(std::int64_t row, std::int64_t rows) {
    const std::int64_t begin = a_.begin(row);
    const auto origin = static_cast<std::int64_t>(a_.coordinates[begin]);
    rows_to_columns<Acc>(a_.values + begin, count_, rows, count_, space_.a_values, stride_, Space::a_plane);
    for (std::int64_t p = 0; p < part_count_; ++p) {
      const Part& part = parts_[static_cast<std::size_t>(p)];
      rows_to_columns<Acc>(b_.values + b_.begin(origin + part.column), part.length, rows + part.beyond,
                           part.length, space_.b_values + part.at, stride_, Space::b_plane);
    }
  }

  /// Computes all elements of Lanes * Vectors rows, starting at row r.
  template <int Lanes, int Vectors>
  SPOROS_HOST_KERNEL void sum(std::int64_t r) const {
    using Numbers = Packet<Acc, Lanes>;
    const std::uint32_t* const a_at = space_.a_at;
    const std::uint32_t* const b_at = space_.b_at;
    const Real* const a_values = space_.a_values + r;
    const Real* const b_values = space_.b_values + r;
    Real* to = space_.sums + r;
    std::uint32_t pair = 0;
    for (std::int64_t s = 0; s < elements_; ++s, to += stride_) {
      Numbers sums[std::size_t{Vectors}];
      for (int v = 0; v < Vectors; ++v) sums[v] = Numbers::zero();
      for (const std::uint32_t end = space_.begin[s + 1]; pair < end; ++pair) {
        const Real* const a = a_values + a_at[pair];
        const Real* const b = b_values + b_at[pair];
        for (int v = 0; v < Vectors; ++v) {
          Numbers x, y;
          x.load(a + v * Lanes, Space::a_plane);
          y.load(b + v * Lanes, Space::b_plane);
          sums[v].add_product(x, y);
        }
      }
      for (int v = 0; v < Vectors; ++v) sums[v].store(to + v * Lanes, Space::sums_plane);
    }
  }

  const A& a_;
  const B& b_;
  const SimilarRows similar_a_, similar_b_;
  const Space space_;
  const Marks marks_;
  // Found by rows_from for the row that it examined:
  std::int64_t first_ = 0, window_ = 0, products_ = 0;
  // The program:
  std::int64_t count_ = -1, part_count_ = 0, elements_ = 0;
  std::int64_t most_rows_ = Limits::rows, stride_ = Limits::stride;
  std::array<Column, static_cast<std::size_t>(Limits::columns)> columns_{};
  std::array<Part, static_cast<std::size_t>(Limits::columns)> parts_{};
};

}  // namespace sporos::detail
