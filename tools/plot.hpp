// SPDX-License-Identifier: Apache-2.0
/// @file plot.hpp
/// A curve as a picture: how something went, iteration by iteration.
#pragma once

#include <sporos/formats/image.hpp>
#include <string_view>
#include <vector>

namespace sporos::tool {

/// Numbers on an axis that a person reads easily: multiples of 1, 2 or 5 times a power of ten.
struct Ticks {
  double first = 0, step = 1;
  int count = 1;
  int digits = 0;  ///< behind the point

  double at(int tick) const { return first + tick * step; }
  double last() const { return at(count - 1); }
};

/// Ticks that enclose [least, most], at most `most_ticks` and at least two of them, no nearer to each other
/// than `least_step`, a power of ten: 1 where there is nothing between whole numbers.
Ticks ticks(double least, double most, int most_ticks, double least_step = 0);

/// The curve through (1, values[0]), (2, values[1]), …, finite ones alone, with axes. Names are of the
/// letters that pictures have (formats/glyphs.hpp).
Image plot(const std::vector<double>& values, std::string_view x_name, std::string_view y_name);

}  // namespace sporos::tool
