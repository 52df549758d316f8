// SPDX-License-Identifier: Apache-2.0
/// @file progress.cpp
/// The progress bar: what it draws, when it is silent.
#include "files.hpp"

#include <fcntl.h>

#include <chrono>
#include <sporos/formats/io/matrix_market.hpp>
#include <sporos/formats/io/progress.hpp>

namespace {
namespace progress_tests {

using namespace sporos_test;
using sporos::io::Progress;

/// What `body` draws with the given options.
template <class Body>
std::string drawn(Progress::Options options, std::int64_t total, Body body) {
  const Folder folder;
  const std::string path = folder.put("out", "");
  options.descriptor = open(path.c_str(), O_WRONLY);
  {
    Progress progress("reading a.mtx", total, options);
    body(progress);
  }
  close(options.descriptor);
  return content(path);
}

Progress::Options at_once() {
  Progress::Options options;
  options.drawn = true;
  options.patience = options.interval = Progress::Clock::duration::zero();
  return options;
}

TEST(Progress, DrawsTheShareThatIsDoneAndWipesItAtTheEnd) {
  const std::string out = drawn(at_once(), 200, [](Progress& progress) {
    progress.update(50);
    progress.update(200);
  });
  EXPECT_EQ(out,
            "\rreading a.mtx [######..................] 25 %  0 s left\033[K"
            "\rreading a.mtx [########################] 100 %  0 s left\033[K"
            "\r\033[K");
}

TEST(Progress, IsSilentWhereTheWorkIsShort) {
  auto options = at_once();
  options.patience = std::chrono::hours(1);
  EXPECT_EQ(drawn(options, 200, [](Progress& progress) { progress.update(100); }), "");
}

TEST(Progress, IsSilentWhereNobodyWatches) {
  auto options = at_once();
  options.drawn = false;
  EXPECT_EQ(drawn(options, 200, [](Progress& progress) { progress.update(100); }), "");
}

TEST(Progress, IsSilentWhereTheAmountIsNotKnown) {
  EXPECT_EQ(drawn(at_once(), 0, [](Progress& progress) { progress.update(100); }), "");
}

TEST(Progress, DrawsOnceInAnInterval) {
  auto options = at_once();
  options.interval = std::chrono::hours(1);
  const std::string out = drawn(options, 200, [](Progress& progress) {
    for (int k = 0; k < 100; ++k) progress.update(k);
  });
  EXPECT_EQ(std::count(out.begin(), out.end(), '['), 2 + 1);  // one bar, and the two escapes that wipe
}

TEST(Progress, IsDrawnByDefaultOnATerminalAlone) {
  const Folder folder;
  const int before = dup(STDERR_FILENO);
  const int file = open(folder.put("err", "").c_str(), O_WRONLY);
  dup2(file, STDERR_FILENO);
  const bool to_a_file = Progress::Options().drawn;
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  bool to_a_terminal = true;
  if (terminal >= 0) {
    dup2(terminal, STDERR_FILENO);
    to_a_terminal = Progress::Options().drawn;
    close(terminal);
  }
  dup2(before, STDERR_FILENO);
  close(before);
  close(file);
  EXPECT_FALSE(to_a_file);
  EXPECT_TRUE(to_a_terminal);
}

}  // namespace progress_tests
}  // namespace
