// SPDX-License-Identifier: Apache-2.0
/// @file timing.hpp
/// The times of repeated runs, and how they are reported.
#pragma once

#include <Kokkos_Timer.hpp>
#include <vector>

#include "report.hpp"

namespace sporos::tool {

/// The seconds that each run of the same work took.
class Times {
 public:
  /// Calls body() once and keeps its time.
  template <class Body>
  void measure(const Body& body) {
    const Kokkos::Timer timer;
    body();
    seconds_.push_back(timer.seconds());
    total_ += seconds_.back();
  }

  int runs() const { return static_cast<int>(seconds_.size()); }
  double total() const { return total_; }
  double median() const;
  double fastest() const;

 private:
  std::vector<double> seconds_;
  double total_ = 0;
};

/// The times of `repeats` runs.
template <class Body>
Times times_of(int repeats, const Body& body) {
  Times out;
  while (out.runs() < repeats) out.measure(body);
  return out;
}

/// The times of as many runs as fit in some seconds, between 3 and 10,000.
template <class Body>
Times times_within(double seconds, const Body& body) {
  Times out;
  while (out.runs() < 3 || (out.total() < seconds && out.runs() < 10000)) out.measure(body);
  return out;
}

/// Adds the median, the fastest and the number of runs.
void describe(Report& report, const Times& times);

/// Bytes per second of the triad a = b + s * c over arrays of `bytes` bytes in total, the fastest of several
/// runs: the speed of memory, or of the cache if it holds that much.
///
/// J. McCalpin, "Memory Bandwidth and Machine Balance in Current High Performance Computers", IEEE TCCA
/// Newsletter, December 1995.
double triad_speed(std::int64_t bytes);

}  // namespace sporos::tool
