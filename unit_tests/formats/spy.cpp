// SPDX-License-Identifier: Apache-2.0
/// @file spy.cpp
/// Spy pictures: what is drawn where, and the PNG file.
#include <zlib.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sporos/formats/assemble.hpp>
#include <sporos/formats/named.hpp>
#include <sporos/formats/spy.hpp>
#include <sstream>
#include <vector>

#include "reference.hpp"

namespace sporos::test {
namespace {

constexpr int margin = detail::SpyStyle::margin;
constexpr Colour field = detail::SpyStyle::field;
constexpr Colour border = detail::SpyStyle::border;
constexpr Colour paper = detail::SpyStyle::paper;

/// The share of a picture's inside that is not the colour of nothing.
double drawn_share(const Image& image) {
  int drawn = 0;
  int all = 0;
  for (int y = margin; y < image.height() - margin; ++y)
    for (int x = margin; x < image.width() - margin; ++x) {
      ++all;
      drawn += !(image.at(x, y) == field);
    }
  return static_cast<double>(drawn) / all;
}

TEST(Spy, DrawsEachCoordinateOfASmallMatrixAsASquare) {
  const auto t = assemble<CSR<>>(Entries<double, 2>({3, 4}, {{{2, 1}, 5.0}, {{0, 3}, 7.0}}));
  const Image image = spy_image(t, {.pixels = 40, .caption = false, .axes = false, .legend = false});
  constexpr int cell = 10;
  EXPECT_EQ(image.width(), 4 * cell + 2 * margin);
  EXPECT_EQ(image.height(), 3 * cell + 2 * margin);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) {
      const bool stored = (i == 2 && j == 1) || (i == 0 && j == 3);
      EXPECT_EQ(image.at(margin + j * cell + cell / 2, margin + i * cell + cell / 2) == field, !stored)
          << i << j;
    }
  EXPECT_EQ(image.at(margin - 1, margin), border);
  EXPECT_EQ(image.at(margin + 4 * cell, margin), border);
  EXPECT_EQ(image.at(0, 0), paper);
}

TEST(Spy, IsTheSameForEveryFormat) {
  const auto entries = random_entries<double, 2>({50, 70}, 200, 1);
  const auto expected = spy_image(assemble<CSR<>>(entries)).png();
  EXPECT_EQ(spy_image(assemble<CSC<>>(entries)).png(), expected);
  EXPECT_EQ(spy_image(assemble<BCSR<2, 3>>(entries)).png(), expected);
  EXPECT_EQ(spy_image(assemble<DenseMatrix<>>(entries)).png(), expected);
#ifdef KOKKOS_ENABLE_SERIAL
  EXPECT_EQ((spy_image(assemble<CSR<>, Serial>(entries)).png()), expected);
#endif
}

TEST(Spy, KeepsTheRatioOfLargeMatrices) {
  const Image image = spy_image(Tensor<double, DCSR<>>({100000, 50000}),
                                {.pixels = 400, .caption = false, .axes = false, .legend = false});
  EXPECT_EQ(image.height(), 400 + 2 * margin);
  EXPECT_EQ(image.width(), 200 + 2 * margin);
}

TEST(Spy, DrawsThinTensorsThickEnoughToSee) {
  const auto t = assemble<SparseVector<>>(Entries<double, 1>({100000}, {{{0}, 1.0}, {{99999}, 1.0}}));
  const Image image = spy_image(t, {.pixels = 300, .caption = false, .axes = false, .legend = false});
  EXPECT_EQ(image.height(), detail::SpyStyle::thinnest + 2 * margin);
  EXPECT_FALSE(image.at(margin, margin) == field);
  EXPECT_FALSE(image.at(margin + 299, margin) == field);
  EXPECT_TRUE(image.at(margin + 150, margin) == field);
}

TEST(Spy, ShadesByTheNumberOfNonzerosInAPixel) {
  Entries<double, 2> entries({1000, 1000}, 10000 + 1);
  for (std::int64_t e = 0; e < 10000; ++e) entries.set(e, {e / 100, e % 100}, 1.0);  // a dense corner
  entries.set(10000, {999, 999}, 1.0);
  const Image image =
      spy_image(assemble<CSR<>>(entries), {.pixels = 100, .caption = false, .axes = false, .legend = false});
  EXPECT_EQ(image.at(margin, margin), detail::SpyStyle::shade(1));
  EXPECT_EQ(image.at(margin + 99, margin + 99), detail::SpyStyle::shade(0));
  EXPECT_NEAR(drawn_share(image), 101.0 / 10000, 1e-12);
}

/// The upper left pixel of the first panel.
std::array<int, 2> corner_of_panel(const Image& image) {
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      if (image.at(x, y) == border) return {x + 1, y + 1};
  return {0, 0};
}

TEST(Spy, MarksRoundCoordinatesOnBothAxes) {
  const Image image = spy_image(Tensor<double, CSR<>>({1000, 2000}), {.pixels = 500});
  const auto [left, top] = corner_of_panel(image);
  std::vector<int> down, across;
  for (int y = 0; y < 250; ++y)
    if (image.at(left - 3, top + y) == detail::SpyStyle::ink) down.push_back(y);
  for (int x = 0; x < 500; ++x)
    if (image.at(left + x, top + 250 + 3) == detail::SpyStyle::ink) across.push_back(x);
  EXPECT_EQ(down, (std::vector{0, 50, 100, 150, 200}));  // each 200 rows, four of which share a pixel
  EXPECT_EQ(across, (std::vector{0, 125, 250, 375}));    // each 500 columns: their labels are longer
  // The label of row 0, left of its tick: a glyph's first row has three dots of two pixels.
  EXPECT_EQ(image.at(left - 2 * detail::SpyStyle::tick - 6, top - 7), detail::SpyStyle::ink);
}

TEST(Spy, MarksTheMiddleOfLargeCellsAndNoRowsOfAVector) {
  const Image matrix = spy_image(Tensor<double, CSR<>>({3, 4}), {.pixels = 160});
  const auto [left, top] = corner_of_panel(matrix);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(matrix.at(left - 3, top + 40 * i + 20), detail::SpyStyle::ink) << i;
  const SpyOptions plain{.pixels = 300, .axes = false, .legend = false};
  const Tensor<double, SparseVector<>> vector({100000});
  EXPECT_EQ(spy_image(vector, {.pixels = 300}).width(), spy_image(vector, plain).width());
  EXPECT_GT(spy_image(vector, {.pixels = 300}).height(), spy_image(vector, plain).height());
}

TEST(Spy, HasALegendOfItsColours) {
  Entries<double, 2> entries({1000, 1000}, 10000 + 1);
  for (std::int64_t e = 0; e < 10000; ++e) entries.set(e, {e / 100, e % 100}, 1.0);  // 100 in a pixel
  entries.set(10000, {999, 999}, 1.0);
  const auto t = assemble<CSR<>>(entries);
  const Image image = spy_image(t, {.pixels = 100, .caption = false, .axes = false});
  const Image without = spy_image(t, {.pixels = 100, .caption = false, .axes = false, .legend = false});
  ASSERT_GT(image.height(), without.height());
  // A row that begins with the colour of one nonzero, and ends with that of the most.
  const int y = without.height();
  int x = 0;
  while (x < image.width() && !(image.at(x, y) == detail::SpyStyle::shade(0))) ++x;
  ASSERT_LT(x + 159, image.width());
  EXPECT_EQ(image.at(x + 159, y), detail::SpyStyle::shade(1));
  EXPECT_EQ(image.at(x + 160, y), border);
  std::vector<int> ticks;  // below the bar: 1, 10 and 100
  for (int at = 0; at < 160; ++at)
    if (image.at(x + at, y + 12) == detail::SpyStyle::ink) ticks.push_back(at);
  EXPECT_EQ(ticks, (std::vector{0, 80, 159}));
}

TEST(Spy, CoversExtentsOfSixtyFourBits) {
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  const Entries<double, 2> entries({huge, huge}, {{{huge - 1, huge - 1}, 1.0}, {{0, 0}, 1.0}});
  const Image image = spy_image(assemble<DCSR<std::int64_t, std::int64_t>>(entries),
                                {.pixels = 64, .caption = false, .axes = false, .legend = false});
  EXPECT_FALSE(image.at(margin, margin) == field);
  EXPECT_FALSE(image.at(margin + 63, margin + 63) == field);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_GT(spy_image(Tensor<double, DCSR<std::int64_t, std::int64_t>>({most, most})).width(), 1000);
}

TEST(Spy, DrawsOnePanelForEachSlice) {
  const Entries<double, 3> entries({2, 10, 10}, {{{0, 0, 0}, 1.0}, {{1, 9, 9}, 1.0}});
  const SpyOptions options{.pixels = 200, .caption = false, .axes = false, .legend = false};
  const detail::SpyLayout layout(entries.extents, options);
  EXPECT_EQ(layout.slice_mode, 0);
  EXPECT_EQ(layout.row_mode, 1);
  EXPECT_EQ(layout.column_mode, 2);
  EXPECT_EQ(layout.panels, 2);
  EXPECT_EQ(layout.panel_columns, 2);
  EXPECT_EQ(layout.cell_width, 10);
  const Image image = spy_image(assemble<CSF<3>>(entries), options);
  const int y = margin + layout.label;
  const int second = margin + 100 + detail::SpyStyle::gap;
  EXPECT_FALSE(image.at(margin + 5, y + 5) == field);
  EXPECT_TRUE(image.at(second + 5, y + 5) == field);
  EXPECT_FALSE(image.at(second + 95, y + 95) == field);
  EXPECT_TRUE(image.at(margin + 95, y + 95) == field);
}

TEST(Spy, SumsRangesOfSlicesWhereTheyAreMany) {
  const SpyOptions options{.slice_mode = 1, .slices = 4};
  const detail::SpyLayout layout(Extents<4>{5, 10, 6, 7}, options);
  EXPECT_EQ(layout.panels, 4);
  EXPECT_EQ(layout.row_mode, 0);
  EXPECT_EQ(layout.column_mode, 2);
  EXPECT_EQ(detail::spy_label(layout, 0), "mode 1 = 0-2");
  EXPECT_EQ(detail::spy_label(layout, 1), "mode 1 = 3-4");
  EXPECT_EQ(detail::spy_label(layout, 3), "mode 1 = 8-9");
  for (std::int64_t i = 0; i < 10; ++i) {
    const int panel = detail::spy_cell(i, 10, 4);
    EXPECT_EQ(panel, i < 3 ? 0 : i < 5 ? 1 : i < 8 ? 2 : 3);
  }
  const auto t = assemble<COO<4>>(random_entries<double, 4>({5, 10, 6, 7}, 60, 1));
  const auto counts = detail::spy_counts(t, layout);
  std::uint64_t sum = 0;
  for (const auto count : counts.cells) sum += count;
  EXPECT_EQ(static_cast<std::int64_t>(sum), t.nnz());
}

TEST(Spy, DrawsNothingOfNothing) {
  EXPECT_EQ(drawn_share(
                spy_image(Tensor<double, CSR<>>({0, 0}), {.caption = false, .axes = false, .legend = false})),
            0.0);
  EXPECT_EQ(drawn_share(spy_image(Tensor<double, DenseMatrix<>>({30, 20}),
                                  {.caption = false, .axes = false, .legend = false})),
            0.0);
}

TEST(Spy, RefusesOptionsThatMeanNothing) {
  const Tensor<double, CSR<>> t({3, 3});
  EXPECT_TRUE(contains(message_of<ShapeError>([&] { spy_image(t, {.slice_mode = 2}); }), "mode 2"));
  EXPECT_THROW(spy_image(t, {.pixels = 0}), ShapeError);
  EXPECT_THROW(spy_image(t, {.slices = 0}), ShapeError);
}

/// A big-endian number of a PNG file.
std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t k = 0; k < 4; ++k) out = out << 8 | static_cast<unsigned char>(bytes[at + k]);
  return out;
}

TEST(Image, WritesPngThatHoldsItsPixels) {
  Image image(5, 4, {10, 20, 30});
  image.fill(1, 1, 2, 2, {200, 100, 0});
  image.fill(4, 3, 100, 100, {1, 2, 3});
  const std::string png = image.png();
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  std::string rows;
  std::vector<std::string> types;
  for (std::size_t at = 8; at < png.size();) {
    const std::size_t length = number_at(png, at);
    const std::string type = png.substr(at + 4, 4);
    const std::string data = png.substr(at + 8, length);
    types.push_back(type);
    const std::string checked = type + data;
    EXPECT_EQ(number_at(png, at + 8 + length),
              crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size())));
    if (type == "IHDR") {
      EXPECT_EQ(number_at(data, 0), 5u);
      EXPECT_EQ(number_at(data, 4), 4u);
      EXPECT_EQ(data.substr(8), std::string("\x08\x02\x00\x00\x00", 5));
    }
    if (type == "IDAT") {
      rows.resize(4 * (1 + 3 * 5));
      uLongf size = static_cast<uLongf>(rows.size());
      ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                           reinterpret_cast<const Bytef*>(data.data()), static_cast<uLong>(data.size())),
                Z_OK);
      ASSERT_EQ(size, rows.size());
    }
    at += 12 + length;
  }
  EXPECT_EQ(types, (std::vector<std::string>{"IHDR", "IDAT", "IEND"}));
  std::vector<unsigned char> above(15, 0);
  for (int y = 0; y < 4; ++y) {
    const auto* row = reinterpret_cast<const unsigned char*>(rows.data()) + y * 16;
    for (int x = 0; x < 5; ++x) {
      for (int c = 0; c < 3; ++c) {
        auto& byte = above[static_cast<std::size_t>(3 * x + c)];
        byte = static_cast<unsigned char>(row[1 + 3 * x + c] + (row[0] == 2 ? byte : 0));
      }
      const auto* pixel = &above[static_cast<std::size_t>(3 * x)];
      EXPECT_EQ((Colour{pixel[0], pixel[1], pixel[2]}), image.at(x, y)) << x << ' ' << y;
    }
  }
}

TEST(Image, WritesTextOfGlyphs) {
  Image image(40, 10, {255, 255, 255});
  image.write(0, 0, "1l", 1, {0, 0, 0});
  const auto dark = [&](int x, int y) { return image.at(x, y).red == 0; };
  for (int y = 0; y < 7; ++y) EXPECT_TRUE(dark(2, y));
  EXPECT_FALSE(dark(0, 0));
  EXPECT_TRUE(dark(8, 3));
  EXPECT_EQ(Image::text_width("1l", 2), 22);
  image.write(-3, -3, "0?0", 3, {0, 0, 0});  // beyond the rim, and without a glyph
}

TEST(Spy, WritesTheFileWholeOrNotAtAll) {
  namespace fs = std::filesystem;
  char name[] = "/tmp/sporos-spy-XXXXXX";
  const fs::path folder = ::mkdtemp(name);
  const auto t = assemble<CSR<>>(random_entries<double, 2>({50, 70}, 200, 1));
  const std::string path = folder / "spy.png";
  spy(t, path);
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(bytes.str(), spy_image(t).png());
  EXPECT_THROW(spy(t, folder / "missing" / "spy.png"), IoError);
  EXPECT_THROW(spy(t, folder), IoError);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace sporos::test
