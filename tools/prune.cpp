// SPDX-License-Identifier: Apache-2.0
/// @file prune.cpp
/// `sporos prune IN OUT`: keeps the largest units of each window of a matrix.
#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <sporos/formats/io/read.hpp>
#include <sporos/formats/prune_entries.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "commands.hpp"
#include "input.hpp"
#include "output.hpp"
#include "statistics.hpp"

namespace sporos::tool {
namespace {

struct PruneCommand {
  std::string in, out;
  InputOptions input;
  OutputOptions output;
  std::string keep = "2:4";
  Windows windows;
  std::string by = "l1";
  bool scale = false;
};

/// Parses "2:4".
std::optional<std::pair<std::int64_t, std::int64_t>> parse_ratio(const std::string& ratio) {
  const auto number = [](const std::string& digits) -> std::optional<std::int64_t> {
    if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos)
      return std::nullopt;
    return std::stoll(digits);
  };
  const auto colon = ratio.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto kept = number(ratio.substr(0, colon)), window = number(ratio.substr(colon + 1));
  if (!kept || !window || *kept < 1 || *kept > *window) return std::nullopt;
  return std::pair(*kept, *window);
}

/// The sum of the values' magnitudes.
double total(const AnyEntries& any) {
  return std::visit(
      [](const auto& entries) {
        double sum = 0;
        for (std::size_t q = 0; q < entries.values.extent(0); ++q)
          sum += sporos::detail::magnitude(entries.values(q));
        return sum;
      },
      any);
}

AnyEntries pruned(const AnyEntries& any, const Windows& windows, const PruneOptions& options) {
  return std::visit(
      [&]<class Value, int Order>(const Entries<Value, Order>& entries) -> AnyEntries {
        if constexpr (Order == 2)
          return prune(entries, windows, options);
        else
          return entries;
      },
      any);
}

Outcome prune_file(PruneCommand command) {
  const auto ratio = parse_ratio(command.keep);
  if (!ratio) throw UsageError("--keep is " + command.keep + ", expected N:M with 1 <= N <= M, as 2:4");
  std::tie(command.windows.kept, command.windows.window) = *ratio;
  const Input input = read_matrix(command.in, command.input);
  const Destination out = destination(command.out, command.output, 2);
  if (command.scale && input.field() != "real" && input.field() != "complex")
    throw UsageError(text(input.path, ": --scale multiplies values by ", command.windows.window, "/",
                          command.windows.kept, ", but this file is ", input.field()));
  if (out.kind == FileKind::smtx && !input.is_pattern())
    throw UsageError(out.name + ": a .smtx file has no values: write a .mtx file");
  const AnyEntries before = merged(input.entries, input.duplicates(), true);
  const PruneOptions how{.by = command.by == "l2" ? Magnitude::l2 : Magnitude::l1, .scale = command.scale};
  const AnyEntries after = pruned(before, command.windows, how);
  const double scale = sporos::detail::scale_of(how, ratio->first, ratio->second);
  OutputStyle style;
  style.pattern = input.is_pattern();
  const double write_seconds = write_output(out, after, style);

  Outcome outcome;
  Report& report = outcome.report;
  report.fact("command", "", std::string("prune"));
  describe(report.section("input", input.path), input);
  Report& written = report_output(outcome, out, write_seconds);
  written.fact("entries", Count{size_of(after)});
  const double all = total(before);
  written.fact("magnitude_kept", "of the magnitude", Part{all > 0 ? total(after) / scale / all : 1});
  return outcome;
}

}  // namespace

void add_prune(CLI::App& app, Choice& choice) {
  const auto options = std::make_shared<PruneCommand>();
  CLI::App& command =
      add_command(app, choice, "prune", "Keeps the N largest of each M neighbouring elements of a matrix",
                  [options] { return prune_file(*options); });
  command.add_option("IN", options->in, "File with a matrix, or - for standard input")->required();
  command.add_option("OUT", options->out, "Name that ends in .mtx, .tns, .smtx, .npy, .npz or .h5; or -")
      ->required();
  command.add_option("--keep", options->keep, "How many of how many; 2:4 unless given")->type_name("N:M");
  command
      .add_option("--unit", options->windows.unit,
                  "Neighbouring elements, across the window, that are kept or left together; 1 unless given")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->type_name("L");
  command
      .add_option("--along", options->windows.along, "Windows of rows (0) or of columns (1, unless given)")
      ->check(within(0, 1))
      ->type_name("MODE");
  command.add_option("--by", options->by, "Size of a unit: l1 (unless given), l2")
      ->check(CLI::IsMember({"l1", "l2"}))
      ->type_name("NORM");
  command.add_flag("--scale", options->scale, "Multiply what is kept by M/N");
  add_input_options(command, options->input, false);
  add_output_options(command, options->output);
  command.footer("Duplicates are added up first, and stored zeros left out.");
}

}  // namespace sporos::tool
