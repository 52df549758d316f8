// SPDX-License-Identifier: Apache-2.0
/// @file comparison.hpp
/// How a result compares with its reference.
#pragma once

#include <cstdint>

#include "report.hpp"

namespace sporos::tool {

/// The findings of a comparison with a reference.
struct Comparison {
  std::int64_t compared = 0;
  std::int64_t missing = 0;     ///< entries of the reference that the result lacks
  std::int64_t unexpected = 0;  ///< entries of the result that the reference lacks
  std::int64_t beyond = 0;      ///< entries whose error exceeds the bound
  double largest_error = 0;
  double largest_part_of_bound = 0;  ///< largest ratio of an entry's error to its bound

  bool holds() const { return missing == 0 && unexpected == 0 && beyond == 0; }
};

/// Adds these findings to a report.
void describe(Report& report, const Comparison& found);

}  // namespace sporos::tool
