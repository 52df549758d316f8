// SPDX-License-Identifier: Apache-2.0
/// @file spmv.cpp
/// `mpirun sporos spmv A -o y`: each rank reads a part of the files, holds some rows of A, and writes their
/// part of y.
#include <Kokkos_Timer.hpp>
#include <cstdint>
#include <sporos/distributed/distributed.hpp>
#include <string>
#include <vector>

#include "../ranks.hpp"
#include "factor.hpp"

namespace sporos::tool {
namespace {

using namespace sporos::indices;
using Vector = Distributed<Tensor<double, DenseVector>>;

/// The vector in a file, which may have order 1 or be a matrix of one column.
Vector read_vector(const Distribution<1>& distribution, const SpmvOnRanks& wanted) {
  const Communicator& ranks = distribution.ranks();
  const std::int64_t extent = distribution.extents()[0];
  const FileInfo file = inspect(wanted.x);
  agree(ranks, "reading the vector");
  if (file.field == MatrixMarketField::complex)
    throw UsageError(text(wanted.x, ": spmv takes real values, these are complex"));
  const auto expect_extent = [&](std::int64_t given) {
    if (given != extent)
      throw UsageError(
          text(wanted.x, " has ", given, " elements, but ", wanted.a, " has ", extent, " columns"));
  };
  if (file.order == 1) {
    const auto mine = read_entries<double, 1>(ranks, wanted.x, {.progress = false});
    expect_extent(mine.extents[0]);
    return assemble<DenseVector>(distribution, mine);
  }
  if (file.order != 2)
    throw UsageError(text(wanted.x, ": holds a tensor of order ", file.order,
                          ", expected a vector, or a matrix of one column"));
  const auto column = read_entries<double, 2>(ranks, wanted.x, {.progress = false});
  if (column.extents[1] != 1)
    throw UsageError(
        text(wanted.x, " is ", to_string(column.extents), ", expected a vector, or a matrix of one column"));
  expect_extent(column.extents[0]);
  Entries<double, 1> mine({extent}, column.size());
  for (std::int64_t e = 0; e < column.size(); ++e)
    mine.set(e, {column.coordinate(e)[0]}, column.values.data()[e]);
  return assemble<DenseVector>(distribution, mine);
}

/// y with all its values as entries, including zeros, which listing the entries of a dense tensor leaves out.
template <class F>
auto with_zeros(const Distribution<F::order>& distribution, const Vector& y) {
  Entries<double, F::order> mine(distribution.local_extents(), y.nnz());
  for (std::int64_t e = 0; e < mine.size(); ++e)
    mine.set(e, {e}, y.local().values()(static_cast<std::size_t>(e)));
  return Distributed<Tensor<double, F>>(distribution, assemble<F>(mine));
}

/// Writes y, as a matrix of one column if the kind of file holds matrices.
void write_vector(const std::string& path, const Vector& y) {
  const auto& rows = y.distribution().partition(0);
  const auto ends_with = [&](const std::string& end) {
    return path.ends_with(end) || path.ends_with(end + ".gz");
  };
  if (ends_with(".mtx"))
    write(path, with_zeros<COO<2>>(Distribution<2>::along(y.ranks(), {y.extent(0), 1}, 0, rows), y));
  else if (ends_with(".tns"))
    write(path, with_zeros<SparseVector<>>(y.distribution(), y));
  else
    write(path, y);
}

}  // namespace

Outcome spmv_on_ranks(const SpmvOnRanks& wanted) {
  const auto ranks = Communicator::world();
  const FileInfo of_a = matrix_info(wanted.a);
  if (of_a.field == MatrixMarketField::complex)
    throw UsageError(text(wanted.a, ": spmv takes real values, these are complex"));
  agree(ranks, "reading the matrix");
  const auto A = read_factor<double>(ranks, wanted.a, of_a);
  const Vector y(along(A.matrix, 0));
  const auto of_x = A.matrix.extent(0) == A.matrix.extent(1) ? along(A.matrix, 0) : along(A.matrix, 1);
  const Vector x = wanted.x.empty() ? Vector(of_x) : read_vector(of_x, wanted);
  if (wanted.x.empty()) x(i) = 1.0;

  const Kokkos::Timer plan_timer;
  const auto statement = assign(y(i), A.matrix(i, j) * x(j));
  const Traffic sent = traffic(statement);
  auto product = plan(statement);
  product.run();
  const double plan_seconds = ranks.max(plan_timer.seconds());
  const std::vector<double> seconds = seconds_of_runs(ranks, wanted.repeats, [&] { product.run(); });

  Outcome outcome;
  Report& report = outcome.report;
  report.fact("command", "", std::string("spmv"));
  report.fact("ranks", Count{ranks.size()});
  describe(report.section("A", "A  " + wanted.a), wanted.a, A);
  Report& result = report.section("y", "y  y(i) = A(i, j) * x(j), divided by rows");
  result.fact("x", wanted.x.empty() ? std::string("ones") : wanted.x);
  result.fact("extents", "", Shape{{y.extent(0)}});
  result.fact("kernel", std::string(product.candidate()));
  result.fact("plan_seconds", "planned, and run once, in", Seconds{plan_seconds});
  result.fact("bytes_sent", "sent in each run", Bytes{sent.bytes()});
  result.fact("imbalance", "work of the busiest rank / average", sent.imbalance());
  result.fact("seconds", "median time", Seconds{seconds[seconds.size() / 2]});
  result.fact("fastest_seconds", "fastest time", Seconds{seconds.front()});
  result.fact("repeats", "", Count{wanted.repeats});
  if (wanted.y.empty()) return outcome;

  const Kokkos::Timer timer;
  write_vector(wanted.y, y);
  Report& output = report.section("output", wanted.y);
  output.fact("file", "", wanted.y);
  output.fact("write_seconds", "written in", Seconds{ranks.max(timer.seconds())});
  return outcome;
}

}  // namespace sporos::tool
