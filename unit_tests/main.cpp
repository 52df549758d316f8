// SPDX-License-Identifier: Apache-2.0
/// @file main.cpp
/// Runs the tests of one folder with Kokkos alive around them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sporos/core/few_steps.hpp>
#include <sporos/core/space.hpp>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // Listing is done while building, where a device may be absent.
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  // Four threads on any machine: a race that needs several shows on two cores as well.
  const char* threads = std::getenv("SPOROS_TEST_THREADS");
  const sporos::ScopeGuard guard(Kokkos::InitializationSettings()
                                     .set_num_threads(threads ? std::atoi(threads) : 4)
                                     .set_disable_warnings(true));
  sporos::detail::most_unshared_steps = 0;  // these threads share small operands, too
  return RUN_ALL_TESTS();
}
