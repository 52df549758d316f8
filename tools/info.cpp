// SPDX-License-Identifier: Apache-2.0
/// @file info.cpp
/// `sporos info FILE`: what a file holds, and how much memory it would take in each format.
#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "input.hpp"
#include "memory.hpp"
#include "output.hpp"
#include "passage.hpp"
#include "plot.hpp"
#include "stages.hpp"
#include "statistics.hpp"

namespace sporos::tool {
namespace {

struct InfoOptions {
  std::string path, histogram;
  int mode = 0;  ///< mode of the histogram
  bool no_formats = false;
  InputOptions input;
};

/// The formats worth showing: BCSR with larger blocks tells nothing that the smallest blocks do not.
constexpr std::array matrix_formats = {FormatName::coo,    FormatName::csr,  FormatName::csc,
                                       FormatName::dcsr,   FormatName::dcsc, FormatName::bcsr2x2,
                                       FormatName::bcsr4x4};
constexpr std::array tensor_formats = {FormatName::coo, FormatName::csf};

void describe_values(Report& report, const Input& input, const Statistics& counted) {
  report.fact("nonzeros", "", Count{counted.nonzeros()});
  report.fact("density", Part{[&] {
                double places = 1;
                for (const std::int64_t extent : input.extents()) places *= static_cast<double>(extent);
                return places > 0 ? static_cast<double>(counted.nonzeros()) / places : 0.0;
              }()});
  report.fact("duplicates", Count{counted.duplicates});
  report.fact("stored_zeros", input.is_pattern() ? "" : "stored zeros", Count{counted.zeros});
  report.fact("not_finite", counted.not_finite > 0 ? "not finite" : "", Count{counted.not_finite});
  const bool complex_values = input.field() == "complex";
  report.fact(complex_values ? "least_modulus" : "least_value", "", counted.least);
  report.fact(complex_values ? "largest_modulus" : "largest_value", "", counted.most);
  if (!input.is_pattern() && counted.entries > counted.not_finite)
    report.fact("", complex_values ? "moduli" : "values",
                to_text(Cell(counted.least)) + " to " + to_text(Cell(counted.most)));
  if (!counted.matrix) return;
  const MatrixStatistics& matrix = *counted.matrix;
  report.fact("diagonal_entries", "on the diagonal", Count{matrix.diagonal});
  report.fact("lower_bandwidth", "", Count{matrix.lower_bandwidth});
  report.fact("upper_bandwidth", "", Count{matrix.upper_bandwidth});
  report.fact("", "bandwidth",
              text(matrix.lower_bandwidth, " below, ", matrix.upper_bandwidth, " above the diagonal"));
  report.fact("pattern_symmetric", "", matrix.symmetric_pattern);
  report.fact("value_symmetric", "", matrix.symmetric);
  report.fact("", "symmetric",
              std::string(matrix.symmetric           ? "yes"
                          : matrix.hermitian         ? "hermitian"
                          : matrix.symmetric_pattern ? "the pattern, not the values"
                                                     : "no"));
  if (complex_values) report.fact("hermitian", "", matrix.hermitian);
}

void tabulate_modes(Report& report, const Statistics& counted) {
  std::vector<std::vector<Cell>> rows;
  for (const ModeStatistics& mode : counted.modes) {
    const double mean =
        mode.extent > 0 ? static_cast<double>(counted.entries) / static_cast<double>(mode.extent) : 0.0;
    rows.push_back({Count{static_cast<std::int64_t>(rows.size())}, Count{mode.extent},
                    Count{mode.extent - mode.used}, Count{mode.least}, mean, Count{mode.most}});
  }
  report.table("modes",
               {{"mode", "mode"},
                {"extent", "extent"},
                {"empty", "empty"},
                {"least_entries", "fewest entries"},
                {"mean_entries", "mean"},
                {"most_entries", "most"}},
               std::move(rows));
}

/// With more padding than this, blocks are counted but not assembled: `info` takes no more than two and a
/// half times the memory of the entries.
constexpr std::int64_t most_padding = 2;

int block_side(FormatName format) {
  return format == FormatName::bcsr2x2 ? 2 : format == FormatName::bcsr4x4 ? 4 : 0;
}

/// A format is assembled to find out how much memory it takes, unless its full levels are far larger than the
/// entries.
void tabulate_formats(Report& report, const Input& input, Stages& stages) {
  std::vector<std::vector<Cell>> rows;
  PassageOptions options;
  options.duplicates = input.duplicates();
  options.take_out = false;
  const std::size_t count = input.order() == 2 ? matrix_formats.size() : tensor_formats.size();
  const std::size_t value_bytes = input.field() == "complex" ? sizeof(Complex) : sizeof(double);
  int tried = 0;
  const auto try_format = [&](FormatName format) {
    ++tried;
    const double full = bytes_of_full_levels(format, input.extents());
    if (!holds_extents(format, input.extents())) {
      rows.push_back({std::string(to_string(format)), Absent{}, Absent{}, Absent{},
                      std::string("holds no extents beyond 32 bits")});
      return;
    }
    if (full > 0x1p28 && full > 64 * static_cast<double>(input.size())) {
      const Cell bytes = full < 0x1p62 ? Cell(Bytes{static_cast<std::int64_t>(full)}) : Cell(Absent{});
      rows.push_back({std::string(to_string(format)), Absent{}, bytes, Absent{}, std::string("not tried")});
      return;
    }
    if (const int side = block_side(format); side > 0) {
      stages.begin(text("counting blocks of ", side, " x ", side));
      const std::int64_t stored = count_blocks(input.entries, side) * side * side;
      if (stored > most_padding * input.size()) {
        rows.push_back({std::string(to_string(format)), Count{stored},
                        Bytes{stored * static_cast<std::int64_t>(value_bytes)}, Absent{},
                        std::string("not tried")});
        return;
      }
    }
    stages.begin(text("storing it as ", to_string(format), ", ", tried, " of ", count));
    const Passage passage = pass_through(format, input.entries, options);
    rows.push_back({std::string(to_string(format)), Count{passage.stored}, Bytes{passage.bytes},
                    Seconds{passage.assemble_seconds}, passage.levels});
  };
  if (input.order() == 2)
    for (const FormatName format : matrix_formats) try_format(format);
  else
    for (const FormatName format : tensor_formats) try_format(format);
  const double dense = bytes_of_full_levels(FormatName::dense, input.extents());
  const double values = dense / sizeof(double) * static_cast<double>(value_bytes / sizeof(double));
  const bool counted = dense < 0x1p61;
  rows.push_back({std::string("dense"),
                  counted ? Cell(Count{static_cast<std::int64_t>(dense / sizeof(double))}) : Cell(Absent{}),
                  counted ? Cell(Bytes{static_cast<std::int64_t>(values * sizeof(double))}) : Cell(Absent{}),
                  Absent{}, std::string("not tried")});
  report.table("formats",
               {{"format", "format"},
                {"values_stored", "values stored"},
                {"bytes", "memory"},
                {"assemble_seconds", "assembled in"},
                {"levels", "levels"}},
               std::move(rows));
}

/// Counts rows, or slices of another mode, by their number of entries: 0, 1, 2 to 3, 4 to 7, …
void tabulate_lengths(Report& report, const Statistics& counted, int mode) {
  std::vector<std::vector<Cell>> rows;
  const auto& lengths = counted.modes[static_cast<std::size_t>(mode)].lengths;
  for (std::size_t bin = 0; bin < lengths.size(); ++bin) {
    const std::int64_t least = bin == 0 ? 0 : std::int64_t{1} << (bin - 1);
    const std::int64_t most = bin == 0 ? 0 : 2 * least - 1;
    rows.push_back({Count{least}, Count{most}, Count{lengths[bin]}});
  }
  report.table("lengths", {{"least", "entries from"}, {"most", "to"}, {"coordinates", "coordinates"}},
               std::move(rows));
}

Image histogram(const Statistics& counted, int mode) {
  std::vector<Bar> bars;
  const auto& lengths = counted.modes[static_cast<std::size_t>(mode)].lengths;
  for (std::size_t bin = 0; bin < lengths.size(); ++bin) {
    std::string label = std::to_string(bin == 0 ? 0 : std::int64_t{1} << (bin - 1));
    if (bin > 1) label += '-';
    bars.push_back({label, static_cast<double>(lengths[bin])});
  }
  return bar_chart(bars, "entries", text("coordinates of mode ", mode));
}

Outcome info(const InfoOptions& options) {
  return_freed_memory();
  const std::string picture = options.histogram.empty() ? "" : picture_destination(options.histogram);
  const Input input = read_input(options.path, options.input);
  if (options.mode >= input.order())
    throw UsageError(
        text("--mode is ", options.mode, ", but the modes of ", input.path, " are 0 to ", input.order() - 1));
  Stages stages(input.path, input.size());
  stages.begin("counting");
  const Statistics counted = statistics(input.entries, [&](double part) { stages.share(part); });
  Outcome outcome;
  Report& report = outcome.report;
  report.fact("command", "", std::string("info"));
  report.remark(input.path);
  describe(report, input);
  describe_values(report, input, counted);
  tabulate_modes(report, counted);
  if (!picture.empty()) {
    tabulate_lengths(report, counted, options.mode);
    histogram(counted, options.mode).save(picture);
    outcome.output_is_taken = options.histogram == standard_stream;
  }
  if (!options.no_formats) tabulate_formats(report, input, stages);
  return outcome;
}

}  // namespace

void add_info(CLI::App& app, Choice& choice) {
  const auto options = std::make_shared<InfoOptions>();
  CLI::App& command = add_command(app, choice, "info", "What a file holds, and what it takes in each format",
                                  [options] { return info(*options); });
  command.add_option("FILE", options->path, "File to read, or - for standard input")->required();
  command.add_flag("--no-formats", options->no_formats,
                   "Count only, do not assemble the tensor in each format");
  command
      .add_option("--histogram", options->histogram,
                  "PNG file for a picture of how many rows have how many entries; or -")
      ->type_name("PNG");
  command.add_option("--mode", options->mode, "Mode of a histogram, from 0; 0, the rows, unless given")
      ->check(within(0, largest_order - 1))
      ->type_name("MODE");
  command.add_flag("--strict", options->input.strict,
                   "Refuse entries of a symmetric file above the diagonal");
  add_input_options(command, options->input, true);
}

}  // namespace sporos::tool
