// SPDX-License-Identifier: Apache-2.0
/// @file timing.cpp
/// Medians, and the triad.
#include "timing.hpp"

#include <algorithm>
#include <sporos/core/array.hpp>
#include <sporos/formats/chunks.hpp>

namespace sporos::tool {

double Times::median() const {
  std::vector<double> sorted = seconds_;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

double Times::fastest() const { return *std::min_element(seconds_.begin(), seconds_.end()); }

void describe(Report& report, const Times& times) {
  report.fact("seconds", times.runs() > 1 ? "median time" : "computed in", Seconds{times.median()});
  if (times.runs() > 1) report.fact("fastest_seconds", "fastest time", Seconds{times.fastest()});
  report.fact("repeats", "", Count{times.runs()});
}

double triad_speed(std::int64_t bytes) {
  const Host space;
  const std::int64_t size = std::max<std::int64_t>(bytes / 24, 1024);
  const auto a = make_array<double>("sporos::triad", size), b = make_array<double>("sporos::triad", size),
             c = make_array<double>("sporos::triad", size);
  const auto in_parts = [&](const auto& body) {
    sporos::detail::for_each_part(
        space, size, space.concurrency(),
        [&](std::int64_t begin, std::int64_t end, std::int64_t) { body(begin, end); });
  };
  in_parts([&](std::int64_t begin, std::int64_t end) {
    std::fill(b.data() + begin, b.data() + end, 1.0);
    std::fill(c.data() + begin, c.data() + end, 2.0);
  });
  const Times times = times_of(10, [&] {
    in_parts([to = a.data(), x = b.data(), y = c.data()](std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin; at < end; ++at) to[at] = x[at] + 3.0 * y[at];
    });
  });
  return static_cast<double>(24 * size) / times.fastest();
}

}  // namespace sporos::tool
