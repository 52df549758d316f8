// SPDX-License-Identifier: Apache-2.0
/// @file spmv.cpp
/// `sporos spmv A`: computes y = A x, and compares its time with the speed of memory.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "assembled.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "operands.hpp"
#include "output.hpp"
#include "ranks.hpp"
#include "spmv_run.hpp"

namespace sporos::tool {
namespace {

struct SpmvOptions {
  std::string a, x, y;
  InputOptions input;
  OutputOptions output;
  int repeats = 0;
  bool verify = false;
};

/// The vector in a file, which may have order 1 or be a matrix of one column; missing values are 0.
RealVector vector_of(const Input& input, std::int64_t extent, const std::string& a) {
  expect_real(input, "spmv");
  const auto extents = input.extents();
  if (extents.size() > 2 || (extents.size() == 2 && extents[1] != 1))
    throw UsageError(text(input.path, " is ", to_text(Cell(Shape{extents})),
                          ", expected a vector, or a matrix of one column"));
  if (extents[0] != extent)
    throw UsageError(
        text(input.path, " has ", extents[0], " elements, but ", a, " has ", extent, " columns"));
  RealVector x({extent});
  std::visit(
      [&]<class Value, int Order>(const Entries<Value, Order>& entries) {
        if constexpr (!is_complex_v<Value>)
          for (std::size_t q = 0; q < entries.values.extent(0); ++q)
            x.values()(static_cast<std::size_t>(entries.coordinates[0](q))) +=
                static_cast<double>(entries.values(q));
      },
      input.entries);
  return x;
}

RealVector ones(std::int64_t extent) {
  RealVector x({extent});
  std::fill_n(x.values().data(), extent, 1.0);
  return x;
}

/// The vector as entries; as one column for a .mtx file, which holds matrices.
AnyEntries entries_of_vector(const RealVector& y, FileKind kind) {
  const auto fill = [&](auto out) -> AnyEntries {
    for (std::int64_t i = 0; i < y.extent(0); ++i) {
      out.coordinates[0](static_cast<std::size_t>(i)) = i;
      if constexpr (out.order == 2) out.coordinates[1](static_cast<std::size_t>(i)) = 0;
      out.values(static_cast<std::size_t>(i)) = y.values()(static_cast<std::size_t>(i));
    }
    return out;
  };
  if (kind == FileKind::matrix_market) return fill(Entries<double, 2>({y.extent(0), 1}, y.extent(0)));
  return fill(Entries<double, 1>({y.extent(0)}, y.extent(0)));
}

std::optional<Destination> destination_of_vector(const SpmvOptions& options) {
  if (options.y.empty()) return std::nullopt;
  Destination out = destination(options.y, options.output, 2);
  if (out.kind == FileKind::smtx || out.kind == FileKind::npz)
    throw UsageError(out.name + ": a vector is written as mtx, tns, npy or h5");
  return out;
}

Outcome spmv(const SpmvOptions& options) {
  if (options.a == standard_stream && options.x == standard_stream)
    throw UsageError("only one of A and x can be standard input");
  const std::optional<Destination> out = destination_of_vector(options);
  const Input input = read_matrix(options.a, options.input);
  expect_real(input, "spmv");
  expect_narrow(input, "spmv");
  InputOptions of_vector = options.input;
  of_vector.vector = true;
  const RealVector x = options.x.empty()
                           ? ones(input.extents()[1])
                           : vector_of(read_input(options.x, of_vector), input.extents()[1], input.path);
  const Entries<double, 2> entries = operand_of<double>(input);
  const Kokkos::Timer timer;
  const RealRows A = assembled<CSR<>>(entries);
  const double assemble_seconds = timer.seconds();
  const RealVector y({A.extent(0)});
  const SpmvRun run = run_spmv(A, x, y, options.repeats, 0.2);

  Outcome outcome;
  Report& report = outcome.report;
  report.fact("command", "", std::string("spmv"));
  Report& matrix = report.section("A", "A  " + input.path);
  describe(matrix, input);
  matrix.fact("format", "stored as", std::string("CSR"));
  matrix.fact("bytes", "memory", Bytes{A.bytes()});
  matrix.fact("assemble_seconds", "assembled in", Seconds{assemble_seconds});
  Report& result = report.section("y", "y  y(i) = A(i, j) * x(j)");
  result.fact("x", options.x.empty() ? std::string("ones") : options.x);
  result.fact("extents", "", Shape{{y.extent(0)}});
  result.fact("kernel", run.kernel);
  result.fact("plan_seconds", "planned in", Seconds{run.plan_seconds});
  describe(result, run.times);
  const double median = run.times.median();
  result.fact("operations_per_second", "speed", PerSecond{2 * static_cast<double>(A.nnz()) / median});
  result.fact("bytes_per_second", "memory traffic", BytesPerSecond{static_cast<double>(run.bytes) / median});
  result.fact("triad_bytes_per_second", "triad of as many bytes", BytesPerSecond{triad_speed(run.bytes)});
  if (out) report_output(outcome, *out, write_dense_output(*out, entries_of_vector(y, out->kind)));
  if (options.verify) {
    const Comparison found = compare_spmv(entries, x, y);
    describe(report.section("checks", "checked against sums in long double"), found);
    if (!found.holds()) outcome.failed_check = "the product is not that of the reference";
  }
  return outcome;
}

/// The product under mpirun, where there are fewer choices.
Outcome spmv_of_files_on_ranks(const SpmvOptions& options) {
  if (options.verify)
    throw UsageError("under mpirun, spmv takes no --verify; compare y with what one process writes");
  expect_plain_files("spmv", options.input, options.output, {options.a, options.x, options.y});
  destination_of_vector(options);
  return spmv_on_ranks({options.a, options.x, options.y, std::max(options.repeats, 1)});
}

}  // namespace

void add_spmv(CLI::App& app, Choice& choice) {
  const auto options = std::make_shared<SpmvOptions>();
  CLI::App& command = add_command(
      app, choice, "spmv", "The product y = A x of a sparse matrix and a vector",
      [options] { return spmv(*options); }, [options] { return spmv_of_files_on_ranks(*options); });
  command.add_option("A", options->a, "File with a matrix, or - for standard input")->required();
  command.add_option("-x", options->x, "File with x: a vector, or a matrix of one column; ones unless given")
      ->type_name("FILE");
  command
      .add_option("-o,--output", options->y,
                  "File to write y to: .mtx, .tns or .npy, and .gz to compress, or .h5; or -")
      ->type_name("FILE");
  command
      .add_option("--repeats", options->repeats,
                  "Runs; as many as go into 0.2 s unless given, and one under mpirun")
      ->check(within(1, 1000000))
      ->type_name("N");
  command.add_flag("--verify", options->verify,
                   "Compare with a reference, each value within its rounding error bound");
  add_input_options(command, options->input, false);
  add_output_options(command, options->output);
  command.footer(
      "Memory traffic counts A, x and y once. The triad a = b + s * c over arrays of as many bytes says "
      "what\n"
      "memory, or the cache that holds them, can do. Under mpirun, each rank reads, computes and writes some "
      "of\n"
      "the rows.");
}

}  // namespace sporos::tool
