// SPDX-License-Identifier: Apache-2.0
/// @file matrix_market_triangles.cpp
/// Symmetric Matrix Market files with entries above the diagonal, or on both sides of it.
#include "matrix_market_texts.hpp"

#include <map>
#include <random>
#include <sporos/formats/io/matrix_market.hpp>

namespace {
namespace triangles {

using namespace sporos;
using namespace sporos_test;
using Complex = Kokkos::complex<double>;

std::string banner(const std::string& words) { return "%%MatrixMarket matrix coordinate " + words + "\n"; }

/// Calls `body` with options that cut a text in different ways and deal it to one thread or several.
template <class Body>
void for_each_cut(const Body& body) {
  for (const std::size_t bytes : {1u, 13u, 50u, 1u << 20})
    for (const int threads : {1, 3}) {
      ReadOptions options;
      options.threads = threads;
      options.block_bytes = bytes;
      body(options);
      if (testing::Test::HasFailure()) return;
    }
}

template <class Value = double>
void expect_fault(const std::string& text, std::int64_t line, const std::string& reason,
                  bool expand_symmetry = true) {
  const Folder folder;
  const std::string path = folder.put("a.mtx", text);
  for_each_cut([&](ReadOptions options) {
    options.expand_symmetry = expand_symmetry;
    expect_parse_error(path, line, reason, [&] { read_matrix_market_entries<Value>(path, options); });
  });
}

ReadOptions lower_triangle() {
  ReadOptions options;
  options.expand_symmetry = false;
  return options;
}

TEST(MatrixMarketTriangles, AreReadWhicheverTheFileHolds) {
  const std::string upper = banner("real symmetric") + "3 3 3\n1 1 4\n1 3 5\n2 3 6\n";
  expect_entries<double>(read<double>(upper), {3, 3},
                         {{{0, 0}, 4.0}, {{0, 2}, 5.0}, {{2, 0}, 5.0}, {{1, 2}, 6.0}, {{2, 1}, 6.0}});
  const std::string both = banner("real symmetric") + "3 3 3\n1 1 4\n3 1 5\n2 3 6\n";
  expect_entries<double>(read<double>(both), {3, 3},
                         {{{0, 0}, 4.0}, {{2, 0}, 5.0}, {{0, 2}, 5.0}, {{1, 2}, 6.0}, {{2, 1}, 6.0}});
  expect_entries<double>(read<double>(banner("pattern symmetric") + "2 2 1\n1 2\n"), {2, 2},
                         {{{0, 1}, 1.0}, {{1, 0}, 1.0}});
}

TEST(MatrixMarketTriangles, AreNegatedInASkewSymmetricFile) {
  const std::string text = banner("integer skew-symmetric") + "3 3 2\n1 2 4\n3 1 -5\n";
  expect_entries<int>(read<int>(text), {3, 3}, {{{0, 1}, 4}, {{1, 0}, -4}, {{2, 0}, -5}, {{0, 2}, 5}});
}

TEST(MatrixMarketTriangles, AreConjugatedInAHermitianFile) {
  const std::string text = banner("complex hermitian") + "2 2 2\n1 1 4 0\n1 2 1 -5\n";
  expect_entries<Complex>(read<Complex>(text), {2, 2},
                          {{{0, 0}, Complex(4, 0)}, {{0, 1}, Complex(1, -5)}, {{1, 0}, Complex(1, 5)}});
}

TEST(MatrixMarketTriangles, BecomeTheLowerOneWhereSymmetryIsNotExpanded) {
  expect_entries<double>(
      read<double>(banner("real symmetric") + "3 3 3\n1 3 5\n2 2 4\n3 2 6\n", lower_triangle()), {3, 3},
      {{{2, 0}, 5.0}, {{1, 1}, 4.0}, {{2, 1}, 6.0}});
  expect_entries<int>(
      read<int>(banner("integer skew-symmetric") + "3 3 2\n1 2 4\n3 1 -5\n", lower_triangle()), {3, 3},
      {{{1, 0}, -4}, {{2, 0}, -5}});
  expect_entries<Complex>(read<Complex>(banner("complex hermitian") + "2 2 1\n1 2 1 -5\n", lower_triangle()),
                          {2, 2}, {{{1, 0}, Complex(1, 5)}});
}

TEST(MatrixMarketTriangles, KeepDuplicatesWithinOneOfThem) {
  const std::string text = banner("real symmetric") + "3 3 4\n1 2 5\n1 2 6\n3 1 7\n3 1 8\n";
  expect_entries<double>(read<double>(text, lower_triangle()), {3, 3},
                         {{{1, 0}, 5.0}, {{1, 0}, 6.0}, {{2, 0}, 7.0}, {{2, 0}, 8.0}});
  EXPECT_EQ(read<double>(text).size(), 8);
}

TEST(MatrixMarketTriangles, MustNotBothHoldAnEntryAndItsMirrorImage) {
  for (const bool expand : {true, false}) {
    expect_fault(banner("real symmetric") + "3 3 2\n2 1 1\n1 2 1\n", 4,
                 "this entry and that of line 3 are mirror images: a symmetric file holds one of the two",
                 expand);
    expect_fault(banner("real symmetric") + "3 3 4\n1 2 1\n3 3 1\n3 1 1\n2 1 1\n", 6,
                 "this entry and that of line 3 are mirror images", expand);
    expect_fault<Complex>(banner("complex hermitian") + "3 3 2\n2 1 1 -2\n1 2 1 2\n", 4,
                          "that of line 3 are mirror images: a hermitian file", expand);
  }
  expect_fault<int>(banner("integer skew-symmetric") + "3 3 2\n1 3 1\n3 1 -1\n", 4,
                    "that of line 3 are mirror images: a skew-symmetric file");
  expect_fault(banner("pattern symmetric") + "3 3 3\n1 2\n1 3\n3 1\n", 5, "that of line 4 are mirror images");
}

TEST(MatrixMarketTriangles, NameTheLinesOfMirrorImagesAmongCommentsAndBlanks) {
  expect_fault(banner("real symmetric") + "%\n3 3 4\n\n3 3 1\n% c\n%\n2 1 1\n\n3 1 1\n%\n\n1 2 1\n\n", 13,
               "this entry and that of line 8 are mirror images");
}

TEST(MatrixMarketTriangles, NameThePairThatIsCompleteFirst) {
  expect_fault(banner("real symmetric") + "4 4 6\n2 1 1\n3 1 1\n2 1 2\n1 3 1\n1 2 1\n1 3 2\n", 6,
               "that of line 4 are mirror images");
  expect_fault(banner("real symmetric") + "4 4 5\n1 2 1\n1 2 1\n1 3 1\n2 1 1\n3 1 1\n", 6,
               "that of line 3 are mirror images");
}

TEST(MatrixMarketTriangles, AreComparedAfterEveryLineIsFoundToBeInOrder) {
  const std::string head = banner("real symmetric");
  expect_fault(head + "3 3 3\n2 1 1\n1 2 1\n3 x 1\n", 5, "found 'x'");
  expect_fault(head + "3 3 3\n2 1 1\n1 2 1\n", 4, "the file ends after 2 of the 3 entries");
}

/// A symmetric text of random entries on both sides of the diagonal, and the fault that it has.
struct Drawn {
  std::string text;
  std::int64_t first = 0, second = 0;  ///< lines of the pair that is complete first; 0 if there is none
};

Drawn draw(std::mt19937& random, int n, int count, double above) {
  Drawn drawn;
  std::map<std::pair<int, int>, std::int64_t> seen;  // the first line of each entry
  std::string body;
  std::int64_t line = 2;
  for (int k = 0; k < count; ++k) {
    for (; random() % 4 == 0; ++line) body += random() % 2 ? "\n" : "% c\n";
    int i = 1 + static_cast<int>(random() % static_cast<unsigned>(n));
    int j = 1 + static_cast<int>(random() % static_cast<unsigned>(n));
    if ((i < j) != std::bernoulli_distribution(above)(random)) std::swap(i, j);
    ++line;
    body += std::to_string(i) + ' ' + std::to_string(j) + '\n';
    seen.try_emplace({i, j}, line);
    if (const auto image = seen.find({j, i}); i != j && image != seen.end() && drawn.second == 0) {
      drawn.first = image->second;
      drawn.second = line;
    }
  }
  drawn.text = banner("pattern symmetric") + std::to_string(n) + ' ' + std::to_string(n) + ' ' +
               std::to_string(count) + '\n' + body;
  return drawn;
}

TEST(MatrixMarketTriangles, AreSearchedForMirrorImagesAsAMapFindsThem) {
  std::mt19937 random(1);
  const Folder folder;
  int faults = 0;
  for (int repetition = 0; repetition < 60; ++repetition) {
    const Drawn drawn = draw(random, 30, 30, repetition % 3 == 0 ? 0.1 : repetition % 3 == 1 ? 0.5 : 0.9);
    const std::string path = folder.put("a.mtx", drawn.text);
    ReadOptions options;
    options.block_bytes = std::size_t{1} << repetition % 9;
    options.threads = 1 + repetition % 3;
    options.expand_symmetry = repetition % 2 == 0;
    const auto read_it = [&] { return read_matrix_market_entries<double>(path, options); };
    if (drawn.second == 0) {
      EXPECT_NO_THROW(read_it()) << drawn.text;
    } else {
      ++faults;
      expect_parse_error(path, drawn.second, "that of line " + std::to_string(drawn.first) + " are", read_it);
    }
  }
  EXPECT_GT(faults, 5);
  EXPECT_LT(faults, 50);
}

TEST(MatrixMarketTriangles, DoNotDependOnThreadsOrBlocks) {
  std::mt19937 random(2);
  const Drawn drawn = draw(random, 4000, 300, 0.5);
  ASSERT_EQ(drawn.second, 0);
  const Folder folder;
  const std::string path = folder.put("a.mtx", drawn.text);
  const auto expected = read_matrix_market_entries<double>(path);
  for_each_cut([&](const ReadOptions& options) {
    EXPECT_TRUE(identical(read_matrix_market_entries<double>(path, options), expected));
  });
}

TEST(MatrixMarketTriangles, AreTheLowerOnesWhereReadingIsStrict) {
  const Folder folder;
  const auto expect_strict_fault = [&]<class Value>(Value, const std::string& text, std::int64_t line,
                                                    const std::string& reason) {
    const std::string path = folder.put("a.mtx", text);
    for_each_cut([&](ReadOptions options) {
      options.strict = true;
      expect_parse_error(path, line, reason, [&] { read_matrix_market_entries<Value>(path, options); });
    });
  };
  expect_strict_fault(
      double(), banner("real symmetric") + "3 3 2\n2 1 1\n1 2 1\n", 4,
      "entry (1, 2) lies above the diagonal: a symmetric file holds the lower triangle alone");
  expect_strict_fault(double(), banner("pattern symmetric") + "3 3 2\n2 1\n1 3\n", 4,
                      "entry (1, 3) lies above");
  expect_strict_fault(Complex(), banner("complex hermitian") + "3 3 1\n1 3 0 0\n", 3,
                      "a hermitian file holds");
  ReadOptions strict;
  strict.strict = true;
  EXPECT_EQ(read<double>(banner("real general") + "3 3 1\n1 2 1\n", strict).size(), 1);
  EXPECT_EQ(read<double>(banner("real symmetric") + "3 3 2\n1 1 1\n2 1 1\n", strict).size(), 3);
}

TEST(MatrixMarketTriangles, AreRefusedWhereTheValueHasNoNegative) {
  const std::string head = banner("integer skew-symmetric");
  expect_fault<std::int32_t>(head + "2 2 1\n1 2 -2147483648\n", 3,
                             "entry (1, 2) is the smallest int32: its negative does not fit");
  expect_fault<std::uint32_t>(head + "2 2 1\n1 2 7\n", 3,
                              "uint32 cannot hold the negative below it: read it as a signed type", false);
  expect_entries<std::uint32_t>(read<std::uint32_t>(head + "2 2 1\n2 1 7\n", lower_triangle()), {2, 2},
                                {{{1, 0}, 7u}});
}

}  // namespace triangles
}  // namespace
