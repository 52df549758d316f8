// SPDX-License-Identifier: Apache-2.0
/// @file prune_entries.cpp
/// Entries pruned to patterns that are known at run time, beside formats that have them in their type.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <sporos/formats/prune_entries.hpp>
#include <sporos/sporos.hpp>
#include <utility>

namespace sporos::test {
namespace {

/// Distinct coordinates in random order, small integers as values, so that many magnitudes are equal.
Entries<double, 2> scattered_entries(const Extents<2>& extents, std::int64_t count, unsigned seed) {
  std::mt19937 draw(seed);
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  Entries<double, 2> out(extents, count);
  for (std::int64_t q = 0; q < count;) {
    const auto i = static_cast<std::int64_t>(draw()) % extents[0];
    const auto j = static_cast<std::int64_t>(draw()) % extents[1];
    if (!seen.insert({i, j}).second) continue;
    out.set(q++, {i, j}, static_cast<double>(draw() % 9) - 4.5);
  }
  return out;
}

template <class List>
std::map<std::pair<std::int64_t, std::int64_t>, double> nonzeros(const List& list) {
  std::map<std::pair<std::int64_t, std::int64_t>, double> out;
  for (std::int64_t q = 0; q < list.size(); ++q) {
    const auto [i, j] = list.coordinate(q);
    const double value = list.values(static_cast<std::size_t>(q));
    if (value != 0) out[{i, j}] = value;
  }
  return out;
}

template <WindowedFormat F>
void expect_as(const Windows& windows) {
  for (const auto& extents : {Extents<2>{24, 36}, Extents<2>{23, 35}, Extents<2>{1, 50}, Extents<2>{50, 1}})
    for (const auto& options :
         {PruneOptions{}, PruneOptions{.by = Magnitude::l2}, PruneOptions{.scale = true}}) {
      const auto list = scattered_entries(extents, extents[0] * extents[1] / 2, 7);
      const auto by_format = prune<F>(assemble<CSR<>>(list), options);
      EXPECT_EQ(nonzeros(prune(list, windows, options)), nonzeros(entries(by_format)))
          << format_name<F>() << ' ' << to_string(extents);
    }
}

TEST(PruneEntries, KeepsWhatTheFormatKeeps) {
  expect_as<TwoFour>({2, 4});
  expect_as<NM<2, 4, 3>>({2, 4, 3, 0});
  expect_as<NM<1, 3, 5, 1>>({1, 3, 5, 1});
  expect_as<NM<5, 8>>({5, 8, 1, 0});
  expect_as<NM<4, 4, 2>>({4, 4, 2, 0});
}

TEST(PruneEntries, KeepsTheOrderOfTheEntries) {
  const Entries<double, 2> list({1, 8}, {{{0, 5}, 1.0}, {{0, 1}, 3.0}, {{0, 0}, 2.0}, {{0, 2}, 9.0}});
  const auto kept = prune(list, {2, 4});
  ASSERT_EQ(kept.size(), 3);
  EXPECT_EQ(kept.coordinate(0)[1], 5);
  EXPECT_EQ(kept.coordinate(1)[1], 1);
  EXPECT_EQ(kept.coordinate(2)[1], 2);
}

TEST(PruneEntries, WindowsMayBeLargerThanThoseOfAFormat) {
  const auto list = scattered_entries({40, 5000}, 40000, 3);
  const auto kept = prune(list, {100, 1000});
  EXPECT_EQ(kept.size(), 40 * 5 * 100);
}

TEST(PruneEntries, SquaresMayBeTooSmallOrTooLarge) {
  for (const double size : {1e-200, 1e200}) {
    const Entries<double, 2> list({1, 4}, {{{0, 0}, size}, {{0, 1}, 2 * size}, {{0, 2}, -3 * size}});
    const auto kept = prune(list, {1, 4}, {.by = Magnitude::l2});
    ASSERT_EQ(kept.size(), 1);
    EXPECT_EQ(kept.coordinate(0)[1], 2);
  }
}

TEST(PruneEntries, ValuesThatAreNotNumbersAreKept) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Entries<double, 2> list({1, 4}, {{{0, 0}, 1e300}, {{0, 1}, nan}, {{0, 2}, 2e300}});
  const auto kept = prune(list, {1, 4});
  ASSERT_EQ(kept.size(), 1);
  EXPECT_TRUE(std::isnan(kept.values(0)));
}

TEST(PruneEntries, NothingIsLeftOfNothing) {
  EXPECT_EQ(prune(Entries<float, 2>({0, 0}, 0), {2, 4}).size(), 0);
}

TEST(PruneEntries, WindowsThatMakeNoSenseAreRefused) {
  const Entries<double, 2> list({4, 4}, 0);
  EXPECT_THROW(prune(list, {0, 4}), RangeError);
  EXPECT_THROW(prune(list, {5, 4}), RangeError);
  EXPECT_THROW(prune(list, {2, 4, 0}), RangeError);
  EXPECT_THROW(prune(list, {2, 4, 1, 2}), RangeError);
}

}  // namespace
}  // namespace sporos::test
