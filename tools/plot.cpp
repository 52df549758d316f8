// SPDX-License-Identifier: Apache-2.0
/// @file plot.cpp
/// Axes, ticks, lines between points, and bars.
#include "plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace sporos::tool {
namespace {

constexpr Colour white{255, 255, 255}, black{40, 40, 40}, grid{225, 225, 225}, blue{31, 90, 160};
constexpr int width = 900;                                                // width of the picture, in pixels
constexpr int left = 90, right = 30, above_field = 50, below_field = 70;  // margins around a field
constexpr int bars_height = 440, curve_height = 260;                      // heights of a field
constexpr int scale = 2;                                                  // size of the letters

/// Maps coordinates to pixels.
struct Field {
  Ticks x, y;
  int top, height;           ///< its first row of pixels, and its number of rows
  bool logarithmic = false;  ///< y is an exponent of ten

  int bottom() const { return top + height; }

  int across(double value) const {
    return left +
           static_cast<int>(std::lround((value - x.first) / (x.last() - x.first) * (width - left - right)));
  }
  int down(double value) const {
    return bottom() - static_cast<int>(std::lround((value - y.first) / (y.last() - y.first) * height));
  }
};

void draw_line(Image& image, int x0, int y0, int x1, int y1) {
  const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
  for (int step = 0; step <= steps; ++step)
    image.fill(x0 + (x1 - x0) * step / steps - 1, y0 + (y1 - y0) * step / steps - 1, 3, 3, blue);
}

void draw_frame(Image& image, const Field& field) {
  image.frame(left, field.top, image.width() - left - right, field.height + 1, black);
}

void draw_heights(Image& image, const Field& field) {
  for (int tick = 0; tick < field.y.count; ++tick) {
    const int y = field.down(field.y.at(tick));
    image.fill(left, y, image.width() - left - right, 1, grid);
    const std::string label = field.logarithmic ? fmt::format("1e{:.0f}", field.y.at(tick))
                                                : fmt::format("{:.{}f}", field.y.at(tick), field.y.digits);
    image.write(left - 10 - Image::text_width(label, scale), y - Image::text_height(scale) / 2, label, scale,
                black);
  }
}

void draw_axes(Image& image, const Field& field) {
  draw_heights(image, field);
  for (int tick = 0; tick < field.x.count; ++tick) {
    const int x = field.across(field.x.at(tick));
    image.fill(x, field.top, 1, field.height, grid);
    const std::string label = fmt::format("{:.0f}", field.x.at(tick));
    image.write(x - Image::text_width(label, scale) / 2, field.bottom() + 10, label, scale, black);
  }
  draw_frame(image, field);
}

void draw_names(Image& image, const Field& field, std::string_view x_name, std::string_view y_name) {
  image.write(left, field.top - 14 - Image::text_height(scale), y_name, scale, black);
  image.write(image.width() - right - Image::text_width(x_name, scale),
              field.bottom() + below_field - 12 - Image::text_height(scale), x_name, scale, black);
}

/// A curve and its axes, in the field whose first row of pixels is `top`.
void draw_curve(Image& image, const Curve& curve, int top, std::string_view x_name) {
  std::vector<double> heights;
  double least = 0, most = 0;
  bool any = false;
  for (const double value : curve.values) {
    const double height = curve.logarithmic ? std::log10(value) : value;
    heights.push_back(height);
    if (!std::isfinite(height)) continue;
    least = any ? std::min(least, height) : height;
    most = any ? std::max(most, height) : height;
    any = true;
  }
  const double last = std::max(2.0, static_cast<double>(heights.size()));
  const Field field{ticks(1, last, 12, 1), ticks(least, most, 7, curve.logarithmic ? 1 : 0), top,
                    curve_height, curve.logarithmic};
  draw_axes(image, field);
  for (std::size_t at = 0; at < heights.size(); ++at) {
    if (!std::isfinite(heights[at])) continue;
    const int x = field.across(static_cast<double>(at + 1)), y = field.down(heights[at]);
    image.fill(x - 3, y - 3, 7, 7, blue);
    if (at > 0 && std::isfinite(heights[at - 1]))
      draw_line(image, field.across(static_cast<double>(at)), field.down(heights[at - 1]), x, y);
  }
  draw_names(image, field, x_name, curve.name);
}

/// Three significant digits, or all digits of a larger whole number.
std::string height_text(double height) {
  return height < 1000 ? fmt::format("{:.3g}", height) : fmt::format("{:.0f}", height);
}

/// Writes a text centred at x, in letters small enough for the available width.
void write_around(Image& image, int x, int y, const std::string& words, int room) {
  const int size = Image::text_width(words, scale) <= room ? scale : 1;
  image.write(x - Image::text_width(words, size) / 2, y, words, size, black);
}

}  // namespace

Ticks ticks(double least, double most, int most_ticks, double least_step) {
  if (!(most > least)) {
    const double around = std::max(std::abs(least), 1.0) * 0.05;
    return ticks(least - around, least + around, most_ticks, least_step);
  }
  const double fine = std::pow(10.0, std::floor(std::log10((most - least) / most_ticks)));
  for (double power = std::max(fine, least_step);; power *= 10)
    for (const int multiple : {1, 2, 5}) {
      Ticks out;
      out.step = multiple * power;
      const double below = std::floor(least / out.step), above = std::ceil(most / out.step);
      out.first = below * out.step;
      out.count = static_cast<int>(above - below) + 1;
      out.digits = std::max(0, static_cast<int>(-std::floor(std::log10(power) + 1e-9)));
      if (out.count <= most_ticks) return out;
    }
}

Image plot(const std::vector<Curve>& curves, std::string_view x_name) {
  constexpr int each = above_field + curve_height + below_field;
  const int count = static_cast<int>(curves.size());
  Image image(width, count * each, white);
  for (int at = 0; at < count; ++at)
    draw_curve(image, curves[static_cast<std::size_t>(at)], at * each + above_field, x_name);
  return image;
}

Image bar_chart(const std::vector<Bar>& bars, std::string_view x_name, std::string_view y_name) {
  double most = 0;
  int widest = 0;  // label
  for (const Bar& bar : bars) {
    most = std::max(most, bar.height);
    widest = std::max(widest, Image::text_width(bar.label, 1));
  }
  const int count = std::max(1, static_cast<int>(bars.size()));
  const int room = std::max((width - left - right) / count, widest + Image::text_width("0", 1));
  const Field field{ticks(0, 1, 2), ticks(0, most > 0 ? most : 1, 9), above_field, bars_height};
  Image image(std::max(width, left + count * room + right), above_field + bars_height + below_field, white);
  draw_heights(image, field);
  draw_frame(image, field);
  const int thickness = std::max(1, room * 3 / 4);
  for (int at = 0; at < static_cast<int>(bars.size()); ++at) {
    const Bar& bar = bars[static_cast<std::size_t>(at)];
    const int middle = left + room * at + room / 2, y = field.down(bar.height);
    image.fill(middle - thickness / 2, y, thickness, field.bottom() - y, blue);
    write_around(image, middle, field.bottom() + 10, bar.label, room);
    write_around(image, middle, y - 4 - Image::text_height(scale), height_text(bar.height), room);
  }
  draw_names(image, field, x_name, y_name);
  return image;
}

}  // namespace sporos::tool
