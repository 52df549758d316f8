// SPDX-License-Identifier: Apache-2.0
/// @file strategies.cpp
/// A row of the product takes the cheapest strategy that fits, and is not looked at more closely than that
/// needs.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/kernels/spgemm/host/row_strategy.hpp>

namespace sporos::test {
namespace {

using namespace sporos::detail;

/// A row that is given what strategy_of asks about.
struct Row {
  std::int64_t count = 20;
  std::int64_t shifted_rows = 0;
  Reach reach{.products = 100, .first = 0, .window = 1000};
  int alike_rows = 1;
  bool plain = false;
  bool b_was_read = false;

  std::int64_t shifted() const { return shifted_rows; }
  const Reach& look_at_b() {
    b_was_read = true;
    return reach;
  }
  int alike() const { return alike_rows; }
};

RowStrategy strategy_of_row(Row row) { return strategy_of(row); }
RowStrategy strategy_of_products(std::int64_t products) {
  return strategy_of_row({.reach = {.products = products, .window = 1000}});
}

TEST(RowStrategies, GatherALongRow) { EXPECT_EQ(strategy_of_row({}), RowStrategy::scattered); }

TEST(RowStrategies, TellRowsOfNoElementAndOfOneWithoutReadingB) {
  Row empty{.count = 0}, scaled{.count = 1};
  EXPECT_EQ(strategy_of(empty), RowStrategy::empty);
  EXPECT_EQ(strategy_of(scaled), RowStrategy::scaled);
  EXPECT_FALSE(empty.b_was_read || scaled.b_was_read);
}

TEST(RowStrategies, MultiplyRowsThatShiftTogetherWithoutReadingB) {
  Row row{.shifted_rows = 6};
  EXPECT_EQ(strategy_of(row), RowStrategy::shifted);
  EXPECT_FALSE(row.b_was_read);
}

TEST(RowStrategies, ComputeRowsOfAMatrixOfMediumRowsWithoutReadingB) {
  Row row{.plain = true};
  EXPECT_EQ(strategy_of(row), RowStrategy::plain);
  EXPECT_FALSE(row.b_was_read);
  row.alike_rows = 4;
  EXPECT_EQ(strategy_of(row), RowStrategy::alike);
  row.shifted_rows = 6;
  EXPECT_EQ(strategy_of(row), RowStrategy::shifted);
}

TEST(RowStrategies, SortUpToEightProducts) {
  EXPECT_EQ(strategy_of_products(0), RowStrategy::empty);
  EXPECT_EQ(strategy_of_products(1), RowStrategy::few);
  EXPECT_EQ(strategy_of_products(8), RowStrategy::few);
  EXPECT_EQ(strategy_of_products(9), RowStrategy::scattered);
}

TEST(RowStrategies, GatherRowsAlikeTogetherWhereTheirWindowIsNotTooWide) {
  Row row{.alike_rows = 2};
  EXPECT_EQ(strategy_of(row), RowStrategy::alike);
  row.reach.window = widest_alike_window;
  EXPECT_EQ(strategy_of(row), RowStrategy::alike);
  row.reach.window = widest_alike_window + 1;
  EXPECT_EQ(strategy_of(row), RowStrategy::scattered);
}

TEST(RowStrategies, CoverAllRowsAlike) {
  for (const int lanes : {4, 8})
    for (int alike = 1; alike <= 256; ++alike) {
      int left = alike, calls = 0;
      for (; left > 0; ++calls) {
        const int rows = rows_at_once(left, lanes);
        ASSERT_GE(rows, 1);
        ASSERT_LE(rows, lanes);
        left -= rows;
      }
      EXPECT_EQ(left, 0);
      EXPECT_EQ(calls, (alike + lanes - 1) / lanes) << alike << " rows in " << lanes << " lanes";
    }
  EXPECT_EQ(rows_at_once(6, 4), 3);  // and 3, not 4 and 2
}

}  // namespace
}  // namespace sporos::test
