// SPDX-License-Identifier: Apache-2.0
/// @file comparison.cpp
/// The output of a comparison.
#include "comparison.hpp"

namespace sporos::tool {

void describe(Report& report, const Comparison& found) {
  report.fact("holds", "within the bounds", found.holds());
  report.fact("compared", "entries compared", Count{found.compared});
  report.fact("missing", "missing", Count{found.missing});
  report.fact("unexpected", "unexpected", Count{found.unexpected});
  report.fact("beyond_bound", "beyond the bound", Count{found.beyond});
  report.fact("largest_error", "largest error", found.largest_error);
  report.fact("largest_part_of_bound", "most of its bound", Part{found.largest_part_of_bound});
}

}  // namespace sporos::tool
