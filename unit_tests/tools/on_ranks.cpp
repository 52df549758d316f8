// SPDX-License-Identifier: Apache-2.0
/// @file on_ranks.cpp
/// `sporos` under mpirun.
#include <cstdlib>
#include <string>

#include "plain_text.hpp"
#include "tool.hpp"

namespace {

using namespace sporos_test;

/// Runs `sporos` on three ranks.
Ran run_on_ranks(const std::string& arguments) {
  for (const char* const variable : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                                     "OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_mpi_yield_when_idle"})
    setenv(variable, "1", 1);
  setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
  const Folder streams;
  const std::string out = streams.file("out"), err = streams.file("err");
  // MPI's libraries leave memory of their own behind.
  const std::string command =
      "ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 " SPOROS_MPIEXEC " 3 " SPOROS_TOOL " ";
  const std::string line = command + arguments + " >'" + out + "' 2>'" + err + "'";
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(out), content(err)};
}

std::size_t occurrences(const std::string& of, const std::string& in) {
  std::size_t count = 0;
  for (std::size_t at = in.find(of); at != std::string::npos; at = in.find(of, at + 1)) ++count;
  return count;
}

std::string first_line(const std::string& file) {
  const std::string all = content(file);
  return all.substr(0, all.find('\n'));
}

TEST(OnRanks, MultiplyWritesWhatOneProcessWrites) {
  const Folder folder;
  const std::string graph = folder.put(
      "graph.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 4\n1 1\n1 2\n2 3\n3 1\n");
  for (const std::string& file : {example_data("west0497.mtx"), example_data("young1c.mtx"), graph}) {
    const std::string alone = folder.file("alone.mtx"), together = folder.file("together.mtx");
    expect_done({"multiply", file, file, "-o", alone});
    const Ran ran = run_on_ranks("multiply " + file + " " + file + " -o " + together + " --json");
    EXPECT_EQ(ran.code, 0) << ran.err;
    const Json report = Json::parse(ran.out);  // one rank's
    EXPECT_EQ(report["ranks"], 3);
    EXPECT_EQ(first_line(together), first_line(alone));
    const Ran compared = run({"compare", alone, together, "--relative", "1e-13"});
    EXPECT_EQ(compared.code, 0) << file << compared.out;
  }
}

TEST(OnRanks, SpmvWritesWhatOneProcessWrites) {
  const Folder folder;
  const std::string matrix = example_data("west0497.mtx");
  const std::string x = folder.file("x.mtx"), of_x = " -x " + x;
  expect_done({"spmv", matrix, "-o", x, "--repeats", "1"});
  for (const std::string output : {"y.mtx", "y.tns"}) {
    const std::string alone = folder.file("alone_" + output), together = folder.file(output);
    expect_done({"spmv", matrix, "-x", x, "-o", alone, "--repeats", "1"});
    const Ran ran = run_on_ranks("spmv " + matrix + of_x + " -o " + together + " --json");
    EXPECT_EQ(ran.code, 0) << ran.err;
    const Json report = Json::parse(ran.out);
    EXPECT_EQ(report["ranks"], 3);
    EXPECT_GT(report["y"]["bytes_sent"], 0);
    const Ran compared = run({"compare", alone, together, "--relative", "1e-13"});
    EXPECT_EQ(compared.code, 0) << output << compared.out << compared.err;
  }
}

TEST(OnRanks, CommandsOfOneProcessSaySoOnce) {
  const Ran ran = run_on_ranks("info " + example_data("west0497.mtx"));
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(occurrences("sporos: info runs on one process, and mpirun has started 3", ran.err), 1u)
      << ran.err;
}

TEST(OnRanks, BadInputIsOneMessage) {
  const Folder folder;
  for (const auto& [arguments, message] :
       {std::pair{"multiply " + example_data("west0497.mtx") + " " + example_data("young1c.mtx"),
                  std::string("must be as many as the rows of")},
        std::pair{"multiply " + folder.file("none.mtx") + " " + example_data("young1c.mtx"),
                  std::string("cannot be opened")},
        std::pair{"multiply --order kij " + example_data("west0497.mtx") + " " + example_data("west0497.mtx"),
                  std::string("takes no --order")},
        std::pair{
            "multiply --space cuda " + example_data("west0497.mtx") + " " + example_data("west0497.mtx"),
            std::string("takes no --space")},
        std::pair{"spmv " + example_data("young1c.mtx"), std::string("takes real values")},
        std::pair{"spmv " + example_data("west0497.mtx") + " -x " + example_data("west0497.mtx"),
                  std::string("expected a vector, or a matrix of one column")},
        std::pair{"multiply - " + example_data("west0497.mtx"), std::string("names say what they are")},
        std::pair{std::string("multiply"), std::string("is required")}}) {
    const Ran ran = run_on_ranks(arguments);
    EXPECT_EQ(ran.code, 2) << arguments;
    EXPECT_EQ(ran.out, "") << arguments;
    EXPECT_EQ(occurrences(message, ran.err), 1u) << arguments << '\n' << ran.err;
  }
}

}  // namespace
