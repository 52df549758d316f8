// SPDX-License-Identifier: Apache-2.0
/// @file transpose.cpp
/// `sporos transpose IN OUT`: swaps the rows and columns of a matrix, or reorders the modes of a tensor.
#include <CLI/CLI.hpp>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "commands.hpp"
#include "input.hpp"
#include "modes.hpp"
#include "output.hpp"
#include "statistics.hpp"

namespace sporos::tool {
namespace {

struct TransposeOptions {
  std::string in, out, modes;
  InputOptions input;
  OutputOptions output;
  bool conjugate = false;
};

/// The modes of the input in the order of the result's modes: as given by --modes, or reversed.
std::vector<int> modes_of_transpose(const TransposeOptions& options, int order) {
  std::vector<int> modes = parse_modes("--modes", options.modes);
  if (modes.empty()) {
    modes.resize(static_cast<std::size_t>(order));
    std::iota(modes.rbegin(), modes.rend(), 0);
  }
  expect_permutation(modes, order);
  return modes;
}

template <class Value, int Order>
Entries<Value, Order> conjugated(const Entries<Value, Order>& entries) {
  Entries<Value, Order> out = entries;
  if constexpr (is_complex_v<Value>) {
    out.values = make_array<Value>("sporos::conjugates", entries.size());
    for (std::size_t q = 0; q < out.values.extent(0); ++q) out.values(q) = Kokkos::conj(entries.values(q));
  }
  return out;
}

Outcome transpose_file(const TransposeOptions& options) {
  const Input input = read_input(options.in, options.input);
  const Destination out = destination(options.out, options.output, input.order());
  const std::vector<int> modes = modes_of_transpose(options, input.order());
  const AnyEntries turned = std::visit(
      [&](const auto& entries) -> AnyEntries {
        return permuted(options.conjugate ? conjugated(entries) : entries, modes);
      },
      input.entries);
  const AnyEntries sorted = merged(turned, input.duplicates(), false);
  const double write_seconds = write_output(out, sorted, style_of(input));

  Outcome outcome;
  Report& report = outcome.report;
  report.fact("command", "", std::string("transpose"));
  describe(report.section("input", input.path), input);
  Report& written = report_output(outcome, out, write_seconds);
  written.fact("extents", Shape{extents_of(sorted)});
  written.fact("entries", Count{size_of(sorted)});
  return outcome;
}

}  // namespace

void add_transpose(CLI::App& app, Choice& choice) {
  const auto options = std::make_shared<TransposeOptions>();
  CLI::App& command = add_command(app, choice, "transpose",
                                  "A matrix with rows for columns, a tensor with modes in any order",
                                  [options] { return transpose_file(*options); });
  command.add_option("IN", options->in, "File to read, or - for standard input")->required();
  command.add_option("OUT", options->out, "Name that ends in .mtx, .tns, .smtx, .npy, .npz or .h5; or -")
      ->required();
  command
      .add_option("--modes", options->modes,
                  "Modes of IN in the order of those of OUT, as 2,0,1; reversed unless given")
      ->type_name("MODES");
  command.add_flag("--conjugate", options->conjugate, "The conjugate transpose of complex values");
  add_input_options(command, options->input, true);
  add_output_options(command, options->output);
  command.footer("Entries come out sorted by their coordinates, duplicates added up.");
}

}  // namespace sporos::tool
