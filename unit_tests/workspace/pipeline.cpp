// SPDX-License-Identifier: Apache-2.0
/// @file pipeline.cpp
/// Chunks of any size stand in the result in their order, whoever computes them; what a worker throws
/// arrives, and nothing hangs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <numeric>
#include <random>
#include <sporos/core/array.hpp>
#include <sporos/workspace/pipeline.hpp>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace sporos::test {
namespace {

using Number = std::int64_t;

/// A result whose chunk c holds sizes[c] times the number c.
class Numbers {
 public:
  explicit Numbers(std::vector<std::int64_t> sizes)
      : sizes_(std::move(sizes)),
        total_(std::accumulate(sizes_.begin(), sizes_.end(), std::int64_t{0})),
        array_(make_array<Number>("numbers", total_)),
        pages_{detail::FirstTouch(reinterpret_cast<std::byte*>(array_.data()),
                                  total_ * static_cast<std::int64_t>(sizeof(Number)))},
        times_computed_(sizes_.size()) {}

  // What run_pipeline asks of a result.
  std::int64_t end_of(std::int64_t chunk, std::int64_t from) const { return from + size(chunk); }
  auto& pages() { return pages_; }
  std::pair<std::int64_t, std::int64_t> bytes(std::size_t, std::int64_t from, std::int64_t end) const {
    constexpr std::int64_t each = sizeof(Number);
    return {from * each, end * each};
  }

  /// A worker with room for two chunks, which calls before(chunk) before it computes one.
  struct Worker {
    Numbers& of;
    const std::function<void(std::int64_t)>& before;
    std::vector<std::vector<Number>> buffers{2};
    std::size_t next = 0, oldest = 0;

    bool has_room(std::int64_t, std::int64_t waiting) const { return waiting < 2; }
    void compute(std::int64_t chunk) {
      if (before) before(chunk);
      ++of.times_computed_[static_cast<std::size_t>(chunk)];
      buffers[next++ % 2].assign(static_cast<std::size_t>(of.size(chunk)), chunk);
    }
    void move(std::int64_t chunk, std::int64_t place) {
      const auto& buffer = buffers[oldest++ % 2];
      EXPECT_EQ(static_cast<std::int64_t>(buffer.size()), of.size(chunk));
      std::copy(buffer.begin(), buffer.end(), of.array_.data() + place);
    }
  };

  template <class Space>
  void compute(const Space& space, std::int64_t workers,
               const std::function<void(std::int64_t)>& before = {}) {
    run_pipeline<std::int64_t>(space, workers, static_cast<std::int64_t>(sizes_.size()), *this,
                               [&](std::int64_t) { return Worker{*this, before}; });
  }

  void expect_complete() const {
    std::int64_t at = 0, wrong = 0;
    for (std::size_t chunk = 0; chunk < sizes_.size(); ++chunk) {
      EXPECT_EQ(times_computed_[chunk], 1) << "chunk " << chunk;
      for (std::int64_t n = 0; n < sizes_[chunk]; ++n, ++at)
        wrong += array_.data()[at] != static_cast<Number>(chunk);
    }
    EXPECT_EQ(wrong, 0);
  }
  std::int64_t computed() const {
    return std::accumulate(times_computed_.begin(), times_computed_.end(), std::int64_t{0});
  }

 private:
  std::int64_t size(std::int64_t chunk) const { return sizes_[static_cast<std::size_t>(chunk)]; }

  const std::vector<std::int64_t> sizes_;
  const std::int64_t total_;
  const HostArray<Number> array_;
  std::array<detail::FirstTouch, 1> pages_;
  std::vector<std::atomic<int>> times_computed_;
};

std::vector<std::int64_t> random_sizes(std::size_t chunks, std::int64_t most, unsigned seed) {
  std::mt19937_64 draw(seed);
  std::vector<std::int64_t> out(chunks);
  for (auto& size : out)
    size = draw() % 3 == 0 ? 0 : static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(most));
  return out;
}

template <class Space>
void expect_order(const Space& space) {
  for (const std::int64_t workers : {1, 2, 4, 7}) {
    Numbers of_many(random_sizes(3000, 1000, 1));  // some 8 MB: several large pages
    of_many.compute(space, workers);
    of_many.expect_complete();
    Numbers of_few({5, 0, 3});
    of_few.compute(space, workers);
    of_few.expect_complete();
    Numbers of_one({100'000});
    of_one.compute(space, workers);
    of_one.expect_complete();
    Numbers of_empty_chunks(std::vector<std::int64_t>(50, 0));
    of_empty_chunks.compute(space, workers);
    of_empty_chunks.expect_complete();
    Numbers of_none({});
    of_none.compute(space, workers);
  }
}

TEST(Pipeline, PutsChunksInTheirOrder) { expect_order(Host()); }
#ifdef KOKKOS_ENABLE_SERIAL
TEST(Pipeline, PutsChunksInTheirOrderOnOneThread) { expect_order(Serial()); }
#endif

TEST(Pipeline, RunsOnInstancesThatShareTheThreads) {
  if (Host().concurrency() < 4) GTEST_SKIP() << "instances of two threads take four to share";
  const auto instances = Kokkos::Experimental::partition_space(Host(), 1, 1);
  for (const auto& instance : instances) expect_order(instance);
}

TEST(Pipeline, WaitsForASlowFirstChunk) {
  Numbers numbers(random_sizes(200, 10'000, 2));
  numbers.compute(Host(), 4, [](std::int64_t chunk) {
    if (chunk == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  });
  numbers.expect_complete();
}

TEST(Pipeline, HoldsNoMoreChunksThanItsWorkersHaveRoomFor) {
  if (Host().concurrency() < 4) GTEST_SKIP() << "where chunk 0 is computed alone, no other is held back";
  Numbers numbers(random_sizes(200, 100, 3));
  std::atomic<bool> first_is_done{false};
  std::atomic<int> begun_before{0};
  numbers.compute(Host(), 4, [&](std::int64_t chunk) {
    if (chunk == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      first_is_done = true;
    } else if (!first_is_done) {
      ++begun_before;
    }
  });
  EXPECT_LE(begun_before, 3 * 2);  // two in the buffers of each other worker
  numbers.expect_complete();
}

template <class Space>
void expect_failure(const Space& space, std::int64_t workers, std::int64_t at) {
  Numbers numbers(random_sizes(20'000, 10, 4));
  const auto fail = [&](std::int64_t chunk) {
    if (chunk == at) throw std::domain_error("a chunk fails");
  };
  EXPECT_THROW(numbers.compute(space, workers, fail), std::domain_error);
  EXPECT_LT(numbers.computed(), 20'000);
}

TEST(Pipeline, RethrowsWhatAChunkThrowsAndComputesNoOthers) {
  for (const std::int64_t workers : {1, 2, 4, 7})
    for (const std::int64_t at : {0, 1, 100, 19'999}) {
      expect_failure(Host(), workers, at);
#ifdef KOKKOS_ENABLE_SERIAL
      expect_failure(Serial(), workers, at);
#endif
    }
}

TEST(Pipeline, StopsWorkersThatWaitForAChunkThatFails) {
  Numbers numbers(random_sizes(200, 100, 5));
  EXPECT_THROW(numbers.compute(Host(), 4,
                               [](std::int64_t chunk) {
                                 if (chunk > 0) return;
                                 std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                 throw std::bad_alloc();
                               }),
               std::bad_alloc);
}

TEST(Pipeline, RethrowsWhatMakingAWorkerThrows) {
  Numbers numbers(random_sizes(200, 100, 6));
  const auto make = [&](std::int64_t number) {
    if (number == 0) throw std::bad_alloc();
    static const std::function<void(std::int64_t)> nothing;
    return Numbers::Worker{numbers, nothing};
  };
  EXPECT_THROW(run_pipeline<std::int64_t>(Host(), 4, 200, numbers, make), std::bad_alloc);
}

TEST(ChunkPlaces, AreKnownOnceAllChunksBeforeThemAre) {
  ChunkPlaces<std::int64_t> places(3);
  const std::array<std::int64_t, 3> sizes{5, 7, 9};
  const auto end_of = [&](std::int64_t chunk, std::int64_t from) {
    return from + sizes[static_cast<std::size_t>(chunk)];
  };
  EXPECT_TRUE(places.is_known(0));
  places.publish(1, end_of);
  EXPECT_FALSE(places.is_known(1));
  places.publish(0, end_of);
  EXPECT_TRUE(places.is_known(2));
  EXPECT_FALSE(places.is_known(3));
  EXPECT_EQ(places[1], 5);
  EXPECT_EQ(places[2], 12);
  places.publish(2, end_of);
  EXPECT_EQ(places[3], 21);
}

}  // namespace
}  // namespace sporos::test
