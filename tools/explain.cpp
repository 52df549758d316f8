// SPDX-License-Identifier: Apache-2.0
/// @file explain.cpp
/// `sporos explain NAME`: shows the loops of a statement without any code having to be written.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "device.hpp"
#include "device_settings.hpp"
#include "explain_on_device.hpp"
#include "explanations.hpp"
#include "input.hpp"

namespace sporos::tool {
namespace {

constexpr int default_repeats = 20;

struct ExplainOptions {
  std::string name, format, order;
  bool list = false;
  DeviceOptions device;
  std::string file;
  InputOptions input;
  int columns = columns_of_factors;
  int repeats = default_repeats;
};

using Explanations = std::vector<Explanation>;

/// The distinct values of a member, as in "coo, csf", over all explanations or over those with one name.
std::string joined(const Explanations& all, const std::string& name, std::string Explanation::* what) {
  std::string out, last;
  for (const Explanation& one : all) {
    if ((!name.empty() && one.name != name) || one.*what == last) continue;
    last = one.*what;
    out += (out.empty() ? "" : ", ") + last;
  }
  return out;
}

/// The requested explanation. For a product of sparse matrices, the loop order determines the formats.
const Explanation& chosen(const Explanations& all, const ExplainOptions& options) {
  const std::string names = joined(all, "", &Explanation::name);
  if (options.name.empty()) throw UsageError("NAME is required: one of " + names + ", or --list");
  const auto has_name = [&](const Explanation& one) { return one.name == options.name; };
  const auto first = std::find_if(all.begin(), all.end(), has_name);
  if (first == all.end())
    throw UsageError("no statement is called " + options.name + "; expected one of " + names);

  const bool by_order = options.name == "spgemm";
  const std::string& given = by_order ? options.order : options.format;
  if (!(by_order ? options.format : options.order).empty())
    throw UsageError(by_order ? "spgemm takes --order, which says the formats as well, not --format"
                              : options.name + " takes --format, not --order: that is for spgemm");
  if (given.empty()) return *first;
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const Explanation& one) { return has_name(one) && one.format == given; });
  if (found == all.end())
    throw UsageError(options.name + " is not explained for " +
                     (by_order ? "the loop order " : "the format ") + given + "; expected one of " +
                     joined(all, options.name, &Explanation::format));
  return *found;
}

Outcome list(const Explanations& all) {
  Outcome outcome;
  std::vector<std::vector<Cell>> rows;
  for (const Explanation& one : all)
    if (rows.empty() || std::get<std::string>(rows.back()[0]) != one.name)
      rows.push_back({one.name, one.statement(), joined(all, one.name, &Explanation::format)});
  outcome.report.fact("command", "", std::string("explain"));
  outcome.report.remark("Statements, and the formats or loop orders in which they are explained:");
  outcome.report.table("statements", {{"name", "name"}, {"statement", "statement"}, {"formats", "formats"}},
                       std::move(rows));
  return outcome;
}

/// Adds the measured time of each candidate beside the expected one, and why other candidates decline the
/// operands.
void measure_candidates(Report& report, const std::vector<CandidateRuns>& runs) {
  std::vector<std::vector<Cell>> measured, refused;
  for (const CandidateRuns& one : runs)
    if (one.times)
      measured.push_back({one.kernel, Seconds{one.expected_seconds}, Seconds{one.times->median()},
                          Seconds{one.times->fastest()}});
    else
      refused.push_back({one.kernel, one.reason});
  report.table("candidates",
               {{"kernel", "kernel"},
                {"expected_seconds", "expected"},
                {"seconds", "median"},
                {"fastest_seconds", "fastest"}},
               std::move(measured));
  report.table("refused", {{"kernel", ""}, {"reason", ""}}, std::move(refused));
}

Outcome explain_on_host(const ExplainOptions& options) {
  const Explanations all = explanations();
  if (options.list) return list(all);
  const Explanation& one = chosen(all, options);
  std::optional<Input> input;
  if (!options.file.empty()) input = read_input(options.file, options.input);
  const StatementOperands operands =
      input ? operands_from(*input, one, options.columns, "explain") : made_up_operands(one, options.columns);
  std::string text = one.text(operands);
  Outcome outcome;
  Report& report = outcome.report;
  report.fact("command", "", std::string("explain"));
  report.fact("name", "", one.name);
  report.fact(one.name == "spgemm" ? "loop_order" : "format", "", one.format);
  report.fact("statement", "", text.substr(0, text.find('\n')));
  report.fact("explanation", "", text);
  if (input) describe(report.section("A", "A  " + input->path), *input);
  while (text.ends_with('\n')) text.pop_back();
  report.remark(text);
  if (input) measure_candidates(report, one.run_candidates(operands, options.repeats));
  return outcome;
}

Outcome explain_statement(const ExplainOptions& options) {
  auto settings = device_settings(options.device);
  if (options.file.empty() && options.repeats != default_repeats)
    throw UsageError("--repeats goes with --file: without one nothing is run");
  if (!settings) return explain_on_host(options);
  if (options.list || !options.format.empty() || !options.order.empty())
    throw UsageError("--list, --format and --order are for the host: they do not go with --space cuda");
  settings->repeats = options.repeats;
  return explain_on_device({options.name, options.file, options.input, options.columns}, *settings);
}

}  // namespace

void add_explain(CLI::App& app, Choice& choice) {
  const auto options = std::make_shared<ExplainOptions>();
  CLI::App& command = add_command(app, choice, "explain",
                                  "What a statement does before it runs: loops, operands, result, bytes",
                                  [options] { return explain_statement(*options); });
  command.add_option("NAME", options->name, "spmv, spmm, spgemm, sddmm, add, mttkrp, ttv or inner");
  command.add_flag("--list", options->list, "Name the statements and their formats");
  command
      .add_option("--format", options->format,
                  "Format of the sparse operands; the first of --list unless given")
      ->type_name("NAME");
  command
      .add_option("--order", options->order,
                  "Loops of spgemm: ikj, kij, ijk, jki, kji, jik; ikj unless given")
      ->type_name("ORDER");
  add_device_options(command, options->device);
  command
      .add_option("--file", options->file,
                  "File with the first sparse operand: runs the statement by each kernel that\n"
                  "takes it, and says how long that takes beside what is expected")
      ->type_name("FILE");
  command.add_option("--columns", options->columns, "Columns of dense factors; 16 unless given")
      ->check(within(1, 65536))
      ->type_name("N");
  command.add_option("--repeats", options->repeats, "Runs with --file; 20 unless given")
      ->check(within(1, 100000))
      ->type_name("N");
  add_input_options(command, options->input, false);
  command.footer(
      "Without --file, the tensors are made up: 1000 along each mode, a band of 2998 nonzeros; nothing is "
      "run.\n"
      "With it, spgemm multiplies A by itself, or by its transpose where it is not square, and add adds its\n"
      "transpose, or A where it is not square; mttkrp, ttv and inner take tensors of order 3.\n"
      "On the GPU: spmv, spmm and spgemm. In a program: std::cout << explain(assign(y(i), A(i, j) * x(j)));");
}

}  // namespace sporos::tool
