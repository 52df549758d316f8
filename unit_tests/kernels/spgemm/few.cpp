// SPDX-License-Identifier: Apache-2.0
/// @file few.cpp
/// Rows of few products, in registers and in the lanes of a vector: which of the two computes a row depends
/// on the processor, so each is tested by itself.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <sporos/kernels/host/sparse_rows.hpp>
#include <sporos/kernels/spgemm/host/few.hpp>
#include <sporos/kernels/spgemm/host/few_in_lanes.hpp>
#include <string_view>
#include <vector>

namespace sporos::test::few {
namespace {

using Matrix = SparseRows<double, std::int32_t, std::int32_t>;

/// Rows of up to five elements in ascending columns, of which neighbouring rows share many.
struct Rows {
  std::vector<std::int32_t> positions{0}, columns;
  std::vector<double> values;
  std::mt19937_64 draw{5};

  static constexpr std::int64_t count = 60;

  Rows() {
    for (std::int64_t row = 0; row < count; ++row) {
      for (std::int32_t column = static_cast<std::int32_t>(draw() % 4), left = draw() % 6; left > 0; --left) {
        columns.push_back(column);
        values.push_back(static_cast<double>(draw() % 17) - 8);
        column += 1 + static_cast<std::int32_t>(draw() % 3);
      }
      positions.push_back(static_cast<std::int32_t>(columns.size()));
    }
  }
  Matrix view() const { return {count, 40, positions.data(), columns.data(), values.data()}; }
};

/// Calls compute(factors, rows, count, b, columns, values) for many sums of rows of b, and compares the
/// elements with their sums by columns. Small integers are summed exactly in any order.
/// @param compute  returns the number of elements, or -1 if there are too many products
/// @return how many sums were computed
template <class Compute>
int expect_sums(std::string_view who, const Compute& compute) {
  Rows rows;
  const Matrix b = rows.view();
  int computed = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    std::vector<double> factors(8);
    std::vector<std::int32_t> of(8);
    const auto count = static_cast<std::int64_t>(1 + rows.draw() % 8);
    std::map<std::int32_t, double> expected;
    std::int64_t products = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
      factors[k] = static_cast<double>(rows.draw() % 9) - 4;
      of[k] = static_cast<std::int32_t>(rows.draw() % Rows::count);
      products += b.length(of[k]);
      for (std::int64_t q = b.begin(of[k]); q < b.begin(of[k] + 1); ++q)
        expected[b.coordinates[q]] += factors[k] * b.values[q];
    }
    std::vector<std::int32_t> columns(16, -1);
    std::vector<double> values(16, -1);
    const std::int64_t elements =
        compute(factors.data(), of.data(), count, products, b, columns.data(), values.data());
    if (elements < 0) {
      EXPECT_GT(products, detail::row_of_few_products) << who;
      continue;
    }
    ++computed;
    EXPECT_EQ(elements, static_cast<std::int64_t>(expected.size())) << who;
    if (elements != static_cast<std::int64_t>(expected.size())) return computed;
    std::size_t at = 0;
    for (const auto& [column, value] : expected) {
      EXPECT_EQ(columns[at], column) << who;
      EXPECT_EQ(values[at], value) << who;
      ++at;
    }
  }
  return computed;
}

TEST(RowsOfFewProducts, AreSortedInRegisters) {
  const auto compute = [](const double* factors, const std::int32_t* rows, std::int64_t count,
                          std::int64_t products, const Matrix& b, std::int32_t* columns, double* values) {
    return products > detail::row_of_few_products ? std::int64_t{-1}
                                                  : detail::multiply_few<std::uint32_t, double, Matrix>(
                                                        factors, rows, count, b, false, columns, values);
  };
  EXPECT_GT(expect_sums("in registers", compute), 500);
}

#ifdef SPOROS_SPGEMM_FEW_IN_LANES
TEST(RowsOfFewProducts, AreSortedInTheLanesOfAVector) {
  const auto compute = [](const double* factors, const std::int32_t* rows, std::int64_t count,
                          std::int64_t /*products*/, const Matrix& b, std::int32_t* columns, double* values) {
    return detail::multiply_few_in_lanes(factors, rows, count, b, columns, values);
  };
  EXPECT_GT(expect_sums("in lanes", compute), 500);
}
#endif

}  // namespace
}  // namespace sporos::test::few
