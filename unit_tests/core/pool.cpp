// SPDX-License-Identifier: Apache-2.0
/// @file pool.cpp
/// The pool of host memory: what it keeps, what it gives back, and what it never holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <sporos/core/pool.hpp>
#include <sporos/formats/chunks.hpp>
#include <thread>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace {

using namespace sporos;

constexpr std::int64_t mebi = std::int64_t{1} << 20;

/// A pool of a test's own.
class OfPool : public testing::Test {
 protected:
  Pool pool_;
};

TEST_F(OfPool, GivesTheSameMemoryOutAgainWhenItsOwnerIsGone) {
  auto array = pool_.array<double>("test", mebi);
  const double* const first = array.data();
  EXPECT_EQ(pool_.bytes_lent(), 8 * mebi);
  EXPECT_EQ(pool_.bytes_held(), 0);
  array = {};
  EXPECT_EQ(pool_.bytes_lent(), 0);
  EXPECT_EQ(pool_.bytes_held(), 8 * mebi);
  const auto again = pool_.array<double>("test", mebi - 5);
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(again.extent(0), static_cast<std::size_t>(mebi - 5));
}

TEST_F(OfPool, KeepsItsHandsOffMemoryThatIsInUse) {
  const auto one = pool_.array<double>("test", mebi);
  const auto part = Kokkos::subview(one, std::pair<std::int64_t, std::int64_t>(17, 18));
  std::fill_n(one.data(), mebi, 1.0);
  const auto other = pool_.array<double>("test", mebi);
  EXPECT_NE(one.data(), other.data());
  std::fill_n(other.data(), mebi, 2.0);
  EXPECT_EQ(part(0), 1.0);
}

TEST_F(OfPool, KeepsMemoryAliveForAPartOfAnArray) {
  auto whole = pool_.array<double>("test", mebi);
  auto part = Kokkos::subview(whole, std::pair<std::int64_t, std::int64_t>(17, 18));
  part(0) = 3;
  whole = {};
  EXPECT_EQ(pool_.bytes_held(), 0);
  pool_.release();
  EXPECT_EQ(part(0), 3);
  part = {};
  EXPECT_EQ(pool_.bytes_held(), 8 * mebi);
}

TEST_F(OfPool, ReleaseGivesBackWhatIsNotInUse) {
  const auto used = pool_.array<double>("test", mebi);
  pool_.array<double>("test", 2 * mebi);
  EXPECT_EQ(pool_.bytes_held(), 16 * mebi);
  pool_.release();
  EXPECT_EQ(pool_.bytes_held(), 0);
  EXPECT_EQ(pool_.bytes_lent(), 8 * mebi);
}

TEST_F(OfPool, CountsOfAReservationWhatWasKept) {
  auto reserved = pool_.reserve<std::int32_t>("test", 256 * mebi);
  EXPECT_EQ(reserved.extent(0), static_cast<std::size_t>(256 * mebi));
  auto kept = pool_.keep(reserved, 1000);
  EXPECT_EQ(kept.extent(0), 1000u);
  EXPECT_EQ(kept.data(), reserved.data());
  EXPECT_EQ(pool_.bytes_lent(), 4000);
  reserved = {};
  kept = {};
  EXPECT_EQ(pool_.bytes_held(), 4000);
}

#if defined(__linux__) && defined(MADV_POPULATE_WRITE)
TEST_F(OfPool, HasThePagesMadeOfWhatWillBeWritten) {
  constexpr std::int64_t page = 4096, capacity = 100 * page, least = 40 * page;
  const auto is_there = [](const std::uint8_t* at) {
    auto* const begin = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) / page * page);
    unsigned char resident = 0;
    EXPECT_EQ(mincore(begin, page, &resident), 0);
    return resident % 2 == 1;
  };
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD,
          32 * page);  // so that the block is fresh memory, not a freed one whose pages are there
#endif
  const auto array = pool_.reserve<std::uint8_t>("test", capacity, least);
  if (madvise(nullptr, 0, MADV_POPULATE_WRITE) != 0) GTEST_SKIP() << "this system makes no pages ahead";
  for (std::int64_t at = 0; at < least; at += page) EXPECT_TRUE(is_there(array.data() + at));
  std::int64_t others = 0;
  for (std::int64_t at = least + page; at < capacity; at += page) others += is_there(array.data() + at);
  EXPECT_LT(others, 50);
}
#endif

TEST_F(OfPool, KnowsWhichPagesOfAReservationNeedNoPopulating) {
  constexpr std::int64_t capacity = mebi / 8, written = 30'000;  // 1 MiB, too little of it for a large page
  auto reserved = pool_.reserve<double>("test", capacity, 1000);
  EXPECT_EQ(pool_.backed_bytes(reserved), 8000) << "populated at once";
  pool_.keep(reserved, written);
  reserved = {};
  const auto again = pool_.reserve<double>("test", capacity);
  EXPECT_EQ(pool_.backed_bytes(again), 8 * written) << "written before";
  pool_.note_populated(again, 8 * written + 4096);
  EXPECT_EQ(pool_.backed_bytes(again), 8 * written + 4096) << "populated by its owner";
  pool_.note_populated(again, 4096);
  EXPECT_EQ(pool_.backed_bytes(again), 8 * written + 4096) << "pages stay";
  const auto large = pool_.reserve_for<float>("test", mebi, mebi);
  EXPECT_EQ(pool_.backed_bytes(large), 4 * mebi) << "on large pages";
  const auto small = pool_.reserve<double>("test", 100);
  EXPECT_EQ(pool_.backed_bytes(small), 800) << "from the ordinary allocator";
}

TEST(PopulationAheadOfAWriter, GoesOnUntilTheEndAndNotFarAhead) {
  constexpr std::int64_t bytes = 3 * mebi + 5;
  std::vector<char> memory(bytes, 'x');
  PopulateAhead pages(memory.data(), bytes, 100);
  EXPECT_EQ(pages.backed(), 100);
  pages.after(99);
  EXPECT_EQ(pages.backed(), 100) << "nothing needs to be populated yet";
  for (std::int64_t written = 100; !pages.is_done(); written = pages.backed()) {
    pages.after(written);
    ASSERT_GT(pages.backed(), written);
    ASSERT_LE(pages.backed(), std::min(bytes, written + std::max<std::int64_t>(written / 4, 32 << 10)));
  }
  EXPECT_EQ(pages.backed(), bytes);
  EXPECT_EQ(std::count(memory.begin(), memory.end(), 'x'), bytes) << "what is there stays";
  EXPECT_TRUE(PopulateAhead().is_done());
}

TEST_F(OfPool, StaysWithinItsLimit) {
  pool_.limit(20 * mebi);
  EXPECT_EQ(pool_.limit(), 20 * mebi);
  std::vector<HostArray<double>> arrays;
  for (int k = 0; k < 5; ++k) arrays.push_back(pool_.array<double>("test", mebi));
  EXPECT_LE(pool_.bytes_lent() + pool_.bytes_held(), 20 * mebi);
  for (auto& array : arrays) std::fill_n(array.data(), mebi, 1.0);  // all of them can be written
  arrays.clear();
  EXPECT_EQ(pool_.bytes_held(), 16 * mebi);
}

TEST_F(OfPool, DropsWhatWasUnusedForLongest) {
  pool_.limit(20 * mebi);
  auto old = pool_.array<double>("test", mebi);
  auto young = pool_.array<float>("test", 2 * mebi);
  const float* const first = young.data();
  old = {};
  young = {};
  pool_.array<std::int32_t>("test", 2 * mebi);
  EXPECT_EQ(pool_.bytes_held(), 16 * mebi);
  EXPECT_EQ(pool_.array<float>("test", 2 * mebi).data(), first);
}

TEST_F(OfPool, ALowerLimitTakesEffectAtOnce) {
  const auto used = pool_.array<double>("test", mebi);
  pool_.array<double>("test", 2 * mebi);
  pool_.limit(8 * mebi);
  EXPECT_EQ(pool_.bytes_held(), 0);
  EXPECT_EQ(pool_.bytes_lent(), 8 * mebi);
  pool_.limit(0);
  EXPECT_EQ(pool_.bytes_lent(), 0);
  std::fill_n(used.data(), mebi, 1.0);  // its owner's alone now
  EXPECT_EQ(used(mebi - 1), 1.0);
}

TEST_F(OfPool, DoesNotCountSmallArrays) {
  auto small = pool_.array<double>("test", 100);
  EXPECT_EQ(pool_.bytes_lent(), 0);
  small = {};
  EXPECT_EQ(pool_.bytes_held(), 0);
}

/// Small arrays are kept, unless AddressSanitizer watches them.
class OfPoolOfSmallArrays : public OfPool {
 protected:
  void SetUp() override {
    if (!detail::keeps_small_arrays) GTEST_SKIP() << "AddressSanitizer";
  }
  /// Counts what Kokkos allocates while it exists.
  struct Allocations {
    Allocations() {
      count = 0;
      Kokkos::Tools::Experimental::set_allocate_data_callback(
          [](Kokkos::Tools::SpaceHandle, const char*, const void*, std::uint64_t) { ++count; });
    }
    ~Allocations() { Kokkos::Tools::Experimental::set_callbacks(before); }
    const Kokkos::Tools::Experimental::EventSet before = Kokkos::Tools::Experimental::get_callbacks();
    static inline int count = 0;
  };
};

TEST_F(OfPoolOfSmallArrays, GivesThemOutAgainWhenTheirOwnersAreGone) {
  auto small = pool_.array<double>("test", 100);
  small = {};
  const Allocations allocations;
  for (int round = 0; round < 5; ++round) {
    const auto one = pool_.array<double>("test", 100), other = pool_.reserve<double>("test", 90);
    EXPECT_EQ(one.extent(0), 100U);
    EXPECT_EQ(other.extent(0), 90U);
    EXPECT_TRUE(other.data() >= one.data() + 100 || one.data() >= other.data() + 90) << "they overlap";
  }
  EXPECT_EQ(allocations.count, 1) << "two arrays at a time, of which one was there";
}

TEST_F(OfPoolOfSmallArrays, DoesNotGiveThemOutWhileAnyPartOfThemIsInUse) {
  auto small = pool_.array<std::int32_t>("test", 50);
  const auto part = Kokkos::subview(small, std::pair(10, 20));
  Kokkos::deep_copy(part, 7);
  small = {};
  const auto other = pool_.array<std::int32_t>("test", 50);
  Kokkos::deep_copy(other, 1);
  for (std::size_t at = 0; at < 10; ++at) EXPECT_EQ(part(at), 7);
}

TEST_F(OfPoolOfSmallArrays, KeepsTypesApartAndWastesAQuarterAtMost) {
  pool_.array<double>("test", 1000);
  const Allocations allocations;
  pool_.array<double>("test", 500);
  EXPECT_EQ(allocations.count, 1) << "half as large";
  pool_.array<std::int64_t>("test", 1000);
  EXPECT_EQ(allocations.count, 2) << "of another type";
  pool_.array<double>("test", 1001);
  EXPECT_EQ(allocations.count, 3) << "larger";
  pool_.array<double>("test", 900);
  EXPECT_EQ(allocations.count, 3) << "a tenth smaller";
}

TEST_F(OfPoolOfSmallArrays, AreForgottenWithoutAnEffectOnTheirOwners) {
  std::vector<HostArray<float>> arrays;
  for (int k = 0; k < 200; ++k) {  // more than are remembered
    arrays.push_back(pool_.array<float>("test", 10));
    Kokkos::deep_copy(arrays.back(), static_cast<float>(k));
  }
  pool_.release();
  for (int k = 0; k < 200; ++k)
    for (std::size_t at = 0; at < 10; ++at)
      ASSERT_EQ(arrays[static_cast<std::size_t>(k)](at), static_cast<float>(k));
  arrays.clear();
  const Allocations allocations;
  pool_.array<float>("test", 10);
  EXPECT_EQ(allocations.count, 1) << "released";
  pool_.limit(0);
  pool_.array<float>("test", 10);
  pool_.array<float>("test", 10);
  EXPECT_EQ(allocations.count, 3) << "nothing is kept";
}

// Kokkos waits for all loops where a View is freed: inside one, for ever.
TEST_F(OfPool, FreesNothingInsideLoops) {
  pool_.limit(3 * mebi);
  pool_.array<float>("test", mebi / 2);
  for (int k = 1; k < 100; ++k) pool_.array<double>("test", 10 * k);  // all of which could be freed
  std::vector<HostArray<double>> arrays(256);
  detail::for_each_chunk(Host(), 256, [&](const std::int64_t k) {
    auto& array = arrays[static_cast<std::size_t>(k)];
    array = pool_.array<double>("test", k % 64 == 0 ? mebi : 1003 + 20 * k);
    std::fill_n(array.data(), array.extent(0), static_cast<double>(k));
  });
  for (std::size_t k = 0; k < arrays.size(); ++k)
    for (std::size_t at = 0; at < std::min<std::size_t>(arrays[k].extent(0), 1000); ++at)
      ASSERT_EQ(arrays[k](at), static_cast<double>(k));
  pool_.array<double>("test", mebi);
  EXPECT_LE(pool_.bytes_lent() + pool_.bytes_held(), 3 * mebi) << "once there is no loop";
}

TEST_F(OfPoolOfSmallArrays, AreCountedOneByOneWhileSomebodyListens) {
  pool_.array<double>("test", 100);
  pool_.watch([](std::int64_t) {});
  const Allocations allocations;
  pool_.array<double>("test", 100);
  pool_.array<double>("test", 100);
  EXPECT_EQ(allocations.count, 2);
  pool_.watch(nullptr);
  pool_.array<double>("test", 100);
  EXPECT_EQ(allocations.count, 2) << "the one of before";
}

TEST_F(OfPool, DoesNotPutASmallArrayIntoALargeBlock) {
  pool_.array<double>("test", 8 * mebi);
  auto small = pool_.array<double>("test", mebi / 8);
  EXPECT_EQ(pool_.bytes_lent(), mebi);
  EXPECT_EQ(pool_.bytes_held(), 64 * mebi);
}

TEST_F(OfPool, SaysHowMuchItCouldNotGet) {
  EXPECT_THROW(pool_.array<double>("test", std::int64_t{1} << 55), MemoryError);
  EXPECT_THROW(pool_.array<double>("test", -1), MemoryError);
}

TEST_F(OfPool, ServesSeveralThreads) {
  std::vector<std::thread> threads;
  std::vector<int> broken(4);
  std::vector<std::vector<HostArray<std::int32_t>>> arrays(4);
  for (int id = 0; id < 4; ++id)
    threads.emplace_back([this, id, &broken, &mine = arrays[static_cast<std::size_t>(id)]] {
      for (int round = 0; round < 50; ++round) {
        mine.push_back(pool_.array<std::int32_t>("test", 20000 + 1000 * (round % 7)));
        std::fill_n(mine.back().data(), mine.back().extent(0), 100 * id + round);
      }
      for (int round = 0; round < 50; ++round) {
        const auto& array = mine[static_cast<std::size_t>(round)];
        for (std::size_t at = 0; at < array.extent(0); ++at)
          if (array(at) != 100 * id + round) ++broken[static_cast<std::size_t>(id)];
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(broken, std::vector<int>(4));
}

TEST(ThePool, IsOneForTheProcess) {
  EXPECT_EQ(&pool(), &pool());
  EXPECT_GT(pool().limit(), 0);
  EXPECT_LT(pool().limit(), Pool::machine_bytes());
}

}  // namespace
