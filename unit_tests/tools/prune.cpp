// SPDX-License-Identifier: Apache-2.0
/// @file prune.cpp
/// `sporos prune`, counted window by window in the text of its files.
#include <cmath>
#include <map>

#include "plain_text.hpp"
#include "tool.hpp"

namespace {

using namespace sporos_test;

double size_of(const std::string& text) { return std::abs(std::stod(text)); }

TEST(Prune, KeepsTheLargestOfEachWindow) {
  const Folder folder;
  const std::string in = example_data("west0497.mtx"), out = folder.file("out.mtx");
  const Json done = report({"prune", in, out, "--keep", "1:8"});
  const auto before = plain_mtx(in).entries;
  const auto after = plain_mtx(out).entries;
  EXPECT_EQ(done["output"]["entries"], after.size());
  using Window = std::pair<std::int64_t, std::int64_t>;
  std::map<Window, double> largest;
  double all = 0, kept = 0;
  for (const auto& [at, text] : before) {
    if (size_of(text) == 0) continue;
    double& most = largest[{at[0], (at[1] - 1) / 8}];
    most = std::max(most, size_of(text));
    all += size_of(text);
  }
  EXPECT_EQ(after.size(), largest.size());
  for (const auto& [at, text] : after) {
    EXPECT_EQ(std::stod(before.at(at)), std::stod(text));
    EXPECT_EQ(size_of(text), (largest.at({at[0], (at[1] - 1) / 8})));
    kept += size_of(text);
  }
  EXPECT_NEAR(done["output"]["magnitude_kept"].get<double>(), kept / all, 1e-12);
}

TEST(Prune, UnitsStayTogetherAndAreScaled) {
  const Folder folder;
  const std::string in = folder.put("in.mtx",
                                    "%%MatrixMarket matrix coordinate real general\n4 4 5\n"
                                    "1 1 3\n1 2 3\n2 1 5\n3 4 1\n4 3 2\n");
  const std::string out = folder.file("out.mtx");
  const Json done =
      report({"prune", in, out, "--keep", "1:2", "--unit", "2", "--along", "0", "--scale", "--by", "l1"});
  const std::map<std::vector<std::int64_t>, std::string> expected{
      {{1, 1}, "6"}, {{1, 2}, "6"}, {{4, 3}, "4"}};
  expect_same_numbers(plain_mtx(out).entries, expected);
  EXPECT_NEAR(done["output"]["magnitude_kept"].get<double>(), 8.0 / 14, 1e-12);
  expect_done({"prune", in, out, "--keep", "1:2", "--unit", "2", "--along", "0", "--by", "l2"});
  const std::map<std::vector<std::int64_t>, std::string> by_l2{{{2, 1}, "5"}, {{4, 3}, "2"}};
  expect_same_numbers(plain_mtx(out).entries, by_l2);
}

TEST(Prune, APatternStaysAPattern) {
  const Folder folder;
  const std::string out = folder.file("out.smtx");
  const Json done =
      report({"prune", example_data("transformer_attention_q_0.98.smtx"), out, "--keep", "1:16"});
  EXPECT_LT(done["output"]["entries"], 5242);
  EXPECT_GT(done["output"]["entries"], 1000);
  expect_done({"validate", out});
}

TEST(Prune, NonsenseIsRefused) {
  const Folder folder;
  const std::string in = example_data("west0497.mtx"), out = folder.file("out.mtx");
  for (const std::string keep : {"4:2", "0:4", "2", "2:", ":4", "a:b", "2:4:8", "99999999999:4"})
    expect_refused({"prune", in, out, "--keep", keep}, "--keep is " + keep);
  expect_refused({"prune", in, out, "--unit", "0"}, "--unit");
  expect_refused({"prune", in, out, "--along", "2"}, "--along");
  expect_refused({"prune", in, folder.file("out.smtx")}, "a .smtx file has no values");
  expect_refused({"prune", example_data("transformer_attention_q_0.98.smtx"), out, "--scale"}, "--scale");
  expect_refused({"prune", example_data("aminoacid.tns.gz"), out}, "matrix");
}

}  // namespace
