// SPDX-License-Identifier: Apache-2.0
/// @file dense_products.hpp
/// Sparse matrices with rows of every length that the kernels for products with dense operands treat
/// differently, dense operands, and comparisons of their results.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <sporos/sporos.hpp>
#include <string>
#include <utility>
#include <vector>

#include "spgemm/sparse_products.hpp"

#include "kernel_of.hpp"

namespace sporos::test {

/// Row r has r % 37 random columns: every remainder modulo eight, empty rows, and rows that take several
/// steps.
inline Pattern of_all_lengths(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  return pattern(rows, columns, [&](std::int64_t row, auto& set) {
    for (std::int64_t at = 0; at < row % 37; ++at)
      set.insert(static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(columns)));
  });
}

/// Rows of zero to four nonzeros, and occasionally of five.
inline Pattern of_short_rows(std::int64_t rows, std::int64_t columns) {
  return pattern(rows, columns, [&](std::int64_t row, auto& set) {
    const std::int64_t length = row % 37 == 0 ? 5 : row * row / 3 % (row % 50 < 25 ? 5 : 3);
    for (std::int64_t k = 0; k < length; ++k) set.insert((row * 7 + k * 13) % columns);
  });
}

inline const std::vector<std::pair<std::string, Pattern>>& sparse_kinds() {
  static const std::vector<std::pair<std::string, Pattern>> all{
      {"rows of all lengths", of_all_lengths(83, 200, 1)},
      {"one nonzero a row", scattered(70, 50, 1, 2)},
      {"short rows", of_short_rows(411, 90)},
      {"three nonzeros a row", diagonals(80, 90, {0, 4, 9})},
      {"one row", scattered(1, 90, 30, 3)},
      {"one column", diagonals(20, 1, {0, -3, -19})},
      {"one element", diagonals(1, 1, {0})},
      {"empty rows", scattered(30, 40, 0, 4)},
      {"no rows", scattered(0, 40, 3, 5)},
      {"no columns", pattern(12, 0, [](std::int64_t, auto&) {})}};
  return all;
}

/// A dense tensor of small values, for which sums of products are exact.
template <class Value, class F, class Space = Host>
Tensor<Value, F, Space> small_dense(const Extents<F::order>& extents, std::uint64_t seed) {
  const Tensor<Value, F, Space> out(extents);
  std::mt19937_64 draw(seed);
  for (std::int64_t at = 0; at < out.nnz(); ++at)
    out.values()(static_cast<std::size_t>(at)) = small_value<Value>(draw);
  return out;
}
/// The same with values for which sums depend on the order of their terms.
template <class Value, class F, class Space = Host>
Tensor<Value, F, Space> real_dense(const Extents<F::order>& extents, std::uint64_t seed) {
  const Tensor<Value, F, Space> out(extents);
  std::mt19937_64 draw(seed);
  for (std::int64_t at = 0; at < out.nnz(); ++at)
    out.values()(static_cast<std::size_t>(at)) = static_cast<Value>(real_value(draw));
  return out;
}

/// Where two dense results differ; "" if they are equal.
template <class Left, class Right>
std::string first_difference(const Left& a, const Right& b) {
  if (a.extents() != b.extents()) return "the extents differ";
  for (std::size_t at = 0; at < static_cast<std::size_t>(a.nnz()); ++at)
    if (!(a.values()(at) == b.values()(at)))
      return text("value ", at, " is ", a.values()(at), " instead of ", b.values()(at));
  return "";
}

/// A sparse matrix as a dense one.
template <class Matrix>
Tensor<typename Matrix::value_type, DenseMatrix<>> dense_of(const Matrix& a) {
  const Tensor<typename Matrix::value_type, DenseMatrix<>> out(a.extents());
  const auto& columns = a.template level<1>();
  for (std::int64_t row = 0; row < a.extent(0); ++row)
    for (auto q = columns.positions(static_cast<std::size_t>(row));
         q < columns.positions(static_cast<std::size_t>(row + 1)); ++q)
      out.values()(static_cast<std::size_t>(
          row * a.extent(1) + static_cast<std::int64_t>(columns.coordinates(static_cast<std::size_t>(q))))) =
          a.values()(static_cast<std::size_t>(q));
  return out;
}

}  // namespace sporos::test
