// SPDX-License-Identifier: Apache-2.0
/// @file version.cpp
/// The version in the headers and that of CMake's project.
#include <gtest/gtest.h>

#include <sporos/version.hpp>
#include <string>

namespace {

TEST(Version, IsThatOfTheProject) {
  EXPECT_STREQ(SPOROS_VERSION_STRING, SPOROS_TEST_PROJECT_VERSION);
  EXPECT_EQ(std::to_string(SPOROS_VERSION_MAJOR) + "." + std::to_string(SPOROS_VERSION_MINOR) + "." +
                std::to_string(SPOROS_VERSION_PATCH),
            SPOROS_TEST_PROJECT_VERSION);
}

TEST(Version, IsANumberForThePreprocessor) {
#if SPOROS_VERSION >= 100 && SPOROS_VERSION < 10000 * (SPOROS_VERSION_MAJOR + 1)
  SUCCEED();
#else
  FAIL() << SPOROS_VERSION;
#endif
}

}  // namespace
