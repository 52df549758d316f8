// SPDX-License-Identifier: Apache-2.0
/// @file spmv_run.cpp
/// One statement, and its reference.
#include "spmv_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sporos/core/index.hpp>
#include <sporos/core/statement.hpp>
#include <sporos/kernels/statement/plan.hpp>
#include <vector>

namespace sporos::tool {

SpmvRun run_spmv(const RealRows& A, const RealVector& x, const RealVector& y, int repeats, double seconds) {
  using namespace sporos::indices;
  SpmvRun out;
  const Kokkos::Timer timer;
  auto product = plan(assign(y(i), A(i, j) * x(j)));
  out.plan_seconds = timer.seconds();
  out.kernel = product.candidate();
  const auto run = [&] { product.run(); };
  out.times = repeats > 0 ? times_of(repeats, run) : times_within(seconds, run);
  out.bytes = A.bytes() + x.bytes() + y.bytes();
  return out;
}

Comparison compare_spmv(const Entries<double, 2>& A, const RealVector& x, const RealVector& y) {
  struct Sum {
    long double value = 0, modulus = 0;
    std::int64_t terms = 0;
  };
  std::vector<Sum> sums(static_cast<std::size_t>(A.extents[0]));
  for (std::size_t q = 0; q < A.values.extent(0); ++q) {
    Sum& sum = sums[static_cast<std::size_t>(A.coordinates[0](q))];
    const long double term =
        static_cast<long double>(A.values(q)) * x.values()(static_cast<std::size_t>(A.coordinates[1](q)));
    sum.value += term;
    sum.modulus += std::abs(term);
    ++sum.terms;
  }
  Comparison out;
  constexpr double u = std::numeric_limits<double>::epsilon() / 2;
  for (std::size_t row = 0; row < sums.size(); ++row) {
    ++out.compared;
    const Sum& sum = sums[row];
    const auto modulus = static_cast<double>(sum.modulus);
    if (!std::isfinite(modulus)) continue;  // if terms overflow, a double gives no information
    const double n = static_cast<double>(sum.terms) + 1;
    const double bound = n * u / (1 - n * u) * modulus + n * std::numeric_limits<double>::denorm_min();
    const auto error = static_cast<double>(std::abs(y.values()(row) - sum.value));
    if (!(error <= bound)) ++out.beyond;
    out.largest_error = std::max(out.largest_error, error);
    out.largest_part_of_bound = std::max(out.largest_part_of_bound, error / bound);
  }
  return out;
}

}  // namespace sporos::tool
