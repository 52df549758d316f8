// SPDX-License-Identifier: Apache-2.0
/// @file generate.cpp
/// `sporos generate`: matrices that can be written down in a line, and random ones of the right size.
#include <cmath>
#include <cstdlib>

#include "plain_text.hpp"
#include "tool.hpp"

namespace {

using namespace sporos_test;

/// Runs `sporos generate` and reads what it has written.
PlainText generated(const Folder& folder, Arguments arguments) {
  arguments.insert(arguments.begin(), "generate");
  arguments.insert(arguments.begin() + 2, folder.file("out.mtx"));
  const Json done = report(arguments);
  PlainText file = plain_mtx(folder.file("out.mtx"));
  EXPECT_EQ(done["output"]["entries"], file.entries.size());
  EXPECT_EQ(done["output"]["extents"], Json(file.extents));
  EXPECT_TRUE(std::is_sorted(file.order.begin(), file.order.end()));
  return file;
}

/// The Laplacian of a grid by its definition: a loop over all pairs of points.
std::map<Coordinate, std::string> laplacian(const std::vector<std::int64_t>& grid, bool corners) {
  std::int64_t points = 1;
  for (const std::int64_t extent : grid) points *= extent;
  const auto place = [&](std::int64_t point) {
    Coordinate at;
    for (auto extent = grid.rbegin(); extent != grid.rend(); ++extent, point /= *(extent - 1))
      at.push_back(point % *extent);
    return at;
  };
  const auto dimensions = static_cast<std::int64_t>(grid.size());
  const std::int64_t middle =
      corners ? std::lround(std::pow(3, static_cast<double>(dimensions))) - 1 : 2 * dimensions;
  std::map<Coordinate, std::string> out;
  for (std::int64_t a = 0; a < points; ++a)
    for (std::int64_t b = 0; b < points; ++b) {
      std::int64_t sum = 0, most = 0;
      const Coordinate at_a = place(a), at_b = place(b);
      for (std::size_t k = 0; k < at_a.size(); ++k) {
        const std::int64_t apart = std::abs(at_a[k] - at_b[k]);
        sum += apart;
        most = std::max(most, apart);
      }
      if (a == b)
        out[{a + 1, b + 1}] = std::to_string(middle);
      else if (corners ? most == 1 : sum == 1)
        out[{a + 1, b + 1}] = "-1";
    }
  return out;
}

TEST(Generate, MakesTheLaplaciansOfGrids) {
  const Folder folder;
  expect_same_numbers(generated(folder, {"laplacian", "--size", "7"}).entries, laplacian({7}, false));
  expect_same_numbers(generated(folder, {"laplacian", "--size", "5,4"}).entries, laplacian({5, 4}, false));
  expect_same_numbers(generated(folder, {"laplacian", "--size", "5,4", "--stencil", "9"}).entries,
                      laplacian({5, 4}, true));
  expect_same_numbers(generated(folder, {"laplacian", "--size", "3,4,5"}).entries,
                      laplacian({3, 4, 5}, false));
  expect_same_numbers(generated(folder, {"laplacian", "--size", "2,1,3", "--stencil", "27"}).entries,
                      laplacian({2, 1, 3}, true));
}

TEST(Generate, MakesBands) {
  const Folder folder;
  const PlainText band = generated(folder, {"banded", "--size", "5,8", "--lower", "1", "--upper", "2"});
  std::map<Coordinate, std::string> expected;
  for (std::int64_t i = 1; i <= 5; ++i)
    for (std::int64_t j = 1; j <= 8; ++j)
      if (i - 1 <= j && j <= i + 2) expected[{i, j}] = "";
  ASSERT_EQ(band.entries.size(), expected.size());
  for (const auto& [at, value] : band.entries) {
    EXPECT_TRUE(expected.contains(at));
    EXPECT_GT(std::stod(value), 0);
    EXPECT_LE(std::stod(value), 1);
  }
  // A band that is wider than the matrix is all of it.
  const std::string wide = "1000000000000";
  EXPECT_EQ(generated(folder, {"banded", "--size", "6", "--lower", wide, "--upper", wide}).entries.size(),
            36u);
  EXPECT_EQ(generated(folder, {"banded", "--size", "9,3", "--lower", "0", "--upper", "0"}).entries.size(),
            3u);
}

TEST(Generate, MakesTheIdentity) {
  const Folder folder;
  const std::map<Coordinate, std::string> ones{{{1, 1}, "1"}, {{2, 2}, "1"}, {{3, 3}, "1"}};
  expect_same_numbers(generated(folder, {"identity", "--size", "3,5"}).entries, ones);
  expect_done({"generate", "identity", folder.file("out.smtx"), "--size", "4", "--pattern"});
  EXPECT_EQ(content(folder.file("out.smtx")), "4, 4, 4\n0 1 2 3 4\n0 1 2 3\n");
}

TEST(Generate, DrawsAsManyDifferentPlacesAsAsked) {
  const Folder folder;
  EXPECT_EQ(generated(folder, {"uniform", "--size", "300,200", "--entries", "1234"}).entries.size(), 1234u);
  EXPECT_EQ(generated(folder, {"uniform", "--size", "300,200", "--degree", "2.5"}).entries.size(), 750u);
  EXPECT_EQ(generated(folder, {"uniform", "--size", "13,11", "--entries", "143"}).entries.size(), 143u);
  EXPECT_EQ(generated(folder, {"uniform", "--size", "1,1", "--entries", "1"}).entries.size(), 1u);
  EXPECT_EQ(generated(folder, {"uniform", "--size", "5,5", "--entries", "0"}).entries.size(), 0u);
  const std::string out = folder.file("out.tns");
  for (const std::string size : {"1000", "50,60,70", "9,9,9,9", "4,5,6,7,8", "3,4,5,6,7,8"}) {
    expect_done({"generate", "uniform", out, "--size", size, "--entries", "500"});
    const Json info = report({"info", out, "--vector", "--no-formats"});
    EXPECT_EQ(info["nonzeros"], 500) << size;
    EXPECT_EQ(info["duplicates"], 0) << size;
    EXPECT_EQ(info["extents"], Json::parse('[' + size + ']'));
  }
  // More places than 64 bits can count.
  expect_done({"generate", "uniform", out, "--size", "10000000,10000000,10000000", "--entries", "500"});
  EXPECT_EQ(report({"info", out, "--no-formats"})["nonzeros"], 500);
}

TEST(Generate, SpreadsUniformEntriesEvenly) {
  const Folder folder;
  const PlainText file = generated(folder, {"uniform", "--size", "400,400", "--entries", "16000"});
  std::map<std::pair<std::int64_t, std::int64_t>, int> quarters;
  double sum = 0;
  for (const auto& [at, value] : file.entries) {
    ++quarters[{at[0] <= 200, at[1] <= 200}];
    sum += std::stod(value);
  }
  for (const auto& [quarter, count] : quarters) EXPECT_NEAR(count, 4000, 6 * std::sqrt(4000.0));
  EXPECT_NEAR(sum / 16000, 0.5, 6 * std::sqrt(1.0 / 12 / 16000));
}

TEST(Generate, DrawsTheEdgesOfAGraphIntoACorner) {
  const Folder folder;
  const PlainText graph = generated(folder, {"rmat", "--size", "1024", "--degree", "4"});
  std::array<double, 4> quarters{};
  for (const auto& [at, value] : graph.entries) quarters[(at[0] > 512) * 2u + (at[1] > 512)] += 1;
  const double all = static_cast<double>(graph.entries.size());
  EXPECT_LE(all, 4096);
  EXPECT_GT(all, 2000);
  // Edges that are drawn twice, most of them in the first quarter, stand there once.
  EXPECT_NEAR(quarters[0] / all, 0.57, 0.08);
  EXPECT_NEAR(quarters[1] / all, 0.19, 0.05);
  EXPECT_NEAR(quarters[2] / all, 0.19, 0.05);
  EXPECT_NEAR(quarters[3] / all, 0.05, 0.05);
  EXPECT_GT(quarters[3], 0);
  // Numbers of nodes that are no power of two are taken as well.
  const PlainText other = generated(folder, {"rmat", "--size", "700", "--entries", "3000"});
  EXPECT_EQ(other.extents, (std::vector<std::int64_t>{700, 700}));
  EXPECT_GT(other.entries.rbegin()->first[0], 512);
  EXPECT_EQ(generated(folder, {"rmat", "--size", "1", "--degree", "3"}).entries.size(), 1u);
}

TEST(Generate, TheSameSeedGivesTheSameFileOnAnyNumberOfThreads) {
  const Folder folder;
  const std::vector<Arguments> kinds = {{"rmat", "--size", "5000", "--degree", "20"},
                                        {"uniform", "--size", "3000,3000", "--degree", "30"},
                                        {"banded", "--size", "40000", "--lower", "3"},
                                        {"laplacian", "--size", "30,40,50"}};
  for (const Arguments& kind : kinds) {
    std::vector<std::string> files;
    for (const Arguments& options : {Arguments{"--threads", "1"}, {"--threads", "3"}, {"--seed", "2"}}) {
      if (kind[0] == "laplacian" && options[0] == "--seed") continue;
      Arguments arguments = {"generate", kind[0], folder.file("out.mtx")};
      arguments.insert(arguments.end(), kind.begin() + 1, kind.end());
      arguments.insert(arguments.end(), options.begin(), options.end());
      expect_done(arguments);
      files.push_back(content(folder.file("out.mtx")));
    }
    EXPECT_EQ(files[0], files[1]) << kind[0];
    if (files.size() > 2) {
      EXPECT_NE(files[0], files[2]) << kind[0];
    }
  }
}

TEST(Generate, RefusesSizesAndOptionsThatDoNotGo) {
  const Folder folder;
  const std::string out = folder.file("out.mtx");
  for (const std::string size : {"0", "-3", "3,", ",3", "3x4", "1e3", "99999999999999999999"})
    expect_refused({"generate", "identity", out, "--size", size}, "--size");
  expect_refused({"generate", "rmat", out, "--size", "3,3"}, "expected 1 number for rmat");
  expect_refused({"generate", "laplacian", out, "--size", "3,3,3,3"},
                 "expected 1 to 3 numbers for laplacian");
  expect_refused({"generate", "laplacian", out, "--size", "3,3", "--stencil", "7"}, "5 or 9 points");
  expect_refused({"generate", "laplacian", out, "--size", "3000000,3000000"}, "of memory");
  expect_refused({"generate", "laplacian", out, "--size", "3000000000,3000000000,3"}, "2^60");
  expect_refused({"generate", "uniform", out, "--size", "3,3", "--entries", "10"},
                 "10 entries do not fit into 3 x 3");
  expect_refused({"generate", "uniform", out, "--size", "3,3", "--degree", "-1"}, "--degree");
  expect_refused({"generate", "uniform", out, "--size", "3,3", "--degree", "1", "--entries", "3"},
                 "give one of them");
  expect_refused({"generate", "uniform", out, "--size", "3,3,3"}, "tensor of order 3");
  expect_refused({"generate", "banded", out, "--size", "3", "--degree", "1"},
                 "--degree does not go with banded");
  expect_refused({"generate", "laplacian", out, "--size", "3", "--seed", "1"},
                 "--seed does not go with laplacian");
  expect_refused({"generate", "hilbert", out, "--size", "3"}, "hilbert");
  expect_refused({"generate", "identity", folder.file("out.smtx"), "--size", "3"}, "--pattern");
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
