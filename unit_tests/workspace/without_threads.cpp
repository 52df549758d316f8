// SPDX-License-Identifier: Apache-2.0
/// @file without_threads.cpp
/// Pipelined workspaces where the system makes no more threads: one thread does it all.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <map>
#include <sporos/workspace/bucket.hpp>
#include <sporos/workspace/coordinate.hpp>
#include <sporos/workspace/hash.hpp>

#include "sanitizers.hpp"

// Sanitizers have a pthread_create of their own.
#if defined(__GLIBC__) && !defined(SPOROS_TEST_SANITIZED)
#include <dlfcn.h>
#include <pthread.h>

namespace sporos::test::without_threads {
namespace {

/// The number of threads that cannot be made, counted down.
std::atomic<int> refused{0};

}  // namespace
}  // namespace sporos::test::without_threads

// All of the program's calls come here.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) noexcept {
  auto& refused = sporos::test::without_threads::refused;
  if (refused.load() > 0 && refused.fetch_sub(1) > 0) return EAGAIN;
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, run, argument);
}

namespace sporos::test::without_threads {
namespace {

template <class Policy>
class PipelinesWithoutThreads : public testing::Test {};
using Policies = testing::Types<CoordinatePolicy, BucketPolicy, HashPolicy>;
TYPED_TEST_SUITE(PipelinesWithoutThreads, Policies);

TYPED_TEST(PipelinesWithoutThreads, LoseNothing) {
  constexpr Extents<2> extents{1000, 1000};
  // None can be made, or the first of many, or all but the first.
  for (const int failures : {1'000'000, 1, 5}) {
    for (const std::int64_t capacity : {1, 16, 300}) {
      InsertSortMerge<TypeParam, double, 2> workspace(
          TypeParam{.settings = {.capacity = capacity, .growth = {.first_slope = 0.25}, .pipelined = true}},
          extents);
      std::map<Extents<2>, double> expected, found;
      refused = failures;
      for (std::int64_t n = 0; n < 2000; ++n) {
        const Extents<2> at{n * 7919 % 37, n * 104'729 % 41};
        workspace.add(at, static_cast<double>(n));
        expected[at] += static_cast<double>(n);
      }
      const int left = refused.exchange(0);
      EXPECT_LT(left, failures) << "no thread was asked for";
      workspace.drain([&](const Extents<2>& at, double value) { found[at] = value; });
      EXPECT_EQ(found, expected) << failures << " of capacity " << capacity;
    }
  }
}

}  // namespace
}  // namespace sporos::test::without_threads

#endif
