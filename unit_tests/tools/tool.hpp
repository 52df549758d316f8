// SPDX-License-Identifier: Apache-2.0
/// @file tool.hpp
/// The command `sporos` run as its users run it: a process with arguments, an exit code and two streams.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "formats/io/files.hpp"

namespace sporos_test {

using Arguments = std::vector<std::string>;
using Json = nlohmann::json;

/// What a run has left.
struct Ran {
  int code = -1;  ///< -1 where a signal ended it
  std::string out, err;
  std::int64_t peak_bytes = 0;  ///< of memory, as the system has counted them
};

inline std::string shown(const Arguments& arguments) {
  std::string line = "sporos";
  for (const std::string& argument : arguments) line += ' ' + argument;
  return line;
}

/// A pipe that holds `bytes`, to be read from its descriptor; at most what a pipe holds, 64 KiB.
inline int pipe_with(const std::string& bytes) {
  int ends[2] = {-1, -1};
  if (pipe(ends) != 0 || ::write(ends[1], bytes.data(), bytes.size()) != std::ssize(bytes))
    throw std::runtime_error("a pipe cannot be filled");
  close(ends[1]);
  return ends[0];
}

/// Runs `sporos` with these arguments and waits for it.
/// @param input  on standard input, a pipe; what the tests have there if empty
/// @param error  path of what is standard error, if it is not to be returned
inline Ran run(const Arguments& arguments, const std::string& input = "", const std::string& error = "") {
  const Folder streams;
  std::string program = SPOROS_TOOL;
  std::vector<std::string> words = arguments;
  std::vector<char*> argv = {program.data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::string out = streams.file("out"), err = error.empty() ? streams.file("err") : error;
  for (const auto& [stream, path] : {std::pair{STDOUT_FILENO, out}, std::pair{STDERR_FILENO, err}})
    posix_spawn_file_actions_addopen(&actions, stream, path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int piped = input.empty() ? -1 : pipe_with(input);
  if (piped >= 0) posix_spawn_file_actions_adddup2(&actions, piped, STDIN_FILENO);
  pid_t process = 0;
  const int refused = posix_spawn(&process, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (piped >= 0) close(piped);
  if (refused != 0) throw std::runtime_error(program + " cannot be run");
  int status = 0;
  rusage used{};
  wait4(process, &status, 0, &used);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(out),
          error.empty() ? content(err) : std::string(), std::int64_t{1024} * used.ru_maxrss};
}

/// Runs a command that has to succeed and to say nothing but its report.
inline std::string expect_done(const Arguments& arguments) {
  const Ran ran = run(arguments);
  EXPECT_EQ(ran.code, 0) << shown(arguments);
  EXPECT_EQ(ran.err, "") << shown(arguments);
  return ran.out;
}

/// The one JSON object on the standard output of a command that has to succeed.
inline Json report(Arguments arguments) {
  arguments.push_back("--json");
  const std::string out = expect_done(arguments);
  const Json object = Json::parse(out, nullptr, false);  // discarded where anything stands beside the object
  EXPECT_TRUE(object.is_object()) << shown(arguments) << "\nprints\n" << out;
  return object;
}

/// Runs a command that has to end with exit code 2 and one line on standard error that holds both `reason`
/// and `name`.
inline void expect_refused(const Arguments& arguments, const std::string& reason,
                           const std::string& name = "") {
  const Ran ran = run(arguments);
  const std::string what = shown(arguments) + "\nsays\n" + ran.err;
  EXPECT_EQ(ran.code, 2) << what;
  EXPECT_EQ(ran.out, "") << what;
  EXPECT_TRUE(ran.err.starts_with("sporos: ")) << what;
  EXPECT_TRUE(ran.err.ends_with('\n')) << what;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << what;
  EXPECT_NE(ran.err.find(reason), std::string::npos) << what << "expected: " << reason;
  EXPECT_NE(ran.err.find(name), std::string::npos) << what << "expected: " << name;
}

/// The keys of an object, in alphabetical order.
inline std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [key, value] : object.items()) names.push_back(key);
  return names;
}

/// Every file of the examples.
inline std::vector<std::string> all_examples() {
  std::vector<std::string> paths;
  for (const auto& item : std::filesystem::directory_iterator(example_data()))
    if (item.path().extension() != ".md") paths.push_back(item.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace sporos_test
