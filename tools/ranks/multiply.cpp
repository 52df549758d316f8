// SPDX-License-Identifier: Apache-2.0
/// @file multiply.cpp
/// `mpirun sporos multiply A B -o C`: each rank reads a part of the files, computes some rows of the product,
/// and writes them.
#include <Kokkos_Timer.hpp>
#include <cmath>
#include <cstdint>
#include <optional>
#include <sporos/distributed/distributed.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../ranks.hpp"
#include "factor.hpp"

namespace sporos::tool {
namespace {

bool is_whole(const FileInfo& file) {
  return file.field == MatrixMarketField::integer || file.field == MatrixMarketField::pattern;
}

/// The same matrix with integer values, if doubles represent all of them exactly.
std::optional<Rows<std::int64_t>> as_integers(const Rows<double>& real) {
  const auto& values = real.local().values();
  const auto whole = make_array<std::int64_t>("sporos::product", real.nnz());
  bool are_exact = true;
  for (std::size_t q = 0; q < whole.extent(0); ++q) {
    are_exact = are_exact && std::abs(values(q)) < 0x1p53;
    whole(q) = are_exact ? static_cast<std::int64_t>(values(q)) : 0;
  }
  if (!real.ranks().min(are_exact)) return {};
  return Rows<std::int64_t>(
      real.distribution(), Tensor<std::int64_t, CSR<>>(real.local().extents(), real.local().levels(), whole));
}

template <class Value>
Outcome multiply(const Communicator& ranks, const ProductOnRanks& wanted, const FileInfo& of_a,
                 const FileInfo& of_b) {
  using namespace sporos::indices;
  const auto A = read_factor<Value>(ranks, wanted.a, of_a);
  const auto B = wanted.a == wanted.b ? A : read_factor<Value>(ranks, wanted.b, of_b);
  if (A.matrix.extent(1) != B.matrix.extent(0))
    throw UsageError(text("the columns of ", wanted.a, ", ", A.matrix.extent(1),
                          ", must be as many as the rows of ", wanted.b, ", ", B.matrix.extent(0)));
  const Extents<2> extents{A.matrix.extent(0), B.matrix.extent(1)};
  const auto& rows = A.matrix.distribution().partition(0);
  const Rows<Value> C(Distribution<2>::along(ranks, extents, 0, rows));
  const auto product = assign(C(i, j), A.matrix(i, k) * B.matrix(k, j));
  const Traffic sent = traffic(product);
  const std::vector<double> seconds = seconds_of_runs(ranks, wanted.repeats, [&] { product.run(); });

  Outcome outcome;
  Report& report = outcome.report;
  report.fact("command", "", std::string("multiply"));
  report.fact("ranks", Count{ranks.size()});
  describe(report.section("A", "A  " + wanted.a), wanted.a, A);
  describe(report.section("B", "B  " + wanted.b), wanted.b, B);
  Report& result = report.section("C", "C  C(i, j) = A(i, k) * B(k, j), divided by rows");
  result.fact("extents", Shape{{extents[0], extents[1]}});
  result.fact("nonzeros", Count{total_nnz(C)});
  result.fact("bytes_sent", "sent for it", Bytes{sent.bytes()});
  result.fact("imbalance", "work of the busiest rank / average", sent.imbalance());
  result.fact("seconds", wanted.repeats > 1 ? "median time" : "computed in",
              Seconds{seconds[seconds.size() / 2]});
  if (wanted.repeats > 1) result.fact("fastest_seconds", "fastest time", Seconds{seconds.front()});
  result.fact("repeats", "", Count{wanted.repeats});
  if (wanted.output.empty()) return outcome;

  const Kokkos::Timer timer;
  bool is_written = false;
  if constexpr (std::is_same_v<Value, double>)
    if (is_whole(of_a) && is_whole(of_b))
      if (const auto whole = as_integers(C)) {
        write(wanted.output, *whole);
        is_written = true;
      }
  if (!is_written) write(wanted.output, C);
  Report& output = report.section("output", wanted.output);
  output.fact("file", "", wanted.output);
  output.fact("write_seconds", "written in", Seconds{ranks.max(timer.seconds())});
  return outcome;
}

}  // namespace

Outcome multiply_on_ranks(const ProductOnRanks& wanted) {
  const auto ranks = Communicator::world();
  const FileInfo of_a = matrix_info(wanted.a), of_b = matrix_info(wanted.b);
  const auto is_complex = [](const FileInfo& file) { return file.field == MatrixMarketField::complex; };
  agree(ranks, "reading the factors");
  return is_complex(of_a) || is_complex(of_b) ? multiply<Complex>(ranks, wanted, of_a, of_b)
                                              : multiply<double>(ranks, wanted, of_a, of_b);
}

}  // namespace sporos::tool
