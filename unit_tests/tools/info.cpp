// SPDX-License-Identifier: Apache-2.0
/// @file info.cpp
/// `sporos info`: the figures that it states, of real files and of files small enough to count by hand.
#include "plain_text.hpp"
#include "png.hpp"
#include "sanitizers.hpp"
#include "tool.hpp"

namespace {

using namespace sporos_test;

std::string matrix_of_everything(const Folder& folder) {
  return folder.put("a.mtx",
                    "%%MatrixMarket matrix coordinate real general\n"
                    "4 4 7\n"
                    "1 1 2.5\n1 4 -3\n2 1 0\n3 3 1e300\n3 3 1\n4 1 nan\n4 2 7\n");
}

TEST(Info, CountsWhatAMatrixHolds) {
  const Folder folder;
  const Json info = report({"info", matrix_of_everything(folder)});
  EXPECT_EQ(info["command"], "info");
  EXPECT_EQ(info["kind"], "Matrix Market, coordinate real general");
  EXPECT_EQ(info["order"], 2);
  EXPECT_EQ(info["extents"], Json({4, 4}));
  EXPECT_EQ(info["entries"], 7);
  EXPECT_EQ(info["nonzeros"], 6);
  EXPECT_EQ(info["duplicates"], 1);
  EXPECT_EQ(info["stored_zeros"], 1);
  EXPECT_EQ(info["not_finite"], 1);
  EXPECT_EQ(info["least_value"], -3);
  EXPECT_EQ(info["largest_value"], 1e300);
  EXPECT_EQ(info["diagonal_entries"], 3);
  EXPECT_EQ(info["lower_bandwidth"], 3);
  EXPECT_EQ(info["upper_bandwidth"], 3);
  EXPECT_EQ(info["pattern_symmetric"], false);
  EXPECT_EQ(info["density"], 6.0 / 16);
}

TEST(Info, CountsTheEntriesOfEachModesCoordinates) {
  const Folder folder;
  const Json info = report({"info", folder.put("a.tns", "1 1 2 1\n1 2 2 1\n1 3 2 1\n4 1 5 1\n")});
  EXPECT_EQ(info["extents"], Json({4, 3, 5}));
  ASSERT_EQ(info["modes"].size(), 3u);
  EXPECT_EQ(info["modes"][0], (Json{{"mode", 0},
                                    {"extent", 4},
                                    {"empty", 2},
                                    {"least_entries", 0},
                                    {"mean_entries", 1.0},
                                    {"most_entries", 3}}));
  EXPECT_EQ(info["modes"][1]["empty"], 0);
  EXPECT_EQ(info["modes"][1]["least_entries"], 1);
  EXPECT_EQ(info["modes"][2]["most_entries"], 3);
  EXPECT_EQ(info["modes"][2]["empty"], 3);
}

TEST(Info, SaysWhatEachFormatTakes) {
  const Folder folder;
  const std::string path = folder.put("a.mtx",
                                      "%%MatrixMarket matrix coordinate real general\n"
                                      "4 6 3\n1 1 1\n1 6 2\n4 3 5\n");
  const Json info = report({"info", path});
  std::map<std::string, Json> formats;
  for (const Json& row : info["formats"]) formats[row["format"]] = row;
  // Positions are of 64 bits, coordinates of 32, values of 64.
  EXPECT_EQ(formats.at("csr")["bytes"], 5 * 8 + 3 * (4 + 8));
  EXPECT_EQ(formats.at("csc")["bytes"], 7 * 8 + 3 * (4 + 8));
  EXPECT_EQ(formats.at("bcsr2x2")["values_stored"], 3 * 4);
  EXPECT_EQ(formats.at("dense")["values_stored"], 24);
  EXPECT_EQ(formats.at("dense")["bytes"], 24 * 8);
  EXPECT_EQ(formats.at("csr")["levels"], "Dense(d0), Compressed(d1)");
}

TEST(Info, LeavesTheFormatsOutOnDemand) {
  const Json info = report({"info", example_data("LFAT5.mtx"), "--no-formats"});
  EXPECT_FALSE(info.contains("formats"));
  EXPECT_EQ(info["modes"].size(), 2u);
}

struct Known {
  std::string name;
  Json extents;
  std::int64_t stored;  ///< entries of the tensor, both triangles counted
  std::string field, symmetry;
};

/// As examples/data/README.md has them; of symmetric files it counts one triangle.
TEST(Info, StatesTheFiguresOfTheExamples) {
  const std::vector<Known> examples = {
      {"west0497.mtx", {497, 497}, 1727, "real", "general"},
      {"LFAT5.mtx", {14, 14}, 46, "real", "symmetric"},
      {"bcsstk16.mtx.gz", {4884, 4884}, 290378, "real", "symmetric"},
      {"ash292.mtx", {292, 292}, 2208, "pattern", "symmetric"},
      {"young1c.mtx", {841, 841}, 4089, "complex", "general"},
      {"10x_v3_test.mtx.gz", {507, 1107}, 23866, "integer", "general"},
      {"openflight.tns.gz", {539, 3478, 3478}, 51982, "real", "general"},
      {"aminoacid.tns.gz", {5, 201, 61}, 61305, "real", "general"},
      {"parti_3D_12031.tns.gz", {100, 80, 60}, 12031, "real", "general"},
      {"KG_JF17K_4.tns.gz", {23, 6536, 6519, 6523, 6533}, 9509, "real", "general"},
      {"transformer_attention_q_0.98.smtx", {512, 512}, 5242, "pattern", "general"}};
  for (const Known& known : examples) {
    SCOPED_TRACE(known.name);
    const Json info = report({"info", example_data(known.name), "--no-formats"});
    EXPECT_EQ(info["extents"], known.extents);
    EXPECT_EQ(info["entries"], known.stored);
    EXPECT_EQ(info["field"], known.field);
    EXPECT_EQ(info["symmetry"], known.symmetry);
    EXPECT_EQ(info["file_bytes"], std::filesystem::file_size(example_data(known.name)));
    EXPECT_EQ(info["kind"].get<std::string>().ends_with("gzip"), known.name.ends_with(".gz"));
  }
}

TEST(Info, CountsTheEntriesOfTheFileApartFromThoseOfTheTensor) {
  const Json triangle = report({"info", example_data("LFAT5.mtx"), "--no-formats"});
  EXPECT_EQ(triangle["entries"], 46);
  EXPECT_EQ(triangle["entries_in_file"], 30);
  const std::string text = expect_done({"info", example_data("LFAT5.mtx"), "--no-formats"});
  EXPECT_NE(text.find("in the file      30"), std::string::npos) << text;
  EXPECT_EQ(report({"info", example_data("aminoacid.tns.gz"), "--no-formats"})["entries_in_file"], nullptr);
}

TEST(Info, SeesTheSymmetryOfValues) {
  const Json symmetric = report({"info", example_data("bcsstk16.mtx.gz"), "--no-formats"});
  EXPECT_EQ(symmetric["value_symmetric"], true);
  const Json hermitian = report({"info", example_data("mhd1280b.mtx.gz"), "--no-formats"});
  EXPECT_EQ(hermitian["hermitian"], true);
  EXPECT_EQ(hermitian["value_symmetric"], false);
  const Json skew = report({"info", example_data("plsk1919.mtx.gz"), "--no-formats"});
  EXPECT_EQ(skew["pattern_symmetric"], true);
  EXPECT_EQ(skew["value_symmetric"], false);
}

TEST(Info, TakesTensorsOfOrderOneToSixAndExtentsBeyond32Bits) {
  const Folder folder;
  EXPECT_EQ(report({"info", folder.put("v.tns", "7 1.5\n"), "--vector"})["extents"], Json({7}));
  EXPECT_EQ(report({"info", folder.put("six.tns", "1 2 3 4 5 6 -1\n")})["extents"], Json({1, 2, 3, 4, 5, 6}));
  const Json wide = report({"info", folder.put("wide.tns", "1 5000000000 2\n3 1 4\n")});
  EXPECT_EQ(wide["extents"], Json({3, 5000000000}));
  EXPECT_EQ(wide["nonzeros"], 2);
  // Formats that hold no such matrix are listed as well, and say so.
  EXPECT_EQ(wide["formats"][5]["format"], "bcsr2x2");
  EXPECT_EQ(wide["formats"][5]["levels"], "holds no extents beyond 32 bits");
  EXPECT_EQ(wide["formats"][5]["bytes"], nullptr);
}

TEST(Info, TakesAVectorWhereTheFileSaysThatItIsOne) {
  const Folder folder;
  EXPECT_EQ(report({"info", folder.put("a.tns", "# extents 9\n7 1\n")})["extents"], Json({9}));
  EXPECT_EQ(report({"info", folder.put("b.tns", "1\n9\n7 1\n")})["extents"], Json({9}));
}

TEST(Info, CountsTheEntriesOfASymmetricFileAboveTheDiagonal) {
  const Folder folder;
  const std::string banner = "%%MatrixMarket matrix coordinate real symmetric\n";
  const std::string path = folder.put("a.mtx", banner + "4 4 5\n1 1 1\n1 2 1\n3 1 1\n2 4 1\n4 4 1\n");
  const Json info = report({"info", path});
  EXPECT_EQ(info["entries"], 8);
  EXPECT_EQ(info["entries_in_file"], 5);
  EXPECT_EQ(info["entries_above_diagonal"], 2);
  const std::string text = expect_done({"info", path});
  EXPECT_NE(text.find("above the diagonal  2\n"), std::string::npos) << text;
  EXPECT_EQ(report({"info", example_data("LFAT5.mtx")})["entries_above_diagonal"], 0);
  EXPECT_EQ(expect_done({"info", example_data("LFAT5.mtx")}).find("above the diagonal  "), std::string::npos);
  EXPECT_EQ(report({"info", example_data("west0497.mtx")})["entries_above_diagonal"], nullptr);
  expect_refused({"info", path, "--strict"}, path + ":4: entry (1, 2) lies above the diagonal");
  EXPECT_EQ(report({"info", example_data("LFAT5.mtx"), "--strict"})["entries"], 46);
}

TEST(Info, TakesAMatrixWithoutEntries) {
  const Folder folder;
  const Json info =
      report({"info", folder.put("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 0 0\n")});
  EXPECT_EQ(info["extents"], Json({3, 0}));
  EXPECT_EQ(info["nonzeros"], 0);
  EXPECT_EQ(info["density"], 0);
}

TEST(Info, CountsRowsByTheirNumberOfEntries) {
  const Folder folder;
  // Rows of 0, 1, 2, 3, 4 and 9 entries.
  std::string lines;
  int entries = 0;
  for (const auto& [row, length] : {std::pair{2, 1}, {3, 2}, {4, 3}, {5, 4}, {6, 9}})
    for (int column = 1; column <= length; ++column, ++entries)
      lines += std::to_string(row) + ' ' + std::to_string(column) + " 1\n";
  const std::string path = folder.put("a.mtx", "%%MatrixMarket matrix coordinate real general\n6 10 " +
                                                   std::to_string(entries) + '\n' + lines);
  const std::string out = folder.file("a.png");
  const auto lengths = [&](const Arguments& options) {
    Arguments arguments = {"info", path, "--no-formats", "--histogram", out};
    arguments.insert(arguments.end(), options.begin(), options.end());
    std::vector<std::vector<int>> found;
    const Json done = report(arguments);
    for (const Json& row : done["lengths"]) found.push_back({row["least"], row["most"], row["coordinates"]});
    return found;
  };
  using Lengths = std::vector<std::vector<int>>;
  EXPECT_EQ(lengths({}), (Lengths{{0, 0, 1}, {1, 1, 1}, {2, 3, 2}, {4, 7, 1}, {8, 15, 1}}));
  const std::string rows = png(out).rows;
  EXPECT_EQ(lengths({"--mode", "1"}), (Lengths{{0, 0, 1}, {1, 1, 5}, {2, 3, 2}, {4, 7, 2}}));
  EXPECT_NE(png(out).rows, rows);
  expect_refused({"info", path, "--histogram", out, "--mode", "2"}, "--mode is 2");
  expect_refused({"info", path, "--histogram", "a.gif"}, "ends in .png");
}

/// Entries in any order, with and without duplicates, large enough that several threads sort them.
TEST(Info, FiguresDoNotDependOnTheNumberOfThreads) {
  const Folder folder;
  expect_done({"generate", "rmat", folder.file("a.mtx"), "--size", "3000", "--degree", "40"});
  expect_done({"transpose", folder.file("a.mtx"), folder.file("t.mtx")});
  // The transpose twice, so that each entry of it is a duplicate.
  const std::string text = content(folder.file("t.mtx"));
  const auto begin = text.find('\n', text.find('\n') + 1) + 1;
  const std::string lines = text.substr(begin);
  const auto count = std::count(lines.begin(), lines.end(), '\n');
  const std::string twice =
      folder.put("twice.mtx", "%%MatrixMarket matrix coordinate real general\n3000 3000 " +
                                  std::to_string(2 * count) + '\n' + lines + lines);
  Json one = report({"info", twice, "--no-formats", "--threads", "1"});
  Json three = report({"info", twice, "--no-formats", "--threads", "3"});
  EXPECT_EQ(one["duplicates"], count);
  EXPECT_EQ(one["nonzeros"], count);
  for (const std::string key : {"threads", "read_seconds"}) {
    one.erase(key);
    three.erase(key);
  }
  EXPECT_EQ(one, three);
  // Added up, an entry and its duplicate are twice the entry, half of which is the entry itself.
  expect_done({"transpose", twice, folder.file("back.mtx"), "--threads", "3"});
  EXPECT_EQ(report({"info", folder.file("back.mtx"), "--no-formats"})["nonzeros"], count);
  expect_done({"compare", folder.file("a.mtx"), folder.file("back.mtx"), "--relative", "0.5"});
  EXPECT_EQ(run({"compare", folder.file("a.mtx"), folder.file("back.mtx"), "--relative", "0.49"}).code, 1);
}

TEST(Info, ShowsAPersonTheSameFigures) {
  const std::string text = expect_done({"info", example_data("west0497.mtx")});
  EXPECT_NE(text.find("497 x 497"), std::string::npos) << text;
  EXPECT_NE(text.find("1,727"), std::string::npos) << text;
  EXPECT_NE(text.find("Dense(d0), Compressed(d1)"), std::string::npos) << text;
}

TEST(Info, TakesTwoAndAHalfTimesTheMemoryOfTheEntries) {
#ifdef SPOROS_TEST_SANITIZED
  GTEST_SKIP() << "a sanitizer takes memory of its own";
#endif
  const Folder folder;
  constexpr std::int64_t few = 50000, many = 350000;
  // Entries in no order, so that all has to be sorted.
  const auto file_of = [&](std::int64_t entries) {
    std::string text = "# extents 30000 30000\n";
    std::uint64_t bits = 1;
    for (std::int64_t e = 0; e < entries; ++e) {
      bits = bits * 6364136223846793005u + 1442695040888963407u;
      text += std::to_string(1 + (bits >> 32) % 30000) + ' ' + std::to_string(1 + (bits >> 47) % 30000) +
              " 0.5\n";
    }
    return folder.put(std::to_string(entries) + ".tns", text);
  };
  const std::string small = file_of(few), large = file_of(many);
  const auto peak = [&](const std::string& name, bool formats) {
    Arguments arguments = {"info", name, "--threads", "2"};
    if (!formats) arguments.emplace_back("--no-formats");
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.peak_bytes;
  };
  for (const bool formats : {false, true})
    EXPECT_LE(peak(large, formats) - peak(small, formats), 5 * 24 * (many - few) / 2) << formats;
}

}  // namespace
