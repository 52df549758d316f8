// SPDX-License-Identifier: Apache-2.0
/// @file main.cpp
/// The program `sporos`: reads the command line, runs the chosen command and reports the outcome.
#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <limits>
#include <new>
#include <optional>
#include <sporos/core/error.hpp>
#include <sporos/core/space.hpp>
#include <sporos/version.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "command.hpp"
#include "commands.hpp"
#include "device.hpp"
#include "input.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "ranks.hpp"
#include "threads.hpp"

namespace sporos::tool {

namespace {

/// The short names of the kinds of files.
std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const auto& [kind, name] : file_kind_names) names.emplace_back(name);
  return names;
}

std::string kind_names() {
  std::string names;
  for (const std::string& name : kinds()) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace

CLI::Validator within(int least, int most) { return CLI::Range(least, most).description(""); }

CLI::App& add_command(CLI::App& app, Choice& choice, const std::string& name, const std::string& description,
                      std::function<Outcome()> run, std::function<Outcome()> run_on_ranks) {
  CLI::App& command = *app.add_subcommand(name, description);
  command.footer("");
  command.callback([&choice, name, run = std::move(run), run_on_ranks = std::move(run_on_ranks)] {
    choice.name = name;
    choice.run = run;
    choice.run_on_ranks = run_on_ranks;
  });
  return command;
}

void add_input_options(CLI::App& command, InputOptions& options, bool vectors) {
  command.add_option("--from", options.kind, "Kind of file, unless its content tells: " + kind_names())
      ->check(CLI::IsMember(kinds()).description(""))
      ->type_name("KIND");
  command
      .add_option("--first", options.first_node,
                  "Number of the first row and column of an edge list; 0 unless given")
      ->check(within(0, 1))
      ->type_name("N");
  command.add_flag("--bipartite", options.bipartite, "Rows and columns of an edge list are different nodes");
  if (vectors)
    command.add_flag("--vector", options.vector,
                     "Two numbers on each line of a .tns file are a coordinate and a value");
}

void add_device_options(CLI::App& command, DeviceOptions& options) {
  command.add_option("--space", options.space, "Where it runs: host, cuda; host unless given")
      ->type_name("NAME");
  command
      .add_option("--plan", options.plan,
                  "What multiplies a dense matrix on the GPU: auto, rows, padded, window, tiles,\n"
                  "tca, dense, 2:4, 1:4, 2:8, 4:32/32, 8:32/32, 16:32/32; auto unless given")
      ->type_name("NAME");
  command
      .add_option("--type", options.value,
                  "Values of that product: double, float, half, bfloat16; double unless given")
      ->type_name("NAME");
}

void add_output_options(CLI::App& command, OutputOptions& options) {
  command
      .add_option("--to", options.kind,
                  "Kind of file to write, unless its name tells; to - mtx, or tns for tensors")
      ->check(CLI::IsMember(kinds()).description(""))
      ->type_name("KIND");
  command
      .add_option("--level", options.gzip_level,
                  "Of what is compressed: 1 (fast) to 9 (small); 6 unless given")
      ->check(within(1, 9))
      ->type_name("N");
}

namespace {

/// Prints one line on standard error and returns the exit code.
int complain(std::string message, int code) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::cerr << program << ": " << message << '\n';
  return code;
}

std::string names_of(const CLI::App& app) {
  std::string names;
  for (const CLI::App* command : app.get_subcommands({}))
    names += (names.empty() ? "" : ", ") + command->get_name();
  return names;
}

/// Adds the options that every command has, shown at the end of its --help.
void add_common_options(CLI::App& command, Choice& choice) {
  command.add_flag("--json", choice.json, "One JSON object on standard output, for programs");
  command.add_option("--threads", choice.threads, "Threads to run on; all processors unless given")
      ->check(within(1, std::numeric_limits<int>::max()))
      ->type_name("N");
}

/// A hint about where to find help: "; see sporos info --help".
std::string where_to_look(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  const std::string command = chosen.empty() ? "" : ' ' + chosen.front()->get_name();
  return "; see " + std::string(program) + command + " --help";
}

/// Reads the command line. Returns -1 if it names a command to run; otherwise the exit code.
int read_command_line(CLI::App& app, int argc, char** argv) {
  const auto refuse = [&](const std::string& why) { return complain(why + where_to_look(app), bad_input); };
  try {
    app.parse(argc, argv);
    return -1;
  } catch (const CLI::Success& asked) {
    return app.exit(asked, std::cout, std::cerr);
  } catch (const CLI::ParseError& wrong) {
    if (!app.get_subcommands().empty()) return refuse(wrong.what());
    if (argc > 1 && argv[1][0] != '-')
      return refuse(std::string("no such command: ") + argv[1] + "; expected one of " + names_of(app));
    return refuse("expected a command: " + names_of(app));
  }
}

/// Rejects commands that several processes cannot run together.
void expect_command_of_ranks(const Choice& choice, const RankScope& ranks) {
  if (ranks.size() == 1)
    throw UsageError("this program was built without MPI, and mpirun has started it more than once");
  if (!choice.run_on_ranks)
    throw UsageError(text(choice.name, " runs on one process, and mpirun has started ", ranks.size(),
                          ": only multiply runs on several"));
}

/// The number of threads that a command starts; 0 leaves the choice to Kokkos. With several ranks, each has
/// one thread unless the user says otherwise.
int threads_of(const Choice& choice, const RankScope* ranks) {
  const bool is_said =
      choice.threads > 0 || std::getenv("KOKKOS_NUM_THREADS") || std::getenv("OMP_NUM_THREADS");
  return ranks && !is_said ? 1 : threads_to_start(choice.threads);
}

/// @param ranks  null if there is only one process
int run(const Choice& choice, const RankScope* ranks) {
  if (ranks) expect_command_of_ranks(choice, *ranks);
  // Kokkos' warnings about thread binding are of no use to someone who wants to convert a file.
  Kokkos::InitializationSettings settings;
  settings.set_disable_warnings(true);
  if (const int threads = threads_of(choice, ranks); threads > 0) settings.set_num_threads(threads);
  expect_device_to_start();
  const ScopeGuard guard(settings);

  Outcome outcome = ranks ? ranks->jointly(choice.run_on_ranks) : choice.run();
  outcome.report.fact("threads", "", Count{Host().concurrency()});
  std::ostream& out = outcome.output_is_taken ? std::cerr : std::cout;
  if (choice.json)
    outcome.report.write_json(out);
  else
    outcome.report.write_text(out);
  if (!out.flush()) return complain("standard output cannot be written", bad_input);
  return outcome.failed_check.empty() ? done : complain(outcome.failed_check, check_failed);
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<RankScope> ranks;
  if (is_one_of_several()) {
    // The threads that MPI starts must find both of these done.
    let_waiting_threads_sleep(argv);
    clean_up_when_interrupted();
    ranks.emplace(argc, argv);
  }
  CLI::App app(
      "Sparse matrices and tensors in files: looked at, checked, converted, drawn, multiplied.\n"
      "Reads Matrix Market (.mtx), FROSTT (.tns) and DLMC (.smtx) files, edge lists (.csv, .tsv, .edges) "
      "and\n"
      "NumPy's .npy, plain or gzip, and SciPy's .npz, and binsparse in HDF5, .h5. The file - is standard\n"
      "input, or standard output.",
      std::string(program));
  app.set_version_flag("--version", std::string(program) + " " SPOROS_VERSION_STRING);
  app.require_subcommand(1);
  app.get_formatter()->column_width(28);
  app.footer(
      "`sporos COMMAND --help` tells more of a command.\n"
      "Exit code 0: done; 1: a check failed; 2: bad input, with one line on standard error that says why.");
  Choice choice;
  for (const auto add : add_commands) add(app, choice);
  for (CLI::App* command : app.get_subcommands({})) add_common_options(*command, choice);
  if (const int code = read_command_line(app, argc, argv); code >= 0) return code;

  if (!ranks) {
    let_waiting_threads_sleep(argv);
    clean_up_when_interrupted();
  }
  try {
    return run(choice, ranks ? &*ranks : nullptr);
  } catch (const InternalError& fault) {
    return complain(fault.what() + std::string(" (this is a fault of Sporos: please report it)"),
                    check_failed);
  } catch (const std::bad_alloc&) {
    return complain("there is not enough memory for this", bad_input);
  } catch (const std::length_error&) {  // a container with more elements than there are addresses
    return complain("there is not enough memory for this", bad_input);
  } catch (const std::exception& error) {
    return complain(error.what(), bad_input);
  }
}

}  // namespace sporos::tool

int main(int argc, char** argv) { return sporos::tool::main(argc, argv); }
