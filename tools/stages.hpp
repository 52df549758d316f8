// SPDX-License-Identifier: Apache-2.0
/// @file stages.hpp
/// Shows on a terminal what a long command is doing.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace sporos::tool {

/// One line on standard error that names the stage of a long command, and is erased at the end. Nothing is
/// written unless standard error is a terminal and there is much to do.
class Stages {
 public:
  /// @param name  what is being worked on
  /// @param size  its number of entries
  Stages(std::string name, std::int64_t size)
      : name_(std::move(name)), shown_(size >= many && isatty(STDERR_FILENO) != 0) {}
  ~Stages() {
    if (shown_) put(wipe);
  }
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;

  /// From now on, the line says "NAME: WHAT".
  void begin(std::string_view what) {
    if (!shown_) return;
    what_ = what;
    percent_ = -1;
    put(std::string(wipe) + name_ + ": " + what_);
  }
  /// Adds how much of the stage is done: "NAME: WHAT 42 %".
  void share(double part) {
    const int percent = std::clamp(static_cast<int>(100 * part), 0, 100);
    if (!shown_ || percent <= percent_) return;
    percent_ = percent;
    put(std::string(wipe) + name_ + ": " + what_ + ' ' + std::to_string(percent) + " %");
  }

 private:
  static constexpr std::int64_t many = std::int64_t{1} << 20;  ///< fewer entries take less than a second
  static constexpr std::string_view wipe = "\r\033[K";

  static void put(std::string_view words) {
    // If it cannot be shown, the work goes on regardless.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, words.data(), words.size());
  }

  std::string name_;
  bool shown_;
  std::string what_{};
  int percent_ = -1;
};

}  // namespace sporos::tool
