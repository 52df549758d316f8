// SPDX-License-Identifier: Apache-2.0
/// @file png.hpp
/// PNG files taken apart, to see that they are what any program opens.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <string>

#include "formats/io/files.hpp"

namespace sporos_test {

inline std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t byte = 0; byte < 4; ++byte)
    value = value << 8 | static_cast<unsigned char>(bytes[at + byte]);
  return value;
}

/// A PNG file, taken apart: ISO 15948.
struct Png {
  std::uint32_t width = 0, height = 0;
  std::string rows;  ///< each begins with the byte of its filter

  /// The pixels as "rgb" bytes, row by row: filters 0 and 2, a row as it is or as differences from the one
  /// above.
  std::string pixels() const {
    const std::size_t length = std::size_t{3} * width;
    std::string out;
    for (std::size_t y = 0; y < height; ++y)
      for (std::size_t at = 0; at < length; ++at) {
        const char byte = rows[y * (length + 1) + 1 + at];
        const bool differs = rows[y * (length + 1)] == 2 && y > 0;
        out.push_back(differs ? static_cast<char>(byte + out[out.size() - length]) : byte);
      }
    return out;
  }
};

inline Png png(const std::string& path) {
  const std::string bytes = content(path);
  Png picture;
  EXPECT_TRUE(bytes.starts_with("\x89PNG\r\n\x1a\n")) << path;
  std::string compressed, last;
  for (std::size_t at = 8; at + 12 <= bytes.size();) {
    const std::size_t length = big_endian(bytes, at);
    if (at + 12 + length > bytes.size()) break;
    last = bytes.substr(at + 4, 4);
    const auto* const chunk = reinterpret_cast<const Bytef*>(bytes.data() + at + 4);
    EXPECT_EQ(crc32(0, chunk, static_cast<uInt>(length + 4)), big_endian(bytes, at + 8 + length)) << last;
    if (last == "IHDR") {
      picture.width = big_endian(bytes, at + 8);
      picture.height = big_endian(bytes, at + 12);
    }
    if (last == "IDAT") compressed += bytes.substr(at + 8, length);
    at += 12 + length;
  }
  EXPECT_EQ(last, "IEND");
  picture.rows.resize(std::size_t{picture.height} * (std::size_t{picture.width} * 4 + 1));
  uLongf size = picture.rows.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(picture.rows.data()), &size,
                       reinterpret_cast<const Bytef*>(compressed.data()), compressed.size()),
            Z_OK);
  picture.rows.resize(size);
  return picture;
}

}  // namespace sporos_test
