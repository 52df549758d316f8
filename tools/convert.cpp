// SPDX-License-Identifier: Apache-2.0
/// @file convert.cpp
/// `sporos convert IN OUT`: converts a file into another one by way of a storage format.
#include <CLI/CLI.hpp>
#include <memory>
#include <numeric>
#include <sporos/formats/value_cast.hpp>
#include <string>
#include <vector>

#include "commands.hpp"
#include "input.hpp"
#include "memory.hpp"
#include "modes.hpp"
#include "output.hpp"
#include "passage.hpp"
#include "statistics.hpp"

namespace sporos::tool {
namespace {

struct ConvertOptions {
  std::string in, out;
  std::string format;  ///< empty means coo
  std::string mode_order;
  bool general = false;
  bool pattern = false;
  bool verify = false;
  InputOptions input;
  OutputOptions output;
};

FormatName chosen_format(const ConvertOptions& options, const Input& input) {
  const auto format = options.format.empty() ? FormatName::coo : format_named(options.format);
  if (!format)
    throw UsageError("no format is called " + options.format + "; expected one of " + format_names());
  if (!holds_order(*format, input.order()))
    throw UsageError(text(input.path, ": the format ", options.format,
                          " holds matrices, this is a tensor of order ", input.order(),
                          ": give coo, csf or dense"));
  const bool takes_modes =
      *format == FormatName::coo || *format == FormatName::csf || *format == FormatName::dense;
  if (!options.mode_order.empty() && !takes_modes)
    throw UsageError("--mode-order goes with coo, csf and dense: the name " + options.format +
                     " says the order already");
  return *format;
}

/// The levels of a binsparse file that stores a tensor as a format does. Blocks cannot be stored that way;
/// they become CSR.
BinsparseLevels levels_of(FormatName format, int order, std::vector<int> modes) {
  const auto count = static_cast<std::size_t>(order);
  if (modes.empty()) {
    modes.resize(count);
    std::iota(modes.begin(), modes.end(), 0);
  }
  switch (format) {
    case FormatName::coo:
      return {{{.sparse = true, .modes = order}}, modes};
    case FormatName::csf:
      return {std::vector(count, BinsparseLevel{.sparse = true}), modes};
    case FormatName::dense:
      return {std::vector<BinsparseLevel>(count), modes};
    case FormatName::csc:
      return binsparse_levels_named("CSC");
    case FormatName::dcsr:
      return binsparse_levels_named("DCSR");
    case FormatName::dcsc:
      return binsparse_levels_named("DCSC");
    default:
      return binsparse_levels_named("CSR");
  }
}

/// Makes a .npz file store a matrix as a format does.
void take_npz_format(FormatName format, OutputStyle& style) {
  switch (format) {
    case FormatName::coo:
      style.npz_format = NpzFormat::coo;
      break;
    case FormatName::csc:
    case FormatName::dcsc:
      style.npz_format = NpzFormat::csc;
      break;
    case FormatName::bcsr2x2:
    case FormatName::bcsr3x3:
    case FormatName::bcsr4x4:
      style.npz_format = NpzFormat::bsr;
      style.npz_block = format == FormatName::bcsr2x2 ? 2 : format == FormatName::bcsr3x3 ? 3 : 4;
      break;
    default:
      style.npz_format = NpzFormat::csr;
  }
}

/// SciPy requires that blocks divide the matrix.
void expect_blocks(const Destination& out, const Input& input, const OutputStyle& style) {
  if (out.kind != FileKind::npz || style.npz_format != NpzFormat::bsr) return;
  for (const std::int64_t extent : input.extents())
    if (extent % style.npz_block != 0)
      throw UsageError(text(out.name, ": blocks of ", style.npz_block, " x ", style.npz_block,
                            " do not divide a matrix of ", to_text(Cell(Shape{input.extents()})),
                            ", as a .npz file needs: give csr, csc or coo"));
}

/// A .smtx file would lose the values, so the user has to request that explicitly.
void expect_pattern(const Destination& out, const Input& input, const AnyEntries& any) {
  std::visit(
      [&]<class Value, int Order>(const Entries<Value, Order>& entries) {
        for (std::size_t q = 0; q < entries.values.extent(0); ++q)
          if (!(entries.values(q) == Value(1)))
            throw UsageError(text(out.name, ": a .smtx file has no values, but ", input.path, " holds ",
                                  value_text(entries.values(q)),
                                  ": give --pattern to leave the values out, or write a .mtx file"));
      },
      any);
}

Outcome convert_file(const ConvertOptions& options) {
  if (options.verify && options.out == standard_stream)
    throw UsageError("--verify reads the file back, which standard output does not allow: give a name");
  const Input input = read_input(options.in, options.input);
  const Destination out = destination(options.out, options.output, input.order());
  const FormatName format = chosen_format(options, input);
  expect_memory(bytes_of_full_levels(format, input.extents()),
                text(input.path, ": ", to_string(format), " for ", to_text(Cell(Shape{input.extents()}))));

  OutputStyle style = style_of(input);
  if (options.general) style.symmetry = MatrixMarketSymmetry::general;
  if (options.pattern) style.pattern = true;
  if (style.pattern) style.layout = MatrixMarketLayout::coordinate;
  const std::vector<int> mode_order = parse_modes("--mode-order", options.mode_order);
  if (!options.format.empty() || !mode_order.empty() || !style.levels)
    style.levels = levels_of(format, input.order(), mode_order);
  if (!options.format.empty()) take_npz_format(format, style);
  expect_blocks(out, input, style);

  PassageOptions through;
  through.duplicates = input.duplicates();
  through.mode_order = mode_order;
  through.keep_zeros = format == FormatName::dense && style.layout == MatrixMarketLayout::array;
  const Passage passage = pass_through(format, input.entries, through);
  if (!style.pattern && out.kind == FileKind::smtx) expect_pattern(out, input, passage.entries);
  const double write_seconds = write_output(out, passage.entries, style);

  Outcome outcome;
  Report& report = outcome.report;
  report.fact("command", "", std::string("convert"));
  describe(report.section("input", input.path), input);
  Report& tensor = report.section("tensor", "through " + std::string(to_string(format)));
  tensor.fact("format", "", std::string(to_string(format)));
  tensor.fact("levels", passage.levels);
  tensor.fact("values_stored", "values stored", Count{passage.stored});
  tensor.fact("bytes", "memory", Bytes{passage.bytes});
  tensor.fact("assemble_seconds", "assembled in", Seconds{passage.assemble_seconds});
  tensor.fact("extract_seconds", "taken out in", Seconds{passage.extract_seconds});
  Report& written = report_output(outcome, out, write_seconds);
  written.fact("entries", Count{size_of(passage.entries)});

  const bool drops_zeros = pads_with_zeros(format) && !through.keep_zeros;
  const std::int64_t lost = input.size() - size_of(passage.entries);
  if (lost > 0)
    written.fact("", "fewer than read",
                 to_text(Cell(Count{lost})) +
                     (drops_zeros ? ": stored zeros are lost among those of the format, duplicates added up"
                                  : ": duplicates are added up"));
  if (options.verify) {
    const AnyEntries expected = merged(input.entries, input.duplicates(), drops_zeros);
    const bool in_memory = through.keep_zeros || same_entries(expected, passage.entries);
    AnyEntries read_back = read_input(options.out, InputOptions{.kind = options.output.kind}).entries;
    // An array file stores zeros where there are no entries, and a pattern has no values to compare.
    if (style.layout == MatrixMarketLayout::array) read_back = merged(read_back, Duplicates::sum, true);
    const AnyEntries zero_free = merged(input.entries, input.duplicates(), true);
    const bool on_disk =
        options.pattern
            ? size_of(read_back) == size_of(passage.entries)
            : same_entries(style.layout == MatrixMarketLayout::array ? zero_free : expected, read_back);
    Report& checks = report.section("checks", "checks");
    checks.fact("tensor_holds_the_entries", "the tensor holds the entries", in_memory);
    checks.fact("file_reads_back_equal", "the file reads back equal", on_disk);
    if (!in_memory || !on_disk)
      outcome.failed_check = options.out + ": does not hold what " + options.in + " holds";
  }
  return outcome;
}

}  // namespace

void add_convert(CLI::App& app, Choice& choice) {
  const auto options = std::make_shared<ConvertOptions>();
  CLI::App& command = add_command(app, choice, "convert",
                                  "From a file into a storage format, and out of it into another file",
                                  [options] { return convert_file(*options); });
  command.add_option("IN", options->in, "File to read, or - for standard input")->required();
  command.add_option("OUT", options->out, "Name that ends in .mtx, .tns, .smtx, .npy, .npz or .h5; or -")
      ->required();
  command.add_option("--format", options->format, "Format on the way, see below; coo unless given")
      ->type_name("NAME");
  command
      .add_option("--mode-order", options->mode_order,
                  "Modes from the outermost level in, as 2,0,1 (coo, csf, dense)")
      ->type_name("MODES");
  command.add_flag("--general", options->general,
                   "Write all entries of a symmetric matrix, not one triangle");
  command.add_flag("--pattern", options->pattern, "Write where the entries are and leave the values out");
  command.add_flag("--verify", options->verify, "Read the file back and compare it with the input");
  add_input_options(command, options->input, true);
  add_output_options(command, options->output);
  command.footer(
      "Formats: " + format_names() +
      " (bcsr and bsr are bcsr2x2).\n"
      "Entries come out in the order of the format's levels. What the input file says of itself stays:\n"
      "a pattern stays a pattern, a symmetric matrix stays one triangle, an array stays an array. A .h5 "
      "file\n"
      "stores the levels of --format; without it, those of a .h5 file that is read. A .npz file stores csr,\n"
      "csc, coo or bsr, whichever is nearest to --format; without it, csr.");
}

}  // namespace sporos::tool
