// SPDX-License-Identifier: Apache-2.0
/// @file chunks.cpp
/// Chunks are each done once, on the threads of the instance that is named; what they throw arrives.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <set>
#include <sporos/formats/chunks.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

namespace sporos::test {
namespace {

using namespace sporos::detail;

/// How often each chunk is done.
template <class Space>
std::vector<int> times_done(const Space& space, std::int64_t chunks) {
  std::vector<std::atomic<int>> times(static_cast<std::size_t>(chunks));
  for_each_chunk(space, chunks, [&](std::int64_t chunk) { ++times[static_cast<std::size_t>(chunk)]; });
  return {times.begin(), times.end()};
}

TEST(Chunks, AreEachDoneOnce) {
  for (const std::int64_t chunks : {0, 1, 2, 3, 4, 5, 1000})
    EXPECT_EQ(times_done(Host(), chunks), std::vector<int>(static_cast<std::size_t>(chunks), 1));
#ifdef KOKKOS_ENABLE_SERIAL
  EXPECT_EQ(times_done(Serial(), 7), std::vector<int>(7, 1));
#endif
}

#ifdef KOKKOS_ENABLE_OPENMP
TEST(Chunks, RunOnTheThreadsOfTheirInstance) {
  if (OpenMP().concurrency() < 4) GTEST_SKIP() << "an instance of two threads takes four to share";
  const auto instances = Kokkos::Experimental::partition_space(OpenMP(), 1, 1);
  ASSERT_EQ(instances[0].concurrency(), 2);
  std::mutex guard;
  std::set<std::thread::id> threads;
  for_each_chunk(instances[0], 100, [&](std::int64_t) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    const std::lock_guard lock(guard);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_LE(threads.size(), 2U);
  EXPECT_EQ(chunks_for(instances[0], 1'000'000, 3), 6);
  EXPECT_EQ(chunks_for(OpenMP(), 1'000'000, 3), 3 * OpenMP().concurrency());
}
#endif

template <class Space>
void expect_first_failure(const Space& space) {
  std::atomic<int> done{0};
  const auto fail_at_3 = [&](std::int64_t chunk) {
    if (chunk == 3) throw std::domain_error("chunk 3");
    // Slow enough that the thread that throws gets its turn on a busy machine before all others are through.
    if (chunk > 3) std::this_thread::sleep_for(std::chrono::microseconds(20));
    ++done;
  };
  EXPECT_THROW(for_each_chunk(space, 100'000, fail_at_3), std::domain_error);
  EXPECT_LT(done, 99'999);
  const auto no_memory = [](std::int64_t) { throw std::bad_alloc(); };
  EXPECT_THROW(for_each_chunk(space, 8, no_memory), std::bad_alloc);
  EXPECT_THROW(for_each_chunk(space, 1, no_memory), std::bad_alloc);
}

TEST(Chunks, ThrowTheFirstExceptionOfOneOfThemAndStop) {
  expect_first_failure(Host());
#ifdef KOKKOS_ENABLE_SERIAL
  expect_first_failure(Serial());
#endif
}

TEST(Chunks, CutAnExtentOfAlmostTwoToThe63rd) {
  const std::int64_t count = INT64_MAX, chunks = std::int64_t{1} << 40;
  EXPECT_EQ(chunk_bounds(count, 0, chunks).first, 0);
  EXPECT_EQ(chunk_bounds(count, chunks - 1, chunks).second, count);
  EXPECT_EQ(chunk_bounds(count, 5, chunks).second, chunk_bounds(count, 6, chunks).first);
}

TEST(Workers, TakeEachChunkOfAQueueOnce) {
  for (const std::int64_t workers : {1, 2, 4, 9}) {
    std::vector<std::atomic<int>> times(1000), begun(static_cast<std::size_t>(workers));
    ChunkQueue queue(1000);
    for_each_worker(Host(), workers, queue, [&](std::int64_t worker) {
      ++begun[static_cast<std::size_t>(worker)];
      for (std::int64_t chunk; queue.take(chunk);) ++times[static_cast<std::size_t>(chunk)];
    });
    for (const auto& once : times) EXPECT_EQ(once, 1);
    for (const auto& once : begun) EXPECT_EQ(once, 1);
  }
}

TEST(Workers, StopTakingChunksWhereOneOfThemThrows) {
  std::atomic<std::int64_t> done{0};
  ChunkQueue queue(INT64_MAX / 2);  // nobody gets to the end of it
  const auto work = [&](std::int64_t) {
    for (std::int64_t chunk; queue.take(chunk); ++done)
      if (chunk == 1000) throw std::domain_error("chunk 1000");
  };
  EXPECT_THROW(for_each_worker(Host(), 4, queue, work), std::domain_error);
  EXPECT_GE(done, 900);
  EXPECT_TRUE(queue.stopped());
}

}  // namespace
}  // namespace sporos::test
