// SPDX-License-Identifier: Apache-2.0
/// @file mttkrp.cpp
/// `sporos mttkrp TENSOR --mode m --rank r`: the kernel of tensor decompositions, with random factors.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "input.hpp"
#include "memory.hpp"
#include "mttkrp_run.hpp"
#include "output.hpp"
#include "statistics.hpp"

namespace sporos::tool {
namespace {

struct MttkrpOptions {
  std::string path, out;
  InputOptions input;
  OutputOptions output;
  int mode = 0;
  int rank = 16;
  int repeats = 1;
  unsigned seed = 1;
  bool verify = false;
};

/// Values in [0, 1), the same on every machine.
Factors made_up_factors(const std::vector<std::int64_t>& extents, int rank, unsigned seed) {
  std::mt19937_64 bits(seed);
  Factors factors;
  for (std::size_t mode = 1; mode < extents.size(); ++mode) {
    std::vector<double> values(static_cast<std::size_t>(extents[mode] * rank));
    for (double& value : values) value = static_cast<double>(bits() >> 11) * 0x1p-53;
    factors.push_back(std::move(values));
  }
  return factors;
}

template <class Value, int Order>
Entries<double, Order> as_real(const Entries<Value, Order>& entries) {
  if constexpr (std::is_same_v<Value, double>) {
    return entries;
  } else {
    Entries<double, Order> out(entries.extents, 0);
    out.coordinates = entries.coordinates;
    out.values = make_array<double>("sporos::operand", entries.size());
    for (std::size_t q = 0; q < out.values.extent(0); ++q)
      out.values(q) = static_cast<double>(entries.values(q));
    return out;
  }
}

template <int Order>
Entries<double, Order> mode_first(const Entries<double, Order>& entries, int mode) {
  Entries<double, Order> out = entries;
  const auto first = static_cast<std::size_t>(mode);
  std::rotate(out.extents.begin(), out.extents.begin() + first, out.extents.begin() + first + 1);
  std::rotate(out.coordinates.begin(), out.coordinates.begin() + first, out.coordinates.begin() + first + 1);
  return out;
}

void check(const MttkrpOptions& options, const Input& input) {
  const auto extents = input.extents();
  if (input.order() < 2)
    throw UsageError(input.path + ": holds a vector; mttkrp takes a matrix or a tensor of order 3 to 6");
  if (input.field() == "complex")
    throw UsageError(input.path + ": mttkrp takes real values, these are complex");
  if (options.mode >= input.order())
    throw UsageError(
        text("--mode is ", options.mode, ", but the modes of ", input.path, " are 0 to ", input.order() - 1));
  double rows = 0;
  for (const std::int64_t extent : extents) {
    if (extent > std::numeric_limits<std::int32_t>::max())
      throw UsageError(text(input.path, ": the extent ", extent,
                            " is too large for mttkrp, which takes up to ",
                            std::numeric_limits<std::int32_t>::max()));
    rows += static_cast<double>(extent);
  }
  expect_memory(2 * rows * options.rank * sizeof(double), input.path + ": mttkrp with its factor matrices");
}

/// The statement in terms of the file's modes; for mode 1 of three, "M(i, r) = T(k, i, l) * C(k, r) *
/// D(l, r)".
std::string statement_text(int order, int mode) {
  const std::string others = "klmnp";
  const std::string factors = "CDEFG";
  std::string modes, product;
  for (int at = 0, other = 0; at < order; ++at) {
    if (at > 0) modes += ", ";
    if (at == mode) {
      modes += 'i';
      continue;
    }
    const auto which = static_cast<std::size_t>(other++);
    modes += others[which];
    product += std::string(" * ") + factors[which] + '(' + others[which] + ", r)";
  }
  return "M(i, r) = T(" + modes + ")" + product;
}

struct Computed {
  MttkrpRun run;
  Comparison found;
};

Computed compute(const MttkrpOptions& options, const Input& input) {
  const AnyEntries entries = merged(input.entries, input.duplicates(), false);
  return std::visit(
      [&]<class Value, int Order>(const Entries<Value, Order>& original) -> Computed {
        if constexpr (Order < 2 || is_complex_v<Value>) {
          throw InternalError("mttkrp has refused this tensor already");
        } else {
          const auto turned = mode_first(as_real(original), options.mode);
          const Factors factors =
              made_up_factors({turned.extents.begin(), turned.extents.end()}, options.rank, options.seed);
          Computed out;
          out.run = run_mttkrp(turned, factors, options.rank, options.repeats);
          if (options.verify) out.found = compare_mttkrp(turned, factors, options.rank, out.run.result);
          return out;
        }
      },
      entries);
}

Outcome mttkrp(const MttkrpOptions& options) {
  std::optional<Destination> out;
  if (!options.out.empty()) out = destination(options.out, options.output, 2);
  const Input input = read_input(options.path, options.input);
  check(options, input);
  const auto [run, found] = compute(options, input);

  Outcome outcome;
  Report& report = outcome.report;
  report.fact("command", "", std::string("mttkrp"));
  Report& tensor = report.section("tensor", input.path);
  describe(tensor, input);
  tensor.fact("format", "stored as",
              run.tensor.format + (options.mode > 0 ? text(", mode ", options.mode, " first") : ""));
  tensor.fact("bytes", "memory", Bytes{run.tensor.bytes});
  tensor.fact("assemble_seconds", "assembled in", Seconds{run.tensor.assemble_seconds});

  const std::string statement = statement_text(input.order(), options.mode);
  Report& result = report.section("result", statement);
  const double median = run.times.median();
  result.fact("statement", "", statement);
  result.fact("mode", Count{options.mode});
  result.fact("rank", Count{options.rank});
  result.fact("seed", "", Count{options.seed});
  result.fact("extents", Shape{{run.result.extents[0], run.result.extents[1]}});
  result.fact("bytes", "memory", Bytes{run.result.size() * static_cast<std::int64_t>(sizeof(double))});
  describe(result, run.times);
  // For each entry and column there is one multiplication per factor, and one addition.
  const double operations = static_cast<double>(run.tensor.stored) * options.rank * input.order();
  if (median > 0) result.fact("operations_per_second", "speed", PerSecond{operations / median});

  if (out) report_output(outcome, *out, write_dense_output(*out, run.result));
  if (options.verify) {
    describe(report.section("checks", "checked against sums in long double"), found);
    if (!found.holds()) outcome.failed_check = "the result is not that of the reference";
  }
  return outcome;
}

}  // namespace

void add_mttkrp(CLI::App& app, Choice& choice) {
  const auto options = std::make_shared<MttkrpOptions>();
  CLI::App& command =
      add_command(app, choice, "mttkrp", "A tensor times the Khatri-Rao product of random factor matrices",
                  [options] { return mttkrp(*options); });
  command.add_option("TENSOR", options->path, "File with a matrix or a tensor, or - for standard input")
      ->required();
  command.add_option("--mode", options->mode, "Mode of the result, from 0; 0 unless given")
      ->check(within(0, largest_order - 1))
      ->type_name("M");
  command.add_option("--rank", options->rank, "Columns of the factor matrices; 16 unless given")
      ->check(within(1, 65536))
      ->type_name("R");
  command
      .add_option("-o,--output", options->out,
                  "File to write the result to: .mtx or .tns, and .gz to compress; or -")
      ->type_name("FILE");
  command
      .add_option("--seed", options->seed, "Of the factor matrices' random values in [0, 1); 1 unless given")
      ->type_name("N");
  command.add_option("--repeats", options->repeats, "Run as often, and say the median time")
      ->check(within(1, 100000))
      ->type_name("N");
  command.add_flag("--verify", options->verify,
                   "Compare with a reference, each value within its rounding error bound");
  add_input_options(command, options->input, false);
  add_output_options(command, options->output);
  command.footer(
      "For a tensor of order 3 and mode 0: M(i, r) = sum over k, l of T(i, k, l) * C(k, r) * D(l, r).");
}

}  // namespace sporos::tool
