// SPDX-License-Identifier: Apache-2.0
/// @file hashing_lists.cpp
/// Lists of coordinates that become hash tables where few coordinates recur often, and tables that become
/// lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <sporos/workspace/coordinate.hpp>
#include <utility>
#include <vector>

namespace sporos::test {
namespace {

TEST(CoordinateWorkspace, HashesWhereCoordinatesRecurAndListsWhereTheyDoNot) {
  constexpr std::int64_t capacity = 2048, some = 100;
  detail::MovingComponents<double> components(CoordinatePolicy{.hashes = true}, PackedKeys<1>({1 << 20}));
  components.resize(capacity);
  const auto insert = [&](std::int64_t count, std::int64_t distinct) {
    std::int64_t taken = 0;
    while (taken < count && components.insert(static_cast<std::uint64_t>(taken * 7 % distinct * 31), 1.0))
      ++taken;
    return taken;
  };
  const auto expect_sums = [&](std::int64_t inserted, std::int64_t distinct) {
    const auto run = components.sort();
    ASSERT_EQ(run.size(), distinct);
    double sum = 0;
    for (std::int64_t n = 0; n < distinct; ++n) {
      EXPECT_EQ(run.key(n), static_cast<std::uint64_t>(31 * n));
      sum += run.value(n);
    }
    EXPECT_EQ(sum, static_cast<double>(inserted));
  };
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(insert(capacity + 1, some), capacity) << "a list takes as many as it has room for";
    expect_sums(capacity, some);
    components.clear();
    EXPECT_EQ(insert(10 * capacity, some), 10 * capacity) << "a table has room for those that recur";
    expect_sums(10 * capacity, some);
    EXPECT_EQ(insert(capacity, some), capacity) << "insertion goes on after a sort";
    expect_sums(11 * capacity, some);
    components.clear();
    const std::int64_t different = insert(capacity, capacity);
    EXPECT_LT(different, capacity);
    EXPECT_GT(different, capacity / 4);
    EXPECT_EQ(components.sort().size(), different);
    components.clear();
  }
  EXPECT_EQ(insert(capacity + 1, capacity + 1), capacity);
  components.resize(2 * capacity);
  EXPECT_EQ(insert(2 * capacity + 1, 2 * capacity + 1), 2 * capacity);
}

TEST(CoordinateWorkspace, HashesBeforeItsFirstListIsFullWhereManyCoordinatesRecur) {
  constexpr std::int64_t capacity = 40'000;
  // How many of 2.5 * capacity components are taken, which are the same for key(n).
  const auto taken = [](const auto& key, bool hashes = true) {
    detail::MovingComponents<float> components(CoordinatePolicy{.hashes = hashes}, PackedKeys<1>({1 << 20}));
    components.resize(capacity);
    std::map<std::uint64_t, float> expected;
    std::int64_t count = 0;
    for (; count < 5 * capacity / 2; ++count) {
      const std::uint64_t at = key(static_cast<std::uint64_t>(count));
      const auto value = static_cast<float>(1.0 / static_cast<double>(count + 1));
      if (!components.insert(at, value)) break;
      expected[at] += value;
    }
    const auto run = components.sort();
    EXPECT_EQ(run.size(), static_cast<std::int64_t>(expected.size()));
    std::int64_t n = 0;
    for (const auto& [at, sum] : expected) {
      if (n == run.size()) break;
      EXPECT_EQ(run.key(n), at);
      EXPECT_EQ(run.value(n), sum) << "values are added in the order of insertion";
      ++n;
    }
    return count;
  };
  const auto random_key = [](std::uint64_t n) { return (n * 0x9e3779b97f4a7c15u ^ 0x5bd1e995u) >> 24; };
  EXPECT_EQ(taken([&](std::uint64_t n) { return random_key(n) % 3000; }), 5 * capacity / 2);
  EXPECT_EQ(taken([&](std::uint64_t n) { return random_key(n) % 3000; }, false), capacity);
  EXPECT_EQ(taken([&](std::uint64_t n) { return random_key(n); }), capacity);
  EXPECT_EQ(taken([&](std::uint64_t n) { return random_key(n) % 30'000; }), capacity);
  EXPECT_EQ(taken([&](std::uint64_t n) { return n % 2 ? 7 : random_key(n); }), capacity) << "one recurs";
  EXPECT_EQ(taken([&](std::uint64_t n) { return random_key(n / 8); }), capacity) << "next to each other";
}

TEST(CoordinateWorkspace, SumsAsAMapDoesWhereItHashes) {
  for (const std::int64_t capacity : {1, 1000, 1024, 3000, 40'000})
    for (const double slope : {0.0, 0.5}) {
      const CoordinatePolicy policy{
          .settings = {.capacity = capacity,
                       .growth = {.first_slope = slope, .second_slope = slope, .third_slope = slope}},
          .hashes = true};
      InsertSortMerge<CoordinatePolicy, float, 2> workspace(policy, {1 << 20, 1 << 20});
      std::mt19937_64 draw(9);
      std::map<Extents<2>, float> expected;
      // Few coordinates, then ever more of them, then few others.
      for (const std::uint64_t distinct : {50u, 700u, 40'000u, 90u})
        for (int n = 0; n < 20'000; ++n) {
          const auto number = static_cast<std::int64_t>(draw() % distinct * (distinct + 1));
          const Extents<2> at{number * 7919 % (1 << 20), number % 977};
          expected[at] += 1;
          workspace.add(at, 1);
        }
      std::vector<std::pair<Extents<2>, float>> sums;
      workspace.drain([&](const Extents<2>& at, float sum) { sums.emplace_back(at, sum); });
      EXPECT_TRUE(
          std::equal(sums.begin(), sums.end(), expected.begin(), expected.end(),
                     [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; }))
          << capacity << ' ' << slope;
    }
}

}  // namespace
}  // namespace sporos::test
