// SPDX-License-Identifier: Apache-2.0
/// @file cp.cpp
/// `sporos cp TENSOR --rank r -o PREFIX`: decomposes a tensor into a sum of outer products and writes them to
/// files.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "cp_run.hpp"
#include "input.hpp"
#include "memory.hpp"
#include "output.hpp"
#include "plot.hpp"
#include "statistics.hpp"

namespace sporos::tool {
namespace {

struct CpOptions {
  std::string path, prefix;
  InputOptions input;
  CpSearch search;
};

/// The files whose names begin with a prefix.
struct CpFiles {
  std::vector<std::string> factors;
  std::string lambda, plot;

  CpFiles(const std::string& prefix, int order) : lambda(prefix + ".lambda.mtx"), plot(prefix + ".fit.png") {
    for (int mode = 0; mode < order; ++mode) factors.push_back(text(prefix, ".mode", mode, ".mtx"));
  }

  void check() const {
    for (const std::string& factor : factors) destination(factor, OutputOptions{}, 2);
    destination(lambda, OutputOptions{}, 2);
    picture_destination(plot);
  }
};

void check(const CpOptions& options, const Input& input) {
  const std::string& path = input.path;
  if (input.order() < 3 || input.order() > 5)
    throw UsageError(text(path, ": holds a tensor of order ", input.order(), "; cp takes order 3 to 5"));
  double rows = 0;
  for (const std::int64_t extent : input.extents()) {
    if (extent > std::numeric_limits<std::int32_t>::max())
      throw UsageError(text(path, ": the extent ", extent, " is too large for cp, which takes up to ",
                            std::numeric_limits<std::int32_t>::max()));
    rows += static_cast<double>(extent);
  }
  // Memory for each factor, and for the right side of its least squares problem.
  expect_memory(2 * rows * options.search.rank * sizeof(double), path + ": cp with its factor matrices");
}

CpRun compute(const CpOptions& options, const Input& input) {
  const AnyEntries entries = merged(input.entries, input.duplicates(), false);
  return std::visit(
      [&]<class Value, int Order>(const Entries<Value, Order>& given) -> CpRun {
        if constexpr (Order < 3 || Order > 5) {
          throw InternalError("cp has refused this tensor already");
        } else {
          double largest = 0;
          for (std::size_t q = 0; q < given.values.extent(0); ++q) {
            if (!std::isfinite(given.values(q)))
              throw UsageError(input.path + ": holds a value that is not finite: nothing is near it");
            largest = std::max(largest, std::abs(given.values(q)));
          }
          if (largest == 0)
            throw UsageError(input.path + ": holds no nonzero: there is nothing to decompose");
          if (largest > 1e150 || largest < 1e-150)
            throw UsageError(text(input.path, ": the largest value is of modulus ", to_text(Cell(largest)),
                                  ", whose square a double does not hold: scale the values"));
          return run_cp(given, options.search);
        }
      },
      entries);
}

/// All fits for programs; about ten of them and the last for people.
void describe_fits(Report& report, const CpRun& run) {
  std::vector<std::vector<Cell>> rows, some;
  const std::size_t count = run.fits.size(), step = (count + 9) / 10;
  for (std::size_t at = 0; at < count; ++at) {
    std::vector<Cell> row(3);
    row[0] = Count{static_cast<std::int64_t>(at + 1)};
    row[1] = run.fits[at];
    if (at > 0) row[2] = run.fits[at] - run.fits[at - 1];
    rows.push_back(std::move(row));
    if (at % step == 0 || at + 1 == count) some.push_back(rows.back());
  }
  report.table("fits", {{"iteration", ""}, {"fit", ""}, {"change", ""}}, std::move(rows));
  report.table("", {{"", "iteration"}, {"", "fit"}, {"", "change"}}, std::move(some));
}

/// Plots the fit and how much it changed in each iteration, which shows whether it converges.
Image convergence(const std::vector<double>& fits) {
  std::vector<double> changes(fits.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t at = 1; at < fits.size(); ++at) changes[at] = std::abs(fits[at] - fits[at - 1]);
  return plot({{"fit", fits}, {"change of the fit", changes, true}}, "iteration");
}

void write_model(Report& report, const CpFiles& files, const CpRun& run) {
  double seconds = 0;
  std::vector<std::vector<Cell>> rows;
  for (std::size_t mode = 0; mode < files.factors.size(); ++mode) {
    const auto& factor = run.factors[mode];
    seconds += write_dense_output({files.factors[mode], files.factors[mode]}, factor);
    rows.push_back({Count{static_cast<std::int64_t>(mode)}, Shape{{factor.extents[0], factor.extents[1]}},
                    files.factors[mode]});
  }
  seconds += write_dense_output({files.lambda, files.lambda}, run.lambda);
  convergence(run.fits).save(files.plot);
  report.fact("lambda", "lambda", files.lambda);
  report.fact("plot", "picture of the fit", files.plot);
  report.fact("write_seconds", "factors written in", Seconds{seconds});
  report.table("factors", {{"mode", "mode"}, {"extents", "extents"}, {"file", "factor"}}, std::move(rows));
}

Outcome cp(const CpOptions& options) {
  const bool writes = !options.prefix.empty();
  if (options.prefix == standard_stream)
    throw UsageError("cp writes several files, which standard output does not hold: give a prefix of names");
  if (writes) CpFiles(options.prefix, 0).check();
  const Input input = read_input(options.path, options.input);
  check(options, input);
  const CpFiles files(options.prefix, input.order());
  if (writes) files.check();
  const CpRun run = compute(options, input);

  Outcome outcome;
  Report& report = outcome.report;
  report.fact("command", "", std::string("cp"));
  Report& tensor = report.section("tensor", input.path);
  describe(tensor, input);
  tensor.fact("format", "stored as", text(run.tensor.format, ", once for each mode"));
  tensor.fact("bytes", "memory", Bytes{run.tensor.bytes * input.order()});

  const CpSearch& search = options.search;
  const auto iterations = static_cast<std::int64_t>(run.fits.size());
  Report& model = report.section("model", text("sum of ", search.rank, " outer products"));
  model.fact("rank", "", Count{search.rank});
  model.fact("seed", "", Count{search.seed});
  model.fact("tolerance", "", search.tolerance);
  model.fact("fit", "", run.fits.back());
  model.fact("", "fit", Cell(text(to_text(Cell(Part{run.fits.back()})), ", that is 1 - |X - M| / |X|")));
  model.fact("iterations", Count{iterations});
  model.fact("converged", run.converged);
  model.fact("seconds", "computed in", Seconds{run.seconds});
  model.fact("iteration_seconds", "an iteration", Seconds{run.seconds / static_cast<double>(iterations)});
  if (writes) write_model(report.section("output", "written"), files, run);
  describe_fits(model, run);
  return outcome;
}

}  // namespace

void add_cp(CLI::App& app, Choice& choice) {
  const auto options = std::make_shared<CpOptions>();
  CLI::App& command =
      add_command(app, choice, "cp", "A tensor as a sum of outer products, by alternating least squares",
                  [options] { return cp(*options); });
  command.add_option("TENSOR", options->path, "File with a tensor of order 3 to 5, or - for standard input")
      ->required();
  command.add_option("--rank", options->search.rank, "Outer products to sum; 16 unless given")
      ->check(within(1, 4096))
      ->type_name("R");
  command
      .add_option("-o,--output", options->prefix,
                  "Writes PREFIX.mode0.mtx and so on, PREFIX.lambda.mtx and PREFIX.fit.png")
      ->type_name("PREFIX");
  command.add_option("--iterations", options->search.iterations, "At most; 100 unless given")
      ->check(within(1, 100000))
      ->type_name("N");
  command
      .add_option("--tolerance", options->search.tolerance,
                  "Stop where the fit changes by less; 1e-5 unless given")
      ->check(CLI::NonNegativeNumber.description(""))
      ->type_name("T");
  command
      .add_option("--seed", options->search.seed, "Of the random factors that it begins with; 1 unless given")
      ->type_name("SEED");
  add_input_options(command, options->input, false);
  command.footer(
      "X(i, j, k) ~ sum over r of lambda(r) A(i, r) B(j, r) C(k, r), the columns of the factors of length "
      "1.\n"
      "The fit is 1 - |X - M| / |X|: 1 where the sum M is the tensor X, told to about 1e-8.");
}

}  // namespace sporos::tool
