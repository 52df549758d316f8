// SPDX-License-Identifier: Apache-2.0
/// @file generate.cpp
/// `sporos generate KIND OUT`: makes a matrix or tensor of a known kind and any size, for experiments.
#include <CLI/CLI.hpp>
#include <Kokkos_Timer.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "generated.hpp"
#include "memory.hpp"
#include "output.hpp"

namespace sporos::tool {
namespace {

struct GenerateOptions {
  std::string kind, out, size;
  OutputOptions output;
  std::optional<int> stencil;
  std::optional<double> degree;
  std::optional<std::int64_t> entries, lower, upper;
  std::optional<std::uint64_t> seed;
  bool pattern = false;
};

/// A kind of matrix: how many extents --size gives, and which options it takes.
struct GeneratedKind {
  std::string_view name;
  std::size_t least_order, largest_order;
  bool stencil, entries, band, seed;
};
constexpr std::array generated_kinds = {GeneratedKind{"laplacian", 1, 3, true, false, false, false},
                                        GeneratedKind{"rmat", 1, 1, false, true, false, true},
                                        GeneratedKind{"uniform", 1, largest_order, false, true, false, true},
                                        GeneratedKind{"banded", 1, 2, false, false, true, true},
                                        GeneratedKind{"identity", 1, 2, false, false, false, false}};

/// Parses a list of extents such as "100,200".
std::vector<std::int64_t> parse_size(const GenerateOptions& options, const GeneratedKind& kind) {
  std::vector<std::int64_t> extents;
  const auto refuse = [&](std::string_view expected) {
    throw UsageError(text("--size is ", options.size, ", expected ", expected));
  };
  const char* at = options.size.data();
  const char* const end = at + options.size.size();
  while (true) {
    std::int64_t extent = 0;
    const auto [next, fault] = std::from_chars(at, end, extent);
    if (fault != std::errc() || extent < 1 || (next != end && *next != ','))
      refuse("whole numbers from 1 on with commas between them, as 100,200");
    extents.push_back(extent);
    if (next == end) break;
    at = next + 1;
  }
  if (extents.size() < kind.least_order || extents.size() > kind.largest_order)
    refuse(text(kind.least_order,
                kind.largest_order == 1 ? " number for " : text(" to ", kind.largest_order, " numbers for "),
                kind.name));
  return extents;
}

void expect_options_of(const GeneratedKind& kind, const GenerateOptions& options) {
  const auto expect = [&](bool given, bool taken, std::string_view option) {
    if (given && !taken) throw UsageError(text(option, " does not go with ", kind.name));
  };
  expect(options.stencil.has_value(), kind.stencil, "--stencil");
  expect(options.degree.has_value(), kind.entries, "--degree");
  expect(options.entries.has_value(), kind.entries, "--entries");
  expect(options.lower.has_value(), kind.band, "--lower");
  expect(options.upper.has_value(), kind.band, "--upper");
  expect(options.seed.has_value(), kind.seed, "--seed");
  if (options.degree && options.entries)
    throw UsageError("--degree and --entries say the same: give one of them");
}

/// Rejects what does not fit in memory before any of it is made. Sorted entries take two copies.
void expect_room(const GenerateOptions& options, double entries, std::size_t order, bool sorted) {
  if (!(entries < 0x1p60))
    throw UsageError(text("--size ", options.size, " asks for more than 2^60 entries"));
  const double each = static_cast<double>(8 * (order + 1)) * (sorted ? 3 : 1);
  expect_memory(entries * each, text(options.kind, " of ",
                                     to_text(Cell(Count{static_cast<std::int64_t>(entries)})), " entries"));
}

double product(const std::vector<std::int64_t>& extents) {
  double out = 1;
  for (const std::int64_t extent : extents) out *= static_cast<double>(extent);
  return out;
}

/// Rows and columns; a single number gives a square matrix.
Extents<2> rows_and_columns(const std::vector<std::int64_t>& size) { return {size.front(), size.back()}; }

AnyEntries make_laplacian(const GenerateOptions& options, const std::vector<std::int64_t>& grid) {
  const auto dimensions = static_cast<int>(grid.size());
  const int sides = 2 * dimensions + 1, corners = dimensions == 1 ? 3 : dimensions == 2 ? 9 : 27;
  const int stencil = options.stencil.value_or(sides);
  if (stencil != sides && stencil != corners)
    throw UsageError(text("--stencil is ", stencil, ", but a point of a grid of ", dimensions, " dimension",
                          dimensions == 1 ? "" : "s", " has ", sides,
                          corners != sides ? text(" or ", corners) : "", " points around and with it"));
  expect_room(options, product(grid) * stencil, 2, false);
  return laplacian(grid, stencil != sides);
}

/// The number of entries to draw.
std::int64_t entries_to_draw(const GenerateOptions& options, const std::vector<std::int64_t>& size) {
  if (options.entries) return *options.entries;
  const double count = options.degree.value_or(16) * static_cast<double>(size.front());
  if (!(count >= 0 && count < 0x1p60))
    throw UsageError("--degree is the mean number of entries in a row, at least 0");
  return std::llround(count);
}

AnyEntries make_rmat(const GenerateOptions& options, std::int64_t nodes) {
  const std::int64_t draws = entries_to_draw(options, {nodes});
  expect_room(options, static_cast<double>(draws), 2, true);
  return rmat(nodes, draws, options.seed.value_or(1));
}

AnyEntries make_uniform(const GenerateOptions& options, std::vector<std::int64_t> size) {
  if (!(product(size) < 0x1p125)) throw UsageError("--size " + options.size + " has more than 2^125 places");
  const std::int64_t count = entries_to_draw(options, size);
  if (static_cast<double>(count) > product(size))
    throw UsageError(text(to_text(Cell(Count{count})), " entries do not fit into ",
                          to_text(Cell(Shape{size})), ": give a smaller --degree, or fewer --entries"));
  expect_room(options, static_cast<double>(count), size.size(), true);
  return uniform(size, count, options.seed.value_or(1));
}

AnyEntries make_banded(const GenerateOptions& options, const Extents<2>& extents) {
  const std::int64_t lower = std::min(options.lower.value_or(1), extents[0] - 1);
  const std::int64_t upper = std::min(options.upper.value_or(1), extents[1] - 1);
  expect_room(options, static_cast<double>(extents[0]) * static_cast<double>(lower + upper + 1), 2, false);
  return banded(extents, lower, upper, options.seed.value_or(1));
}

AnyEntries make(const GenerateOptions& options, const std::vector<std::int64_t>& size) {
  if (options.kind == "laplacian") return make_laplacian(options, size);
  if (options.kind == "rmat") return make_rmat(options, size.front());
  if (options.kind == "uniform") return make_uniform(options, size);
  if (options.kind == "banded") return make_banded(options, rows_and_columns(size));
  expect_room(options, static_cast<double>(size.front()), 2, false);
  return identity(rows_and_columns(size));
}

Outcome generate(const GenerateOptions& options) {
  const GeneratedKind& kind =
      *std::find_if(generated_kinds.begin(), generated_kinds.end(),
                    [&](const GeneratedKind& known) { return known.name == options.kind; });
  expect_options_of(kind, options);
  const std::vector<std::int64_t> size = parse_size(options, kind);
  const int order = options.kind == "uniform" ? static_cast<int>(size.size()) : 2;
  const Destination out = destination(options.out, options.output, order);
  if (out.kind == FileKind::smtx && !options.pattern)
    throw UsageError(out.name + ": a .smtx file has no values: give --pattern, or write a .mtx file");
  const Kokkos::Timer timer;
  const AnyEntries entries = make(options, size);
  const double seconds = timer.seconds();
  OutputStyle style;
  style.pattern = options.pattern;
  const double write_seconds = write_output(out, entries, style);

  Outcome outcome;
  Report& report = outcome.report;
  report.fact("command", "", std::string("generate"));
  Report& written = report_output(outcome, out, write_seconds);
  written.fact("kind", options.kind);
  written.fact("extents", Shape{extents_of(entries)});
  written.fact("entries", Count{size_of(entries)});
  written.fact("seed", kind.seed ? "seed" : "",
               kind.seed ? Cell(Count{static_cast<std::int64_t>(options.seed.value_or(1))}) : Cell(Absent{}));
  written.fact("generate_seconds", "made in", Seconds{seconds});
  return outcome;
}

}  // namespace

void add_generate(CLI::App& app, Choice& choice) {
  const auto options = std::make_shared<GenerateOptions>();
  CLI::App& command = add_command(app, choice, "generate",
                                  "A Laplacian, a random graph, a random or banded matrix, in a file",
                                  [options] { return generate(*options); });
  std::vector<std::string> names;
  for (const GeneratedKind& kind : generated_kinds) names.emplace_back(kind.name);
  const CLI::Range from_zero(std::int64_t{0}, std::int64_t{1} << 60);
  command.add_option("KIND", options->kind, "laplacian, rmat, uniform, banded or identity")
      ->required()
      ->check(CLI::IsMember(names).description(""));
  command.add_option("OUT", options->out, "Name that ends in .mtx, .tns, .smtx, .npy, .npz or .h5; or -")
      ->required();
  command.add_option("--size", options->size, "Extents, as 100,200; see below")->required()->type_name("N,…");
  command.add_option("--stencil", options->stencil, "Points of a Laplacian's stencil: 3, 5, 7; or 9, 27")
      ->type_name("POINTS");
  command.add_option("--degree", options->degree, "Mean number of entries in a row; 16 unless given")
      ->type_name("D");
  command.add_option("--entries", options->entries, "Number of entries in all")
      ->check(CLI::Range(from_zero).description(""))
      ->type_name("N");
  command.add_option("--lower", options->lower, "Diagonals of a band below the main one; 1 unless given")
      ->check(CLI::Range(from_zero).description(""))
      ->type_name("N");
  command.add_option("--upper", options->upper, "The same above the main one")
      ->check(CLI::Range(from_zero).description(""))
      ->type_name("N");
  command.add_option("--seed", options->seed, "Of what is random; 1 unless given")->type_name("N");
  command.add_flag("--pattern", options->pattern, "Write where the entries are, without values");
  add_output_options(command, options->output);
  command.footer(
      "--size: of laplacian the points of a grid in one to three directions; of rmat the nodes of the "
      "graph;\n"
      "of uniform the extents of a tensor of order 1 to 6; of banded and identity rows and columns. A "
      "square\n"
      "matrix needs one number, except for uniform. Random values are in (0, 1]. The same seed gives the "
      "same\n"
      "file, whatever the number of threads. An edge that rmat draws twice stands there once.");
}

}  // namespace sporos::tool
