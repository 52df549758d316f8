// SPDX-License-Identifier: Apache-2.0
/// @file plot.hpp
/// Plots of numbers: curves, such as progress over iterations, and bars.
#pragma once

#include <sporos/formats/io/image.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sporos::tool {

/// Easily readable numbers on an axis: multiples of 1, 2 or 5 times a power of ten.
struct Ticks {
  double first = 0, step = 1;
  int count = 1;
  int digits = 0;  ///< after the decimal point

  double at(int tick) const { return first + tick * step; }
  double last() const { return at(count - 1); }
};

/// Ticks that enclose [least, most], at least two and at most `most_ticks`, at a distance of at least
/// `least_step`, a power of ten: 1 for axes with whole numbers only.
Ticks ticks(double least, double most, int most_ticks, double least_step = 0);

/// Values plotted over 1, 2, 3, …; those that are not finite are left out.
struct Curve {
  std::string_view name;  ///< may use the letters of formats/glyphs.hpp
  std::vector<double> values;
  bool logarithmic = false;  ///< the axis shows powers of ten; values that are not positive are left out
};

/// Curves one below another, each with its own axes.
Image plot(const std::vector<Curve>& curves, std::string_view x_name);

struct Bar {
  std::string label;  ///< below the bar
  double height = 0;  ///< at least 0
};

/// Bars side by side, each with its height written above it. Names and labels may use the same letters.
Image bar_chart(const std::vector<Bar>& bars, std::string_view x_name, std::string_view y_name);

}  // namespace sporos::tool
