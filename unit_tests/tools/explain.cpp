// SPDX-License-Identifier: Apache-2.0
/// @file explain.cpp
/// `sporos explain`: the loops of each statement that it lists, in each of its formats.
#include <sstream>

#include "tool.hpp"

namespace {

using namespace sporos_test;

/// The words of a list with commas.
Arguments words(const std::string& list) {
  Arguments all;
  std::istringstream text(list);
  for (std::string word; std::getline(text >> std::ws, word, ',');) all.push_back(word);
  return all;
}

TEST(Explain, ExplainsEveryStatementThatItListsInEveryFormat) {
  const Json list = report({"explain", "--list"})["statements"];
  std::vector<std::string> texts;
  for (const Json& row : list) {
    const std::string name = row["name"];
    for (const std::string& format : words(row["formats"])) {
      SCOPED_TRACE(name + " " + format);
      const bool by_order = name == "spgemm";
      const Json one = report({"explain", name, by_order ? "--order" : "--format", format});
      EXPECT_EQ(one["name"], name);
      EXPECT_EQ(one[by_order ? "loop_order" : "format"], format);
      EXPECT_EQ(one["statement"], row["statement"]);
      const std::string text = one["explanation"];
      EXPECT_TRUE(text.starts_with(row["statement"].get<std::string>() + "\n")) << text;
      EXPECT_NE(text.find("result: "), std::string::npos) << text;
      // No two read alike: another format or order is another plan.
      EXPECT_EQ(std::count(texts.begin(), texts.end(), text), 0) << text;
      texts.push_back(text);
    }
  }
  EXPECT_EQ(list.size(), 8u);
  EXPECT_GE(texts.size(), 24u);
}

TEST(Explain, PutsTheLoopsInTheOrderThatIsAskedFor) {
  for (const std::string order : {"ikj", "kij", "ijk", "jki", "kji", "jik"}) {
    const std::string text = report({"explain", "spgemm", "--order", order})["explanation"];
    std::string loops;
    for (std::size_t at = 0; (at = text.find("for ", at)) != std::string::npos; at += 4)
      if (text[at + 5] == ' ' && text.compare(at + 6, 3, "in ") == 0) loops += text[at + 4];
    EXPECT_EQ(loops, order) << text;
  }
}

TEST(Explain, SaysHowTheResultIsMade) {
  const auto text = [](const Arguments& arguments) {
    return report(arguments)["explanation"].get<std::string>();
  };
  EXPECT_NE(text({"explain", "spmv"}).find("result: located"), std::string::npos);
  EXPECT_NE(text({"explain", "spgemm"}).find("run by SpGEMM by rows"), std::string::npos);
  EXPECT_NE(text({"explain", "spgemm", "--order", "kji"}).find("the right one is copied by columns first"),
            std::string::npos);
  EXPECT_NE(text({"explain", "ttv"}).find("result: appended"), std::string::npos);
}

TEST(Explain, ExplainsTheFirstFormatUnlessOneIsNamed) {
  setenv("SPOROS_SPMV_FORM", "scalar", 1);  // otherwise each process measures which form is fastest
  EXPECT_EQ(expect_done({"explain", "spmv"}), expect_done({"explain", "spmv", "--format", "csr"}));
  EXPECT_EQ(expect_done({"explain", "spgemm"}), expect_done({"explain", "spgemm", "--order", "ikj"}));
}

TEST(Explain, PrintsToPeopleWhatTheLibrarySays) {
  const std::string text = report({"explain", "mttkrp"})["explanation"];
  EXPECT_EQ(expect_done({"explain", "mttkrp"}), text);
}

TEST(Explain, RefusesNamesFormatsAndOrdersThatItHasNot) {
  const std::string names = "spmv, spmm, spgemm, sddmm, add, mttkrp, ttv, inner";
  expect_refused({"explain"}, "NAME is required: one of " + names);
  expect_refused({"explain", "fft"}, "no statement is called fft; expected one of " + names);
  expect_refused({"explain", "sddmm", "--format", "csf"}, "expected one of csr, coo");
  expect_refused({"explain", "spgemm", "--order", "iii"}, "expected one of ikj, kij, ijk, jki, kji, jik");
  expect_refused({"explain", "spgemm", "--format", "csr"}, "spgemm takes --order");
  expect_refused({"explain", "spmv", "--order", "ij"}, "spmv takes --format");
  expect_refused({"explain", "spmv", "csr"}, "csr");
}

TEST(Explain, MeasuresEveryCandidateOnAFileBesideWhatIsExpected) {
  const Json listed = report({"explain", "--list"});
  for (const Json& row : listed["statements"]) {
    const std::string name = row["name"], first = words(row["formats"])[0];
    const bool tensor = name == "mttkrp" || name == "ttv" || name == "inner";
    SCOPED_TRACE(name);
    const std::string path = example_data(tensor ? "aminoacid.tns.gz" : "LFAT5.mtx");
    const Json done = report({"explain", name, "--file", path, "--repeats", "2", "--columns", "3"});
    EXPECT_EQ(done["A"]["file"], path);
    EXPECT_NE(done["explanation"].get<std::string>().find(tensor ? "5 x 201 x 61" : "14 x 14"),
              std::string::npos);
    ASSERT_GE(done["candidates"].size(), 1u);
    for (const Json& candidate : done["candidates"]) {
      EXPECT_GT(candidate["expected_seconds"], 0) << candidate;
      EXPECT_GT(candidate["fastest_seconds"], 0) << candidate;
      EXPECT_LE(candidate["fastest_seconds"], candidate["seconds"]) << candidate;
      EXPECT_NE(candidate["kernel"], "");
    }
    for (const Json& candidate : done["refused"]) EXPECT_NE(candidate["reason"], "") << candidate;
  }
  const std::string text = expect_done(
      {"explain", "spmm", "--format", "csc", "--file", example_data("LFAT5.mtx"), "--repeats", "1"});
  EXPECT_NE(text.find("expected"), std::string::npos) << text;
}

TEST(Explain, TakesColumnsOfDenseFactorsWithoutAFile) {
  const std::string text = report({"explain", "spmm", "--columns", "7"})["explanation"];
  EXPECT_NE(text.find("1000 x 7"), std::string::npos) << text;
}

TEST(Explain, MultipliesAMatrixThatIsNotSquareByItsTranspose) {
  const std::string text = report(
      {"explain", "spgemm", "--file", example_data("10x_v3_test.mtx.gz"), "--repeats", "1"})["explanation"];
  const Json info = report({"info", example_data("10x_v3_test.mtx.gz"), "--no-formats"});
  const auto extent = [&](int mode) { return std::to_string(info["extents"][mode].get<int>()); };
  EXPECT_NE(text.find(extent(1) + " x " + extent(0)), std::string::npos) << text;
}

TEST(Explain, RefusesFilesThatTheStatementDoesNotTake) {
  expect_refused({"explain", "spmv", "--file", example_data("aminoacid.tns.gz")}, "spmv takes a matrix");
  expect_refused({"explain", "ttv", "--file", example_data("LFAT5.mtx")}, "ttv takes one of order 3");
  expect_refused({"explain", "spmv", "--file", example_data("young1c.mtx")}, "takes real values");
  expect_refused({"explain", "spmv", "--repeats", "3"}, "--repeats goes with --file");
}

TEST(Explain, RefusesWhatIsForAGpu) {
  expect_refused({"explain", "spmm", "--space", "cuda"}, "this program was built without CUDA");
  expect_refused({"explain", "spmm", "--space", "tpu"}, "no space is called tpu; expected host or cuda");
  expect_refused({"explain", "spmm", "--plan", "tca"}, "they go with --space cuda");
}

}  // namespace
