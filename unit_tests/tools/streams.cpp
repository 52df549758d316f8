// SPDX-License-Identifier: Apache-2.0
/// @file streams.cpp
/// `-`: standard input where a file is read, standard output where one is written.
#include "plain_text.hpp"
#include "png.hpp"
#include "tool.hpp"

namespace {

using namespace sporos_test;

const std::string mtx = "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n3 1 -3\n";

TEST(Streams, ReadsEveryKindFromAPipe) {
  const std::vector<std::pair<std::string, Arguments>> inputs = {
      {mtx, {}},
      {gzip(mtx), {}},
      {"# extents 3 3\n1 2 0.5\n3 1 -3\n", {}},
      {"source,target,weight\n0,1,0.5\n2,0,-3\n", {"--from", "edges"}},
      {"1 2 0.5\n3 1 -3\n", {"--from", "edges", "--first", "1"}}};
  for (const auto& [text, options] : inputs) {
    Arguments arguments = {"convert", "-", "-", "--format", "csr"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Ran ran = run(arguments, text);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, mtx);
    EXPECT_NE(ran.err.find("standard input"), std::string::npos) << ran.err;
  }
}

TEST(Streams, ReadsMoreThanItLooksAt) {
  // Larger than what is looked at first, smaller than a pipe.
  const std::string text = gzip(content(example_data("west0497.mtx")));
  const Ran ran = run({"info", "-", "--no-formats", "--json"}, text);
  EXPECT_EQ(ran.code, 0) << ran.err;
  const Json info = Json::parse(ran.out);
  EXPECT_EQ(info["file"], "standard input");
  EXPECT_EQ(info["entries"], 1727);
  EXPECT_TRUE(info["file_bytes"].is_null());
}

TEST(Streams, TakesStandardInputInEveryCommandThatReads) {
  const Folder folder;
  const std::string matrix = content(example_data("LFAT5.mtx"));
  for (const Arguments& arguments : {Arguments{"info", "-"},
                                     {"validate", "-"},
                                     {"compare", "-", example_data("LFAT5.mtx")},
                                     {"convert", "-", folder.file("out.mtx")},
                                     {"transpose", "-", folder.file("out.mtx")},
                                     {"prune", "-", folder.file("out.mtx")},
                                     {"reorder", "-", folder.file("out.mtx")},
                                     {"spmv", "-"},
                                     {"bench", "-", "--operations", "spmv", "--seconds", "0"},
                                     {"spy", "-", "-o", folder.file("out.png")},
                                     {"multiply", "-", "-", "--verify"},
                                     {"multiply", example_data("LFAT5.mtx"), "-"},
                                     {"explain", "spmv", "--file", "-", "--repeats", "1"},
                                     {"mttkrp", "-", "--rank", "2"}}) {
    const Ran ran = run(arguments, matrix);
    EXPECT_EQ(ran.code, 0) << shown(arguments) << ran.err;
    EXPECT_NE(ran.out.find("standard input"), std::string::npos) << shown(arguments) << ran.out;
  }
}

TEST(Streams, DecomposesATensorFromStandardInput) {
  const Folder folder;
  const std::string tensor = "1 1 1 2\n2 1 1 4\n1 2 2 -1\n2 2 2 -2\n3 1 2 0.5\n";
  const Arguments options = {"--rank",    "2", "--iterations", "3", "--tolerance", "0",
                             "--threads", "1", "--json"};
  Arguments from_stream = {"cp", "-", "-o", folder.file("m")},
            from_file = {"cp", folder.put("t.tns", tensor)};
  from_stream.insert(from_stream.end(), options.begin(), options.end());
  from_file.insert(from_file.end(), options.begin(), options.end());
  const Ran ran = run(from_stream, tensor);
  EXPECT_EQ(ran.code, 0) << ran.err;
  const Json done = Json::parse(ran.out);
  EXPECT_EQ(done["tensor"]["file"], "standard input");
  EXPECT_EQ(done["model"]["fits"], Json::parse(expect_done(from_file))["model"]["fits"]);
  EXPECT_EQ(folder.names().size(), 6u);  // the factors, the weights, the picture, and the tensor
}

TEST(Streams, WritesNothingButTheResultToStandardOutput) {
  const std::string matrix = example_data("LFAT5.mtx"), tensor = example_data("aminoacid.tns.gz");
  const auto expect_output = [](const Arguments& arguments, const std::string& begin) {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.code, 0) << shown(arguments) << ran.err;
    EXPECT_TRUE(ran.out.starts_with(begin)) << shown(arguments) << '\n' << ran.out.substr(0, 100);
    return ran;
  };
  const std::string banner = "%%MatrixMarket matrix ";
  const Ran whole = expect_output({"convert", matrix, "-"}, banner);
  const Folder folder;
  expect_done({"convert", matrix, folder.file("out.mtx")});
  EXPECT_EQ(whole.out, content(folder.file("out.mtx")));
  expect_output({"convert", tensor, "-"}, "1 ");
  expect_output({"convert", matrix, "-", "--to", "tns", "--general"}, "1 ");
  expect_output({"convert", matrix, "-", "--to", "smtx", "--pattern"}, "14, 14, ");
  expect_output({"transpose", tensor, "-"}, "1 ");
  expect_output({"generate", "identity", "-", "--size", "3"}, banner);
  expect_output({"prune", matrix, "-"}, banner);
  expect_output({"reorder", matrix, "-"}, banner);
  expect_output({"spmv", matrix, "-o", "-"}, banner);
  expect_output({"info", matrix, "--histogram", "-"}, "\x89PNG");
  expect_output({"multiply", matrix, matrix, "-o", "-"}, banner);
  expect_output({"mttkrp", matrix, "-o", "-", "--rank", "2"}, banner);
  expect_output({"spy", matrix, "-o", "-"}, "\x89PNG");
  expect_output({"bench", matrix, "--seconds", "0", "--operations", "spmv", "-o", "-"}, "\x89PNG");
  const Ran json = expect_output({"convert", matrix, "-", "--json"}, banner);
  EXPECT_EQ(Json::parse(json.err)["output"]["file"], "-");
}

TEST(Streams, RefusesWhatAStreamCannotBe) {
  const std::string matrix = example_data("LFAT5.mtx");
  expect_refused({"convert", matrix, "-", "--verify"}, "--verify reads the file back");
  expect_refused({"convert", matrix, "-", "--to", "edges"},
                 "--to edges: a matrix is written as mtx, tns, smtx, npy, npz or h5");
  expect_refused({"convert", example_data("aminoacid.tns.gz"), "-", "--to", "mtx"},
                 "--to mtx: a tensor of order 3 is written as tns, npy, npz or h5");
  expect_refused({"cp", example_data("aminoacid.tns.gz"), "-o", "-"}, "cp writes several files");
  expect_refused({"info", matrix, "--from", "csv"}, "--from");
  const Ran ran = run({"info", "-"}, "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 1\n");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "sporos: standard input:3: found 'x', expected a column, an integer from 1 to 2\n");
}

TEST(Streams, WritesTheKindThatToNames) {
  const Folder folder;
  const std::string out = folder.file("out.txt");
  expect_done({"convert", example_data("west0497.mtx"), out, "--to", "mtx", "--verify"});
  EXPECT_TRUE(content(out).starts_with("%%MatrixMarket"));
}

}  // namespace
