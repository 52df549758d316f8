// SPDX-License-Identifier: Apache-2.0
/// @file terminal.cpp
/// What commands say on a terminal while they work, of which nothing stays.
#include "tool.hpp"

namespace {

using namespace sporos_test;

/// A terminal that is not there: what programs write to it can be read.
class Terminal {
 public:
  Terminal() : descriptor_(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)) {
    if (descriptor_ < 0 || grantpt(descriptor_) != 0 || unlockpt(descriptor_) != 0)
      throw std::runtime_error("no terminal can be made");
    // Open at this end as well, so that what was written stays when a program has ended.
    other_end_ = open(path().c_str(), O_RDWR | O_NOCTTY);
  }
  ~Terminal() {
    close(other_end_);
    close(descriptor_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  std::string path() const { return ptsname(descriptor_); }
  std::string text() const {
    std::string out;
    char block[4096];
    for (ssize_t count; (count = ::read(descriptor_, block, sizeof block)) > 0;)
      out.append(block, static_cast<std::size_t>(count));
    return out;
  }

 private:
  int descriptor_, other_end_ = -1;
};

TEST(Terminal, SaysWhatIsDoneWithALargeFileAndWipesIt) {
  const Folder folder;
  const std::string large = folder.file("large.mtx");
  expect_done({"generate", "banded", large, "--size", "360000"});
  const Terminal terminal;
  EXPECT_EQ(run({"info", large}, "", terminal.path()).code, 0);
  const std::string text = terminal.text();
  EXPECT_NE(text.find(large + ": counting"), std::string::npos) << text;
  EXPECT_NE(text.find(large + ": counting 100 %"), std::string::npos) << text;  // after shares before it
  EXPECT_GT(text.find(" 100 %"), text.find(" %")) << text;
  EXPECT_NE(text.find(large + ": storing it as csr, 2 of 7"), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\r\033[K")) << text;
}

TEST(Terminal, SaysNothingOfASmallFile) {
  const Terminal terminal;
  EXPECT_EQ(run({"info", example_data("west0497.mtx")}, "", terminal.path()).code, 0);
  EXPECT_EQ(terminal.text(), "");
}

}  // namespace
