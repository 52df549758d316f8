// SPDX-License-Identifier: Apache-2.0
/// @file binsparse.cpp
/// The tool on binsparse files, .h5: what a file says of itself stays, whichever kind it is converted to.
#include <sporos/formats/io/file.hpp>

#include "tool.hpp"

#ifdef SPOROS_HAVE_HDF5

namespace binsparse_tool_tests {
namespace {

using namespace sporos_test;
using sporos::read_binsparse_header;

TEST(BinsparseTool, FilesOfEveryKindGoThereAndBack) {
  const Folder folder;
  for (const std::string name : {"west0497.mtx", "young1c.mtx", "LFAT5.mtx", "aminoacid.tns.gz"}) {
    const std::string in = example_data(name);
    const bool tensor = name.ends_with(".tns.gz");
    const std::string back = folder.file(tensor ? "back.tns" : "back.mtx");
    for (const std::string format : {"", "coo", "csr", "csc", "dcsr", "dcsc", "csf", "dense", "bcsr"}) {
      if (tensor && format != "" && format != "coo" && format != "csf") continue;
      Arguments arguments = {"convert", in, folder.file("a.h5"), "--verify"};
      if (!format.empty()) arguments.insert(arguments.end(), {"--format", format});
      expect_done(arguments);
      expect_done({"convert", folder.file("a.h5"), back});
      expect_done({"compare", in, folder.file("a.h5"), "--missing-is-zero"});
      expect_done({"compare", in, back, "--missing-is-zero"});
      if (!tensor) {
        EXPECT_EQ(content(back).substr(0, content(back).find('\n')),
                  content(in).substr(0, content(in).find('\n')))
            << name << " through " << format;
      }
    }
  }
}

TEST(BinsparseTool, TheFormatSaysHowItIsStored) {
  const Folder folder;
  const std::string in = example_data("west0497.mtx"), path = folder.file("a.h5");
  const auto stored_as = [&](const Arguments& options) {
    Arguments arguments = {"convert", in, path};
    arguments.insert(arguments.end(), options.begin(), options.end());
    expect_done(arguments);
    return read_binsparse_header(path).format;
  };
  EXPECT_EQ(stored_as({}), "COOR");
  EXPECT_EQ(stored_as({"--mode-order", "1,0"}), "COOC");
  EXPECT_EQ(stored_as({"--format", "csc"}), "CSC");
  EXPECT_EQ(stored_as({"--format", "dense"}), "DMATR");
  EXPECT_EQ(stored_as({"--format", "csf"}), "DCSR");
  EXPECT_EQ(stored_as({"--format", "bcsr"}), "CSR");
  expect_done({"convert", in, path, "--format", "csc"});
  expect_done({"convert", path, folder.file("b.h5")});
  EXPECT_EQ(read_binsparse_header(folder.file("b.h5")).format, "CSC");
  expect_done({"convert", path, folder.file("b.hdf5"), "--format", "csr"});
  EXPECT_EQ(read_binsparse_header(folder.file("b.hdf5")).format, "CSR");
}

TEST(BinsparseTool, KeepsPatternsTrianglesAndAttributes) {
  const Folder folder;
  const std::string path = folder.file("a.h5");
  expect_done({"convert",
               folder.put("p.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"),
               path});
  const auto header = read_binsparse_header(path);
  EXPECT_EQ(header.type.str(), "iso[bint8]");
  EXPECT_EQ(header.symmetry, sporos::MatrixMarketSymmetry::symmetric);
  EXPECT_EQ(header.stored, 1);
  expect_done({"convert", path, folder.file("b.mtx")});
  EXPECT_EQ(content(folder.file("b.mtx")).substr(0, 51),
            "%%MatrixMarket matrix coordinate pattern symmetric\n");
  const Json info = Json::parse(expect_done({"info", path, "--json", "--no-formats"}));
  EXPECT_EQ(info["kind"], "binsparse .h5, COOR iso[bint8]");
  EXPECT_EQ(info["symmetry"], "symmetric");
  EXPECT_EQ(info["entries"], 2);
  EXPECT_EQ(info["entries_in_file"], 1);

  sporos::write_binsparse(path, sporos::Entries<double, 2>({2, 2}, {{{0, 1}, 1.5}}),
                          {.attributes = {{"author", "me"}}});
  expect_done({"convert", path, folder.file("b.h5")});
  EXPECT_EQ(read_binsparse_header(folder.file("b.h5")).attributes.at("author"), "me");
  EXPECT_EQ(Json::parse(expect_done({"info", path, "--json", "--no-formats"}))["attribute_author"], "me");
}

TEST(BinsparseTool, IsReadFromAndWrittenToPipes) {
  const Folder folder;
  const std::string in = example_data("LFAT5.mtx");
  const Ran written = run({"convert", in, "-", "--to", "h5"});
  EXPECT_EQ(written.code, 0) << written.err;
  const Ran back = run({"convert", "-", "-"}, written.out);
  EXPECT_EQ(back.code, 0) << back.err;
  expect_done({"compare", in, folder.put("back.mtx", back.out)});
}

TEST(BinsparseTool, SaysWhatIsWrongWithAFile) {
  const Folder folder;
  expect_done({"convert", example_data("west0497.mtx"), folder.file("a.h5")});
  const std::string cut = folder.put("b.h5", content(folder.file("a.h5")).substr(0, 3000));
  expect_refused({"validate", cut}, "it is not a complete HDF5 file: truncated file");
  expect_refused({"convert", folder.file("a.h5"), folder.file("c.h5.gz")}, "needs a file name that ends in");
  EXPECT_FALSE(std::filesystem::exists(folder.file("c.h5.gz")));
}

TEST(BinsparseTool, WritesAVectorAsOne) {
  const Folder folder;
  expect_done({"spmv", example_data("west0497.mtx"), "-o", folder.file("y.h5")});
  EXPECT_EQ(read_binsparse_header(folder.file("y.h5")).format, "DVEC");
}

}  // namespace
}  // namespace binsparse_tool_tests

#endif
