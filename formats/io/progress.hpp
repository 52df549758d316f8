// SPDX-License-Identifier: Apache-2.0
/// @file progress.hpp
/// A progress bar for long reads: on a terminal, after a second; silent otherwise.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace sporos::io {

/// One line on standard error, redrawn ten times a second and wiped at the end:
///
///     west0497.mtx.gz [##########..............]  42 %  3 s left
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  struct Options {
    int descriptor = STDERR_FILENO;
    bool drawn = isatty(STDERR_FILENO) != 0;                    ///< off: nothing is ever written
    Clock::duration patience = std::chrono::seconds(1);         ///< shorter work shows nothing
    Clock::duration interval = std::chrono::milliseconds(100);  ///< between two drawings
  };

  /// @param label  what is being read
  /// @param total  the total amount of work; 0 if unknown (nothing is drawn then)
  Progress(std::string_view label, std::int64_t total) : Progress(label, total, Options()) {}
  Progress(std::string_view label, std::int64_t total, const Options& options)
      : label_(label),
        total_(total),
        options_(options),
        start_(Clock::now()),
        next_(start_ + options.patience) {}
  ~Progress() {
    if (shown_) put("\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Reports how much of the total is done, and redraws the line if it is due.
  void update(std::int64_t done) {
    if (!options_.drawn || total_ <= 0) return;
    const auto now = Clock::now();
    if (now < next_) return;
    next_ = now + options_.interval;
    shown_ = true;
    put(line(done, std::chrono::duration<double>(now - start_).count()));
  }

 private:
  std::string line(std::int64_t done, double seconds) const {
    constexpr int width = 24;
    const double part = done >= total_ ? 1.0 : static_cast<double>(done) / static_cast<double>(total_);
    const int filled = static_cast<int>(part * width);
    std::string out = "\r" + label_ + " [";
    out.append(static_cast<std::size_t>(filled), '#').append(static_cast<std::size_t>(width - filled), '.');
    out += "] " + std::to_string(static_cast<int>(100 * part)) + " %";
    if (part > 0) out += "  " + std::to_string(std::llround(seconds * (1 - part) / part)) + " s left";
    return out + "\033[K";
  }

  void put(const std::string& bytes) const {
    // A read must not fail because the terminal is gone.
    [[maybe_unused]] const auto written = ::write(options_.descriptor, bytes.data(), bytes.size());
  }

  std::string label_;
  std::int64_t total_;
  Options options_;
  Clock::time_point start_, next_;
  bool shown_ = false;
};

}  // namespace sporos::io
