// SPDX-License-Identifier: Apache-2.0
/// @file command_line.cpp
/// The command line itself: help, version, threads, JSON, and options that are not there.
#include <set>
#include <sstream>

#include "tool.hpp"

namespace {

using namespace sporos_test;

/// A run of each command that succeeds.
std::vector<Arguments> one_of_each(const Folder& folder) {
  const std::string matrix = example_data("LFAT5.mtx"), tensor = example_data("aminoacid.tns.gz");
  return {{"info", matrix},
          {"validate", matrix},
          {"compare", matrix, matrix},
          {"convert", matrix, folder.file("out.mtx")},
          {"transpose", matrix, folder.file("out.mtx")},
          {"generate", "banded", folder.file("out.mtx"), "--size", "9"},
          {"reorder", matrix, folder.file("out.mtx")},
          {"spy", matrix, "-o", folder.file("out.png")},
          {"spmv", matrix, "--repeats", "2"},
          {"multiply", matrix, matrix, "--verify"},
          {"mttkrp", tensor, "--rank", "2", "--verify"},
          {"cp", tensor, "--rank", "2", "-o", folder.file("out")},
          {"bench", matrix, "--seconds", "0"},
          {"explain", "spmv"},
          {"config"}};
}

TEST(CommandLine, HelpsAndNamesEveryCommand) {
  const std::string help = expect_done({"--help"});
  EXPECT_EQ(expect_done({"-h"}), help);
  const Folder folder;
  for (const Arguments& arguments : one_of_each(folder)) {
    EXPECT_NE(help.find("\n  " + arguments[0]), std::string::npos) << help;
    const std::string more = expect_done({arguments[0], "--help"});
    for (const std::string option : {"--json", "--threads", "--help"})
      EXPECT_NE(more.find(option), std::string::npos) << arguments[0] << more;
  }
}

TEST(CommandLine, KeepsHelpWithinAHundredColumns) {
  const Folder folder;
  Arguments texts = {expect_done({"--help"})};
  for (const Arguments& arguments : one_of_each(folder))
    texts.push_back(expect_done({arguments[0], "--help"}));
  for (const std::string& text : texts) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110u) << line;
  }
}

TEST(CommandLine, SaysItsVersion) {
  const std::string version = expect_done({"--version"});
  EXPECT_TRUE(version.starts_with("sporos ")) << version;
  EXPECT_EQ(std::count(version.begin(), version.end(), '.'), 2);
}

TEST(CommandLine, PrintsOneJsonObjectWithTheKeysOfItsCommand) {
  const Folder folder;
  const std::vector<Arguments> expected = {
      {"command",
       "density",
       "diagonal_entries",
       "duplicates",
       "entries",
       "entries_above_diagonal",
       "entries_in_file",
       "extents",
       "field",
       "file",
       "file_bytes",
       "formats",
       "kind",
       "largest_value",
       "least_value",
       "lower_bandwidth",
       "modes",
       "nonzeros",
       "not_finite",
       "order",
       "pattern_symmetric",
       "read_seconds",
       "stored_zeros",
       "symmetry",
       "threads",
       "upper_bandwidth",
       "value_symmetric"},
      {"command", "duplicates", "entries", "entries_above_diagonal", "entries_in_file", "extents", "field",
       "file", "file_bytes", "formats", "kind", "not_finite", "order", "read_seconds", "stored_zeros",
       "symmetry", "threads", "valid", "validate_seconds"},
      {"A", "B", "command", "comparison", "threads"},
      {"command", "input", "output", "tensor", "threads"},
      {"command", "input", "output", "threads"},
      {"command", "output", "threads"},
      {"command", "input", "order", "output", "threads"},
      {"command", "input", "output", "threads"},
      {"A", "command", "threads", "y"},
      {"A", "B", "C", "checks", "command", "threads"},
      {"checks", "command", "result", "tensor", "threads"},
      {"command", "model", "output", "tensor", "threads"},
      {"columns", "command", "files", "measurements", "threads", "triad_bytes_per_second"},
      {"command", "explanation", "format", "name", "statement", "threads"},
      {"command", "machine", "program", "threads"}};
  const auto runs = one_of_each(folder);
  for (std::size_t at = 0; at < runs.size(); ++at) {
    const Json done = report(runs[at]);
    EXPECT_EQ(done["command"], runs[at][0]);
    EXPECT_EQ(keys(done), expected[at]) << runs[at][0];
  }
}

/// The keys of an object and of all objects in it.
void collect_keys(const Json& value, std::set<std::string>& into) {
  if (value.is_object())
    for (const auto& [key, inner] : value.items()) {
      into.insert(key);
      collect_keys(inner, into);
    }
  if (value.is_array())
    for (const Json& inner : value) collect_keys(inner, into);
}

TEST(CommandLine, PrintsNoKeyThatItsDocumentLacks) {
  const Folder folder;
  const std::string document = content(example_data("../../docs/tool.md"));
  auto runs = one_of_each(folder);
  runs.push_back({"info", example_data("young1c.mtx")});
  runs.push_back({"explain", "--list"});
  runs.push_back({"explain", "spgemm"});
  for (Arguments arguments : runs) {
    if (arguments[0] == "convert") arguments.push_back("--verify");
    if (arguments[0] == "multiply" || arguments[0] == "mttkrp")
      arguments.insert(arguments.end(), {"--repeats", "2", "-o", folder.file("m.mtx")});
    std::set<std::string> found;
    collect_keys(report(arguments), found);
    for (const std::string& key : found)
      EXPECT_NE(document.find('`' + key + '`'), std::string::npos) << arguments[0] << " prints " << key;
  }
}

TEST(CommandLine, PrintsTextToPeople) {
  const Folder folder;
  for (const Arguments& arguments : one_of_each(folder)) {
    const std::string text = expect_done(arguments);
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.find('{'), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with('\n'));
  }
}

TEST(CommandLine, RunsOnAsManyThreadsAsAsked) {
  const Folder folder;
  for (Arguments arguments : one_of_each(folder))
    for (const int threads : {1, 3}) {
      Arguments all = arguments;
      all.insert(all.end(), {"--threads", std::to_string(threads)});
      EXPECT_EQ(report(all)["threads"], threads) << arguments[0];
    }
}

TEST(CommandLine, RefusesNumbersOfThreadsThatAreNone) {
  for (const std::string threads : {"0", "-1", "many", "1.5", "100000"})
    expect_refused({"info", example_data("LFAT5.mtx"), "--threads", threads}, "--threads");
}

TEST(CommandLine, ListsTheCommandsWhereNoneIsNamed) {
  const std::string all =
      "info, validate, compare, convert, transpose, generate, prune, reorder, spy, spmv, "
      "multiply, mttkrp, cp, bench, explain, config";
  expect_refused({}, "expected a command: " + all + "; see sporos --help");
  expect_refused({"divide"}, "no such command: divide; expected one of " + all);
  expect_refused({"--json"}, "expected a command: " + all);
}

TEST(CommandLine, RefusesOptionsThatAreNotThere) {
  const Folder folder;
  for (Arguments arguments : one_of_each(folder)) {
    arguments.push_back("--colour");
    expect_refused(arguments, "--colour; see sporos " + arguments[0] + " --help");
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(CommandLine, RefusesWordsTooManyAndTooFew) {
  const std::string path = example_data("LFAT5.mtx");
  expect_refused({"info"}, "FILE is required; see sporos info --help");
  expect_refused({"info", path, path}, path);
  expect_refused({"convert", path}, "OUT");
  expect_refused({"multiply", path}, "B");
  expect_refused({"mttkrp"}, "TENSOR");
}

}  // namespace
