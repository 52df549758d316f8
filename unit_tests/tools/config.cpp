// SPDX-License-Identifier: Apache-2.0
/// @file config.cpp
/// `sporos config`: what can be known otherwise is what it says.
#include <Kokkos_Core.hpp>
#include <thread>

#include "tool.hpp"

namespace {

using namespace sporos_test;

TEST(Config, SaysHowItWasBuilt) {
  const Json program = report({"config"})["program"];
  const std::string version = expect_done({"--version"});
  EXPECT_EQ("sporos " + program["version"].get<std::string>() + '\n', version);
  EXPECT_FALSE(program["commit"].get<std::string>().empty());
  EXPECT_EQ(program["kokkos"], std::to_string(KOKKOS_VERSION / 10000) + '.' +
                                   std::to_string(KOKKOS_VERSION / 100 % 100) + '.' +
                                   std::to_string(KOKKOS_VERSION % 100));
  EXPECT_EQ(program["host_space"], Kokkos::DefaultHostExecutionSpace::name());
  EXPECT_NE(program["spaces"].get<std::string>().find(Kokkos::DefaultHostExecutionSpace::name()),
            std::string::npos);
#if defined(__x86_64__)
  EXPECT_EQ(program["compiled_for"].get<std::string>().find("AVX-512F") != std::string::npos,
#if defined(__AVX512F__)
            true);
#else
            false);
#endif
#endif
}

TEST(Config, SaysWhatItRunsOn) {
  const Json machine = report({"config", "--threads", "3"})["machine"];
  EXPECT_EQ(machine["threads"], 3);
  EXPECT_GE(machine["processors"], 1);
  EXPECT_LE(machine["processors"], std::max(1u, std::thread::hardware_concurrency()));
  EXPECT_EQ(machine["memory_bytes"], sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
  EXPECT_GT(machine["available_memory_bytes"], 0);
  EXPECT_LE(machine["available_memory_bytes"], machine["memory_bytes"]);
}

}  // namespace
