// SPDX-License-Identifier: Apache-2.0
/// @file bench.cpp
/// `sporos bench FILE...`: how fast the library computes with the user's own matrices.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench_run.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "output.hpp"
#include "plot.hpp"

namespace sporos::tool {
namespace {

struct BenchOptions {
  std::vector<std::string> paths;
  std::string picture;
  InputOptions input;
  BenchPlan plan;
};

std::string short_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::vector<Cell> row_of(const std::string& file, const Measurement& measured) {
  const double median = measured.times ? measured.times->median() : 0;
  std::vector<Cell> row = {file, measured.operation, measured.format};
  if (measured.times) {
    row.insert(row.end(),
               {Seconds{median}, Seconds{measured.times->fastest()}, Count{measured.times->runs()},
                measured.operations > 0 ? Cell(PerSecond{measured.operations / median}) : Cell(Absent{}),
                BytesPerSecond{static_cast<double>(measured.bytes) / median}});
  } else {
    row.insert(row.end(), 5, Absent{});
  }
  row.push_back(measured.statement);
  if (!measured.left_out.empty())
    row.push_back("left out: " + measured.left_out);
  else
    row.push_back(measured.kernel.empty() ? Cell(Absent{}) : Cell(measured.kernel));
  return row;
}

void tabulate(Report& report, std::vector<std::vector<Cell>> rows) {
  report.table("measurements",
               {{"file", "file"},
                {"operation", "operation"},
                {"format", "format"},
                {"seconds", "median"},
                {"fastest_seconds", "fastest"},
                {"repeats", "runs"},
                {"operations_per_second", "speed"},
                {"bytes_per_second", "traffic"},
                {"statement", "statement"},
                {"kernel", "kernel"}},
               std::move(rows));
}

std::vector<Cell> row_of(const Input& input) {
  return {short_name(input.path), Shape{input.extents()}, Count{input.size()}, Seconds{input.seconds}};
}

Outcome bench(const BenchOptions& options) {
  const std::string picture = options.picture.empty() ? "" : picture_destination(options.picture);
  std::vector<std::vector<Cell>> files, measurements;
  std::vector<Bar> bars;
  double largest = 0;
  for (const std::string& path : options.paths) {
    const Input input = read_input(path, options.input);
    files.push_back(row_of(input));
    for (const Measurement& measured : measure(input, options.plan)) {
      measurements.push_back(row_of(short_name(input.path), measured));
      largest = std::max(largest, static_cast<double>(measured.bytes));
      if (measured.times && measured.operations > 0)
        bars.push_back({measured.operation + ' ' + measured.format,
                        measured.operations / measured.times->median() / 1e9});
    }
  }
  Outcome outcome;
  Report& report = outcome.report;
  report.fact("command", "", std::string("bench"));
  report.fact("columns", "columns of dense factors", Count{options.plan.columns});
  report.fact("triad_bytes_per_second", "triad of as many bytes",
              BytesPerSecond{triad_speed(static_cast<std::int64_t>(largest))});
  report.table(
      "files",
      {{"file", "file"}, {"extents", "extents"}, {"entries", "entries"}, {"read_seconds", "read in"}},
      std::move(files));
  tabulate(report, std::move(measurements));
  if (!picture.empty()) {
    bar_chart(bars, "operation", "gop/s").save(picture);
    outcome.output_is_taken = options.picture == standard_stream;
    report.section("output", options.picture).fact("file", "", options.picture);
  }
  return outcome;
}

}  // namespace

void add_bench(CLI::App& app, Choice& choice) {
  const auto options = std::make_shared<BenchOptions>();
  options->plan.operations = bench_operations();
  options->plan.formats = bench_formats();
  CLI::App& command =
      add_command(app, choice, "bench", "How fast sums, products and conversions of what files hold are",
                  [options] { return bench(*options); });
  command
      .add_option("FILE", options->paths,
                  "Files with matrices or tensors of order 3, or - for standard input")
      ->required();
  const auto add_names = [&](const char* option, std::vector<std::string>& chosen) {
    std::string names;
    std::size_t line = 0;  // where the line begins
    for (const std::string& name : chosen) {
      names += names.empty() ? "" : ", ";
      if (names.size() + name.size() - line > 60) {
        names.back() = '\n';
        line = names.size();
      }
      names += name;
    }
    command.add_option(option, chosen, "Some of " + names + ";\nall unless given")
        ->delimiter(',')
        ->check(CLI::IsMember(chosen).description(""))
        ->type_name("NAMES");
  };
  add_names("--operations", options->plan.operations);
  add_names("--formats", options->plan.formats);
  command.add_option("--columns", options->plan.columns, "Columns of dense factors; 16 unless given")
      ->check(within(1, 65536))
      ->type_name("N");
  command
      .add_option("--seconds", options->plan.seconds,
                  "Repeat each operation for so long, 3 to 10000 times; 0.5 unless given")
      ->check(CLI::Range(0.0, 3600.0).description(""))
      ->type_name("S");
  command.add_option("-o,--output", options->picture, "PNG file for a picture of the speeds; or -")
      ->type_name("PNG");
  add_input_options(command, options->input, false);
  command.footer(
      "All sparse operands and results of an operation have the format. Of a square matrix, spgemm is A * A\n"
      "and add is A + transpose(A); of another one, A * transpose(A) and A + A. spmv, spmm, sddmm, add,\n"
      "spgemm and to_csc are for matrices, mttkrp, ttv and inner for tensors of order 3. Traffic counts\n"
      "operands and results once.");
}

}  // namespace sporos::tool
