// SPDX-License-Identifier: Apache-2.0
/// @file mttkrp_run.cpp
/// One statement for each order, and the reference sums with which it is compared.
#include "mttkrp_run.hpp"

#include <Kokkos_Timer.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <sporos/core/index.hpp>
#include <sporos/core/statement.hpp>
#include <sporos/formats/entries_of.hpp>
#include <sporos/formats/format_name.hpp>
#include <sporos/formats/named.hpp>
#include <sporos/kernels/statement/run.hpp>
#include <utility>

#include "assembled.hpp"

namespace sporos::tool {
namespace {

using Matrix = Tensor<double, DenseMatrix<>>;

Matrix matrix_of(const std::vector<double>& values, int rank) {
  Matrix matrix({static_cast<std::int64_t>(values.size()) / rank, rank});
  std::copy(values.begin(), values.end(), matrix.values().data());
  return matrix;
}

template <class T>
auto statement_of(const Matrix& M, const T& t, const std::vector<Matrix>& F) {
  using namespace sporos::indices;
  if constexpr (T::order == 2)
    return assign(M(i, r), t(i, k) * F[0](k, r));
  else if constexpr (T::order == 3)
    return assign(M(i, r), t(i, k, l) * F[0](k, r) * F[1](l, r));
  else if constexpr (T::order == 4)
    return assign(M(i, r), t(i, k, l, m) * F[0](k, r) * F[1](l, r) * F[2](m, r));
  else if constexpr (T::order == 5)
    return assign(M(i, r), t(i, k, l, m, n) * F[0](k, r) * F[1](l, r) * F[2](m, r) * F[3](n, r));
  else
    return assign(M(i, r),
                  t(i, k, l, m, n, p) * F[0](k, r) * F[1](l, r) * F[2](m, r) * F[3](n, r) * F[4](p, r));
}

/// The product of the factors that belong to an entry, in one column.
template <int Order>
long double term(const Entries<double, Order>& entries, const Factors& factors, int rank, std::size_t q,
                 int column) {
  long double product = entries.values(q);
  for (std::size_t mode = 1; mode < entries.coordinates.size(); ++mode)
    product *= factors[mode - 1][static_cast<std::size_t>(entries.coordinates[mode](q) * rank + column)];
  return product;
}

}  // namespace

template <int Order>
MttkrpRun run_mttkrp(const Entries<double, Order>& entries, const Factors& factors, int rank, int repeats) {
  using F = CSF<Order>;
  MttkrpRun out;
  Kokkos::Timer timer;
  const auto tensor = assembled<F>(entries);
  out.tensor = {format_name<F>(), tensor.nnz(), tensor.bytes(), timer.seconds()};
  std::vector<Matrix> matrices;
  for (const auto& factor : factors) matrices.push_back(matrix_of(factor, rank));
  const Matrix M({tensor.extent(0), rank});
  const auto statement = statement_of(M, tensor, matrices);
  out.times = times_of(repeats, [&] { statement.run(); });
  out.result = sporos::entries(M, Zeros::keep);
  return out;
}

template <int Order>
Comparison compare_mttkrp(const Entries<double, Order>& entries, const Factors& factors, int rank,
                          const Entries<double, 2>& result) {
  struct Sum {
    long double value = 0, modulus = 0;
  };
  const auto rows = static_cast<std::size_t>(entries.extents[0]);
  const auto columns = static_cast<std::size_t>(rank);
  std::vector<Sum> sums(rows * columns);
  std::vector<std::int64_t> counts(rows);
  for (std::size_t q = 0; q < entries.values.extent(0); ++q) {
    const auto row = static_cast<std::size_t>(entries.coordinates[0](q));
    ++counts[row];
    for (int column = 0; column < rank; ++column) {
      const long double product = term(entries, factors, rank, q, column);
      Sum& sum = sums[row * columns + static_cast<std::size_t>(column)];
      sum.value += product;
      sum.modulus += std::abs(product);
    }
  }

  Comparison out;
  constexpr double u = std::numeric_limits<double>::epsilon() / 2;
  std::vector<bool> seen(sums.size());
  for (std::size_t q = 0; q < result.values.extent(0); ++q) {
    const auto row = static_cast<std::size_t>(result.coordinates[0](q));
    const std::size_t at = row * columns + static_cast<std::size_t>(result.coordinates[1](q));
    seen[at] = true;
    ++out.compared;
    const double n = static_cast<double>(counts[row]) + Order + 1;
    const auto modulus = static_cast<double>(sums[at].modulus);
    if (!std::isfinite(modulus)) continue;  // if terms overflow, a double gives no information
    const double bound = n * u / (1 - n * u) * modulus + n * std::numeric_limits<double>::denorm_min();
    const auto error = static_cast<double>(std::abs(result.values(q) - sums[at].value));
    if (!(error <= bound)) ++out.beyond;
    out.largest_error = std::max(out.largest_error, error);
    out.largest_part_of_bound = std::max(out.largest_part_of_bound, error / bound);
  }
  out.missing = std::count(seen.begin(), seen.end(), false);
  return out;
}

template MttkrpRun run_mttkrp(const Entries<double, 2>&, const Factors&, int, int);
template MttkrpRun run_mttkrp(const Entries<double, 3>&, const Factors&, int, int);
template MttkrpRun run_mttkrp(const Entries<double, 4>&, const Factors&, int, int);
template MttkrpRun run_mttkrp(const Entries<double, 5>&, const Factors&, int, int);
template MttkrpRun run_mttkrp(const Entries<double, 6>&, const Factors&, int, int);
template Comparison compare_mttkrp(const Entries<double, 2>&, const Factors&, int, const Entries<double, 2>&);
template Comparison compare_mttkrp(const Entries<double, 3>&, const Factors&, int, const Entries<double, 2>&);
template Comparison compare_mttkrp(const Entries<double, 4>&, const Factors&, int, const Entries<double, 2>&);
template Comparison compare_mttkrp(const Entries<double, 5>&, const Factors&, int, const Entries<double, 2>&);
template Comparison compare_mttkrp(const Entries<double, 6>&, const Factors&, int, const Entries<double, 2>&);

}  // namespace sporos::tool
