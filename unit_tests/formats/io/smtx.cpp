// SPDX-License-Identifier: Apache-2.0
/// @file smtx.cpp
/// DLMC .smtx files: forms, faults with their lines, round trips.
#include "files.hpp"

#include <sporos/formats/io/smtx.hpp>

namespace {
namespace smtx_tests {

using namespace sporos;
using namespace sporos_test;

Entries<double, 2> read(const std::string& text) {
  const Folder folder;
  return read_smtx_entries<double>(folder.put("a.smtx", text));
}

Entries<double, 2> small() {
  return {{3, 4}, {{{0, 1}, 1.0}, {{0, 3}, 1.0}, {{2, 0}, 1.0}, {{2, 2}, 1.0}, {{2, 3}, 1.0}}};
}

TEST(Smtx, ReadsOffsetsAndColumns) { EXPECT_TRUE(identical(read("3, 4, 5\n0 2 2 5\n1 3 0 2 3\n"), small())); }

TEST(Smtx, IsLenientWithBlanksCommasAndLineEnds) {
  EXPECT_TRUE(identical(read(" 3,4 , 5 \r\n0  2\t2 5 \r\n 1 3 0 2 3 "), small()));
  EXPECT_TRUE(identical(read("3 4 5\n0 2 2 5\n1 3 0 2 3\n\n \n"), small()));
}

TEST(Smtx, ReadsMatricesWithoutEntries) {
  EXPECT_TRUE(identical(read("2, 3, 0\n0 0 0\n\n"), Entries<double, 2>({2, 3}, {})));
  EXPECT_TRUE(identical(read("2, 3, 0\n0 0 0"), Entries<double, 2>({2, 3}, {})));
  EXPECT_TRUE(identical(read("0, 3, 0\n0\n"), Entries<double, 2>({0, 3}, {})));
}

void expect_smtx_fault(const std::string& text, std::int64_t line, const std::string& reason) {
  const Folder folder;
  for (const std::string& path : {folder.put("a.smtx", text), folder.put("a.smtx.gz", gzip(text))})
    for (const int threads : {1, 3}) {
      ReadOptions options;
      options.threads = threads;
      options.block_bytes = 1;
      expect_parse_error(path, line, reason, [&] { read_smtx_entries<double>(path, options); });
    }
}

TEST(Smtx, RefusesBadFirstLines) {
  expect_smtx_fault("", 0, "the file is empty");
  expect_smtx_fault("3, 4\n", 1, "found the end of the line, expected the number of entries");
  expect_smtx_fault("a, 4, 5\n", 1, "found 'a,', expected the number of rows");
  expect_smtx_fault("3, -4, 5\n", 1, "found '-4,', expected the number of columns");
  expect_smtx_fault("3, 4, 5, 6\n", 1, "found ',' after the three sizes");
  expect_smtx_fault("9223372036854775807, 4, 5\n", 1, "expected the number of rows");
  expect_smtx_fault("%%MatrixMarket matrix coordinate real general\n", 1,
                    "found '%%MatrixMarket', expected the number of rows");
}

TEST(Smtx, RefusesBadRowOffsets) {
  expect_smtx_fault("3, 4, 5\n", 1, "the file ends before its line of row offsets");
  expect_smtx_fault("3, 4, 5\n0 2 5\n1 3 0 2 3\n", 2, "found 3 row offsets, expected 4");
  expect_smtx_fault("3, 4, 5\n0 2 2 5 5\n1 3 0 2 3\n", 2, "found more than 4 row offsets");
  expect_smtx_fault("3, 4, 5\n0 3 2 5\n1 3 0 2 3\n", 2, "row offset 2 is 2, expected from 3 to 5");
  expect_smtx_fault("3, 4, 5\n1 2 2 5\n1 3 0 2 3\n", 2, "row offset 0 is 1, expected 0");
  expect_smtx_fault("3, 4, 5\n0 2 6 5\n1 3 0 2 3\n", 2, "row offset 2 is 6, expected from 2 to 5");
  expect_smtx_fault("3, 4, 5\n0 2 2 4\n1 3 0 2 3\n", 2, "the last row offset is 4, expected 5");
  expect_smtx_fault("3, 4, 5\n0 2 x 5\n1 3 0 2 3\n", 2, "found 'x', expected an integer");
  expect_smtx_fault("3, 4, 5\n\n0 2 2 5\n1 3 0 2 3\n", 2, "found 0 row offsets, expected 4");
}

TEST(Smtx, RefusesBadColumns) {
  expect_smtx_fault("3, 4, 5\n0 2 2 5\n1 3 0 2 4\n", 3,
                    "column 4 (entry 4) is out of range, expected 0 to 3");
  expect_smtx_fault("3, 4, 5\n0 2 2 5\n1 3 0 2\n", 3, "found 4 columns, expected 5");
  expect_smtx_fault("3, 4, 5\n0 2 2 5\n1 3 0 2 3 3\n", 3, "found more columns than the 5 entries");
  expect_smtx_fault("3, 4, 5\n0 2 2 5\n1 3 0 -2 3\n", 3, "found '-2', expected an integer");
  expect_smtx_fault("3, 4, 5\n0 2 2 5\n1 3 0 2.5 3\n", 3, "found '2.5', expected an integer");
  expect_smtx_fault("3, 4, 5\n0 2 2 5\n1 3 0 2 9223372036854775808\n", 3,
                    "found '9223372036854775808', expected an integer");
  expect_smtx_fault("3, 4, 5\n0 2 2 5\n", 2, "the file ends after 0 of the 5 columns");
  expect_smtx_fault("3, 4, 5\n0 2 2 5\n1 3 0 2 3\n\n7\n", 5,
                    "found 7 after the columns, expected the end of the file");
}

TEST(Smtx, RefusesADirectoryAndBrokenGzip) {
  const Folder folder;
  expect_parse_error(folder.path(), 0, "this is a directory",
                     [&] { read_smtx_entries<double>(folder.path()); });
  const std::string path = folder.put("a.smtx", gzip("3, 4, 0\n").substr(0, 12));
  expect_parse_error(path, 0, "broken gzip data", [&] { read_smtx_entries<double>(path); });
}

TEST(Smtx, AllocatesNothingOnTheWordOfALyingHeader) {
  expect_smtx_fault("1000000000000000000, 1000000000000000000, 1000000000000000000\n0 1\n", 2,
                    "found 2 row offsets");
}

/// Every third column of every row but those divisible by five.
Entries<double, 2> lattice(std::int64_t rows, std::int64_t columns) {
  std::vector<Extents<2>> places;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = i % 3; j < columns && i % 5 != 0; j += 3) places.push_back({i, j});
  Entries<double, 2> entries({rows, columns}, std::ssize(places));
  for (std::size_t q = 0; q < places.size(); ++q) entries.set(static_cast<std::int64_t>(q), places[q], 1.0);
  return entries;
}

TEST(Smtx, RoundTripsWithAnyNumberOfThreads) {
  const Folder folder;
  const auto entries = lattice(301, 200);
  for (const std::string name : {"a.smtx", "a.smtx.gz"}) {
    const std::string path = folder.file(name);
    write_smtx(path, entries);
    for (const int threads : {1, 2, 5}) {
      ReadOptions options;
      options.threads = threads;
      options.block_bytes = 1;
      EXPECT_TRUE(identical(read_smtx_entries<double>(path, options), entries));
    }
    const SmtxHeader header = read_smtx_header(path);
    EXPECT_EQ(header.rows, 301);
    EXPECT_EQ(header.columns, 200);
    EXPECT_EQ(header.stored, entries.size());
  }
}

TEST(Smtx, WritesRowAfterRow) {
  const Folder folder;
  const Entries<bool, 2> entries({3, 4}, {{{2, 3}, true}, {{0, 1}, true}, {{2, 0}, true}});
  write_smtx(folder.file("a.smtx"), entries);
  EXPECT_EQ(content(folder.file("a.smtx")), "3, 4, 3\n0 1 1 3\n1 3 0\n");
  write_smtx(folder.file("a.smtx"), Entries<double, 2>({0, 4}, {}));
  EXPECT_EQ(content(folder.file("a.smtx")), "0, 4, 0\n0\n\n");
}

TEST(Smtx, RefusesToLoseValues) {
  const Folder folder;
  const Entries<double, 2> entries({3, 4}, {{{2, 3}, 0.5}});
  try {
    write_smtx(folder.file("a.smtx"), entries);
    ADD_FAILURE() << "no error, and a value is lost";
  } catch (const FormatError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("the value at (2, 3) is 0.5"), std::string::npos) << message;
    EXPECT_NE(message.find("write a .mtx or .tns file, or set SmtxWriteOptions::drop_values"),
              std::string::npos)
        << message;
  }
  using Complex = Kokkos::complex<double>;
  EXPECT_THROW(write_smtx(folder.file("a.smtx"), Entries<Complex, 2>({3, 4}, {{{2, 3}, {1, 1}}})),
               FormatError);
  EXPECT_TRUE(folder.names().empty());
  write_smtx(folder.file("a.smtx"), entries, {.drop_values = true});
  EXPECT_EQ(content(folder.file("a.smtx")), "3, 4, 1\n0 0 0 1\n3\n");
}

}  // namespace smtx_tests
}  // namespace
