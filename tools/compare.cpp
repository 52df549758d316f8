// SPDX-License-Identifier: Apache-2.0
/// @file compare.cpp
/// `sporos compare A B`: whether two files hold the same matrix or tensor and, if not, where they differ.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "differences.hpp"
#include "input.hpp"
#include "statistics.hpp"

namespace sporos::tool {
namespace {

struct CompareOptions {
  std::string a, b;
  InputOptions input;
  Tolerance tolerance;
};

/// Coordinates counted from 1, as people and most kinds of files do.
std::vector<std::int64_t> counted_from_one(std::vector<std::int64_t> coordinate) {
  for (std::int64_t& i : coordinate) ++i;
  return coordinate;
}

std::string place_text(const std::vector<std::int64_t>& coordinate) {
  std::string out;
  for (const std::int64_t i : counted_from_one(coordinate))
    out += (out.empty() ? "(" : ", ") + std::to_string(i);
  return out + ')';
}

Cell place_cell(const std::vector<std::int64_t>& coordinate) {
  return coordinate.empty() ? Cell(Absent{}) : Cell(Shape{counted_from_one(coordinate)});
}

void describe_greatest(Report& report, const std::string& key, const std::string& label,
                       const Differences::Greatest& greatest) {
  report.fact(key, "", greatest.amount);
  report.fact(key + "_at", "", place_cell(greatest.coordinate));
  std::string shown = to_text(Cell(greatest.amount));
  if (!greatest.coordinate.empty()) shown += " at " + place_text(greatest.coordinate);
  report.fact("", label, shown);
}

void describe(Report& report, const Differences& found) {
  report.fact("in_both", "in both", Count{found.in_both});
  report.fact("only_in_A", "only in A", Count{found.only_in_a});
  report.fact("only_in_B", "only in B", Count{found.only_in_b});
  report.fact("beyond_tolerance", "values that differ", Count{found.beyond});
  describe_greatest(report, "greatest_difference", "greatest difference", found.absolute);
  describe_greatest(report, "greatest_relative_difference", "relative", found.relative);
  report.fact("differences", "", Count{found.total});
  const Differences::Place first = found.first.value_or(Differences::Place{});
  report.fact("first_difference_at", "", place_cell(first.coordinate));
  report.fact("first_in_A", "", first.a);
  report.fact("first_in_B", "", first.b);
}

/// One line that says how two files differ; empty if they are equal.
std::string verdict(const Input& A, const Input& B, const Differences& found) {
  const std::string both = A.path + " and " + B.path;
  if (A.extents() != B.extents())
    return text(both, " differ: the first is ", to_text(Cell(Shape{A.extents()})), ", the second ",
                to_text(Cell(Shape{B.extents()})));
  if (!found.first) return "";
  const auto& first = *found.first;
  return text(both, " differ at ", found.total,
              found.total == 1 ? " coordinate: at " : " coordinates, first at ", place_text(first.coordinate),
              ", where the first has ", first.text_a, " and the second ", first.text_b);
}

Outcome compare_files(const CompareOptions& options) {
  if (options.a == standard_stream && options.b == standard_stream)
    throw UsageError("only one of the two files can be standard input");
  for (const double bound : {options.tolerance.absolute, options.tolerance.relative})
    if (!(bound >= 0)) throw UsageError("a tolerance is a number, at least 0");
  const Input A = read_input(options.a, options.input), B = read_input(options.b, options.input);
  const bool same_extents = A.extents() == B.extents();
  Differences found;
  if (same_extents)
    found = differences(merged(A.entries, A.duplicates(), false), merged(B.entries, B.duplicates(), false),
                        options.tolerance);

  Outcome outcome;
  outcome.failed_check = verdict(A, B, found);
  Report& report = outcome.report;
  report.fact("command", "", std::string("compare"));
  describe(report.section("A", "A  " + A.path), A);
  describe(report.section("B", "B  " + B.path), B);
  Report& result = report.section("comparison", "compared");
  result.fact("equal", outcome.failed_check.empty());
  result.fact("same_extents", "the same extents", same_extents);
  result.fact("tolerance", "", options.tolerance.absolute);
  result.fact("relative_tolerance", "", options.tolerance.relative);
  if (same_extents) describe(result, found);
  return outcome;
}

}  // namespace

void add_compare(CLI::App& app, Choice& choice) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App& command =
      add_command(app, choice, "compare", "Whether two files hold the same: extents, pattern and values",
                  [options] { return compare_files(*options); });
  command.add_option("A", options->a, "File to read, or - for standard input")->required();
  command.add_option("B", options->b, "File to compare with it")->required();
  command
      .add_option("--tolerance", options->tolerance.absolute,
                  "Difference up to which values are equal; 0 unless given")
      ->type_name("T");
  command
      .add_option("--relative", options->tolerance.relative,
                  "The same as a part of the larger of the two values; 0 unless given")
      ->type_name("R");
  command.add_flag("--missing-is-zero", options->tolerance.missing_is_zero,
                   "An entry that only one file has is compared with 0");
  add_input_options(command, options->input, true);
  command.footer(
      "Values differ if they are beyond both tolerances. Duplicates are added up first. The order of "
      "entries\n"
      "and the kind of file do not matter. Exit code 0: equal; 1: different.");
}

}  // namespace sporos::tool
