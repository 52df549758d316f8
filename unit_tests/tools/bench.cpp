// SPDX-License-Identifier: Apache-2.0
/// @file bench.cpp
/// `sporos bench`: every operation is measured, and counted as it has to be.
#include "png.hpp"
#include "tool.hpp"

namespace {

using namespace sporos_test;

std::map<std::string, Json> measured(const Json& report) {
  std::map<std::string, Json> out;
  for (const Json& row : report["measurements"]) out[row["operation"]] = row;
  return out;
}

double operations(const Json& row) {
  return row["operations_per_second"].get<double>() * row["seconds"].get<double>();
}

TEST(Bench, MeasuresEveryOperation) {
  const Json done = report({"bench", example_data("LFAT5.mtx"), "--seconds", "0", "--columns", "3"});
  EXPECT_EQ(done["files"][0]["entries"], 46);
  EXPECT_EQ(done["columns"], 3);
  EXPECT_GT(done["triad_bytes_per_second"], 0);
  const auto rows = measured(done);
  const std::vector<std::string> names = {"add", "assemble", "sddmm", "spgemm", "spmm", "spmv", "to_csc"};
  ASSERT_EQ(rows.size(), names.size());
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const Json& row = rows.at(name);
    EXPECT_EQ(row["file"], "LFAT5.mtx");
    EXPECT_GE(row["repeats"], 3);
    EXPECT_GT(row["fastest_seconds"], 0);
    EXPECT_LE(row["fastest_seconds"], row["seconds"]);
    EXPECT_GT(row["bytes_per_second"], 0);
  }
  // Of 46 entries: a product and a sum each, as often as the dense factor has columns.
  EXPECT_NEAR(operations(rows.at("spmv")), 2 * 46, 1e-6);
  EXPECT_NEAR(operations(rows.at("spmm")), 2 * 46 * 3, 1e-6);
  EXPECT_NEAR(operations(rows.at("sddmm")), 46 * (2 * 3 + 1), 1e-6);
  // The pattern is symmetric, so that each entry meets one of the transpose.
  EXPECT_NEAR(operations(rows.at("add")), 46, 1e-6);
  const Json product = report({"multiply", example_data("LFAT5.mtx"), example_data("LFAT5.mtx")});
  EXPECT_NEAR(operations(rows.at("spgemm")), 2 * product["C"]["multiplications"].get<double>(), 1e-6);
  EXPECT_TRUE(rows.at("assemble")["operations_per_second"].is_null());
}

TEST(Bench, TakesSeveralFilesAndSomeOperations) {
  const Folder folder;
  const Json done = report({"bench", example_data("10x_v3_test.mtx.gz"), example_data("west0497.mtx"),
                            "--seconds", "0", "--operations", "spgemm,add", "-o", folder.file("speeds.png")});
  ASSERT_EQ(done["files"].size(), 2u);
  ASSERT_EQ(done["measurements"].size(), 4u);
  EXPECT_EQ(done["measurements"][0]["statement"], "C = A + A");
  EXPECT_EQ(done["measurements"][1]["statement"], "C = A * transpose(A)");
  EXPECT_EQ(done["measurements"][2]["statement"], "C = A + transpose(A)");
  EXPECT_EQ(done["measurements"][3]["file"], "west0497.mtx");
  const Png picture = png(folder.file("speeds.png"));
  EXPECT_GT(picture.width, 400u);
}

TEST(Bench, RefusesWhatItDoesNotMeasure) {
  const std::string matrix = example_data("LFAT5.mtx");
  expect_refused({"bench", matrix, "--operations", "lu"}, "lu");
  expect_refused({"bench", matrix, "--columns", "0"}, "--columns");
  expect_refused({"bench", matrix, "--seconds", "-1"}, "--seconds");
  expect_refused({"bench", example_data("young1c.mtx")}, "takes real values");
  expect_refused({"bench", example_data("aminoacid.tns.gz")}, "expected a matrix");
  expect_refused({"bench", matrix, "-o", "speeds.jpg"}, "ends in .png");
}

}  // namespace
