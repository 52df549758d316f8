// SPDX-License-Identifier: Apache-2.0
/// @file bad_input.cpp
/// Files that are not there or not what they say, names that nothing can be written to: exit code 2, one line
/// that says why, and nothing left behind.
#include "tool.hpp"

namespace {

using namespace sporos_test;

/// Every command that reads `path`; what it would write goes into `out`.
std::vector<Arguments> readers(const std::string& path, const Folder& out) {
  const std::string good = example_data("LFAT5.mtx");
  return {{"info", path},
          {"validate", path},
          {"convert", path, out.file("out.mtx")},
          {"convert", path, out.file("out.tns.gz"), "--format", "csf"},
          {"spy", path, "-o", out.file("out.png")},
          {"multiply", path, good, "-o", out.file("out.mtx")},
          {"multiply", good, path, "-o", out.file("out.mtx")},
          {"mttkrp", path, "-o", out.file("out.mtx")},
          {"cp", path, "-o", out.file("out")}};
}

void expect_refused_by_all(const std::string& path, const std::string& reason) {
  const Folder out;
  for (const Arguments& arguments : readers(path, out)) expect_refused(arguments, reason, path);
  EXPECT_TRUE(out.names().empty()) << path;
}

TEST(BadInput, NamesAFileThatIsNotThere) {
  const Folder folder;
  expect_refused_by_all(folder.file("missing.mtx"), folder.file("missing.mtx") + ": ");
}

TEST(BadInput, RefusesADirectory) {
  const Folder folder;
  expect_refused_by_all(folder.path(), "this is a directory");
}

TEST(BadInput, RefusesADevice) { expect_refused_by_all("/dev/null", "is not a regular file"); }

struct Malformed {
  std::string name, bytes, reason;
};

TEST(BadInput, NamesLineAndReasonOfMalformedFiles) {
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  const std::vector<Malformed> files = {
      {"empty.mtx", "", "the file is empty"},
      {"banner.mtx", "%%MatrixMarket matrix coordinate real skewed\n1 1 1\n1 1 1\n", ":1: "},
      {"size.mtx", banner + "3 x 1\n1 1 1\n", ":2: "},
      {"word.mtx", banner + "2 2 1\n1 1 one\n", ":3: found 'one'"},
      {"row.mtx", banner + "2 2 1\n3 1 1\n", ":3: "},
      {"zero.mtx", banner + "2 2 1\n0 1 1\n", ":3: "},
      {"few.mtx", banner + "2 2 2\n1 1 1\n", "1 of the 2"},
      {"many.mtx", banner + "2 2 1\n1 1 1\n2 2 1\n", ":4: "},
      {"huge.mtx", banner + "2 2 1\n1 1 1e999\n", ":3: "},
      {"symmetric.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 2 1\n2 1 1\n", ":4: "},
      {"ragged.tns", "1 1 1 1\n1 2\n", ":2: "},
      {"zero.tns", "1 1 1 1\n1 0 1 1\n", ":2: coordinate 2 is 0"},
      {"word.tns", "1 1 1 1\n1 2 x 1\n", ":2: found 'x'"},
      {"empty.tns", "", "the file is empty"},
      {"offsets.smtx", "3, 4, 5\n0 3 2 5\n1 3 0 2 3\n", ":2: row offset 2 is 2"},
      {"column.smtx", "3, 4, 5\n0 2 2 5\n1 3 0 2 4\n", ":3: column 4"},
      {"prose.txt", "# A title\n\nand *prose* behind it\n", ":3: found 'and', expected coordinate 1"},
      {"nothing.txt", "hello\n", ":1: found 'hello'"},
      {"word.csv", "a,b,weight\n0,1,2\n0,x,2\n", ":3: column 2: found 'x'"},
      {"ragged.csv", "0,1,2\n0,1\n", ":2: found 2 columns, expected 3"},
      {"empty.csv", "", "the file is empty"},
      {"nul.txt", std::string("\0\0\0\0", 4), ":1: "},
      {"cut.mtx.gz", gzip(banner + "2 2 1\n1 1 1\n").substr(0, 40), "gzip"},
      {"bits.mtx.gz", std::string("\x1f\x8b\x08\x00garbage and more of it", 26), "gzip"}};
  const Folder folder;
  for (const Malformed& file : files) {
    SCOPED_TRACE(file.name);
    const std::string path = folder.put(file.name, file.bytes);
    expect_refused_by_all(path, file.reason);
  }
}

TEST(BadInput, RefusesMalformedFilesInJsonAsWell) {
  const Folder folder, out;
  const std::string path =
      folder.put("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n");
  for (Arguments arguments : readers(path, out)) {
    arguments.push_back("--json");
    expect_refused(arguments, path + ":3: ");
  }
}

TEST(BadInput, RefusesOrdersBeyondSix) {
  const Folder folder;
  expect_refused_by_all(folder.put("seven.tns", "1 1 1 1 1 1 1 2.5\n"), "holds a tensor of order 7");
}

TEST(BadInput, RefusesListsOfEdgesThatCouldBeVectors) {
  const Folder folder;
  expect_refused_by_all(folder.put("edges.tns", "1 2\n2 3\n"), "holds two numbers on each line");
  expect_refused_by_all(folder.put("edges.txt", "# from to\n0 2\n"),
                        "give --from edges, or --vector (to info, validate, convert or spy)");
}

TEST(BadInput, KeepsAnOldFileWhereTheNewOneFails) {
  const Folder folder;
  const std::string old = folder.put("old.mtx", "precious");
  const std::string bad =
      folder.put("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n");
  expect_refused({"convert", bad, old}, bad);
  expect_refused({"convert", example_data("west0497.mtx"), folder.put("old.smtx", "precious")}, "--pattern");
  EXPECT_EQ(content(old), "precious");
  EXPECT_EQ(content(folder.file("old.smtx")), "precious");
}

/// Every command that writes, to `path`.
std::vector<Arguments> writers(const std::string& path) {
  const std::string matrix = example_data("LFAT5.mtx");
  return {
      {"convert", matrix, path}, {"multiply", matrix, matrix, "-o", path}, {"mttkrp", matrix, "-o", path}};
}

TEST(BadInput, RefusesOutputNamesThatSayNoFormat) {
  const Folder folder;
  for (const std::string name : {"out.txt", "out", "out.gz", "out.mtx.bz2", "mtx", "out.csv.gz"}) {
    const std::string path = folder.file(name);
    for (const Arguments& arguments : writers(path))
      expect_refused(arguments, path + ": a matrix needs a file name that ends in");
  }
  expect_refused({"convert", example_data("aminoacid.tns.gz"), folder.file("out.mtx")},
                 "a tensor of order 3 needs a file name that ends in .tns");
  EXPECT_TRUE(folder.names().empty());
}

TEST(BadInput, RefusesOutputThatCannotBeWritten) {
  const Folder folder;
  const std::string file = folder.put("file", "");
  std::filesystem::create_directory(folder.file("folder.mtx"));
  for (const std::string& path : {folder.file("nowhere/out.mtx"), file + "/out.mtx",
                                  folder.file("folder.mtx"), std::string("/proc/out.mtx")})
    for (const Arguments& arguments : writers(path)) expect_refused(arguments, path);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"file", "folder.mtx"}));
  expect_refused({"spy", example_data("LFAT5.mtx"), "-o", folder.file("nowhere/out.png")},
                 "there is no folder");
}

TEST(BadInput, RefusesFormatsThatAreUnknownOrUnfit) {
  const Folder folder;
  const std::string out = folder.file("out.tns");
  expect_refused({"convert", example_data("LFAT5.mtx"), out, "--format", "ell"},
                 "no format is called ell; expected one of coo, csr");
  expect_refused({"convert", example_data("aminoacid.tns.gz"), out, "--format", "csr"},
                 "the format csr holds matrices, this is a tensor of order 3: give coo, csf or dense");
  expect_refused({"convert", folder.put("wide.tns", "1 5000000000 1\n"), out, "--format", "bcsr"}, "bcsr2x2");
  expect_refused(
      {"convert", folder.put("wide.tns", "9000000000000 5000000000 1\n"), out, "--format", "dense"},
      "this machine has");
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(BadInput, RefusesModeOrdersThatAreNone) {
  const Folder folder;
  for (const std::string modes : {"0,1", "0,1,1", "0,1,3", "0;1;2", "0,1,2,", "a,b,c", "012", ","})
    expect_refused(
        {"convert", example_data("aminoacid.tns.gz"), folder.file("out.tns"), "--mode-order", modes}, "mode");
  expect_refused({"convert", example_data("LFAT5.mtx"), folder.file("out.mtx"), "--format", "csr",
                  "--mode-order", "1,0"},
                 "--mode-order goes with coo, csf and dense");
  EXPECT_TRUE(folder.names().empty());
}

TEST(BadInput, RefusesComplexValuesWhereAFileHoldsNone) {
  const Folder folder;
  expect_refused({"convert", example_data("young1c.mtx"), folder.file("out.tns")}, ".mtx");
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
