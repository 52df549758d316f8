// SPDX-License-Identifier: Apache-2.0
/// @file multiply_on_device.cpp
/// Reads operands for the GPU from files, and reports the result.
#include "multiply_on_device.hpp"

#include <Kokkos_Timer.hpp>
#include <cstdint>
#include <sporos/formats/entries_of.hpp>
#include <utility>
#include <vector>

#include "assembled.hpp"
#include "device_product.hpp"
#include "memory.hpp"
#include "operands.hpp"
#include "statistics.hpp"

namespace sporos::tool {
namespace {

using RealEntries = Entries<double, 2>;

/// If A and B are both sparse, no plan or type can be chosen.
void expect_choice_of_dense(const Input& B, const DeviceSettings& settings) {
  const std::string sparse = B.path + " is sparse, and two sparse matrices are multiplied ";
  const std::string mend = "; `sporos convert FILE B.npy` makes an array of it";
  if (settings.plan != DevicePlan::automatic)
    throw UsageError(text(sparse, "by one kernel: --plan ", to_string(settings.plan),
                          " is for a B that is an array", mend));
  if (settings.value != DeviceValue::real64)
    throw UsageError(
        text(sparse, "as doubles: --type ", to_string(settings.value), " is for a B that is an array", mend));
}

RealMatrix dense(const RealEntries& entries, const std::string& path) {
  expect_memory(
      sizeof(double) * static_cast<double>(entries.extents[0]) * static_cast<double>(entries.extents[1]),
      path + ": a dense matrix");
  RealMatrix out(entries.extents);
  for (std::int64_t q = 0; q < entries.size(); ++q) {
    const auto [row, column] = entries.coordinate(q);
    out.values()(row * entries.extents[1] + column) = entries.values(static_cast<std::size_t>(q));
  }
  return out;
}

/// Those elements of C to which entries of A and B contribute, which are the ones that the host stores.
/// @param A,B  must be sorted by rows
RealEntries reached(const RealMatrix& C, const RealEntries& A, const RealEntries& B) {
  constexpr std::int64_t bits = 64;
  const std::int64_t columns = C.extent(1), words = (columns + bits - 1) / bits;
  const auto place = [&](std::int64_t row, std::int64_t word) {
    return static_cast<std::size_t>(row * words + word);
  };
  std::vector<std::uint64_t> rows_of_b(place(B.extents[0], 0));  // a bit for each stored element
  for (std::int64_t q = 0; q < B.size(); ++q) {
    const auto [row, column] = B.coordinate(q);
    rows_of_b[place(row, column / bits)] |= std::uint64_t{1} << (column % bits);
  }
  std::vector<std::uint64_t> row_of_c(static_cast<std::size_t>(words));
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  for (std::int64_t q = 0; q < A.size();) {
    const std::int64_t row = A.coordinate(q)[0];
    std::fill(row_of_c.begin(), row_of_c.end(), 0);
    for (; q < A.size() && A.coordinate(q)[0] == row; ++q)
      for (std::int64_t word = 0; word < words; ++word)
        row_of_c[place(0, word)] |= rows_of_b[place(A.coordinate(q)[1], word)];
    for (std::int64_t column = 0; column < columns; ++column)
      if (row_of_c[place(0, column / bits)] >> (column % bits) & 1) places.emplace_back(row, column);
  }
  RealEntries out(C.extents(), std::ssize(places));
  for (std::int64_t q = 0; q < out.size(); ++q) {
    const auto [row, column] = places[static_cast<std::size_t>(q)];
    out.set(q, {row, column}, C.values()(row * columns + column));
  }
  return out;
}

/// The product in the form in which the host would store it, and how it was computed.
struct Computed {
  RealEntries C;
  DeviceRun run;
};

Computed computed(const RealEntries& A, const RealEntries& B, const MatrixFactors& factors,
                  const DeviceSettings& settings) {
  Kokkos::Timer timer;
  const RealRows a = assembled<CSR<>>(A);
  const double seconds_of_a = timer.seconds();
  timer.reset();
  const auto with_times = [&](double seconds_of_b, RealEntries C, DeviceRun run) {
    run.A.assemble_seconds = seconds_of_a;
    run.B.assemble_seconds = seconds_of_b;
    return Computed{std::move(C), std::move(run)};
  };
  if (!factors.B.is_array()) {
    const RealRows b = assembled<CSR<>>(B);
    const double seconds_of_b = timer.seconds();
    auto product = spgemm_on_device(a, b, settings);
    return with_times(seconds_of_b, entries(product.C), std::move(product.run));
  }
  const RealMatrix b = dense(B, factors.B.path);
  const double seconds_of_b = timer.seconds();
  auto product = spmm_on_device(a, b, settings);
  return with_times(seconds_of_b, reached(product.C, A, B), std::move(product.run));
}

void describe_run(Report& result, const Computed& found, const DeviceSettings& settings,
                  std::int64_t products) {
  const DeviceRun& run = found.run;
  result.fact("space", "", std::string("cuda"));
  result.fact("device", "", run.device);
  result.fact("kernel", run.kernel);
  result.fact("plan", "", std::string(to_string(settings.plan)));
  result.fact("type", "values", std::string(to_string(settings.value)));
  result.fact("extents", Shape{extents_of(found.C)});
  result.fact("nonzeros", Count{found.C.size()});
  result.fact("format", "stored as", run.C.format);
  result.fact("bytes", "memory", Bytes{run.C.bytes});
  result.fact("multiplications", Count{products});
  const double median = run.times.median();
  if (median > 0)
    result.fact("operations_per_second", "speed", PerSecond{2 * static_cast<double>(products) / median});
  result.fact("copy_seconds", "operands copied in", Seconds{run.copy_seconds});
  result.fact("plan_seconds", run.plan_seconds ? "planned in" : "",
              run.plan_seconds ? Cell(Seconds{*run.plan_seconds}) : Cell(Absent{}));
  result.fact("plan_bytes", run.plan_bytes ? "memory of the plan" : "",
              run.plan_bytes ? Cell(Bytes{*run.plan_bytes}) : Cell(Absent{}));
  result.fact("expected_seconds", "expected time", Seconds{run.expected_seconds});
  describe(result, run.times);
}

}  // namespace

Outcome multiply_on_device(const ProductFiles& files, const DeviceSettings& settings, bool verify) {
  const std::optional<Destination> out = destination_of(files);
  const MatrixFactors factors = read_factors(files);
  expect_real(factors.A, "multiply --space cuda");
  expect_real(factors.B, "multiply --space cuda");
  if (!factors.B.is_array()) expect_choice_of_dense(factors.B, settings);
  const RealEntries A = operand_of<double>(factors.A), B = operand_of<double>(factors.B);
  const Computed found = computed(A, B, factors, settings);

  Outcome outcome;
  Report& report = outcome.report;
  report.fact("command", "", std::string("multiply"));
  describe_factor(report.section("A", "A  " + factors.A.path), factors.A, found.run.A);
  describe_factor(report.section("B", "B  " + factors.B.path), factors.B, found.run.B);
  describe_run(report.section("C", "C  C(i, j) = A(i, k) * B(k, j), on " + found.run.device), found, settings,
               count_products(A, B));
  if (out) write_product(outcome, *out, factors, found.C);
  if (verify) {
    const Comparison compared = compare_product(rounded_to(A, settings.value), rounded_to(B, settings.value),
                                                found.C, found.run.rounding);
    describe(report.section("checks", "checked against a reference in long double"), compared);
    if (!compared.holds()) outcome.failed_check = "the product is not that of the reference";
  }
  return outcome;
}

}  // namespace sporos::tool
