// SPDX-License-Identifier: Apache-2.0
/// @file similar_rows.cpp
/// What is said of all rows of a matrix from a sample of them.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/formats/near_rows.hpp>
#include <sporos/kernels/spgemm/host/similar_rows.hpp>
#include <vector>

namespace sporos::test {
namespace {

using namespace sporos::detail;

/// A matrix of `rows` rows, each of `count` columns that column(row, t) gives in ascending order.
template <class Column>
bool has_near_rows_of(std::int64_t rows, std::int64_t count, const Column& column) {
  std::vector<std::int64_t> positions{0};
  std::vector<std::int32_t> coordinates;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t t = 0; t < count; ++t) coordinates.push_back(static_cast<std::int32_t>(column(row, t)));
    positions.push_back(static_cast<std::int64_t>(coordinates.size()));
  }
  const std::vector<double> values(coordinates.size());
  return has_near_rows(SparseRows<double, std::int64_t, std::int32_t>{rows, rows, positions.data(),
                                                                      coordinates.data(), values.data()});
}

TEST(NearRows, AreThoseOfBandsAndOfGridLines) {
  EXPECT_TRUE(has_near_rows_of(5000, 5, [](auto row, auto t) { return row + 2 * t; }));
  EXPECT_TRUE(has_near_rows_of(5000, 7, [](auto row, auto t) { return row + 400 * t; }));
}

TEST(NearRows, AreNotThoseThatNameColumnsFarApart) {
  EXPECT_FALSE(has_near_rows_of(5000, 5, [](auto row, auto t) { return row * 7919 % 1000 + 1000 * t; }));
}

TEST(NearRows, AreNotThereWithoutTwoRowsOrWithoutColumns) {
  EXPECT_FALSE(has_near_rows_of(0, 3, [](auto, auto t) { return t; }));
  EXPECT_FALSE(has_near_rows_of(1, 3, [](auto, auto t) { return t; }));
  EXPECT_FALSE(has_near_rows_of(100, 0, [](auto, auto) { return 0; }));
}

}  // namespace
}  // namespace sporos::test
