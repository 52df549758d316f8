// SPDX-License-Identifier: Apache-2.0
/// @file in_order.cpp
/// Pieces worked on in parallel with a step in order: the order, and which of several errors wins.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <sporos/formats/io/in_order.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using sporos::io::InOrder;
using sporos::io::PieceWorker;

/// Hands out 0, 1, …; fails where it is told to.
struct Job {
  std::int64_t count = 0;
  std::set<std::int64_t> fail_fetch, fail_work, fail_in_turn;
  std::int64_t fetched = 0;
  std::vector<std::int64_t> turns;
  std::atomic<std::int64_t> worked{0}, after{0};
};

class Worker final : public PieceWorker {
 public:
  explicit Worker(Job& job) : job_(job) {}
  bool fetch() override {
    if (job_.fetched == job_.count) return false;
    number_ = job_.fetched++;
    fail_if(job_.fail_fetch, "fetch ");
    return true;
  }
  void work() override {
    if (number_ % 3 == 0) std::this_thread::yield();
    ++job_.worked;
    fail_if(job_.fail_work, "work ");
  }
  void in_turn() override {
    fail_if(job_.fail_in_turn, "turn ");
    job_.turns.push_back(number_);
  }
  void after() override { ++job_.after; }

 private:
  void fail_if(const std::set<std::int64_t>& numbers, const std::string& where) const {
    if (numbers.count(number_)) throw std::runtime_error(where + std::to_string(number_));
  }
  Job& job_;
  std::int64_t number_ = 0;
};

void run(Job& job, int threads) {
  InOrder::run(threads, [&] { return std::make_unique<Worker>(job); });
}

TEST(InOrder, DoesEveryPieceOnceWithItsStepInOrder) {
  for (const int threads : {0, 1, 2, 3, 8})
    for (const std::int64_t count : {0, 1, 2, 7, 500}) {
      Job job;
      job.count = count;
      run(job, threads);
      ASSERT_EQ(static_cast<std::int64_t>(job.turns.size()), count);
      for (std::int64_t k = 0; k < count; ++k) EXPECT_EQ(job.turns[static_cast<std::size_t>(k)], k);
      EXPECT_EQ(job.worked, count);
      EXPECT_EQ(job.after, count);
    }
}

TEST(InOrder, ThrowsTheEarliestPiecesErrorWhicheverCameFirst) {
  for (const int threads : {1, 2, 4, 8})
    for (int repetition = 0; repetition < 20; ++repetition) {
      Job job;
      job.count = 200;
      job.fail_work = {40, 41, 42, 43, 44, 60};
      job.fail_in_turn = {39, 45};
      job.fail_fetch = {46};
      try {
        run(job, threads);
        FAIL() << "no error";
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "turn 39");
      }
      EXPECT_EQ(job.turns.size(), 39u);
      EXPECT_EQ(job.after, 39);
    }
}

TEST(InOrder, ThrowsWhatAFetchThrowsAfterThePiecesBefore) {
  for (const int threads : {1, 3}) {
    Job job;
    job.count = 20;
    job.fail_fetch = {5};
    EXPECT_THROW(run(job, threads), std::runtime_error);
    EXPECT_EQ(job.turns.size(), 5u);
    EXPECT_EQ(job.fetched, 6);
  }
}

TEST(InOrder, LetsItsThreadsLeaveTheProcessorOfABoundCaller) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  // The default host space as it is bound now, seen from a thread that is bound to one processor.
  cpu_set_t seen;
  CPU_ZERO(&seen);
  std::thread([&] {
    sched_setaffinity(0, sizeof one, &one);
    const sporos::io::ThreadSpread spread;
    std::thread([&] {
      spread.apply();
      sched_getaffinity(0, sizeof seen, &seen);
    }).join();
  }).join();
  EXPECT_GE(CPU_COUNT(&seen), 1);
  cpu_set_t outside;
  CPU_XOR(&outside, &seen, &before);
  CPU_AND(&outside, &outside, &seen);
  EXPECT_EQ(CPU_COUNT(&outside), 0) << "a thread went where the process may not";
}

}  // namespace
