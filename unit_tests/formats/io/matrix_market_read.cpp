// SPDX-License-Identifier: Apache-2.0
/// @file matrix_market_read.cpp
/// Matrix Market files that are as they should be: every layout, field and symmetry, into every type.
#include "matrix_market_texts.hpp"

#include <cmath>
#include <sporos/formats/io/matrix_market.hpp>

namespace {
namespace matrix_market_read_tests {

using namespace sporos;
using namespace sporos_test;
using Complex = Kokkos::complex<double>;

TEST(MatrixMarket, ReadsRealGeneralEntriesInTheOrderOfTheFile) {
  expect_entries<double>(read<double>("%%MatrixMarket matrix coordinate real general\n"
                                      "% a comment\n"
                                      "3 4 3\n"
                                      "3 2 5\n1 4 -7.25e-1\n3 2 1\n"),
                         {3, 4}, {{{2, 1}, 5.0}, {{0, 3}, -0.725}, {{2, 1}, 1.0}});
}

TEST(MatrixMarket, IsLenientWithCaseBlanksCommentsAndLineEnds) {
  expect_entries<double>(read<double>("%%matrixMARKET\tMATRIX  Coordinate DOUBLE General \r\n"
                                      "%\r\n\r\n%%MatrixMarket\r\n"
                                      "  3\t4  2\r\n"
                                      "\r\n"
                                      " 3   2\t5  \r\n"
                                      "% in between\r\n"
                                      "   \r\n"
                                      "1 4 2.5"),
                         {3, 4}, {{{2, 1}, 5.0}, {{0, 3}, 2.5}});
}

TEST(MatrixMarket, ExpandsSymmetricEntries) {
  const std::string text = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 4\n3 1 5\n3 2 0\n";
  expect_entries<double>(read<double>(text), {3, 3},
                         {{{0, 0}, 4.0}, {{2, 0}, 5.0}, {{0, 2}, 5.0}, {{2, 1}, 0.0}, {{1, 2}, 0.0}});
  ReadOptions stored;
  stored.expand_symmetry = false;
  expect_entries<double>(read<double>(text, stored), {3, 3}, {{{0, 0}, 4.0}, {{2, 0}, 5.0}, {{2, 1}, 0.0}});
}

TEST(MatrixMarket, ExpandsSkewSymmetricEntries) {
  const std::string text = "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 4\n3 1 -5\n";
  expect_entries<int>(read<int>(text), {3, 3}, {{{1, 0}, 4}, {{0, 1}, -4}, {{2, 0}, -5}, {{0, 2}, 5}});
}

TEST(MatrixMarket, ExpandsHermitianEntries) {
  const std::string text = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 4 0\n2 1 1 -5\n";
  expect_entries<Complex>(read<Complex>(text), {2, 2},
                          {{{0, 0}, Complex(4, 0)}, {{1, 0}, Complex(1, -5)}, {{0, 1}, Complex(1, 5)}});
}

TEST(MatrixMarket, KeepsTheValuesOfASymmetricComplexMatrix) {
  const std::string text = "%%MatrixMarket matrix coordinate complex symmetric\n2 2 1\n2 1 1 -5\n";
  expect_entries<Complex>(read<Complex>(text), {2, 2}, {{{1, 0}, Complex(1, -5)}, {{0, 1}, Complex(1, -5)}});
}

TEST(MatrixMarket, GivesAPatternTheValueOne) {
  const std::string text = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n";
  expect_entries<double>(read<double>(text), {2, 2}, {{{0, 0}, 1.0}, {{1, 0}, 1.0}, {{0, 1}, 1.0}});
  expect_entries<bool>(read<bool>(text), {2, 2}, {{{0, 0}, true}, {{1, 0}, true}, {{0, 1}, true}});
  expect_entries<Complex>(read<Complex>(text), {2, 2},
                          {{{0, 0}, Complex(1)}, {{1, 0}, Complex(1)}, {{0, 1}, Complex(1)}});
}

TEST(MatrixMarket, ReadsAnArrayColumnAfterColumn) {
  expect_entries<double>(
      read<double>("%%MatrixMarket matrix array real general\n2 3\n1\n2\n% half\n3\n4\n\n5\n6\n"), {2, 3},
      {{{0, 0}, 1.0}, {{1, 0}, 2.0}, {{0, 1}, 3.0}, {{1, 1}, 4.0}, {{0, 2}, 5.0}, {{1, 2}, 6.0}});
}

TEST(MatrixMarket, ReadsTheLowerTriangleOfASymmetricArray) {
  const std::string text = "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n";
  expect_entries<double>(read<double>(text), {3, 3},
                         {{{0, 0}, 1.0},
                          {{1, 0}, 2.0},
                          {{0, 1}, 2.0},
                          {{2, 0}, 3.0},
                          {{0, 2}, 3.0},
                          {{1, 1}, 4.0},
                          {{2, 1}, 5.0},
                          {{1, 2}, 5.0},
                          {{2, 2}, 6.0}});
}

TEST(MatrixMarket, ReadsTheStrictLowerTriangleOfASkewSymmetricArray) {
  const std::string text = "%%MatrixMarket matrix array real skew-symmetric\n3 3\n2\n3\n5\n";
  expect_entries<double>(
      read<double>(text), {3, 3},
      {{{1, 0}, 2.0}, {{0, 1}, -2.0}, {{2, 0}, 3.0}, {{0, 2}, -3.0}, {{2, 1}, 5.0}, {{1, 2}, -5.0}});
}

TEST(MatrixMarket, ReadsAHermitianArray) {
  const std::string text = "%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 0\n";
  expect_entries<Complex>(
      read<Complex>(text), {2, 2},
      {{{0, 0}, Complex(1)}, {{1, 0}, Complex(2, 3)}, {{0, 1}, Complex(2, -3)}, {{1, 1}, Complex(4)}});
}

TEST(MatrixMarket, ReadsMatricesWithoutEntries) {
  expect_entries<double>(read<double>("%%MatrixMarket matrix coordinate real general\n3 4 0\n"), {3, 4}, {});
  expect_entries<double>(read<double>("%%MatrixMarket matrix coordinate real general\n0 0 0"), {0, 0}, {});
  expect_entries<double>(read<double>("%%MatrixMarket matrix array real general\n0 5\n"), {0, 5}, {});
  expect_entries<double>(read<double>("%%MatrixMarket matrix array real skew-symmetric\n1 1\n"), {1, 1}, {});
}

TEST(MatrixMarket, HoldsExtentsAndCoordinatesOf64Bits) {
  expect_entries<double>(
      read<double>("%%MatrixMarket matrix coordinate real general\n"
                   "9223372036854775807 1099511627776 2\n"
                   "9223372036854775807 1 1\n4294967297 1099511627776 2\n"),
      {INT64_MAX, std::int64_t{1} << 40},
      {{{INT64_MAX - 1, 0}, 1.0}, {{std::int64_t{1} << 32, (std::int64_t{1} << 40) - 1}, 2.0}});
}

TEST(MatrixMarket, ReadsIntegersExactlyIntoIntegers) {
  const std::string text =
      "%%MatrixMarket matrix coordinate integer general\n1 1 2\n1 1 9223372036854775807\n1 1 "
      "-9223372036854775808\n";
  expect_entries<std::int64_t>(read<std::int64_t>(text), {1, 1}, {{{0, 0}, INT64_MAX}, {{0, 0}, INT64_MIN}});
}

TEST(MatrixMarket, ReadsARealFileOfIntegersIntoIntegers) {
  const std::string text = "%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 3.0\n1 1 -12e1\n";
  expect_entries<std::int32_t>(read<std::int32_t>(text), {1, 1}, {{{0, 0}, 3}, {{0, 0}, -120}});
}

TEST(MatrixMarket, ReadsNanAndInfinityAsReals) {
  const auto entries =
      read<double>("%%MatrixMarket matrix coordinate real general\n1 1 3\n1 1 nan\n1 1 -inf\n1 1 Infinity\n");
  EXPECT_TRUE(std::isnan(entries.values(0)));
  EXPECT_EQ(entries.values(1), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(entries.values(2), std::numeric_limits<double>::infinity());
}

TEST(MatrixMarket, SaysWhatAFileHoldsFromItsFirstLines) {
  const Folder folder;
  const std::string body = "% c\n%\n12 12 7\n";
  const std::string path =
      folder.put("a.mtx.gz", gzip("%%MatrixMarket matrix coordinate complex hermitian\n" + body));
  const MatrixMarketHeader header = read_matrix_market_header(path);
  EXPECT_EQ(header.layout, MatrixMarketLayout::coordinate);
  EXPECT_EQ(header.field, MatrixMarketField::complex);
  EXPECT_EQ(header.symmetry, MatrixMarketSymmetry::hermitian);
  EXPECT_EQ(header.rows, 12);
  EXPECT_EQ(header.columns, 12);
  EXPECT_EQ(header.stored, 7);
  EXPECT_EQ(header.size_line, 4);
  const auto array = folder.put("b.mtx", "%%MatrixMarket matrix array integer skew-symmetric\n5 5\n");
  EXPECT_EQ(read_matrix_market_header(array).stored, 10);
}

/// A file of many lines with a comment and a blank line now and then.
std::string long_file(const std::string& symmetry, int n) {
  std::string text = "%%MatrixMarket matrix coordinate real " + symmetry + "\n% c\n";
  std::string body;
  int count = 0;
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= i; j += 1 + (i + j) % 5) {
      body += std::to_string(i) + " " + std::to_string(j) + " " + std::to_string(i * 0.37 - j) + "\n";
      if (++count % 11 == 0) body += "\n";
      if (count % 13 == 0) body += "% comment 7 7 7\n";
    }
  return text + std::to_string(n) + " " + std::to_string(n) + " " + std::to_string(count) + "\n" + body;
}

TEST(MatrixMarket, DoesNotDependOnThreadsOrBlocks) {
  const Folder folder;
  for (const std::string symmetry : {"general", "symmetric"}) {
    const std::string text = long_file(symmetry, 150);
    const std::string plain = folder.put("a.mtx", text), packed = folder.put("a.mtx.gz", gzip(text));
    ReadOptions one;
    one.threads = 1;
    const auto expected = read_matrix_market_entries<double>(plain, one);
    for (const std::string& path : {plain, packed})
      for (const int threads : {1, 2, 5})
        for (const std::size_t bytes : {1u, 10u, 100u, 5000u, 1u << 20}) {
          ReadOptions options;
          options.threads = threads;
          options.block_bytes = bytes;
          EXPECT_TRUE(identical(read_matrix_market_entries<double>(path, options), expected))
              << threads << ' ' << bytes;
        }
  }
}

TEST(MatrixMarket, DoesNotDependOnThreadsOrBlocksForArrays) {
  const Folder folder;
  for (const std::string symmetry : {"general", "symmetric", "skew-symmetric"}) {
    std::string text = "%%MatrixMarket matrix array real " + symmetry + "\n40 40\n";
    const int count = symmetry == "general" ? 1600 : symmetry == "symmetric" ? 820 : 780;
    for (int k = 0; k < count; ++k) text += std::to_string(k) + (k % 9 == 0 ? "\n\n" : "\n");
    const std::string path = folder.put("a.mtx", text);
    ReadOptions one;
    one.threads = 1;
    const auto expected = read_matrix_market_entries<double>(path, one);
    for (const std::size_t bytes : {1u, 10u, 333u}) {
      ReadOptions options;
      options.threads = 3;
      options.block_bytes = bytes;
      EXPECT_TRUE(identical(read_matrix_market_entries<double>(path, options), expected))
          << symmetry << ' ' << bytes;
    }
  }
}

TEST(MatrixMarket, GathersEntriesWhoseNumberTheFirstBlockDoesNotForetell) {
  // Short lines first, then long ones, and the other way round: more or fewer entries than extrapolated.
  const Folder folder;
  for (const bool short_first : {true, false}) {
    std::string body;
    constexpr int half = 2000;
    for (int k = 0; k < 2 * half; ++k)
      body += (k < half) == short_first ? "1 1 1\n" : "1 1 " + std::string(40, '0') + "1.00000000000000000\n";
    const std::string path =
        folder.put("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 4000\n" + body);
    ReadOptions options;
    options.block_bytes = 1000;
    const auto entries = read_matrix_market_entries<double>(path, options);
    ASSERT_EQ(entries.size(), 2 * half);
    for (std::size_t q = 0; q < 2 * half; ++q) ASSERT_EQ(entries.values(q), 1.0);
  }
}

}  // namespace matrix_market_read_tests
}  // namespace
