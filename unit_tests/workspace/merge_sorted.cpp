// SPDX-License-Identifier: Apache-2.0
/// @file merge_sorted.cpp
/// The parallel merge of sorted lists against std::map.
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <sporos/workspace/merge_sorted.hpp>
#include <utility>
#include <vector>

namespace sporos::test {
namespace {

template <class Key>
struct OwnedList {
  std::vector<Key> keys;
  std::vector<float> values;
};

std::uint64_t key_from(std::uint64_t number, std::uint64_t*) { return number; }
Extents<2> key_from(std::uint64_t number, Extents<2>*) {
  return {static_cast<std::int64_t>(number >> 20), static_cast<std::int64_t>(number & 0xfffff) << 40};
}

template <class Key>
std::vector<std::pair<Key, std::uint32_t>> merged_bits(const detail::HostThreads& threads,
                                                       const std::vector<OwnedList<Key>>& owned) {
  std::vector<SortedList<Key, float>> lists;
  for (const auto& list : owned)
    lists.push_back({list.keys.data(), list.values.data(), static_cast<std::int64_t>(list.keys.size())});
  const auto merged = merge_sorted<Key, float>(threads, lists);
  std::vector<std::pair<Key, std::uint32_t>> out;
  for (std::int64_t n = 0; n < merged.count; ++n)
    out.emplace_back(merged.keys.data()[n], std::bit_cast<std::uint32_t>(merged.values.data()[n]));
  return out;
}

/// @param key_of  key_of(list, n), a number
template <class Key, class KeyOf>
void check_merge(std::size_t count, const std::vector<std::int64_t>& sizes, const KeyOf& key_of) {
  std::vector<OwnedList<Key>> lists(count);
  std::map<Key, float> sums;
  int n = 0;
  for (std::size_t list = 0; list < count; ++list) {
    std::map<Key, float> components;
    for (std::int64_t at = 0; at < sizes[list % sizes.size()]; ++at)
      components[key_from(key_of(list, at), static_cast<Key*>(nullptr))] =
          ++n % 5 == 0 ? 1e8f : 0.1f * static_cast<float>(n % 1000);
    for (const auto& [key, value] : components) {
      lists[list].keys.push_back(key);
      lists[list].values.push_back(value);
      const auto [place, is_new] = sums.try_emplace(key, value);
      if (!is_new) place->second += value;
    }
  }
  std::vector<std::pair<Key, std::uint32_t>> expected;
  for (const auto& [key, sum] : sums) expected.emplace_back(key, std::bit_cast<std::uint32_t>(sum));
  EXPECT_TRUE(merged_bits<Key>(Kokkos::DefaultHostExecutionSpace(), lists) == expected)
      << count << " lists, all threads";
#if defined(KOKKOS_ENABLE_SERIAL)
  EXPECT_TRUE(merged_bits<Key>(Kokkos::Serial(), lists) == expected) << count << " lists, one thread";
#endif
}

template <class Key>
void check_all_merges() {
  std::mt19937_64 draw(9);
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  for (const std::size_t count : {0, 1, 2, 3, 7}) {
    check_merge<Key>(count, {0}, [](std::size_t, std::int64_t) { return 0u; });
    check_merge<Key>(count, {1}, [](std::size_t, std::int64_t) { return 5u; });
    check_merge<Key>(count, {1000, 0, 3}, [&](std::size_t, std::int64_t) { return draw() % most; });
    check_merge<Key>(count, {30000}, [&](std::size_t, std::int64_t) { return draw() % most; });
    // The same keys in all lists, and many of them.
    check_merge<Key>(count, {30000},
                     [](std::size_t, std::int64_t n) { return static_cast<std::uint64_t>(n); });
    check_merge<Key>(count, {30000}, [&](std::size_t, std::int64_t) { return draw() % 40000; });
    // Lists of different lengths, over different ranges of keys.
    check_merge<Key>(count, {40000, 10, 20000}, [&](std::size_t list, std::int64_t) {
      return list % 2 == 0 ? draw() % 50000 : most - 1 - draw() % 50000;
    });
    // Lists one after the other, in ascending and in descending order.
    check_merge<Key>(count, {20000}, [](std::size_t list, std::int64_t n) {
      return list * 20000 + static_cast<std::uint64_t>(n);
    });
    check_merge<Key>(count, {20000}, [](std::size_t list, std::int64_t n) {
      return (7 - list) * 20000 + static_cast<std::uint64_t>(n);
    });
  }
}

TEST(MergeSorted, SumsPackedKeysInTheOrderOfTheLists) { check_all_merges<std::uint64_t>(); }

TEST(MergeSorted, SumsKeysOfLevelsInTheOrderOfTheLists) { check_all_merges<Extents<2>>(); }

TEST(MergeSorted, TakesTheLargestKeys) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max() - 1;
  const std::vector<OwnedList<Extents<2>>> lists(3, {{{0, 1}, {largest, largest}}, {1, 2}});
  const auto merged = merged_bits<Extents<2>>(Kokkos::DefaultHostExecutionSpace(), lists);
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[1].first, (Extents<2>{largest, largest}));
  EXPECT_EQ(std::bit_cast<float>(merged[1].second), 6);
}

}  // namespace
}  // namespace sporos::test
