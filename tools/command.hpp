// SPDX-License-Identifier: Apache-2.0
/// @file command.hpp
/// The parts of a command of `sporos`. A command is one file, `<name>.cpp`, with one function, `add_<name>`,
/// which declares its options and what it does; commands.hpp lists them.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "report.hpp"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace sporos::tool {

/// The name of the program, which precedes each message.
inline constexpr std::string_view program = "sporos";

/// Exit codes.
inline constexpr int done = 0;
inline constexpr int check_failed = 1;  ///< a result differs from the reference, or a bug in Sporos
inline constexpr int bad_input = 2;     ///< an option, a file or its content

/// The user asked for something impossible: a bad option, or files that do not fit together. One line.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The outcome of a command.
struct Outcome {
  Report report;
  bool output_is_taken = false;  ///< the result goes to standard output, so the report goes to standard error
  std::string failed_check;      ///< one line; empty if every check holds
};

/// The command that the user chose, after the command line has been read.
struct Choice {
  std::string name;
  bool json = false;
  int threads = 0;  ///< 0: not given
  std::function<Outcome()> run;
  std::function<Outcome()> run_on_ranks;  ///< what all ranks do together; empty: only one process can run it
};

/// Adds a command. The options that all commands have, `--json` and `--threads`, follow its own.
/// @param run_on_ranks  what it does under mpirun, if it can
CLI::App& add_command(CLI::App& app, Choice& choice, const std::string& name, const std::string& description,
                      std::function<Outcome()> run, std::function<Outcome()> run_on_ranks = {});

struct DeviceOptions;
struct InputOptions;
struct OutputOptions;

/// Adds the options that say how files are read.
/// @param vectors  whether the command takes tensors of order 1
void add_input_options(CLI::App& command, InputOptions& options, bool vectors);

/// Adds the options that say how a file is written.
void add_output_options(CLI::App& command, OutputOptions& options);

/// Adds the options that say where a product runs and, on the GPU, how: --space, --plan, --type.
void add_device_options(CLI::App& command, DeviceOptions& options);

/// Rejects values of an option outside [least, most].
CLI::Validator within(int least, int most);

}  // namespace sporos::tool
