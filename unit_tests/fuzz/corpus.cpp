// SPDX-License-Identifier: Apache-2.0
/// @file corpus.cpp
/// Replays what the fuzzers found: every input of corpus/TARGET through its target.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "targets.hpp"

namespace {

TEST(FuzzCorpus, GivesTheSameOutcomeAtOnceAndInPieces) {
  const auto folder = std::filesystem::absolute(__FILE__).parent_path() / "corpus";
  int targets = 0;
  for (const auto& target_folder : std::filesystem::directory_iterator(folder)) {
    const std::string name = target_folder.path().filename().string();
    const auto target = sporos_fuzz::target(name);
    ASSERT_TRUE(target) << "no target for corpus/" << name;
    int inputs = 0;
    for (const auto& input : std::filesystem::directory_iterator(target_folder)) {
      SCOPED_TRACE(input.path().string());
      std::ifstream file(input.path(), std::ios::binary);
      target(std::string(std::istreambuf_iterator<char>(file), {}));
      ++inputs;
    }
    EXPECT_GE(inputs, 8) << "corpus/" << name << " is all but empty";
    ++targets;
  }
  EXPECT_EQ(targets, 8);
}

}  // namespace
