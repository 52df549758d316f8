// SPDX-License-Identifier: Apache-2.0
/// @file device_pool.cpp
/// The pool of a device's memory, here with the host's in its place.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <sporos/core/device_pool.hpp>
#include <sporos/core/peak_memory.hpp>
#include <thread>
#include <utility>
#include <vector>

namespace sporos::test::device_pool {
namespace {

using PoolOfHost = DevicePool<Kokkos::HostSpace>;
template <class T>
using Array = Kokkos::View<T*, Kokkos::HostSpace>;

TEST(DevicePool, KeepsTheMemoryOfAnArrayForTheNext) {
  PoolOfHost pool;
  EXPECT_EQ(pool.bytes_held(), 0);
  auto first = pool.array<double>("first", 1000);
  ASSERT_EQ(first.extent(0), 1000U);
  const double* const memory = first.data();
  EXPECT_EQ(pool.bytes_held(), 0);
  first = {};
  EXPECT_EQ(pool.bytes_held(), 8000);
  const auto second = pool.array<double>("second", 900);
  EXPECT_EQ(second.data(), memory);
  EXPECT_EQ(second.extent(0), 900U);
  EXPECT_EQ(pool.bytes_held(), 0);
}

TEST(DevicePool, LendsNothingThatSomebodyRefersTo) {
  PoolOfHost pool;
  std::optional first = pool.array<double>("first", 100);
  const auto part = Kokkos::subview(*first, std::pair(20, 30));
  const double* const memory = first->data();
  first.reset();
  EXPECT_NE(pool.array<double>("second", 100).data(), memory);
  EXPECT_EQ(part.data(), memory + 20);
}

TEST(DevicePool, LendsToArraysOfTheSameTypeAndAboutTheSameSize) {
  PoolOfHost pool;
  const double* const memory = pool.array<double>("first", 100).data();
  EXPECT_NE(pool.array<double>("longer", 101).data(), memory);
  EXPECT_NE(pool.array<double>("short", 49).data(), memory);
  EXPECT_NE(static_cast<const void*>(pool.array<std::int64_t>("of another type", 100).data()),
            static_cast<const void*>(memory));
  EXPECT_EQ(pool.array<double>("half as long", 50).data(), memory);
}

TEST(DevicePool, LendsTheSmallestArrayThatFits) {
  PoolOfHost pool;
  std::vector<Array<int>> arrays;
  for (const int count : {150, 110, 190}) arrays.push_back(pool.array<int>("one of several", count));
  const int* const smallest = arrays[1].data();
  arrays.clear();
  EXPECT_EQ(pool.array<int>("next", 100).data(), smallest);
}

TEST(DevicePool, KeepsNoMoreThanItsLimit) {
  PoolOfHost pool;
  pool.limit(3000);
  EXPECT_EQ(pool.limit(), 3000);
  pool.array<char>("larger than the limit", 3001);
  EXPECT_EQ(pool.bytes_held(), 0);
  auto in_use = pool.array<char>("in use", 1000);
  pool.array<short>("oldest", 500);
  pool.array<int>("newest", 250);
  EXPECT_EQ(pool.bytes_held(), 2000);
  pool.array<float>("one more", 250);  // the oldest makes room
  EXPECT_EQ(pool.bytes_held(), 2000);
  pool.limit(2000);
  EXPECT_EQ(pool.bytes_held(), 1000);

  pool.limit(0);
  EXPECT_EQ(pool.bytes_held(), 0);
  in_use = {};  // the pool's no longer
  pool.array<char>("not kept", 10);
  EXPECT_EQ(pool.bytes_held(), 0);
}

TEST(DevicePool, ReleasesWhatNobodyUses) {
  PoolOfHost pool;
  const auto used = pool.array<double>("used", 10);
  pool.array<double>("not used", 1000);
  EXPECT_EQ(pool.release(), 8000);
  EXPECT_EQ(pool.release(), 0);
  EXPECT_EQ(pool.bytes_held(), 0);
}

TEST(DevicePool, CountsTheOwnersOfAnArrayBesidesItself) {
  PoolOfHost pool;
  const auto array = pool.array<float>("of the pool", 10);
  EXPECT_EQ(pool.owners(array), 1);
  const auto copy = array;
  EXPECT_EQ(pool.owners(array), 2);
  const Array<float> other("not of the pool", 10);
  EXPECT_EQ(pool.owners(other), 1);
  float memory[10];
  EXPECT_EQ(pool.owners(Array<float>(memory, 10)), 0);
  EXPECT_EQ(pool.owners(Array<float>(array.data(), 10)), 0);
  EXPECT_EQ(pool.owners(Array<float>()), 0);
}

TEST(DevicePool, LendsEmptyArraysAgain) {
  PoolOfHost pool;
  const auto first = pool.array<double>("empty", 0);
  EXPECT_EQ(first.extent(0), 0U);
  const double* const memory = pool.array<double>("another", 0).data();
  const auto again = pool.array<double>("again", 0);
  EXPECT_EQ(again.extent(0), 0U);
  EXPECT_EQ(again.data(), memory);
  EXPECT_NE(again.data(), first.data());
}

/// The oldest in use are forgotten, so that later ones are kept.
TEST(DevicePool, LendsMoreArraysThanItRemembers) {
  PoolOfHost pool;
  std::vector<Array<int>> arrays;
  for (int one = 0; one < 1000; ++one) {
    arrays.push_back(pool.array<int>("one of many", 10));
    arrays.back()(0) = one;
  }
  pool.array<int>("one more", 100);
  EXPECT_EQ(pool.bytes_held(), 400);
  for (int one = 0; one < 1000; ++one) EXPECT_EQ(arrays[static_cast<std::size_t>(one)](0), one);
  arrays.clear();
  EXPECT_GT(pool.bytes_held(), 400);
  EXPECT_LE(pool.bytes_held(), 255 * 40 + 400);

  PoolOfHost narrow;
  narrow.limit(1000);
  const auto in_use = narrow.array<char>("as large as the limit", 1000);
  narrow.array<char>("another", 600);
  EXPECT_EQ(narrow.bytes_held(), 600);
}

TEST(DevicePool, ReusesNothingInsideALoop) {
  PoolOfHost pool;
  const auto* const memory = pool.array<int>("first", 100).data();
  {
    const detail::ServesALoop in_a_loop;
    const auto inside = pool.array<int>("inside", 100);
    EXPECT_NE(inside.data(), memory);
    EXPECT_EQ(pool.release(), 0);
  }
  EXPECT_EQ(pool.array<int>("again", 100).data(), memory);
}

TEST(DevicePool, LetsPeakMemorySeeEveryArray) {
  PoolOfHost pool;
  pool.array<double>("before", 1000);
  const PeakMemory peak;
  {
    const auto array = pool.array<double>("counted", 1000);
    EXPECT_EQ(peak.bytes(), 8000);
  }
  const auto again = pool.array<double>("counted again", 1000);
  EXPECT_EQ(peak.bytes(), 8000);
}

TEST(DevicePool, MayBeUsedByManyThreads) {
  PoolOfHost pool;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int turn = 0; turn < 300; ++turn) {
        const auto array = pool.array<int>("of a thread", 100 + turn % 7);
        for (std::size_t at = 0; at < array.extent(0); ++at) array(at) = thread;
        std::this_thread::yield();
        for (std::size_t at = 0; at < array.extent(0); ++at) wrong += array(at) != thread;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace sporos::test::device_pool
