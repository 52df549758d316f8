// SPDX-License-Identifier: Apache-2.0
/// @file in_order.cpp
/// Pieces worked on in parallel with a step in order: the order, and which of several errors wins.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <sporos/formats/io/in_order.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace {
namespace in_order_tests {

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

/// Where a thread may run that a thread bound to one processor makes for reading.
void spread_from_one_processor(cpu_set_t& bound, cpu_set_t& spread_to) {
  CPU_ZERO(&bound);
  CPU_ZERO(&spread_to);
  std::thread([&] {
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&bound) == 0; ++cpu)
      if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &bound);
    sched_setaffinity(0, sizeof bound, &bound);
    const sporos::ThreadSpread spread;
    std::thread([&] {
      spread.apply();
      sched_getaffinity(0, sizeof spread_to, &spread_to);
    }).join();
  }).join();
}

TEST(InOrder, LetsItsThreadsLeaveTheProcessorThatOpenMPBindsTheCallerTo) {
  cpu_set_t bound, spread_to, both;
  spread_from_one_processor(bound, spread_to);
  ASSERT_EQ(CPU_COUNT(&bound), 1);
  CPU_AND(&both, &bound, &spread_to);
  EXPECT_TRUE(CPU_EQUAL(&both, &bound));
#ifdef _OPENMP
  if (omp_get_proc_bind() != omp_proc_bind_false && omp_get_num_places() > 1) {
    EXPECT_GT(CPU_COUNT(&spread_to), 1);
  }
#endif
}

}  // namespace in_order_tests
}  // namespace
