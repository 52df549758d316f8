// SPDX-License-Identifier: Apache-2.0
/// @file sparse_products.hpp
/// Sparse matrices of the kinds that the product by rows treats differently, and the oracle for their
/// product.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <sporos/kernels/spgemm/host/multiply.hpp>
#include <sporos/sporos.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "../inputs.hpp"
#include "../oracle.hpp"
#include "../same_bytes.hpp"

namespace sporos::test {

/// The columns of each row of a matrix, ascending.
struct Pattern {
  std::int64_t columns = 0;
  std::vector<std::vector<std::int64_t>> rows;
};

/// A pattern of the columns that `columns_of(row, set)` puts into the set; columns outside the matrix are
/// dropped.
template <class ColumnsOf>
Pattern pattern(std::int64_t rows, std::int64_t columns, const ColumnsOf& columns_of) {
  Pattern out{columns, {}};
  for (std::int64_t row = 0; row < rows; ++row) {
    std::set<std::int64_t> set;
    columns_of(row, set);
    std::erase_if(set, [&](std::int64_t column) { return column < 0 || column >= columns; });
    out.rows.emplace_back(set.begin(), set.end());
  }
  return out;
}

/// Up to `length` random columns per row.
inline Pattern scattered(std::int64_t rows, std::int64_t columns, std::int64_t length, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  return pattern(rows, columns, [&](std::int64_t, auto& set) {
    for (std::int64_t at = 0; at < length; ++at)
      set.insert(static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(columns)));
  });
}

/// Rows of 1 to `longest` <= columns elements, each of another number than the one before.
inline Pattern uneven(std::int64_t rows, std::int64_t columns, std::int64_t longest, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  return pattern(rows, columns, [&](std::int64_t row, auto& set) {
    const auto length = static_cast<std::size_t>(1 + row * (longest / 2) % longest);
    while (set.size() < length)
      set.insert(static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(columns)));
  });
}

/// Row r has the columns r + offset.
inline Pattern diagonals(std::int64_t rows, std::int64_t columns, const std::vector<std::int64_t>& offsets) {
  return pattern(rows, columns, [&](std::int64_t row, auto& set) {
    for (const std::int64_t offset : offsets) set.insert(row + offset);
  });
}

/// Groups of rows with the same random columns: of 1 row, of 2, up to `longest`, and again from 1.
inline Pattern repeated(std::int64_t rows, std::int64_t columns, std::int64_t length, std::int64_t longest,
                        std::uint64_t seed) {
  const Pattern source = scattered(rows, columns, length, seed);
  std::int64_t first = 0, run = 1;
  return pattern(rows, columns, [&](std::int64_t row, auto& set) {
    if (row == first + run) {
      first = row;
      run = run % longest + 1;
    }
    const auto& columns_of_run = source.rows[static_cast<std::size_t>(first)];
    set.insert(columns_of_run.begin(), columns_of_run.end());
  });
}

/// The matrix of a pattern, with values drawn one after another by `value(std::mt19937_64&)`.
template <class Value, class F = CSR<>, class Space = Host, class Draw>
Tensor<Value, F, Space> matrix(const Pattern& pattern, const Draw& value, std::uint64_t seed = 1) {
  using Level = typename F::template level<1>;
  std::mt19937_64 draw(seed);
  std::int64_t size = 0;
  for (const auto& row : pattern.rows) size += static_cast<std::int64_t>(row.size());
  const auto rows = static_cast<std::int64_t>(pattern.rows.size());
  const auto positions = make_array<typename Level::position_type>("positions", rows + 1);
  const auto coordinates = make_array<typename Level::coordinate_type>("coordinates", size);
  const auto values = make_array<Value>("values", size);
  std::size_t at = 0;
  positions(0) = 0;
  for (std::size_t row = 0; row < pattern.rows.size(); ++row) {
    for (const std::int64_t column : pattern.rows[row]) {
      coordinates(at) = static_cast<typename Level::coordinate_type>(column);
      values(at++) = static_cast<Value>(value(draw));
    }
    positions(row + 1) = static_cast<typename Level::position_type>(at);
  }
  typename Tensor<Value, F, Space>::level_storage levels;
  std::get<0>(levels).extent = rows;
  std::get<1>(levels).positions = positions;
  std::get<1>(levels).coordinates = coordinates;
  return {Extents<2>{rows, pattern.columns}, levels, values};
}

/// What is wrong with A as B * C; "" if nothing is. A dense row of sums is computed for each row, and A must
/// store those that have a product, ascending, and no others. For values whose sums of products are exact.
template <class TensorA, class TensorB, class TensorC>
std::string wrong(const TensorA& A, const TensorB& B, const TensorC& C) {
  using T = oracle_value<typename TensorA::value_type>;
  const auto& a = A.template level<1>();
  const auto& b = B.template level<1>();
  const auto& c = C.template level<1>();
  if (A.extent(0) != B.extent(0) || A.extent(1) != C.extent(1)) return "the extents are others";
  if (static_cast<std::int64_t>(a.positions.extent(0)) != A.extent(0) + 1 || a.positions(0) != 0)
    return "the positions do not begin at 0 or are not as many as rows and one";
  if (static_cast<std::int64_t>(a.positions(static_cast<std::size_t>(A.extent(0)))) != A.nnz() ||
      static_cast<std::int64_t>(a.coordinates.extent(0)) != A.nnz())
    return "the positions do not end at the number of values";
  std::vector<Term<T>> sums(static_cast<std::size_t>(C.extent(1)));
  for (std::size_t i = 0; i < static_cast<std::size_t>(A.extent(0)); ++i) {
    std::fill(sums.begin(), sums.end(), Term<T>{});
    for (auto p = static_cast<std::size_t>(b.positions(i)); p < static_cast<std::size_t>(b.positions(i + 1));
         ++p) {
      const auto k = static_cast<std::size_t>(b.coordinates(p));
      const Term<T> factor{static_cast<T>(B.values()(p)), true};
      for (auto q = static_cast<std::size_t>(c.positions(k));
           q < static_cast<std::size_t>(c.positions(k + 1)); ++q) {
        auto& sum = sums[static_cast<std::size_t>(c.coordinates(q))];
        sum = sum + factor * Term<T>{static_cast<T>(C.values()(q)), true};
      }
    }
    auto p = static_cast<std::size_t>(a.positions(i));
    const auto end = static_cast<std::size_t>(a.positions(i + 1));
    for (std::size_t j = 0; j < sums.size(); ++j) {
      if (!sums[j].present) continue;
      if (p == end) return text("row ", i, " ends before column ", j);
      if (static_cast<std::size_t>(a.coordinates(p)) != j)
        return text("row ", i, " has column ", +a.coordinates(p), " where ", j, " is expected");
      if (!(static_cast<T>(A.values()(p)) == sums[j].value))
        return text("the value at (", i, ", ", j, ") differs");
      ++p;
    }
    if (p != end) return text("row ", i, " has ", end - p, " elements too many");
  }
  return "";
}

inline double real_value(std::mt19937_64& draw) {
  return std::uniform_real_distribution<double>(-1, 1)(draw);
}

/// Two patterns to multiply.
struct Factors {
  std::string name;
  std::function<Pattern()> left, right;
};

}  // namespace sporos::test
