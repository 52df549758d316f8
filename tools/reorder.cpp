// SPDX-License-Identifier: Apache-2.0
/// @file reorder.cpp
/// `sporos reorder IN OUT`: puts the rows and columns of a square matrix into another order.
#include <CLI/CLI.hpp>
#include <memory>
#include <numeric>
#include <optional>
#include <string>

#include "commands.hpp"
#include "input.hpp"
#include "ordering.hpp"
#include "output.hpp"

namespace sporos::tool {
namespace {

struct ReorderOptions {
  std::string in, out, permutation;
  std::string method = "rcm";
  InputOptions input;
  OutputOptions output;
};

std::optional<Destination> destination_of_permutation(const std::string& path) {
  if (path.empty()) return std::nullopt;
  Destination out = destination(path, OutputOptions{}, 2);
  if (out.kind != FileKind::matrix_market && out.kind != FileKind::npy)
    throw UsageError(path + ": a permutation needs a file name that ends in .mtx or .npy");
  return out;
}

/// Writes the old number of each row, counted from 1 in a .mtx file, as its coordinates are, and from 0 in a
/// .npy file.
double write_permutation(const Destination& out, const NodeOrder& order) {
  const std::int64_t first = out.kind == FileKind::matrix_market ? 1 : 0;
  const auto count = static_cast<std::int64_t>(order.size());
  Entries<std::int64_t, 2> column({count, 1}, count);
  for (std::int64_t place = 0; place < count; ++place)
    column.set(place, {place, 0}, order[static_cast<std::size_t>(place)] + first);
  return write_dense_output(out, column);
}

void describe(Report& report, const Envelope& before, const Envelope& after) {
  report.fact("bandwidth_before", "bandwidth before", Count{before.bandwidth});
  report.fact("bandwidth", Count{after.bandwidth});
  report.fact("profile_before", "profile before", Count{before.profile});
  report.fact("profile", Count{after.profile});
}

Outcome reorder(const ReorderOptions& options) {
  if (options.out == standard_stream && options.permutation == standard_stream)
    throw UsageError("only one of OUT and --permutation can be standard output");
  const Destination out = destination(options.out, options.output, 2);
  const auto permutation = destination_of_permutation(options.permutation);
  const Input input = read_matrix(options.in, options.input);
  const auto extents = input.extents();
  if (extents[0] != extents[1])
    throw UsageError(text(input.path, " is ", to_text(Cell(Shape{extents})), ", expected a square matrix"));
  const Kokkos::Timer timer;
  const Graph graph = graph_of(input.entries);
  const NodeOrder order = options.method == "degree" ? by_degree(graph) : reverse_cuthill_mckee(graph);
  const double seconds = timer.seconds();
  NodeOrder as_it_was(order.size());
  std::iota(as_it_was.begin(), as_it_was.end(), std::int64_t{0});
  const AnyEntries entries = reordered(input.entries, order, input.duplicates());
  const double write_seconds = write_output(out, entries, style_of(input));

  Outcome outcome;
  Report& report = outcome.report;
  report.fact("command", "", std::string("reorder"));
  describe(report.section("input", input.path), input);
  Report& found = report.section("order", "order");
  found.fact("method", options.method);
  found.fact("order_seconds", "found in", Seconds{seconds});
  describe(found, envelope(graph, as_it_was), envelope(graph, order));
  Report& written = report_output(outcome, out, write_seconds);
  written.fact("entries", Count{size_of(entries)});
  if (permutation) {
    write_permutation(*permutation, order);
    written.fact("permutation", permutation->name);
    outcome.output_is_taken = outcome.output_is_taken || permutation->is_standard_output();
  }
  return outcome;
}

}  // namespace

void add_reorder(CLI::App& app, Choice& choice) {
  const auto options = std::make_shared<ReorderOptions>();
  CLI::App& command =
      add_command(app, choice, "reorder", "Rows and columns in an order that brings entries to the diagonal",
                  [options] { return reorder(*options); });
  command.add_option("IN", options->in, "File with a square matrix, or - for standard input")->required();
  command.add_option("OUT", options->out, "Name that ends in .mtx, .tns, .smtx, .npy, .npz or .h5; or -")
      ->required();
  command
      .add_option("--method", options->method,
                  "rcm (reverse Cuthill-McKee, unless given), degree (rows with few entries first)")
      ->check(CLI::IsMember({"rcm", "degree"}).description(""))
      ->type_name("NAME");
  command
      .add_option("--permutation", options->permutation,
                  "File for the old number of each row: .mtx, from 1, or .npy, from 0")
      ->type_name("FILE");
  add_input_options(command, options->input, false);
  add_output_options(command, options->output);
  command.footer(
      "The pattern of a matrix that is not symmetric is taken together with its transpose's. Bandwidth is "
      "the\n"
      "largest |i - j| of an entry, profile the sum over the rows of the distance of the first entry.");
}

}  // namespace sporos::tool
