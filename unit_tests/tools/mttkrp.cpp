// SPDX-License-Identifier: Apache-2.0
/// @file mttkrp.cpp
/// `sporos mttkrp`: for each mode of tensors of order 2 to 6, compared with sums formed here.
#include <cmath>
#include <random>

#include "plain_text.hpp"
#include "tool.hpp"

namespace {

using namespace sporos_test;

/// The factors that the tool makes up: values in [0, 1) of a 64-bit Mersenne Twister, factor after factor.
std::vector<std::vector<double>> factors(const std::vector<std::int64_t>& extents, std::size_t mode,
                                         std::int64_t rank, unsigned seed) {
  std::mt19937_64 bits(seed);
  std::vector<std::vector<double>> all(extents.size());
  // The mode of the result goes first and has no factor; the others follow in their order.
  for (std::size_t other = 0; other < extents.size(); ++other) {
    if (other == mode) continue;
    all[other].resize(static_cast<std::size_t>(extents[other] * rank));
    for (double& value : all[other]) value = static_cast<double>(bits() >> 11) * 0x1p-53;
  }
  return all;
}

/// M by columns, one product after the other.
std::vector<double> mttkrp(const PlainText& tensor, const std::vector<std::int64_t>& extents,
                           std::size_t mode, std::int64_t rank, unsigned seed) {
  const auto all = factors(extents, mode, rank, seed);
  std::vector<double> M(static_cast<std::size_t>(extents[mode] * rank));
  for (const auto& [at, text] : tensor.entries)
    for (std::int64_t r = 0; r < rank; ++r) {
      double product = std::strtod(text.c_str(), nullptr);
      for (std::size_t other = 0; other < at.size(); ++other)
        if (other != mode) product *= all[other][static_cast<std::size_t>((at[other] - 1) * rank + r)];
      M[static_cast<std::size_t>(r * extents[mode] + at[mode] - 1)] += product;
    }
  return M;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double terms) {
  ASSERT_EQ(found.size(), expected.size());
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t at = 0; at < found.size(); ++at)
    ASSERT_NEAR(found[at], expected[at], terms * 0x1p-52 * largest) << at;
}

TEST(Mttkrp, IsTheSumOfProductsForEachMode) {
  const Folder folder;
  const std::string path = example_data("parti_3D_12031.tns.gz");
  const PlainText tensor = plain_tns(path, 3);
  for (const std::size_t mode : {0u, 1u, 2u}) {
    SCOPED_TRACE(mode);
    const Json done = report({"mttkrp", path, "--mode", std::to_string(mode), "--rank", "5", "--seed", "7",
                              "-o", folder.file("m.mtx"), "--verify"});
    const std::vector<std::int64_t> extents = {100, 80, 60};
    EXPECT_EQ(done["checks"]["holds"], true);
    EXPECT_EQ(done["checks"]["compared"], extents[mode] * 5);
    EXPECT_EQ(done["result"]["extents"], Json({extents[mode], 5}));
    // The values have one sign in this tensor's rows only by chance: bounded by the count of all terms.
    expect_near(plain_array(folder.file("m.mtx")), mttkrp(tensor, extents, mode, 5, 7), 12031);
  }
}

TEST(Mttkrp, HoldsForEachModeOfTheExamples) {
  for (const std::string name : {"openflight.tns.gz", "aminoacid.tns.gz", "KG_JF17K_4.tns.gz"}) {
    const int order = name.starts_with("KG") ? 5 : 3;
    for (int mode = 0; mode < order; ++mode) {
      const Json done =
          report({"mttkrp", example_data(name), "--mode", std::to_string(mode), "--rank", "4", "--verify"});
      EXPECT_EQ(done["checks"]["holds"], true) << name << ' ' << mode;
      EXPECT_EQ(done["result"]["mode"], mode);
      EXPECT_EQ(done["tensor"]["extents"][static_cast<std::size_t>(mode)], done["result"]["extents"][0]);
    }
  }
}

TEST(Mttkrp, TakesOrdersTwoToSix) {
  const Folder folder;
  std::string coordinate = "2 3";
  std::vector<std::int64_t> extents = {2, 3};
  for (int order = 2; order <= 6; ++order) {
    SCOPED_TRACE(order);
    // One entry: each row of the result but its own is zero.
    const std::string path = folder.put("a.tns", coordinate + " -1.5\n");
    for (std::size_t mode = 0; mode < extents.size(); ++mode) {
      report({"mttkrp", path, "--mode", std::to_string(mode), "--rank", "3", "-o", folder.file("m.mtx"),
              "--verify"});
      expect_near(plain_array(folder.file("m.mtx")),
                  mttkrp(plain_tns(path, extents.size()), extents, mode, 3, 1), 8);
    }
    coordinate += " 2";
    extents.push_back(2);
  }
}

TEST(Mttkrp, OfAMatrixIsAProductWithOneFactor) {
  const Folder folder;
  const std::string path = example_data("west0497.mtx");
  expect_done({"mttkrp", path, "--mode", "1", "--rank", "2", "-o", folder.file("m.mtx")});
  expect_near(plain_array(folder.file("m.mtx")), mttkrp(plain_mtx(path), {497, 497}, 1, 2, 1), 497);
}

TEST(Mttkrp, SaysTheStatementInTheModesOfTheFile) {
  const std::string path = example_data("aminoacid.tns.gz");
  const auto statement = [&](const std::string& mode) {
    return report({"mttkrp", path, "--mode", mode, "--rank", "1"})["result"]["statement"];
  };
  EXPECT_EQ(statement("0"), "M(i, r) = T(i, k, l) * C(k, r) * D(l, r)");
  EXPECT_EQ(statement("1"), "M(i, r) = T(k, i, l) * C(k, r) * D(l, r)");
  EXPECT_EQ(statement("2"), "M(i, r) = T(k, l, i) * C(k, r) * D(l, r)");
}

TEST(Mttkrp, DependsOnTheSeedAlone) {
  const Folder folder;
  const std::string path = example_data("aminoacid.tns.gz");
  const auto result = [&](const std::string& seed, const std::string& threads) {
    expect_done(
        {"mttkrp", path, "--rank", "3", "--seed", seed, "--threads", threads, "-o", folder.file("m.tns")});
    return content(folder.file("m.tns"));
  };
  const std::string first = result("1", "1");
  EXPECT_EQ(result("1", "1"), first);
  EXPECT_EQ(result("1", "3"), first);
  EXPECT_NE(result("2", "1"), first);
}

TEST(Mttkrp, RefusesModesRanksAndTensorsOutOfRange) {
  const Folder folder;
  const std::string path = example_data("aminoacid.tns.gz");
  expect_refused({"mttkrp", path, "--mode", "3"}, "--mode is 3, but the modes of " + path + " are 0 to 2");
  expect_refused({"mttkrp", path, "--mode", "-1"}, "--mode");
  expect_refused({"mttkrp", path, "--mode", "9"}, "--mode");
  expect_refused({"mttkrp", path, "--rank", "0"}, "--rank");
  expect_refused({"mttkrp", path, "--rank", "x"}, "--rank");
  expect_refused({"mttkrp", folder.put("v.tns", "# extents 4\n1 2.5\n")}, "holds a vector");
  expect_refused({"mttkrp", example_data("young1c.mtx")}, "these are complex");
  expect_refused({"mttkrp", folder.put("wide.tns", "1 1 5000000000 1\n")},
                 "the extent 5000000000 is too large");
}

}  // namespace
