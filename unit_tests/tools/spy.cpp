// SPDX-License-Identifier: Apache-2.0
/// @file spy.cpp
/// `sporos spy`: a picture that any program can open, of the size that was asked for.
#include <zlib.h>

#include <cstring>

#include "tool.hpp"

namespace {

using namespace sporos_test;

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t byte = 0; byte < 4; ++byte)
    value = value << 8 | static_cast<unsigned char>(bytes[at + byte]);
  return value;
}

/// A PNG file, taken apart: ISO 15948.
struct Png {
  std::uint32_t width = 0, height = 0;
  std::string rows;  ///< each begins with the byte of its filter
};

Png png(const std::string& path) {
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

TEST(Spy, DrawsEveryExample) {
  const Folder folder;
  for (const std::string& path : all_examples()) {
    SCOPED_TRACE(path);
    const Json done = report({"spy", path, "-o", folder.file("a.png"), "--pixels", "300"});
    const Png picture = png(folder.file("a.png"));
    EXPECT_EQ(done["output"]["pixels"], Json({picture.width, picture.height}));
    ASSERT_GT(picture.height, 0u);
    const std::size_t row = picture.rows.size() / picture.height;
    EXPECT_EQ(row * picture.height, picture.rows.size());
    EXPECT_EQ((row - 1) % picture.width, 0u);  // whole pixels behind the filter's byte
    // Something is drawn: the picture is not of one colour.
    const auto first = picture.rows[picture.rows.size() / 2];
    EXPECT_NE(picture.rows.find_first_not_of(first), std::string::npos);
  }
}

TEST(Spy, DrawsAsLargeAsAsked) {
  const Folder folder;
  std::uint32_t before = 0;
  for (const int pixels : {100, 400, 1600}) {
    expect_done({"spy", example_data("west0497.mtx"), "-o", folder.file("a.png"), "--pixels",
                 std::to_string(pixels)});
    const Png picture = png(folder.file("a.png"));
    EXPECT_GT(picture.width, before);
    before = picture.width;
  }
}

TEST(Spy, DrawsOtherPatternsOtherwise) {
  const Folder folder;
  const std::string head = "%%MatrixMarket matrix coordinate pattern general\n8 8 2\n";
  expect_done({"spy", folder.put("a.mtx", head + "1 1\n8 8\n"), "-o", folder.file("a.png")});
  expect_done({"spy", folder.put("b.mtx", head + "1 8\n8 1\n"), "-o", folder.file("b.png")});
  expect_done({"spy", folder.put("c.mtx", head + "8 8\n1 1\n"), "-o", folder.file("c.png")});
  EXPECT_NE(png(folder.file("a.png")).rows, png(folder.file("b.png")).rows);
  EXPECT_EQ(png(folder.file("a.png")).rows, png(folder.file("c.png")).rows);
}

TEST(Spy, GivesASliceOfATensorAPanel) {
  const Folder folder;
  const std::string tensor = example_data("aminoacid.tns.gz");
  const auto area = [&](const Arguments& options) {
    Arguments all = {"spy", tensor, "-o", folder.file("a.png"), "--pixels", "200"};
    all.insert(all.end(), options.begin(), options.end());
    expect_done(all);
    const Png picture = png(folder.file("a.png"));
    return picture.width * picture.height;
  };
  const auto five = area({"--slice-mode", "0"}), two = area({"--slice-mode", "0", "--slices", "2"});
  EXPECT_NE(five, two);
  EXPECT_EQ(area({}), five);  // mode 0 is the shortest
  expect_refused({"spy", tensor, "-o", folder.file("b.png"), "--slice-mode", "3"},
                 "the modes of " + tensor + " are 0 to 2");
}

TEST(Spy, WritesToPngOnly) {
  const Folder folder;
  for (const std::string name : {"a.jpg", "a.png.gz", "a", "a.mtx"})
    expect_refused({"spy", example_data("west0497.mtx"), "-o", folder.file(name)}, "ends in .png");
  expect_refused({"spy", example_data("west0497.mtx")}, "--output");
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
