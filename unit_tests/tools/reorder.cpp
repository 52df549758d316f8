// SPDX-License-Identifier: Apache-2.0
/// @file reorder.cpp
/// `sporos reorder`: the matrix is the same under its permutation, and its bandwidth is what it says.
#include <numeric>
#include <set>

#include "plain_text.hpp"
#include "tool.hpp"

namespace {

using namespace sporos_test;

struct Reordered {
  Json report;
  PlainText matrix;
  std::vector<std::int64_t> order;  ///< the old number of each row, from 1
};

Reordered reordered(const Folder& folder, const std::string& in, const std::string& method) {
  const std::string out = folder.file("out.mtx"), order = folder.file("order.mtx");
  Reordered done{
      report({"reorder", in, out, "--method", method, "--permutation", order}), plain_mtx(out), {}};
  for (const double row : plain_array(order)) done.order.push_back(static_cast<std::int64_t>(row));
  return done;
}

/// Every entry of the result is that of the input at the old numbers of its row and column. Of a symmetric
/// file, one or the other of a pair is written.
void expect_moved(const Reordered& done, const PlainText& before) {
  std::vector<std::int64_t> sorted = done.order, all(sorted.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 1);
  ASSERT_EQ(sorted, all);
  ASSERT_EQ(done.matrix.entries.size(), before.entries.size());
  const bool symmetric = before.banner.find("symmetric") != std::string::npos;
  for (const auto& [at, value] : done.matrix.entries) {
    const std::int64_t i = done.order[static_cast<std::size_t>(at[0] - 1)];
    const std::int64_t j = done.order[static_cast<std::size_t>(at[1] - 1)];
    auto was = before.entries.find({i, j});
    if (was == before.entries.end() && symmetric) was = before.entries.find({j, i});
    ASSERT_NE(was, before.entries.end()) << i << ' ' << j;
    ASSERT_EQ(std::strtod(value.c_str(), nullptr), std::strtod(was->second.c_str(), nullptr));
  }
}

struct Spread {
  std::int64_t bandwidth = 0, profile = 0;
};

/// By their definitions, of a matrix together with its transpose.
Spread spread(const PlainText& file) {
  Spread out;
  std::map<std::int64_t, std::int64_t> first;
  for (const auto& [at, value] : file.entries) {
    const auto [low, high] = std::minmax(at[0], at[1]);
    out.bandwidth = std::max(out.bandwidth, high - low);
    const auto known = first.emplace(high, low).first;
    known->second = std::min(known->second, low);
  }
  for (const auto& [row, column] : first) out.profile += row - column;
  return out;
}

TEST(Reorder, MovesEntriesAsItsPermutationSays) {
  const Folder folder;
  for (const std::string name : {"west0497.mtx", "LFAT5.mtx", "bcsstk16.mtx.gz", "ash292.mtx"})
    for (const std::string method : {"rcm", "degree"}) {
      SCOPED_TRACE(name + ' ' + method);
      const PlainText before = plain_mtx(example_data(name));
      const Reordered done = reordered(folder, example_data(name), method);
      expect_moved(done, before);
      const Spread old_spread = spread(before), new_spread = spread(done.matrix);
      const Json& order = done.report["order"];
      EXPECT_EQ(order["bandwidth_before"], old_spread.bandwidth);
      EXPECT_EQ(order["profile_before"], old_spread.profile);
      EXPECT_EQ(order["bandwidth"], new_spread.bandwidth);
      EXPECT_EQ(order["profile"], new_spread.profile);
    }
}

TEST(Reorder, RcmFindsTheBandOfAMatrixThatWasShuffled) {
  const Folder folder;
  // Paths of 1 to 40 nodes, the names of whose nodes are shuffled: in the right order, each has bandwidth 1.
  std::vector<std::int64_t> names(820);
  std::iota(names.begin(), names.end(), 1);
  std::mt19937 random(5);
  std::shuffle(names.begin(), names.end(), random);
  std::string lines;
  int edges = 0;
  for (std::size_t length = 1, at = 0; length <= 40; at += length++)
    for (std::size_t node = at + 1; node < at + length; ++node, ++edges)
      lines += std::to_string(names[node]) + ' ' + std::to_string(names[node - 1]) + " 1\n";
  const std::string path = folder.put("paths.mtx", "%%MatrixMarket matrix coordinate real general\n820 820 " +
                                                       std::to_string(edges) + '\n' + lines);
  const Reordered done = reordered(folder, path, "rcm");
  EXPECT_EQ(spread(done.matrix).bandwidth, 1);
  expect_moved(done, plain_mtx(path));
}

TEST(Reorder, RcmComesCloseToTheBandOfAGrid) {
  const Folder folder;
  expect_done({"generate", "laplacian", folder.file("grid.mtx"), "--size", "30,12"});
  expect_done({"reorder", folder.file("grid.mtx"), folder.file("mixed.mtx"), "--method", "degree"});
  const Reordered done = reordered(folder, folder.file("mixed.mtx"), "rcm");
  EXPECT_GT(spread(plain_mtx(folder.file("mixed.mtx"))).bandwidth, 100);
  EXPECT_LE(spread(done.matrix).bandwidth, 13);  // row by row it is 12
}

TEST(Reorder, DegreePutsSmallRowsFirst) {
  const Folder folder;
  const Reordered done = reordered(folder, example_data("west0497.mtx"), "degree");
  std::map<std::int64_t, std::set<std::int64_t>> neighbours;
  for (const auto& [at, value] : done.matrix.entries)
    if (at[0] != at[1]) {
      neighbours[at[0]].insert(at[1]);
      neighbours[at[1]].insert(at[0]);
    }
  for (std::int64_t row = 2; row <= 497; ++row)
    EXPECT_LE(neighbours[row - 1].size(), neighbours[row].size()) << row;
}

TEST(Reorder, NumbersOfNumpyFilesCountFromZero) {
  const Folder folder;
  const std::string in = example_data("LFAT5.mtx"), out = folder.file("out.mtx");
  expect_done({"reorder", in, out, "--permutation", folder.file("p.npy")});
  expect_done({"reorder", in, out, "--permutation", folder.file("p.mtx")});
  expect_done({"convert", folder.file("p.npy"), folder.file("q.mtx")});
  const auto from_zero = plain_array(folder.file("q.mtx")), from_one = plain_array(folder.file("p.mtx"));
  ASSERT_EQ(from_zero.size(), 14u);
  for (std::size_t at = 0; at < from_zero.size(); ++at) EXPECT_EQ(from_zero[at] + 1, from_one[at]);
}

TEST(Reorder, TakesMatricesWithoutEntries) {
  const Folder folder;
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  for (const std::string size : {"0 0 0", "1 1 0", "5 5 0"})
    expect_done({"reorder", folder.put("a.mtx", head + size + '\n'), folder.file("out.mtx")});
}

TEST(Reorder, RefusesWhatHasNoOrder) {
  const Folder folder;
  const std::string out = folder.file("out.mtx");
  expect_refused({"reorder", example_data("10x_v3_test.mtx.gz"), out}, "expected a square matrix");
  expect_refused({"reorder", example_data("aminoacid.tns.gz"), out}, "expected a matrix");
  expect_refused({"reorder", example_data("LFAT5.mtx"), out, "--method", "metis"}, "--method");
  expect_refused({"reorder", example_data("LFAT5.mtx"), out, "--permutation", folder.file("p.tns")},
                 "a permutation needs a file name that ends in .mtx or .npy");
  expect_refused({"reorder", example_data("LFAT5.mtx"), "-", "--permutation", "-"}, "only one of OUT");
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
