// SPDX-License-Identifier: Apache-2.0
/// @file stage_thread.cpp
/// The thread that runs a stage of a pipeline: what it throws, and where it may run.
#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>

#include <sporos/core/error.hpp>
#include <sporos/workspace/stage_thread.hpp>

namespace sporos::test {
namespace {

TEST(StageThread, ReturnsWhatItsTaskThrowsOnce) {
  detail::StageThread thread;
  int done = 0;
  thread.start([](void* at) { ++*static_cast<int*>(at); }, &done);
  EXPECT_EQ(thread.wait(), nullptr);
  EXPECT_EQ(done, 1);
  thread.start([](void*) { throw StateError("a task"); }, nullptr);
  EXPECT_NE(thread.wait(), nullptr);
  EXPECT_EQ(thread.wait(), nullptr);
}

int processors() {
  cpu_set_t own;
  CPU_ZERO(&own);
  sched_getaffinity(0, sizeof own, &own);
  return CPU_COUNT(&own);
}

/// Run with OMP_PROC_BIND=true by a test of its own.
TEST(StageThread, IsNotBoundToTheProcessorOfItsOwner) {
  if (omp_get_num_places() < 2) GTEST_SKIP() << "OpenMP binds no threads, or there is one processor";
  ASSERT_EQ(processors(), omp_get_place_num_procs(0)) << "OpenMP binds this thread to a place";
  detail::StageThread thread;
  int of_thread = 0;
  thread.start([](void* at) { *static_cast<int*>(at) = processors(); }, &of_thread);
  EXPECT_EQ(thread.wait(), nullptr);
  EXPECT_GE(of_thread, omp_get_num_places());
}

}  // namespace
}  // namespace sporos::test
