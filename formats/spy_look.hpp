// SPDX-License-Identifier: Apache-2.0
/// @file spy_look.hpp
/// The look of spy pictures: colours, sizes, ticks with coordinates and the legend of the colours.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../core/error.hpp"
#include "../core/uint128.hpp"
#include "io/image.hpp"

namespace sporos::detail {

/// Colours and sizes in pixels.
struct SpyStyle {
  static constexpr Colour paper{255, 255, 255};
  static constexpr Colour field{247, 249, 250};  ///< where nothing is stored
  static constexpr Colour border{176, 186, 194};
  static constexpr Colour ink{74, 85, 96};
  static constexpr int margin = 16;
  static constexpr int gap = 14;       ///< between panels
  static constexpr int thinnest = 24;  ///< shortest side of a panel
  static constexpr int largest_cell = 48;
  static constexpr int large_panel = 400;  ///< panels at least this long have large letters
  static constexpr int tick = 5;           ///< length of a tick, and its distance from the label

  /// From few nonzeros to many: light blue over green-blue to a blue near black.
  static Colour shade(double share) {
    static constexpr std::array<Colour, 6> stops{
        {{143, 204, 214}, {84, 172, 196}, {46, 134, 171}, {37, 92, 141}, {36, 54, 100}, {22, 22, 52}}};
    const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(at), stops.size() - 2);
    const double part = at - static_cast<double>(below);
    const auto mix = [part](std::uint8_t a, std::uint8_t b) {
      return static_cast<std::uint8_t>(std::lround(a + part * (b - a)));
    };
    const Colour &a = stops[below], &b = stops[below + 1];
    return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
  }
  /// How dark `count` nonzeros are drawn if there are at most `most`, on a logarithmic scale.
  static double share(std::uint64_t count, std::uint64_t most) {
    return most == 1 ? 0.75 : std::log(static_cast<double>(count)) / std::log(static_cast<double>(most));
  }
};

/// Which of `cells` equal parts of [0, extent) coordinate i falls into.
inline int spy_cell(std::int64_t i, std::int64_t extent, int cells) {
  if (extent <= cells) return static_cast<int>(i);
  return static_cast<int>(static_cast<uint128>(i) * static_cast<unsigned>(cells) /
                          static_cast<uint128>(extent));
}

/// The ticks of one side of a panel: coordinates from 0 that are multiples of 1, 2 or 5 times a power of ten,
/// as many as there is room for with their labels.
class SpyAxis {
 public:
  /// @param extent  extent of the mode along that side; 0 for no ticks
  /// @param cells   number of cells, of `cell_size` pixels each, into which the extent is divided
  /// @param down    whether the side goes down rather than across
  SpyAxis(std::int64_t extent, int cells, int cell_size, bool down, int scale)
      : length_(cells * cell_size), down_(down), scale_(scale) {
    if (extent == 0) return;
    const int widest = Image::text_width(text(extent - 1), scale);
    const int room = down ? 2 * Image::text_height(scale) : widest + 3 * Image::text_width("0", scale);
    const double least_step = room * static_cast<double>(extent) / length_;
    std::int64_t step = 1;
    for (int next = 0; static_cast<double>(step) < least_step && step < extent / 2; ++next)
      step = next % 3 == 1 ? step / 2 * 5 : step * 2;
    if (static_cast<double>(step) < least_step) step = extent;  // there is room for only one
    for (std::int64_t at = 0; at<extent; at = extent - at> step ? at + step : extent)
      ticks_.push_back({at, spy_cell(at, extent, cells) * cell_size + cell_size / 2});
    for (const Tick& tick : ticks_)
      widest_ = std::max(widest_, Image::text_width(text(tick.coordinate), scale));
  }

  /// Pixels that the ticks and labels take next to the panel.
  int thickness() const {
    if (ticks_.empty()) return 0;
    return 2 * SpyStyle::tick + (down_ ? widest_ : Image::text_height(scale_));
  }

  /// Draws the ticks: to the left of (x, y) and downwards, or below it and to the right.
  void draw(Image& image, int x, int y) const {
    for (const Tick& tick : ticks_) {
      const std::string label = text(tick.coordinate);
      const int width = Image::text_width(label, scale_), height = Image::text_height(scale_);
      if (down_) {
        image.fill(x - SpyStyle::tick, y + tick.pixel, SpyStyle::tick - 1, 1, SpyStyle::ink);
        image.write(x - 2 * SpyStyle::tick - width, y + tick.pixel - height / 2, label, scale_,
                    SpyStyle::ink);
      } else {
        image.fill(x + tick.pixel, y + 1, 1, SpyStyle::tick - 1, SpyStyle::ink);
        if (tick.pixel + (width + 1) / 2 <=
            length_ + SpyStyle::gap / 2)  // else it may touch the next panel's
          image.write(x + tick.pixel - width / 2, y + 2 * SpyStyle::tick, label, scale_, SpyStyle::ink);
      }
    }
  }

 private:
  struct Tick {
    std::int64_t coordinate;
    int pixel;  ///< from the beginning of the side
  };

  int length_;
  bool down_;
  int scale_;
  int widest_ = 0;
  std::vector<Tick> ticks_;
};

/// A bar of the colours, from one nonzero to the most in a pixel, with powers of ten below it.
class SpyLegend {
 public:
  /// @param most  the most nonzeros of a cell; 0 for no legend
  /// @param cell  what a cell is called
  SpyLegend(std::uint64_t most, const std::string& cell) : most_(most), words_("nonzeros per " + cell) {}

  int width() const {
    return most_ == 0 ? 0 : bar_width() + 2 * SpyStyle::gap + Image::text_width(words_, 1);
  }
  int height() const { return most_ == 0 ? 0 : thickness + label_height() + SpyStyle::margin; }

  void draw(Image& image, int x, int y) const {
    if (most_ == 0) return;
    for (int at = 0; at < bar_width(); ++at)
      image.fill(
          x + at, y, 1, thickness,
          SpyStyle::shade(most_ == 1 ? SpyStyle::share(1, 1) : static_cast<double>(at) / (bar_width() - 1)));
    image.frame(x, y, bar_width(), thickness, SpyStyle::border);
    image.write(x + bar_width() + 2 * SpyStyle::gap, y + (thickness - Image::text_height(1) + 1) / 2, words_,
                1, SpyStyle::ink);
    mark(image, x, y, most_);
    const int room = Image::text_width(text(most_), 1);
    for (std::uint64_t count = 1; count <= most_ / 10 || count == 1; count *= 10) {
      // A label that would come too close to the last one is left out.
      if (most_ == 1 || place(most_) - place(count) < room + Image::text_width("0", 1)) break;
      mark(image, x, y, count);
    }
  }

 private:
  static constexpr int thickness = 12;  // height of the bar

  static int label_height() { return SpyStyle::tick + 2 + Image::text_height(1); }
  int bar_width() const { return most_ == 1 ? thickness : 160; }
  int place(std::uint64_t count) const {
    return most_ == 1 ? bar_width() / 2
                      : static_cast<int>(std::lround(SpyStyle::share(count, most_) * (bar_width() - 1)));
  }
  void mark(Image& image, int x, int y, std::uint64_t count) const {
    const std::string label = text(count);
    image.fill(x + place(count), y + thickness + 1, 1, SpyStyle::tick - 2, SpyStyle::ink);
    image.write(x + place(count) - Image::text_width(label, 1) / 2, y + thickness + SpyStyle::tick + 1, label,
                1, SpyStyle::ink);
  }

  std::uint64_t most_;
  std::string words_;
};

}  // namespace sporos::detail
