// SPDX-License-Identifier: Apache-2.0
/// @file validate.cpp
/// `sporos validate FILE`: checks that a file is well formed and that its contents can be stored.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "input.hpp"
#include "passage.hpp"
#include "stages.hpp"
#include "statistics.hpp"

namespace sporos::tool {
namespace {

struct ValidateOptions {
  std::string path;
  InputOptions input;
};

/// Assembles the entries in the formats most likely to be used, and lets the library check the arrays.
void check_formats(Report& report, const Input& input, Stages& stages) {
  PassageOptions options;
  options.duplicates = input.duplicates();
  options.take_out = false;
  std::vector<FormatName> formats = {FormatName::coo, FormatName::csf};
  if (input.order() == 2 && bytes_of_full_levels(FormatName::csr, input.extents()) < 0x1p28)
    formats.push_back(FormatName::csr);
  std::string names;
  double seconds = 0;
  for (const FormatName format : formats) {
    stages.begin(text("checking it as ", to_string(format)));
    const Passage passage = pass_through(format, input.entries, options);
    names += (names.empty() ? "" : ", ") + std::string(to_string(format));
    seconds += passage.assemble_seconds + passage.validate_seconds;
  }
  report.fact("formats", "valid in", names);
  report.fact("validate_seconds", "checked in", Seconds{seconds});
}

Outcome validate_file(const ValidateOptions& options) {
  const Input input = read_input(options.path, options.input);
  Stages stages(input.path, input.size());
  stages.begin("counting");
  const Statistics counted = statistics(input.entries, [&](double part) { stages.share(part); });

  Outcome outcome;
  Report& report = outcome.report;
  report.fact("command", "", std::string("validate"));
  std::vector<std::pair<std::int64_t, std::string>> findings = {
      {counted.duplicates, "duplicate coordinates"},
      {counted.zeros, "stored zeros"},
      {counted.not_finite, "values that are not finite"},
      {input.above_diagonal.value_or(0), "entries above the diagonal of a symmetric file"}};
  std::string found;
  for (const auto& [count, what] : findings)
    if (count > 0) found += (found.empty() ? "" : ", ") + std::to_string(count) + ' ' + what;
  if (options.input.strict && !found.empty()) throw UsageError(input.path + ": " + found + " (--strict)");

  report.remark(input.path + ": valid");
  describe(report, input);
  check_formats(report, input, stages);
  report.fact("valid", "", true);
  report.fact("duplicates", "", Count{counted.duplicates});
  report.fact("stored_zeros", "", Count{counted.zeros});
  report.fact("not_finite", "", Count{counted.not_finite});
  if (!found.empty()) report.fact("", "worth knowing", found);
  return outcome;
}

}  // namespace

void add_validate(CLI::App& app, Choice& choice) {
  const auto options = std::make_shared<ValidateOptions>();
  CLI::App& command = add_command(app, choice, "validate",
                                  "Read a whole file and check it; say line and reason where it is malformed",
                                  [options] { return validate_file(*options); });
  command.add_option("FILE", options->path, "File to read, or - for standard input")->required();
  command.add_flag("--strict", options->input.strict, "Refuse what is only told otherwise, see below");
  add_input_options(command, options->input, true);
  command.footer(
      "--strict refuses duplicate coordinates, stored zeros, infinities and NaN, and entries of a symmetric\n"
      "Matrix Market file above the diagonal.");
}

}  // namespace sporos::tool
