// SPDX-License-Identifier: Apache-2.0
/// @file distributed_cg.cpp
/// The conjugate gradient method with Jacobi's preconditioner, on any number of ranks.
///
///     distributed_cg [matrix.mtx or points on a side of the grid]
///     mpirun -n 4 distributed_cg
///
/// Solves A x = b for a symmetric positive definite matrix: one from a file, of which each rank reads a part,
/// or the five-point Laplacian of a square grid. The right side is that of x = 1, so that the error is known.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <sporos/distributed/distributed.hpp>
#include <string>

namespace {

using namespace sporos::indices;
using sporos::Communicator;
using Space = sporos::Host;  // where everything runs; Kokkos::Cuda for a GPU on each rank
using Matrix = sporos::Distributed<sporos::Tensor<double, sporos::CSR<>, Space>>;
using Vector = sporos::Distributed<sporos::Tensor<double, sporos::DenseVector, Space>>;
using Number = sporos::Tensor<double, sporos::Scalar, Space>;

/// The value of a tensor of order 0, read or set by the host.
double number(const Number& of) {
  double out = 0;
  Kokkos::deep_copy(out, Kokkos::subview(of.values(), 0));
  return out;
}
void set(const Number& to, double value) { Kokkos::deep_copy(to.values(), value); }

/// -1 between neighbouring points of a grid, 4 at each point. Every rank makes the rows that it will store.
Matrix laplacian(const Communicator& ranks, std::int64_t side) {
  const std::int64_t n = side * side;
  const auto distribution = sporos::Distribution<2>::blocks(ranks, {n, n});
  const sporos::Bounds mine = distribution.partition(0).range(ranks.rank());
  const auto for_each_entry = [&](const auto& visit) {
    for (std::int64_t point = mine.begin; point < mine.end; ++point) {
      visit(point, point, 4.0);
      if (point >= side) visit(point, point - side, -1.0);
      if (point % side > 0) visit(point, point - 1, -1.0);
      if (point % side < side - 1) visit(point, point + 1, -1.0);
      if (point + side < n) visit(point, point + side, -1.0);
    }
  };
  std::int64_t count = 0;
  for_each_entry([&](auto...) { ++count; });
  sporos::Entries<double, 2> entries({n, n}, count);
  std::int64_t at = 0;
  for_each_entry(
      [&](std::int64_t row, std::int64_t column, double value) { entries.set(at++, {row, column}, value); });
  return sporos::assemble<sporos::CSR<>, Space>(distribution, entries);
}

struct Result {
  int steps = 0;
  double residual = 0;  ///< relative residual
};

/// Solves A x = b, starting from the given x.
Result solve(const Matrix& A, const Vector& b, const Vector& x, double tolerance, int most_steps) {
  const auto rows = along(A, 0);
  const Vector d(rows), r(rows), z(rows), p(rows), q(rows);
  const Number alpha, beta, pq, rz, rr;

  // Each statement is planned once: its messages, buffers, and what each rank computes. The matrix does not
  // change, so the plan may keep it in another layout.
  auto product = plan(assign(q(i), A(i, j) * p(j)).with_constant_operands());
  auto p_dot_q = plan(assign(pq(), p(i) * q(i)));
  auto r_dot_z = plan(assign(rz(), r(i) * z(i)));
  auto r_dot_r = plan(assign(rr(), r(i) * r(i)));
  auto precondition = plan(assign(z(i), r(i) / d(i)));
  auto step_x = plan(assign(x(i), alpha() * p(i)).accumulate());
  auto step_r = plan(assign(r(i), -(alpha() * q(i))).accumulate());
  auto turn = plan(assign(p(i), z(i) + beta() * p(i)));

  d(i) = A(i, i);
  r(i) = b(i) - A(i, j) * x(j);
  precondition.run();
  p(i) = z(i);
  r_dot_z.run();
  r_dot_r.run();
  double product_of_residuals = number(rz);
  const double first = std::sqrt(number(rr));
  Result out{0, 1};
  while (out.steps < most_steps && out.residual > tolerance) {
    product.run();
    p_dot_q.run();
    set(alpha, product_of_residuals / number(pq));
    step_x.run();
    step_r.run();
    precondition.run();
    r_dot_z.run();
    r_dot_r.run();
    set(beta, number(rz) / product_of_residuals);
    product_of_residuals = number(rz);
    turn.run();
    out.residual = std::sqrt(number(rr)) / first;
    ++out.steps;
  }
  return out;
}

int run(const Communicator& ranks, int argc, char** argv) {
  const std::string given = argc > 1 ? argv[1] : "60";
  const bool is_side = std::all_of(given.begin(), given.end(), [](char c) { return c >= '0' && c <= '9'; });
  const Matrix A = is_side ? laplacian(ranks, std::atoll(given.c_str()))
                           : sporos::read<sporos::CSR<>, double, Space>(ranks, given);
  const Vector x(along(A, 0)), b(along(A, 0)), ones(along(A, 0));
  ones(i) = 1.0;
  b(i) = A(i, j) * ones(j);

  const std::string plan_of_product = explain(assign(b(i), A(i, j) * x(j)));
  const Result result = solve(A, b, x, 1e-10, 2000);
  const Number error;
  error() = (x(i) - ones(i)) * (x(i) - ones(i));
  const double distance = std::sqrt(number(error) / static_cast<double>(A.extent(0)));
  const std::int64_t nonzeros = total_nnz(A);
  if (ranks.rank() == 0) {
    fmt::print("{}\n", plan_of_product);
    fmt::print("{} unknowns, {} nonzeros on {} ranks: {} steps, residual {:.1e}, error {:.1e}\n", A.extent(0),
               nonzeros, ranks.size(), result.steps, result.residual, distance);
  }
  return distance < 1e-6 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const sporos::MpiScope mpi(argc, argv);
  const sporos::ScopeGuard guard(argc, argv);
  const auto ranks = Communicator::world();
  // An error on one rank, of any kind, becomes an error of all ranks.
  return sporos::run_jointly(ranks, [&] { return run(ranks, argc, argv); });
}
