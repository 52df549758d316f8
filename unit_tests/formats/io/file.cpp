// SPDX-License-Identifier: Apache-2.0
/// @file file.cpp
/// Files of any kind: told by their content, read and written by name.
#include "files.hpp"

#include <sporos/formats/io/file.hpp>

namespace {
namespace file_tests {

using namespace sporos;
using namespace sporos_test;

const std::string mtx = "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n1 1 4\n3 1 5\n";
const std::string smtx = "3, 4, 2\n0 1 1 2\n1 3\n";
const std::string tns = "1 2 3 4.5\n";

TEST(File, TellsAKindByItsContentWhateverItsName) {
  const Folder folder;
  for (const std::string name : {"a", "a.txt", "a.gz", "a.mtx.gz"})
    for (const bool packed : {false, true}) {
      const auto kind = [&](const std::string& text) {
        return inspect(folder.put(name, packed ? gzip(text) : text)).kind;
      };
      EXPECT_EQ(kind(mtx), FileKind::matrix_market);
      if (name.find(".mtx") == std::string::npos) {
        EXPECT_EQ(kind(smtx), FileKind::smtx);
        EXPECT_EQ(kind(tns), FileKind::tns);
        EXPECT_EQ(kind("# comment\n1 1 1\n"), FileKind::tns);
      }
    }
  EXPECT_EQ(inspect(folder.put("a.SMTX", "3 4 2\n0 1 1 2\n1 3\n")).kind, FileKind::smtx);
}

TEST(File, SaysWhatTheFirstLinesSay) {
  const Folder folder;
  FileInfo info = inspect(folder.put("a.mtx", mtx));
  EXPECT_EQ(info.extents, (std::vector<std::int64_t>{3, 3}));
  EXPECT_EQ(info.stored, 2);
  EXPECT_EQ(info.order, 2);
  EXPECT_EQ(info.bytes, static_cast<std::int64_t>(mtx.size()));
  EXPECT_FALSE(info.compressed);
  const MatrixMarketHeader header = info.matrix_market.value_or(MatrixMarketHeader());
  EXPECT_EQ(header.field, MatrixMarketField::integer);
  EXPECT_EQ(header.symmetry, MatrixMarketSymmetry::symmetric);

  info = inspect(folder.put("a.smtx.gz", gzip(smtx)));
  EXPECT_EQ(info.extents, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(info.stored, 2);
  EXPECT_TRUE(info.compressed);
  EXPECT_FALSE(info.matrix_market);

  info = inspect(folder.put("a.tns", tns));
  EXPECT_EQ(info.order, 3);
  EXPECT_TRUE(info.extents.empty());
  EXPECT_FALSE(info.stored);
}

TEST(File, RefusesWhatIsNoneOfTheKinds) {
  const Folder folder;
  const auto refused = [&](const std::string& name, const std::string& bytes, std::int64_t line,
                           const std::string& reason) {
    const std::string path = folder.put(name, bytes);
    expect_parse_error(path, line, reason, [&] { inspect(path); });
    expect_parse_error(path, line, reason, [&] { read_entries<double, 2>(path); });
  };
  refused("a", "", 0, "the file is empty");
  refused("a", "hello\n", 1, "found 'hello', expected the first line of a Matrix Market, .tns or .smtx file");
  refused("a", std::string("west0497.mtx\0\0\0\n", 16), 1, "if this is an archive, unpack it first");
  refused("a.mtx", "hello\n", 1, "found 'hello', expected '%%MatrixMarket");
  refused("a.tns", "hello\n", 1, "found 'hello' alone on the line");
  refused("a.smtx", "hello\n", 1, "found 'hello', expected the number of rows");
  expect_parse_error(folder.path(), 0, "this is a directory", [&] { inspect(folder.path()); });
  EXPECT_THROW(inspect(folder.file("none")), IoError);
}

TEST(File, ReadsEntriesOfEveryKind) {
  const Folder folder;
  EXPECT_EQ((read_entries<double, 2>(folder.put("a", mtx)).size()), 3);
  ReadOptions stored;
  stored.expand_symmetry = false;
  EXPECT_EQ((read_entries<double, 2>(folder.put("a", mtx), stored).size()), 2);
  EXPECT_TRUE(identical(read_entries<double, 2>(folder.put("a", smtx)),
                        Entries<double, 2>({3, 4}, {{{0, 1}, 1.0}, {{2, 3}, 1.0}})));
  EXPECT_TRUE(identical(read_entries<double, 3>(folder.put("a", tns)),
                        Entries<double, 3>({1, 2, 3}, {{{0, 1, 2}, 4.5}})));
}

template <int Order>
void expect_other_order(const std::string& path, const std::string& found) {
  try {
    read_entries<double, Order>(path);
    ADD_FAILURE() << "no error, expected: " << found;
  } catch (const ShapeError& error) {
    const std::string expected = text(path, ": holds ", found, ", expected a tensor of order ", Order,
                                      ": inspect(file).order tells the order before a file is read");
    EXPECT_EQ(error.what(), expected);
  }
}

TEST(File, RefusesTensorsOfAnotherOrder) {
  const Folder folder;
  expect_other_order<3>(folder.put("a", mtx), "a matrix (Matrix Market), order 2");
  expect_other_order<1>(folder.put("a.smtx", "1, 1, 0\n0 0\n\n"), "a matrix (DLMC .smtx), order 2");
  expect_other_order<2>(folder.put("b", tns), "entries of 4 numbers (line 1), order 3");
  expect_other_order<4>(folder.put("b", tns), "entries of 4 numbers (line 1), order 3");
}

TEST(File, WritesWhatTheNameSays) {
  const Folder folder;
  const Entries<double, 2> entries({3, 4}, {{{0, 1}, 1.0}, {{2, 3}, 1.0}});
  for (const std::string name : {"a.mtx", "a.tns", "a.smtx"})
    for (const std::string suffix : {"", ".gz", ".GZ"}) {
      const std::string path = folder.file(name + suffix);
      write_entries(path, entries);
      EXPECT_TRUE(identical(read_entries<double, 2>(path), entries)) << path;
      EXPECT_EQ(inspect(path).compressed, !suffix.empty()) << path;
    }
  EXPECT_THROW(write_entries(folder.file("a.csv"), entries), FormatError);
  EXPECT_THROW(write_entries(folder.file("a.mtx"), Entries<double, 3>({1, 1, 1}, {})), FormatError);
}

}  // namespace file_tests
}  // namespace
