// SPDX-License-Identifier: Apache-2.0
/// @file entries.cpp
/// Entries made of arrays, and read one after the other.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <span>
#include <sporos/core/entries.hpp>
#include <sporos/core/tensor.hpp>
#include <sporos/formats/named.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace sporos;

template <class Value, int Order>
std::vector<std::pair<Extents<Order>, Value>> listed(const Entries<Value, Order>& entries) {
  std::vector<std::pair<Extents<Order>, Value>> out;
  for (const auto& [coordinate, value] : entries) out.emplace_back(coordinate, value);
  return out;
}

TEST(Entries, AreReadOneAfterTheOther) {
  const Entries<double, 2> entries({3, 4}, {{{2, 1}, 5.0}, {{0, 3}, 7.0}});
  EXPECT_EQ(listed(entries), (std::vector<std::pair<Extents<2>, double>>{{{2, 1}, 5.0}, {{0, 3}, 7.0}}));
  EXPECT_TRUE(listed(Entries<double, 2>({3, 4}, 0)).empty());
}

TEST(Entries, AreCopiesOfArraysOfAnyKind) {
  const std::vector<int> rows{2, 0};
  const std::array<std::uint8_t, 2> columns{1, 3};
  std::vector<float> values{5, 7};
  const Entries<double, 2> entries({3, 4}, rows, std::span(columns), values);
  values[0] = 9;
  EXPECT_EQ(listed(entries), (std::vector<std::pair<Extents<2>, double>>{{{2, 1}, 5.0}, {{0, 3}, 7.0}}));
  const Entries<bool, 1> bits({9}, std::vector<std::int64_t>{8, 0}, std::vector<bool>{true, false});
  EXPECT_EQ(listed(bits), (std::vector<std::pair<Extents<1>, bool>>{{{8}, true}, {{0}, false}}));
  EXPECT_EQ((Entries<double, 1>({9}, std::vector<int>{}, std::vector<double>{}).size()), 0);
}

TEST(Entries, AreRefusedWhereArraysDifferInLength) {
  const std::vector<int> two{0, 1}, three{0, 1, 2};
  const std::vector<double> values{1, 2};
  EXPECT_THROW((Entries<double, 2>({3, 4}, two, three, values)), ShapeError);
  EXPECT_THROW((Entries<double, 2>({3, 4}, two, two, std::vector<double>{1})), ShapeError);
  try {
    Entries<double, 2>({3, 4}, two, three, values);
  } catch (const ShapeError& error) {
    EXPECT_EQ(std::string(error.what()),
              "there are 3 coordinates of mode 1, but 2 values: every entry has one of each");
  }
}

TEST(Extents, MayBeSizesOfContainers) {
  const std::vector<double> data(5);
  EXPECT_EQ((Entries<double, 2>({data.size(), data.size()}, 1).extents), (Extents<2>{5, 5}));
  EXPECT_EQ((Tensor<double, CSR<>>({data.size(), data.size()}).extents()), (Extents<2>{5, 5}));
  EXPECT_EQ((Tensor<double, DenseVector>({data.size()}).extent(0)), 5);
  constexpr std::size_t large = std::numeric_limits<std::size_t>::max();
  EXPECT_THROW((Tensor<double, CSR<>>({large, large})), RangeError);
}

}  // namespace
