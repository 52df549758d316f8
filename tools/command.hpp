// SPDX-License-Identifier: Apache-2.0
/// @file command.hpp
/// What every command of `sporos` is made of. A command is one file, `<name>.cpp`, with one function,
/// `add_<name>`, which says its options and what it does; commands.hpp lists them.
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

/// The name of the program, in front of each message.
inline constexpr std::string_view program = "sporos";

/// Exit codes.
inline constexpr int done = 0;
inline constexpr int check_failed = 1;  ///< a result is not what the reference says, or a fault of Sporos
inline constexpr int bad_input = 2;     ///< an option, a file or its content

/// The user asked for what cannot be had: an option, or files that do not go together. One line.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What has come out of a command.
struct Outcome {
  Report report;
  std::string failed_check;  ///< one line; empty where every check holds
};

/// The command that the user chose, once the command line is read.
struct Choice {
  bool json = false;
  int threads = 0;  ///< 0: as many as Kokkos takes
  std::function<Outcome()> run;
};

/// Adds a command. The options that all have, `--json` and `--threads`, follow its own.
CLI::App& add_command(CLI::App& app, Choice& choice, const std::string& name, const std::string& description,
                      std::function<Outcome()> run);

/// Refuses an option's value outside of [least, most].
CLI::Validator within(int least, int most);

}  // namespace sporos::tool
