// SPDX-License-Identifier: Apache-2.0
/// @file in_batches.cpp
/// Rows of all batches as rows of one, also where there are more than 32 bits count.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <sporos/kernels/epilogue/in_batches.hpp>

namespace sporos::test::batches {
namespace {

/// Says where it is applied.
struct WhereItIs {
  using compute = double;
  std::array<std::int64_t, 3>* where;
  double operator()(double sum, std::int64_t batch, std::int64_t row, std::int64_t column) const {
    *where = {batch, row, column};
    return -sum;
  }
};

TEST(EpilogueInBatches, IsToldTheBatchAndItsRow) {
  std::array<std::int64_t, 3> where{};
  for (const std::int64_t rows :
       {std::int64_t{1}, std::int64_t{7}, std::int64_t{1} << 31, std::int64_t{1} << 34})
    for (const std::int64_t batch : {0, 1, 5})
      for (const std::int64_t row : {std::int64_t{0}, rows / 2, rows - 1}) {
        const EpilogueInBatches<WhereItIs> epilogue{{&where}, rows};
        EXPECT_EQ(epilogue(2.0, batch * rows + row, 3), -2.0);
        EXPECT_EQ(where, (std::array<std::int64_t, 3>{batch, row, 3})) << rows;
      }
}

}  // namespace
}  // namespace sporos::test::batches
