// SPDX-License-Identifier: Apache-2.0
/// @file spmv.cpp
/// `sporos spmv`: sums over the rows of files, formed from their text.
#include "plain_text.hpp"
#include "tool.hpp"

namespace {

using namespace sporos_test;

const std::string banner = "%%MatrixMarket matrix coordinate real general\n";

/// A matrix, a vector and their product, in which every number is small and whole.
const std::string matrix = banner + "3 4 5\n1 1 2\n1 4 3\n3 2 5\n3 4 -1\n3 4 -1\n";
const std::vector<double> times_ones = {5, 0, 3}, times_1_to_4 = {14, 0, 2};

std::vector<double> product(const Folder& folder, Arguments arguments) {
  arguments.insert(arguments.begin(), {"spmv", folder.put("a.mtx", matrix)});
  arguments.insert(arguments.end(), {"-o", folder.file("y.mtx"), "--verify", "--repeats", "2"});
  const Json done = report(arguments);
  EXPECT_EQ(done["checks"]["holds"], true);
  EXPECT_EQ(done["checks"]["compared"], 3);
  return plain_array(folder.file("y.mtx"));
}

TEST(Spmv, AddsUpRowsWhereThereIsNoVector) {
  const Folder folder;
  EXPECT_EQ(product(folder, {}), times_ones);
}

TEST(Spmv, ReadsAVectorFromAnyKindOfFile) {
  const Folder folder;
  const std::string array =
      folder.put("x.mtx", "%%MatrixMarket matrix array real general\n4 1\n1\n2\n3\n4\n");
  EXPECT_EQ(product(folder, {"-x", array}), times_1_to_4);
  const std::string entries = folder.put("x.tns", "# extents 4\n4 4\n1 1\n2 2\n3 3\n");
  EXPECT_EQ(product(folder, {"-x", entries}), times_1_to_4);
  expect_done({"convert", entries, folder.file("x.npy")});
  EXPECT_EQ(product(folder, {"-x", folder.file("x.npy")}), times_1_to_4);
  // What a file of entries does not name is 0.
  EXPECT_EQ(product(folder, {"-x", folder.put("s.tns", "# extents 4\n2 1\n")}),
            (std::vector<double>{0, 0, 5}));
}

TEST(Spmv, WritesAVectorAsAnyKindOfFile) {
  const Folder folder;
  const std::string a = folder.put("a.mtx", matrix);
  for (const std::string name : {"y.tns", "y.npy", "y.mtx"}) {
    const std::string y = folder.file(name);
    expect_done({"spmv", a, "-o", y});
    // Read back as x, where it has to have the three elements that it was written with.
    expect_done({"spmv", folder.put("i.mtx", banner + "3 3 3\n1 1 1\n2 2 1\n3 3 1\n"), "-x", y, "-o",
                 folder.file("z.mtx")});
    EXPECT_EQ(plain_array(folder.file("z.mtx")), times_ones) << name;
  }
}

TEST(Spmv, SaysWhatItTookBesideWhatMemoryCanDo) {
  const Json done = report({"spmv", example_data("bcsstk16.mtx.gz"), "--verify"});
  const Json& y = done["y"];
  EXPECT_EQ(y["extents"], Json({4884}));
  EXPECT_GE(y["repeats"], 3);
  EXPECT_GT(y["fastest_seconds"], 0);
  EXPECT_LE(y["fastest_seconds"], y["seconds"]);
  EXPECT_GT(y["triad_bytes_per_second"], 0);
  EXPECT_NEAR(y["operations_per_second"].get<double>() * y["seconds"].get<double>(), 2 * 290378, 1);
  const double bytes = y["bytes_per_second"].get<double>() * y["seconds"].get<double>();
  EXPECT_NEAR(bytes, done["A"]["bytes"].get<double>() + 2 * 4884 * 8, 1);
}

TEST(Spmv, RefusesWhatDoesNotFit) {
  const Folder folder;
  const std::string a = folder.put("a.mtx", matrix);
  const std::string three = folder.put("x.tns", "# extents 3\n1 1\n");
  expect_refused({"spmv", a, "-x", three}, "has 3 elements, but " + a + " has 4 columns");
  expect_refused({"spmv", a, "-x", a}, "expected a vector, or a matrix of one column");
  expect_refused({"spmv", example_data("young1c.mtx")}, "takes real values");
  expect_refused({"spmv", example_data("aminoacid.tns.gz")}, "expected a matrix");
  expect_refused({"spmv", a, "-o", folder.file("y.npz")}, "a vector is written as mtx, tns, npy or h5");
  expect_refused({"spmv", "-", "-x", "-"}, "only one of A and x");
  const std::string wide = folder.put("wide.tns", "1 5000000000 1\n");
  expect_refused({"spmv", wide}, "too large for spmv");
}

}  // namespace
