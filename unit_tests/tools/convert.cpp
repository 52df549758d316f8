// SPDX-License-Identifier: Apache-2.0
/// @file convert.cpp
/// `sporos convert`: whatever the format on the way, the file that comes out holds what the other one holds.
#include "plain_text.hpp"
#include "tool.hpp"

namespace {

using namespace sporos_test;

const Arguments matrix_formats = {"coo",  "csr",     "csc",     "dcsr",    "dcsc", "csf",
                                  "bcsr", "bcsr2x2", "bcsr3x3", "bcsr4x4", "dense"};
const Arguments tensor_formats = {"coo", "csf", "dense"};

/// Numbers that are hard to print: the extremes of double, and some that need all their digits.
std::string hard_numbers(const Folder& folder) {
  return folder.put("hard.mtx",
                    "%%MatrixMarket matrix coordinate real general\n"
                    "5 4 8\n"
                    "1 2 0.1\n1 4 -1.7976931348623157e308\n2 1 5e-324\n3 3 2.2250738585072014e-308\n"
                    "3 4 123456789.12345679\n4 1 -7\n5 2 9007199254740993\n5 4 3.3333333333333335e-10\n");
}

TEST(Convert, KeepsTheTextOfNumbersThroughEveryFormat) {
  const Folder folder;
  const std::string in = hard_numbers(folder), out = folder.file("out.mtx");
  auto expected = plain_mtx(in).entries;
  // A double has no 9007199254740993; the fewest digits of 5e-324 and of the others are those above.
  expected[{5, 2}] = "9007199254740992";
  for (const std::string& format : matrix_formats) {
    SCOPED_TRACE(format);
    const Json done = report({"convert", in, out, "--format", format, "--verify"});
    EXPECT_EQ(done["checks"]["tensor_holds_the_entries"], true);
    EXPECT_EQ(done["checks"]["file_reads_back_equal"], true);
    EXPECT_EQ(done["output"]["entries"], 8);
    const PlainText found = plain_mtx(out);
    EXPECT_EQ(found.extents, (std::vector<std::int64_t>{5, 4}));
    expect_same_numbers(found.entries, expected);
    EXPECT_EQ(found.entries.at({1, 2}), "0.1");
    EXPECT_EQ(found.entries.at({2, 1}), "5e-324");
    EXPECT_EQ(found.entries.at({3, 4}), "123456789.12345679");
    EXPECT_EQ(found.entries.at({4, 1}), "-7");
    // What was written is written the same again.
    expect_done({"convert", out, folder.file("again.mtx"), "--format", format});
    EXPECT_EQ(content(folder.file("again.mtx")), content(out));
  }
}

TEST(Convert, KeepsARealMatrixThroughEveryFormat) {
  const Folder folder;
  const auto expected = plain_mtx(example_data("west0497.mtx")).entries;
  auto without_zeros = expected;
  std::erase_if(without_zeros, [](const auto& entry) { return std::stod(entry.second) == 0; });
  ASSERT_LT(without_zeros.size(), expected.size());
  for (const std::string& format : matrix_formats) {
    SCOPED_TRACE(format);
    const Json done = report(
        {"convert", example_data("west0497.mtx"), folder.file("out.mtx"), "--format", format, "--verify"});
    EXPECT_EQ(done["checks"]["tensor_holds_the_entries"], true);
    const bool pads = format.starts_with("bcsr") || format == "dense";
    expect_same_numbers(plain_mtx(folder.file("out.mtx")).entries, pads ? without_zeros : expected);
  }
}

TEST(Convert, KeepsATensorThroughEveryFormatAndModeOrder) {
  const Folder folder;
  const auto expected = plain_tns(example_data("parti_3D_12031.tns.gz"), 3).entries;
  for (const std::string& format : tensor_formats)
    for (const std::string modes : {"0,1,2", "2,0,1", "1,2,0"}) {
      SCOPED_TRACE(format + " " + modes);
      const Json done = report({"convert", example_data("parti_3D_12031.tns.gz"), folder.file("out.tns"),
                                "--format", format, "--mode-order", modes, "--verify"});
      EXPECT_EQ(done["checks"]["file_reads_back_equal"], true);
      const PlainText found = plain_tns(folder.file("out.tns"), 3);
      expect_same_numbers(found.entries, expected);
      // Entries come out sorted by the modes in that order.
      const auto key = [&](const Coordinate& at) {
        return Coordinate{at[static_cast<std::size_t>(modes[0] - '0')],
                          at[static_cast<std::size_t>(modes[2] - '0')],
                          at[static_cast<std::size_t>(modes[4] - '0')]};
      };
      EXPECT_TRUE(std::is_sorted(found.order.begin(), found.order.end(),
                                 [&](const auto& a, const auto& b) { return key(a) < key(b); }));
    }
}

TEST(Convert, KeepsATensorOfOrderFive) {
  const Folder folder;
  for (const std::string format : {"coo", "csf"}) {
    report({"convert", example_data("KG_JF17K_4.tns.gz"), folder.file("out.tns"), "--format", format,
            "--verify"});
    expect_same_numbers(plain_tns(folder.file("out.tns"), 5).entries,
                        plain_tns(example_data("KG_JF17K_4.tns.gz"), 5).entries);
  }
}

TEST(Convert, ReadsBackEqualForEveryExample) {
  const Folder folder;
  for (const std::string& path : all_examples()) {
    SCOPED_TRACE(path);
    const bool is_tensor = path.ends_with(".tns.gz");
    const Json done =
        report({"convert", path, folder.file(is_tensor ? "out.tns.gz" : "out.mtx.gz"), "--verify"});
    EXPECT_EQ(done["checks"]["tensor_holds_the_entries"], true);
    EXPECT_EQ(done["checks"]["file_reads_back_equal"], true);
  }
}

TEST(Convert, WritesASymmetricMatrixAsOneTriangleOrWhole) {
  const Folder folder;
  const PlainText triangle = plain_mtx(example_data("LFAT5.mtx"));
  expect_done({"convert", example_data("LFAT5.mtx"), folder.file("a.mtx")});
  const PlainText kept = plain_mtx(folder.file("a.mtx"));
  EXPECT_EQ(kept.banner, "%%MatrixMarket matrix coordinate real symmetric");
  expect_same_numbers(kept.entries, triangle.entries);

  expect_done({"convert", example_data("LFAT5.mtx"), folder.file("b.mtx"), "--general"});
  const PlainText whole = plain_mtx(folder.file("b.mtx"));
  EXPECT_EQ(whole.banner, "%%MatrixMarket matrix coordinate real general");
  auto both = triangle.entries;
  for (const auto& [at, value] : triangle.entries) both[{at[1], at[0]}] = value;
  expect_same_numbers(whole.entries, both);
}

TEST(Convert, WritesTheLowerTriangleWhicheverTheFileHolds) {
  const Folder folder;
  const std::string upper =
      folder.put("upper.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n1 2 4\n3 1 -5\n");
  const Json done = report({"convert", upper, folder.file("a.mtx"), "--verify"});
  EXPECT_EQ(done["checks"]["file_reads_back_equal"], true);
  const PlainText lower = plain_mtx(folder.file("a.mtx"));
  EXPECT_EQ(lower.banner, "%%MatrixMarket matrix coordinate real skew-symmetric");
  expect_same_numbers(lower.entries, {{{2, 1}, "-4"}, {{3, 1}, "-5"}});
}

TEST(Convert, WritesAVectorThatNeedsNoOptionToBeRead) {
  const Folder folder;
  expect_done({"convert", folder.put("a.tns", "2 1\n3 1\n"), folder.file("b.tns"), "--vector", "--verify"});
  EXPECT_EQ(report({"info", folder.file("b.tns")})["extents"], Json({3}));
}

TEST(Convert, KeepsFieldSymmetryAndLayoutOfEveryKindOfMatrix) {
  const Folder folder;
  const std::vector<std::pair<std::string, std::string>> examples = {
      {"mhd1280b.mtx.gz", "coordinate complex hermitian"},
      {"plsk1919.mtx.gz", "coordinate real skew-symmetric"},
      {"10x_v3_test.mtx.gz", "coordinate integer general"},
      {"ash292.mtx", "coordinate pattern symmetric"},
      {"young1c.mtx", "coordinate complex general"}};
  for (const auto& [name, says] : examples) {
    SCOPED_TRACE(name);
    expect_done({"convert", example_data(name), folder.file("out.mtx"), "--format", "csr"});
    const PlainText found = plain_mtx(folder.file("out.mtx"));
    EXPECT_EQ(found.banner, "%%MatrixMarket matrix " + says);
    EXPECT_EQ(found.entries.size(), plain_mtx(example_data(name)).entries.size());
  }
}

TEST(Convert, KeepsIntegersThatADoubleDoesNotHold) {
  const Folder folder;
  const std::string in = folder.put("a.mtx",
                                    "%%MatrixMarket matrix coordinate integer general\n2 2 2\n"
                                    "1 1 9007199254740993\n2 1 -9223372036854775807\n");
  for (const std::string& format : matrix_formats) {
    expect_done({"convert", in, folder.file("out.mtx"), "--format", format});
    EXPECT_EQ(plain_mtx(folder.file("out.mtx")).entries, plain_mtx(in).entries) << format;
  }
}

TEST(Convert, KeepsAnArrayWithItsZeros) {
  const Folder folder;
  const std::string in =
      folder.put("a.mtx", "%%MatrixMarket matrix array real general\n2 3\n1\n0\n0.5\n-2\n0\n4\n");
  for (const std::string format : {"dense", "coo"}) {
    const Json done = report({"convert", in, folder.file("out.mtx"), "--format", format, "--verify"});
    EXPECT_EQ(done["checks"]["file_reads_back_equal"], true);
    EXPECT_TRUE(content(folder.file("out.mtx")).starts_with("%%MatrixMarket matrix array real general\n"));
    EXPECT_EQ(plain_array(folder.file("out.mtx")), plain_array(in)) << format;
  }
}

TEST(Convert, GoesFromEveryKindOfFileToEveryKind) {
  const Folder folder;
  const std::string smtx = folder.put("a.smtx", "3, 4, 5\n0 2 2 5\n1 3 0 2 3\n");
  const std::map<Coordinate, std::string> ones = {
      {{1, 2}, "1"}, {{1, 4}, "1"}, {{3, 1}, "1"}, {{3, 3}, "1"}, {{3, 4}, "1"}};
  expect_done({"convert", smtx, folder.file("a.mtx")});
  EXPECT_EQ(plain_mtx(folder.file("a.mtx")).banner, "%%MatrixMarket matrix coordinate pattern general");
  EXPECT_EQ(plain_mtx(folder.file("a.mtx")).extents, (std::vector<std::int64_t>{3, 4}));
  expect_done({"convert", folder.file("a.mtx"), folder.file("a.tns")});
  EXPECT_EQ(plain_tns(folder.file("a.tns"), 2).entries, ones);
  expect_done({"convert", folder.file("a.tns"), folder.file("b.smtx")});
  EXPECT_EQ(content(folder.file("b.smtx")), content(smtx));
  expect_done({"convert", folder.file("a.tns"), folder.file("b.mtx")});
  expect_same_numbers(plain_mtx(folder.file("b.mtx")).entries, ones);
}

TEST(Convert, KeepsExtentsThatNoEntryReaches) {
  const Folder folder;
  const std::string in =
      folder.put("a.mtx", "%%MatrixMarket matrix coordinate real general\n9 8 1\n2 3 1.5\n");
  expect_done({"convert", in, folder.file("a.tns")});
  EXPECT_EQ(plain_tns(folder.file("a.tns"), 2).extents, (std::vector<std::int64_t>{9, 8}));
  expect_done({"convert", folder.file("a.tns"), folder.file("b.mtx")});
  EXPECT_EQ(plain_mtx(folder.file("b.mtx")).extents, (std::vector<std::int64_t>{9, 8}));
}

TEST(Convert, CompressesWhatIsCalledGz) {
  const Folder folder;
  for (const std::string end : {".mtx", ".tns"}) {
    expect_done({"convert", example_data("west0497.mtx"), folder.file("a" + end)});
    expect_done({"convert", example_data("west0497.mtx"), folder.file("a" + end + ".gz")});
    EXPECT_TRUE(is_gzip(content(folder.file("a" + end + ".gz"))));
    EXPECT_FALSE(is_gzip(content(folder.file("a" + end))));
    EXPECT_EQ(text_of(folder.file("a" + end + ".gz")), content(folder.file("a" + end)));
  }
}

TEST(Convert, AddsDuplicatesUpAndSaysSo) {
  const Folder folder;
  const std::string in =
      folder.put("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n2 2 5\n1 1 0.5\n");
  const std::string text = expect_done({"convert", in, folder.file("out.mtx")});
  EXPECT_NE(text.find("duplicates are added up"), std::string::npos) << text;
  EXPECT_EQ(plain_mtx(folder.file("out.mtx")).entries,
            (std::map<Coordinate, std::string>{{{1, 1}, "1.5"}, {{2, 2}, "5"}}));
}

TEST(Convert, LeavesValuesOutOnlyWhenAsked) {
  const Folder folder;
  const std::string in = example_data("west0497.mtx");
  expect_refused({"convert", in, folder.file("out.smtx")}, "--pattern");
  EXPECT_TRUE(folder.names().empty());
  const Json done = report({"convert", in, folder.file("out.smtx"), "--pattern", "--verify"});
  EXPECT_EQ(done["checks"]["file_reads_back_equal"], true);
  expect_done({"convert", in, folder.file("out.mtx"), "--pattern"});
  const PlainText pattern = plain_mtx(folder.file("out.mtx"));
  EXPECT_EQ(pattern.banner, "%%MatrixMarket matrix coordinate pattern general");
  const auto expected = plain_mtx(in).entries;
  ASSERT_EQ(pattern.entries.size(), expected.size());
  for (const auto& [at, value] : pattern.entries) {
    EXPECT_EQ(value, "");
    EXPECT_TRUE(expected.contains(at));
  }
  expect_done({"convert", folder.file("out.smtx"), folder.file("back.mtx")});
  EXPECT_EQ(plain_mtx(folder.file("back.mtx")).entries, pattern.entries);
}

TEST(Convert, ReplacesAnOldFileWhole) {
  const Folder folder;
  const std::string out = folder.put("out.tns", std::string(1 << 16, 'x'));
  expect_done({"convert", folder.put("in.tns", "1 1 1 2\n"), out});
  EXPECT_EQ(content(out), "1 1 1 2\n");
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"in.tns", "out.tns"}));
}

TEST(Convert, WritesOverItsOwnInput) {
  const Folder folder;
  const std::string path = folder.put("a.tns", "2 1 1 4\n1 1 1 2\n");
  expect_done({"convert", path, path, "--format", "csf"});
  EXPECT_EQ(content(path), "1 1 1 2\n2 1 1 4\n");
}

TEST(Convert, SaysWhatTheFormatIs) {
  const Folder folder;
  const Json done =
      report({"convert", example_data("west0497.mtx"), folder.file("a.mtx"), "--format", "csc"});
  EXPECT_EQ(keys(done), (Arguments{"command", "input", "output", "tensor", "threads"}));
  EXPECT_EQ(done["tensor"]["format"], "csc");
  EXPECT_EQ(done["tensor"]["levels"], "Dense(d1), Compressed(d0)");
  EXPECT_EQ(done["tensor"]["values_stored"], 1727);
  EXPECT_EQ(done["input"]["extents"], Json({497, 497}));
  EXPECT_EQ(done["output"]["file"], folder.file("a.mtx"));
}

TEST(Convert, CompressesAsMuchAsAsked) {
  const Folder folder;
  const std::string in = example_data("bcsstk16.mtx.gz");
  for (const std::string kind : {".mtx.gz", ".tns.gz", ".npz"}) {
    const std::string fast = folder.file("fast" + kind), small = folder.file("small" + kind);
    expect_done({"convert", in, fast, "--level", "1"});
    expect_done({"convert", in, small, "--level", "9"});
    EXPECT_GT(content(fast).size(), content(small).size()) << kind;
    expect_done({"compare", in, fast});
    expect_done({"compare", in, small});
  }
#ifdef SPOROS_HAVE_HDF5
  expect_done({"convert", in, folder.file("fast.h5"), "--level", "1"});
  expect_done({"convert", in, folder.file("small.h5"), "--level", "9"});
  EXPECT_GT(content(folder.file("fast.h5")).size(), content(folder.file("small.h5")).size());
  expect_done({"compare", in, folder.file("small.h5")});
#endif
  for (const std::string level : {"0", "10", "high"})
    expect_refused({"convert", in, folder.file("a.mtx.gz"), "--level", level}, "--level");
}

TEST(Convert, StoresANpzFileInEachFormatOfSciPy) {
  const Folder folder;
  const std::string in = example_data("LFAT5.mtx");
  const auto members = [&](const std::string& format) {
    expect_done({"convert", in, folder.file("a.npz"), "--format", format, "--verify"});
    return content(folder.file("a.npz"));
  };
  EXPECT_NE(members("coo").find("row.npy"), std::string::npos);
  for (const std::string format : {"csr", "csc", "dcsr", "bsr"})
    EXPECT_NE(members(format).find("indptr.npy"), std::string::npos) << format;
  EXPECT_NE(members("csr"), members("csc"));
  EXPECT_EQ(members("csc"), members("dcsc"));
  expect_refused({"convert", in, folder.file("b.npz"), "--format", "bcsr4x4"},
                 "blocks of 4 x 4 do not divide a matrix of 14 x 14");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.npz"});
}

}  // namespace
