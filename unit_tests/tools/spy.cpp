// SPDX-License-Identifier: Apache-2.0
/// @file spy.cpp
/// `sporos spy`: a picture that any program can open, of the size that was asked for.
#include "png.hpp"
#include "tool.hpp"

namespace {

using namespace sporos_test;

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
