// SPDX-License-Identifier: Apache-2.0
/// @file multiply.cpp
/// `sporos multiply A B -o C`: the product of two sparse matrices.
#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "commands.hpp"
#include "input.hpp"
#include "operands.hpp"
#include "output.hpp"
#include "product.hpp"
#include "ranks.hpp"
#include "statistics.hpp"

namespace sporos::tool {
namespace {

struct MultiplyOptions {
  std::string a, b, c;
  InputOptions input;
  OutputOptions output;
  std::string order = "ikj";
  std::string workspace = "auto";
  int repeats = 1;
  bool verify = false;
};

void expect_fit(const Input& A, const Input& B) {
  const auto a = A.extents(), b = B.extents();
  if (a[1] != b[0])
    throw UsageError(text(A.path, " is ", to_text(Cell(Shape{a})), " and ", B.path, " is ",
                          to_text(Cell(Shape{b})), ": the columns of the first, ", a[1],
                          ", must be as many as the rows of the second, ", b[0]));
  expect_narrow(A, "multiply");
  expect_narrow(B, "multiply");
}

/// Products of integers and patterns are integers; they are written as such if doubles represent them
/// exactly.
AnyEntries as_integers(const AnyEntries& any) {
  const auto& real = std::get<Entries<double, 2>>(any);
  Entries<std::int64_t, 2> out(real.extents, 0);
  out.coordinates = real.coordinates;
  out.values = make_array<std::int64_t>("sporos::product", real.size());
  for (std::size_t q = 0; q < out.values.extent(0); ++q) {
    if (!(std::abs(real.values(q)) < 0x1p53)) return any;
    out.values(q) = static_cast<std::int64_t>(real.values(q));
  }
  return out;
}

/// Loop orders that form inner products visit every pair of a row and a column.
void warn_of_pairs(ProductOrder order, const Input& A, const Input& B) {
  if (order != ProductOrder::ijk && order != ProductOrder::jik) return;
  const double pairs = static_cast<double>(A.extents()[0]) * static_cast<double>(B.extents()[1]);
  if (pairs > 1e9)
    std::cerr << program << ": note: the order " << to_string(order) << " looks at each of the "
              << to_text(Cell(pairs)) << " pairs of a row and a column; ikj looks at those that meet\n";
}

void describe_operand(Report& report, const Input& input, const Stored& stored) {
  describe(report, input);
  report.fact("format", "stored as", stored.format);
  report.fact("bytes", "memory", Bytes{stored.bytes});
  report.fact("assemble_seconds", "assembled in", Seconds{stored.assemble_seconds});
}

Outcome multiply_files(const MultiplyOptions& options) {
  const auto order = product_order_named(options.order);
  if (!order)
    throw UsageError("no loop order " + options.order + "; expected ikj, kij, ijk, jki, kji or jik");
  const auto workspace = workspace_named(options.workspace);
  if (!workspace)
    throw UsageError("no workspace is called " + options.workspace + "; expected auto, dense or coordinate");
  expect_workspace(*order, *workspace);
  std::optional<Destination> out;
  if (!options.c.empty()) out = destination(options.c, options.output, 2);
  const Input A = read_matrix(options.a, options.input);
  const Input B = options.b == options.a ? A : read_matrix(options.b, options.input);
  expect_fit(A, B);
  warn_of_pairs(*order, A, B);
  const bool complex_values = A.field() == "complex" || B.field() == "complex";
  const auto operand = [&](const Input& input) {
    return complex_values ? AnyEntries(operand_of<Complex>(input)) : AnyEntries(operand_of<double>(input));
  };
  const AnyEntries a = operand(A), b = operand(B);
  const ProductPlan plan{*order, *workspace, options.repeats};
  const Product product =
      complex_values ? multiply(std::get<Entries<Complex, 2>>(a), std::get<Entries<Complex, 2>>(b), plan)
                     : multiply(std::get<Entries<double, 2>>(a), std::get<Entries<double, 2>>(b), plan);

  Outcome outcome;
  Report& report = outcome.report;
  report.fact("command", "", std::string("multiply"));
  describe_operand(report.section("A", "A  " + A.path), A, product.A);
  describe_operand(report.section("B", "B  " + B.path), B, product.B);
  Report& result = report.section("C", "C  C(i, j) = A(i, k) * B(k, j), loops in the order " + options.order);

  result.fact("loop_order", "", options.order);
  result.fact("workspace", *workspace == WorkspaceChoice::automatic ? "" : "workspace", options.workspace);
  result.fact("extents", Shape{extents_of(product.entries)});
  result.fact("nonzeros", Count{product.C.stored});
  result.fact("format", "stored as", product.C.format);
  result.fact("bytes", "memory", Bytes{product.C.bytes});
  const std::int64_t products = count_products(a, b);
  const double median = product.times.median();
  result.fact("multiplications", Count{products});
  if (median > 0)
    result.fact("operations_per_second", "", PerSecond{2 * static_cast<double>(products) / median});
  describe(result, product.times);

  if (out) {
    const auto is_whole = [](const Input& input) {
      return input.field() == "integer" || input.field() == "pattern";
    };
    const bool whole = is_whole(A) && is_whole(B);
    const double write_seconds =
        write_output(*out, whole ? as_integers(product.entries) : product.entries, OutputStyle{});
    report_output(outcome, *out, write_seconds);
  }
  if (options.verify) {
    const Comparison found = compare_product(a, b, merged(product.entries, Duplicates::sum, false));
    describe(report.section("checks", "checked against a reference in long double"), found);
    if (!found.holds()) outcome.failed_check = "the product is not that of the reference";
  }
  return outcome;
}

/// The product under mpirun, which leaves fewer choices.
Outcome multiply_files_on_ranks(const MultiplyOptions& options) {
  if (options.order != "ikj" || options.workspace != "auto")
    throw UsageError("under mpirun, multiply takes no --order and no --workspace: it adds up rows of B");
  if (options.verify)
    throw UsageError("under mpirun, multiply takes no --verify; compare C with what one process writes");
  const bool says_how = !options.input.kind.empty() || !options.output.kind.empty() ||
                        options.input.first_node != 0 || options.input.bipartite ||
                        options.output.gzip_level != OutputOptions().gzip_level;
  const auto is_stream = [](const std::string& path) { return path == standard_stream; };
  if (says_how || is_stream(options.a) || is_stream(options.b) || is_stream(options.c))
    throw UsageError(
        "under mpirun, multiply reads and writes files whose names say what they are: no -, and no --from, "
        "--to, --level, --first and --bipartite");
  if (!options.c.empty()) destination(options.c, options.output, 2);
  return multiply_on_ranks({options.a, options.b, options.c, options.repeats});
}

}  // namespace

void add_multiply(CLI::App& app, Choice& choice) {
  const auto options = std::make_shared<MultiplyOptions>();
  CLI::App& command = add_command(
      app, choice, "multiply", "The product C = A B of two sparse matrices",
      [options] { return multiply_files(*options); },
      [options] { return multiply_files_on_ranks(*options); });
  command.add_option("A", options->a, "File with a matrix, or - for standard input")->required();
  command.add_option("B", options->b, "The same; as many rows as A has columns")->required();
  command
      .add_option("-o,--output", options->c,
                  "File to write C to: .mtx, .tns or .smtx, and .gz to compress; or -")
      ->type_name("C");
  command
      .add_option("--order", options->order,
                  "Loops from the outermost in: ikj, kij, ijk, jki, kji, jik; ikj unless given")
      ->type_name("ORDER");
  command
      .add_option("--workspace", options->workspace,
                  "Where ikj and jki gather results: auto, dense, coordinate; auto unless given")
      ->type_name("NAME");
  command.add_option("--repeats", options->repeats, "Run as often, and say the median time")
      ->check(within(1, 100000))
      ->type_name("N");
  command.add_flag("--verify", options->verify,
                   "Compare with a reference, each entry within its rounding error bound");
  add_input_options(command, options->input, false);
  add_output_options(command, options->output);
  command.footer(
      "ikj adds up rows of B (CSR times CSR), ijk forms inner products (CSR times CSC), kij outer products\n"
      "(CSC times CSR); with j outside of i the result comes by columns. Operands are assembled as the\n"
      "order wants them. Integer and pattern operands give an integer result.\n"
      "Under mpirun, each rank reads, computes and writes some of the rows.");
}

}  // namespace sporos::tool
