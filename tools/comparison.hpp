// SPDX-License-Identifier: Apache-2.0
/// @file comparison.hpp
/// How a result compares with its reference.
#pragma once

#include <cstdint>

#include "report.hpp"

namespace sporos::tool {

/// What a comparison with a reference has found.
struct Comparison {
  std::int64_t compared = 0;
  std::int64_t missing = 0;     ///< entries that the reference has and the result has not
  std::int64_t unexpected = 0;  ///< entries that the result has and the reference has not
  std::int64_t beyond = 0;      ///< entries further from the reference than the bound
  double largest_error = 0;
  double largest_part_of_bound = 0;  ///< largest error / bound of an entry

  bool holds() const { return missing == 0 && unexpected == 0 && beyond == 0; }
};

/// As facts of a report.
void describe(Report& report, const Comparison& found);

}  // namespace sporos::tool
