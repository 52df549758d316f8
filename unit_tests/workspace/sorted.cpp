// SPDX-License-Identifier: Apache-2.0
/// @file sorted.cpp
/// The sorted workspace, and when it stands in for the dense one.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <sporos/sporos.hpp>
#include <vector>

namespace sporos::test {
namespace {

static_assert(WorkspacePolicy<SortedPolicy> && Workspace<SortedWorkspace<double>, SortedPolicy, double, 1>);
static_assert(WorkspacePolicy<AdaptivePolicy> &&
              Workspace<AdaptivePolicy::workspace<double, 1>, AdaptivePolicy, double, 1>);

/// Adds `count` values at random coordinates below `extent`, and drains; twice.
void check_against_a_map(std::int64_t count, std::int64_t extent, std::int64_t coordinates) {
  SCOPED_TRACE(count);
  std::mt19937_64 draw(7);
  SortedWorkspace<double> workspace(sorted_workspace, Extents<1>{extent});
  for (int time = 0; time < 2; ++time) {
    std::map<std::int64_t, double> expected;
    for (std::int64_t n = 0; n < count; ++n) {
      const auto at = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(coordinates)) *
                      (extent / coordinates);
      const auto value = static_cast<double>(draw() % 9);
      expected[at] += value;
      workspace.add({at}, value);
    }
    std::map<std::int64_t, double> drained;
    std::int64_t last = -1;
    workspace.drain([&](const Extents<1>& at, double value) {
      EXPECT_GT(at[0], last) << "coordinates ascend";
      last = at[0];
      drained[at[0]] = value;
    });
    EXPECT_EQ(drained, expected);
  }
}

TEST(SortedWorkspace, SumsAsAMapDoes) {
  constexpr std::int64_t huge = std::int64_t{1} << 60;
  check_against_a_map(0, 10, 10);
  check_against_a_map(1, 1, 1);
  check_against_a_map(63, huge, 1000);
  check_against_a_map(64, huge, 3);
  check_against_a_map(65, huge, 65);
  check_against_a_map(10000, huge, 17);
  check_against_a_map(10000, huge, 100000);
  check_against_a_map(10000, 5000, 5000);
}

TEST(SortedWorkspace, SumsInTheOrderInWhichValuesCame) {
  SortedWorkspace<float> workspace;
  float expected[3] = {};
  for (int n = 0; n < 1000; ++n) {
    const float value = n % 7 == 0 ? 1e8f : 0.1f * static_cast<float>(n);
    expected[n % 3] += value;
    workspace.add({n % 3}, value);
  }
  workspace.drain([&](const Extents<1>& at, float sum) { EXPECT_EQ(sum, expected[at[0]]); });
}

TEST(SortedWorkspace, HoldsAboutTwiceAsManyEntriesAsCoordinates) {
  const std::int64_t before = detail::memory_use();
  SortedWorkspace<double> workspace;
  for (std::int64_t n = 0; n < 100000; ++n) workspace.add({n * 7919 % 100}, 1.0);
  EXPECT_LE(detail::memory_use() - before, 4 * 100 * 16);
}

TEST(AdaptiveWorkspace, IsDenseOverShortExtentsAndSortedOverLongOnes) {
  const auto bytes = [](std::int64_t extent) {
    const std::int64_t before = detail::memory_use();
    AdaptivePolicy::workspace<double, 1> workspace(AdaptivePolicy{}, Extents<1>{extent});
    workspace.add({extent - 1}, 2.0);
    workspace.add({extent - 1}, 3.0);
    const std::int64_t taken = detail::memory_use() - before;
    workspace.drain([&](const Extents<1>& at, double sum) {
      EXPECT_EQ(at[0], extent - 1);
      EXPECT_EQ(sum, 5);
    });
    return taken;
  };
  EXPECT_GE(bytes(10000), 80000);
  EXPECT_LE(bytes(std::int64_t{1} << 40), 4096);
}

}  // namespace
}  // namespace sporos::test
