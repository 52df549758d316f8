// SPDX-License-Identifier: Apache-2.0
/// @file bench.cpp
/// `sporos bench`: every operation is measured, and counted as it has to be.
#include "png.hpp"
#include "tool.hpp"

namespace {

using namespace sporos_test;

std::map<std::string, Json> measured(const Json& report) {
  std::map<std::string, Json> out;
  for (const Json& row : report["measurements"])
    out[row["operation"].get<std::string>() + ' ' + row["format"].get<std::string>()] = row;
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
  const std::vector<std::string> names = {
      "add coo",      "add csc",       "add csr",   "assemble bcsr2x2", "assemble coo", "assemble csc",
      "assemble csr", "assemble dcsr", "sddmm coo", "sddmm csr",        "spgemm csc",   "spgemm csr",
      "spmm bcsr2x2", "spmm coo",      "spmm csc",  "spmm csr",         "spmm dcsr",    "spmv bcsr2x2",
      "spmv coo",     "spmv csc",      "spmv csr",  "spmv dcsr",        "to_csc csr"};
  std::vector<std::string> found;
  for (const auto& [name, row] : rows) {
    SCOPED_TRACE(name);
    found.push_back(name);
    EXPECT_EQ(row["file"], "LFAT5.mtx");
    EXPECT_GE(row["repeats"], 3);
    EXPECT_GT(row["fastest_seconds"], 0);
    EXPECT_LE(row["fastest_seconds"], row["seconds"]);
    EXPECT_GT(row["bytes_per_second"], 0);
  }
  EXPECT_EQ(found, names);
  // Of 46 entries: a product and a sum each, as often as the dense factor has columns.
  EXPECT_NEAR(operations(rows.at("spmv csr")), 2 * 46, 1e-6);
  // Blocks hold zeros beside them, which do not count.
  EXPECT_NEAR(operations(rows.at("spmv bcsr2x2")), 2 * 46, 1e-6);
  EXPECT_NEAR(operations(rows.at("spmm csc")), 2 * 46 * 3, 1e-6);
  EXPECT_NEAR(operations(rows.at("sddmm coo")), 46 * (2 * 3 + 1), 1e-6);
  // The pattern is symmetric, so that each entry meets one of the transpose.
  EXPECT_NEAR(operations(rows.at("add csr")), 46, 1e-6);
  const Json product = report({"multiply", example_data("LFAT5.mtx"), example_data("LFAT5.mtx")});
  EXPECT_NEAR(operations(rows.at("spgemm csc")), 2 * product["C"]["multiplications"].get<double>(), 1e-6);
  EXPECT_TRUE(rows.at("assemble dcsr")["operations_per_second"].is_null());
}

TEST(Bench, TakesSeveralFilesAndSomeOperations) {
  const Folder folder;
  const Json done =
      report({"bench", example_data("10x_v3_test.mtx.gz"), example_data("west0497.mtx"), "--seconds", "0",
              "--operations", "spgemm,add", "--formats", "csr", "-o", folder.file("speeds.png")});
  ASSERT_EQ(done["files"].size(), 2u);
  ASSERT_EQ(done["measurements"].size(), 4u);
  EXPECT_EQ(done["measurements"][0]["statement"], "C = A * transpose(A)");
  EXPECT_EQ(done["measurements"][1]["statement"], "C = A + A");
  EXPECT_EQ(done["measurements"][2]["statement"], "C = A * A");
  EXPECT_EQ(done["measurements"][3]["file"], "west0497.mtx");
  const Png picture = png(folder.file("speeds.png"));
  EXPECT_GT(picture.width, 400u);
}

TEST(Bench, MeasuresTensorsOfOrderThree) {
  const Folder folder;
  expect_done({"generate", "uniform", folder.file("t.tns"), "--size", "20,30,40", "--entries", "500"});
  const Json done = report({"bench", folder.file("t.tns"), "--seconds", "0", "--columns", "4"});
  const auto rows = measured(done);
  std::vector<std::string> found;
  for (const auto& [name, row] : rows) found.push_back(name);
  EXPECT_EQ(found, (std::vector<std::string>{"assemble coo", "assemble csf", "inner coo", "inner csf",
                                             "mttkrp coo", "mttkrp csf", "ttv coo", "ttv csf"}));
  const double nnz = 500;
  for (const std::string format : {"csf", "coo"}) {
    EXPECT_NEAR(operations(rows.at("mttkrp " + format)), 3 * nnz * 4, 1e-3);
    EXPECT_NEAR(operations(rows.at("ttv " + format)), 2 * nnz, 1e-3);
  }
}

TEST(Bench, DrawsToStandardOutput) {
  const Ran ran =
      run({"bench", example_data("LFAT5.mtx"), "--seconds", "0", "--operations", "spmv", "-o", "-"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("\x89PNG"));
  EXPECT_NE(ran.err.find("spmv"), std::string::npos) << ran.err;
}

TEST(Bench, RefusesWhatItDoesNotMeasure) {
  const std::string matrix = example_data("LFAT5.mtx");
  expect_refused({"bench", matrix, "--operations", "lu"}, "lu");
  expect_refused({"bench", matrix, "--columns", "0"}, "--columns");
  expect_refused({"bench", matrix, "--seconds", "-1"}, "--seconds");
  expect_refused({"bench", example_data("young1c.mtx")}, "takes real values");
  expect_refused({"bench", matrix, "--formats", "ell"}, "ell");
  expect_refused({"bench", example_data("KG_JF17K_4.tns.gz")}, "bench takes matrices and tensors of order 3");
  expect_refused({"bench", matrix, "-o", "speeds.jpg"}, "ends in .png");
}

}  // namespace
