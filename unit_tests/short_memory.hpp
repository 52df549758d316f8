// SPDX-License-Identifier: Apache-2.0
/// @file short_memory.hpp
/// Lets tests run out of memory: a limit of the address space, a process of their own, and a run with more
/// and more memory. SPOROS_TEST_CAN_LIMIT_MEMORY is defined where that can be done.
#pragma once

#include "sanitizers.hpp"

#if defined(__linux__) && !defined(SPOROS_TEST_SANITIZED)
#define SPOROS_TEST_CAN_LIMIT_MEMORY

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <new>
#include <optional>
#include <sporos/core/error.hpp>
#include <sporos/core/pool.hpp>
#include <string>
#include <utility>

namespace sporos::test {

/// While it lives, the process gets no more address space than it has now and `more` bytes.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(std::int64_t more) {
    getrlimit(RLIMIT_AS, &before_);
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit now = before_;
    now.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + more);
    setrlimit(RLIMIT_AS, &now);
  }
  ~AddressSpaceLimit() { setrlimit(RLIMIT_AS, &before_); }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;

 private:
  rlimit before_{};
};

/// While it lives, malloc has no free piece of its heap for an array: what an earlier statement has freed is
/// not there for the next one.
class FullHeap {
 public:
  FullHeap() {
    const AddressSpaceLimit limit(0);
    while (void* const block = std::malloc(bytes)) first_ = new (block) Block{first_};
  }
  ~FullHeap() {
    while (first_) std::free(std::exchange(first_, first_->next));
  }
  FullHeap(const FullHeap&) = delete;
  FullHeap& operator=(const FullHeap&) = delete;

 private:
  struct Block {
    Block* next;
  };
  static constexpr std::size_t bytes = 1 << 14;
  Block* first_ = nullptr;
};

/// Prints what has failed where a death test shows it. GoogleTest prints nothing in the process of one.
/// @return whether anything has
inline bool report_failures() {
  const testing::TestResult& result = *testing::UnitTest::GetInstance()->current_test_info()->result();
  for (int part = 0; part < result.total_part_count(); ++part)
    if (result.GetTestPartResult(part).failed())
      std::fprintf(stderr, "%s\n", result.GetTestPartResult(part).message());
  return result.Failed();
}

/// Runs a test in a process of its own, where malloc has one arena: a second one, which threads get when they
/// meet in malloc, reserves 64 MiB that it may still use when there is no more address space.
template <class Body>
void in_new_process(const Body& body) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("MALLOC_ARENA_MAX", "1", 1);
  EXPECT_EXIT(
      {
        body();
        std::_Exit(report_failures() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

/// Runs something with more and more memory, until there is enough, and expects that memory was short before.
/// @param refused  takes what each MemoryError says
template <class Run, class Refused>
void run_with_more_and_more_memory(const Run& run, const Refused& refused) {
  pool().release();
  int refusals = 0;
  for (std::int64_t more = 0; more <= std::int64_t{1} << 32; more = more == 0 ? 1 << 14 : 2 * more) {
    std::optional<std::string> what;
    {
      const FullHeap heap;
      const AddressSpaceLimit limit(more);
      try {
        run();
      } catch (const MemoryError& error) {
        what = error.what();
      } catch (const std::exception& error) {
        FAIL() << "with " << more << " bytes: " << error.what();
      }
    }
    pool().release();
    if (!what) {
      EXPECT_GT(refusals, 0) << "memory was never short";
      return;
    }
    refused(*what);
    ++refusals;
  }
  FAIL() << "does not run in 4 GiB";
}

}  // namespace sporos::test

#endif
