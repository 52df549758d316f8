// SPDX-License-Identifier: Apache-2.0
/// @file transpose.cpp
/// `sporos transpose`: the entries of the output are those of the input with their coordinates exchanged.
#include <numeric>

#include "plain_text.hpp"
#include "tool.hpp"

namespace {

using namespace sporos_test;

/// The entries with coordinate k of each taken from mode modes[k].
std::map<Coordinate, std::string> exchanged(const PlainText& file, const std::vector<std::size_t>& modes) {
  std::map<Coordinate, std::string> out;
  for (const auto& [at, value] : file.entries) {
    Coordinate to;
    for (const std::size_t mode : modes) to.push_back(at[mode]);
    out.emplace(to, value);
  }
  return out;
}

TEST(Transpose, ExchangesRowsAndColumns) {
  const Folder folder;
  for (const std::string name : {"west0497.mtx", "10x_v3_test.mtx.gz", "young1c.mtx"}) {
    SCOPED_TRACE(name);
    const std::string in = example_data(name), out = folder.file("out.mtx");
    const Json done = report({"transpose", in, out});
    const PlainText before = plain_mtx(in), after = plain_mtx(out);
    expect_same_numbers(after.entries, exchanged(before, {1, 0}));
    EXPECT_TRUE(std::is_sorted(after.order.begin(), after.order.end()));
    EXPECT_EQ(done["output"]["extents"], Json({before.extents[1], before.extents[0]}));
    EXPECT_EQ(after.banner, before.banner);
  }
}

TEST(Transpose, PutsTheModesOfTensorsInAnyOrder) {
  const Folder folder;
  const std::string in = example_data("KG_JF17K_4.tns.gz"), out = folder.file("out.tns");
  const PlainText before = plain_tns(in, 5);
  expect_done({"transpose", in, out, "--modes", "3,0,4,1,2"});
  expect_same_numbers(plain_tns(out, 5).entries, exchanged(before, {3, 0, 4, 1, 2}));
  expect_done({"transpose", in, out});
  expect_same_numbers(plain_tns(out, 5).entries, exchanged(before, {4, 3, 2, 1, 0}));
}

TEST(Transpose, ConjugatesComplexValuesOnDemand) {
  const Folder folder;
  const std::string banner = "%%MatrixMarket matrix coordinate complex general\n";
  const std::string in = folder.put("in.mtx", banner + "2 3 2\n1 3 1 2\n2 1 -3 -4\n");
  const std::string out = folder.file("out.mtx");
  expect_done({"transpose", in, out, "--conjugate"});
  EXPECT_EQ(content(out), banner + "3 2 2\n1 2 -3 4\n3 1 1 -2\n");
  // A hermitian matrix is its own conjugate transpose.
  const std::string hermitian = example_data("mhd1280b.mtx.gz");
  expect_done({"transpose", hermitian, out, "--conjugate"});
  EXPECT_EQ(report({"compare", hermitian, out})["comparison"]["equal"], true);
}

TEST(Transpose, SymmetricFilesStayOneTriangle) {
  const Folder folder;
  for (const std::string name : {"LFAT5.mtx", "plsk1919.mtx.gz"}) {
    const std::string in = example_data(name), out = folder.file("out.mtx");
    expect_done({"transpose", in, out});
    EXPECT_EQ(plain_mtx(out).banner, plain_mtx(in).banner);
    EXPECT_EQ(plain_mtx(out).entries.size(), plain_mtx(in).entries.size());
    EXPECT_EQ(run({"compare", in, out}).code, name == "LFAT5.mtx" ? 0 : 1);  // the other one is skew
  }
}

TEST(Transpose, RefusesModesThatAreNoOrder) {
  const Folder folder;
  const std::string in = example_data("aminoacid.tns.gz"), out = folder.file("out.tns");
  for (const std::string modes : {"0,1", "0,1,1", "0,1,3", "2,1,0,3"})
    expect_refused({"transpose", in, out, "--modes", modes}, "names each of its modes 0 to 2 once");
  for (const std::string modes : {"0 1 2", "a", "0,1,"})
    expect_refused({"transpose", in, out, "--modes", modes}, "--modes is " + modes);
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
