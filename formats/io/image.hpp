// SPDX-License-Identifier: Apache-2.0
/// @file image.hpp
/// An image in memory, and its PNG file.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/error.hpp"
#include "../glyphs.hpp"
#include "output_file.hpp"

namespace sporos {

struct Colour {
  std::uint8_t red = 0, green = 0, blue = 0;
  friend bool operator==(const Colour&, const Colour&) = default;
};

/// Width x height pixels, starting at the upper left corner.
class Image {
 public:
  Image(int width, int height, Colour background)
      : width_(width),
        height_(height),
        pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), background) {}

  int width() const { return width_; }
  int height() const { return height_; }

  Colour& at(int x, int y) { return pixels_[index(x, y)]; }
  const Colour& at(int x, int y) const { return pixels_[index(x, y)]; }

  /// Fills a rectangle, clipped to the image.
  void fill(int x, int y, int width, int height, Colour colour) {
    for (int row = std::max(y, 0); row < std::min(y + height, height_); ++row)
      for (int column = std::max(x, 0); column < std::min(x + width, width_); ++column)
        at(column, row) = colour;
  }

  /// Draws a border one pixel wide around a rectangle.
  void frame(int x, int y, int width, int height, Colour colour) {
    fill(x - 1, y - 1, width + 2, 1, colour);
    fill(x - 1, y + height, width + 2, 1, colour);
    fill(x - 1, y, 1, height, colour);
    fill(x + width, y, 1, height, colour);
  }

  /// The width of a text in pixels, if each dot of a glyph is `scale` pixels wide.
  static int text_width(std::string_view words, int scale) {
    return words.empty() ? 0 : (static_cast<int>(words.size()) * (detail::Glyph::width + 1) - 1) * scale;
  }
  static int text_height(int scale) { return detail::Glyph::height * scale; }

  /// Writes a text with its upper left corner at (x, y).
  void write(int x, int y, std::string_view words, int scale, Colour colour) {
    for (const char letter : words) {
      if (const auto* glyph = detail::glyph_of(letter))
        for (int row = 0; row < detail::Glyph::height; ++row)
          for (int dot = 0; dot < detail::Glyph::width; ++dot)
            if (glyph->rows[static_cast<std::size_t>(row)] >> (detail::Glyph::width - 1 - dot) & 1)
              fill(x + dot * scale, y + row * scale, scale, scale, colour);
      x += (detail::Glyph::width + 1) * scale;
    }
  }

  /// The image as the bytes of a PNG file, with 8 bits per channel.
  std::string png() const {
    std::string rows;
    rows.reserve((static_cast<std::size_t>(width_) * 3 + 1) * static_cast<std::size_t>(height_));
    for (int y = 0; y < height_; ++y) {
      // Store each row as its difference from the one above: runs of equal rows become runs of zeros.
      rows.push_back(y == 0 ? '\0' : '\2');
      for (int x = 0; x < width_; ++x) {
        const Colour above = y == 0 ? Colour{} : at(x, y - 1);
        rows.push_back(static_cast<char>(at(x, y).red - above.red));
        rows.push_back(static_cast<char>(at(x, y).green - above.green));
        rows.push_back(static_cast<char>(at(x, y).blue - above.blue));
      }
    }
    uLongf size = compressBound(static_cast<uLong>(rows.size()));
    std::string packed(size, '\0');
    const int status =
        compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
                  static_cast<uLong>(rows.size()), 9);
    ensure(status == Z_OK, "zlib compresses a picture into the room that it asked for");
    packed.resize(size);

    std::string out("\x89PNG\r\n\x1a\n", 8);
    std::string header;
    append_number(header, static_cast<std::uint32_t>(width_));
    append_number(header, static_cast<std::uint32_t>(height_));
    header += std::string("\x08\x02\x00\x00\x00", 5);  // 8 bits, RGB, deflate, filters by row, not interlaced
    append_chunk(out, "IHDR", header);
    append_chunk(out, "IDAT", packed);
    append_chunk(out, "IEND", {});
    return out;
  }

  /// Writes the PNG file, either completely or not at all.
  /// @throws IoError
  void save(const std::string& path) const {
    const std::string bytes = png();
    io::OutputFile file(path);
    file.write(bytes);
    file.commit();
  }

 private:
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  }
  static void append_number(std::string& out, std::uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(number >> shift & 0xff));
  }
  static void append_chunk(std::string& out, std::string_view type, std::string_view data) {
    append_number(out, static_cast<std::uint32_t>(data.size()));
    const std::size_t begin = out.size();
    out += type;
    out += data;
    append_number(out, static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(out.data() + begin),
                                                        static_cast<uInt>(out.size() - begin))));
  }

  int width_;
  int height_;
  std::vector<Colour> pixels_;
};

}  // namespace sporos
