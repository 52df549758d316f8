// SPDX-License-Identifier: Apache-2.0
/// @file multiply.cpp
/// `sporos multiply A B -o C`: the product of two matrices.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "commands.hpp"
#include "device.hpp"
#include "device_settings.hpp"
#include "multiply_on_device.hpp"
#include "operands.hpp"
#include "product.hpp"
#include "product_files.hpp"
#include "ranks.hpp"
#include "statistics.hpp"

namespace sporos::tool {
namespace {

struct MultiplyOptions {
  ProductFiles files;
  std::string order = "ikj";
  std::string workspace = "auto";
  DeviceOptions device;
  int repeats = 1;
  bool verify = false;
};

/// Warns about loop orders that form inner products, because they visit every pair of a row and a column.
void warn_of_pairs(ProductOrder order, const Input& A, const Input& B) {
  if (order != ProductOrder::ijk && order != ProductOrder::jik) return;
  const double pairs = static_cast<double>(A.extents()[0]) * static_cast<double>(B.extents()[1]);
  if (pairs > 1e9)
    std::cerr << program << ": note: the order " << to_string(order) << " looks at each of the "
              << to_text(Cell(pairs)) << " pairs of a row and a column; ikj looks at those that meet\n";
}

Outcome multiply_on_host(const MultiplyOptions& options) {
  const auto order = product_order_named(options.order);
  if (!order)
    throw UsageError("no loop order " + options.order + "; expected ikj, kij, ijk, jki, kji or jik");
  const auto workspace = workspace_named(options.workspace);
  if (!workspace)
    throw UsageError("no workspace is called " + options.workspace + "; expected auto, dense or coordinate");
  expect_workspace(*order, *workspace);
  const std::optional<Destination> out = destination_of(options.files);
  const MatrixFactors factors = read_factors(options.files);
  const auto& [A, B] = factors;
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
  describe_factor(report.section("A", "A  " + A.path), A, product.A);
  describe_factor(report.section("B", "B  " + B.path), B, product.B);
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

  if (out) write_product(outcome, *out, factors, product.entries);
  if (options.verify) {
    const Comparison found = compare_product(a, b, merged(product.entries, Duplicates::sum, false));
    describe(report.section("checks", "checked against a reference in long double"), found);
    if (!found.holds()) outcome.failed_check = "the product is not that of the reference";
  }
  return outcome;
}

Outcome multiply_files(const MultiplyOptions& options) {
  auto settings = device_settings(options.device);
  if (!settings) return multiply_on_host(options);
  if (options.order != "ikj" || options.workspace != "auto")
    throw UsageError("--order and --workspace are for loops on the host: they do not go with --space cuda");
  settings->repeats = options.repeats;
  return multiply_on_device(options.files, *settings, options.verify);
}

/// The product under mpirun, where there are fewer choices.
Outcome multiply_files_on_ranks(const MultiplyOptions& options) {
  if (options.order != "ikj" || options.workspace != "auto")
    throw UsageError("under mpirun, multiply takes no --order and no --workspace: it adds up rows of B");
  if (options.verify)
    throw UsageError("under mpirun, multiply takes no --verify; compare C with what one process writes");
  if (options.device.space != "host")
    throw UsageError("under mpirun, multiply takes no --space: it runs on the host");
  const auto& [a, b, c, input, output] = options.files;
  expect_plain_files("multiply", input, output, {a, b, c});
  destination_of(options.files);
  return multiply_on_ranks({a, b, c, options.repeats});
}

}  // namespace

void add_multiply(CLI::App& app, Choice& choice) {
  const auto options = std::make_shared<MultiplyOptions>();
  CLI::App& command = add_command(
      app, choice, "multiply", "The product C = A B of two sparse matrices",
      [options] { return multiply_files(*options); },
      [options] { return multiply_files_on_ranks(*options); });
  command.add_option("A", options->files.a, "File with a matrix, or - for standard input")->required();
  command.add_option("B", options->files.b, "The same; as many rows as A has columns")->required();
  command
      .add_option("-o,--output", options->files.c,
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
  add_device_options(command, options->device);
  command.add_option("--repeats", options->repeats, "Run as often, and say the median time")
      ->check(within(1, 100000))
      ->type_name("N");
  command.add_flag("--verify", options->verify,
                   "Compare with a reference, each entry within its rounding error bound");
  add_input_options(command, options->files.input, false);
  add_output_options(command, options->files.output);
  command.footer(
      "ikj adds up rows of B (CSR times CSR), ijk forms inner products (CSR times CSC), kij outer products\n"
      "(CSC times CSR); with j outside of i the result comes by columns. Operands are assembled as the\n"
      "order wants them. Integer and pattern operands give an integer result.\n"
      "With --space cuda, a B that is an array (.npy, or an array in .mtx) is multiplied as a dense matrix, "
      "or\n"
      "as a vector if it has one column; any other B is sparse, and --plan and --type are not for it. "
      "Plans:\n"
      "rows is CUDA cores, by rows of A; window tensor cores, by tiles of A with nonzeros; tca tensor cores, "
      "by\n"
      "dot products; dense cuBLAS, with the zeros of A; 2:4 sparse tensor cores. Those on tensor cores take\n"
      "half and bfloat16, tca float as well, which it rounds to tf32. 1:4, 2:8, 4:32/32 and so on are the\n"
      "kernels for N:M sparsity, for an A of which prune has kept N of each M, with /L by --unit L.\n"
      "Under mpirun, each rank reads, computes and writes some of the rows.");
}

}  // namespace sporos::tool
