// SPDX-License-Identifier: Apache-2.0
/// @file distributed_bicgstab.cpp
/// The stabilised biconjugate gradient method with Jacobi's preconditioner, on any number of ranks.
///
///     distributed_bicgstab [matrix.mtx or points on a side of the grid]
///     mpirun -n 4 distributed_bicgstab
///
/// H. van der Vorst, "Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution of
/// nonsymmetric linear systems", SIAM Journal on Scientific and Statistical Computing 13 (1992). Solves A x =
/// b for a matrix from a file, of which each rank reads a part, or for convection and diffusion on a square
/// grid. The right side is that of x = 1, so that the error is known.
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
using Matrix = sporos::Distributed<sporos::Tensor<double, sporos::CSR<>>>;
using Vector = sporos::Distributed<sporos::Tensor<double, sporos::DenseVector>>;
using Number = sporos::Tensor<double, sporos::Scalar>;

/// Diffusion, with a wind towards the right and upwards, which makes upwind points count for more than
/// downwind ones. Every rank makes the rows of its points.
Matrix convection(const Communicator& ranks, std::int64_t side) {
  constexpr double wind = 0.7;
  const std::int64_t n = side * side;
  const auto rows = sporos::Distribution<2>::blocks(ranks, {n, n});
  const sporos::Bounds mine = rows.partition(0).range(ranks.rank());
  sporos::Entries<double, 2> entries({n, n}, 5 * mine.size());
  std::int64_t at = 0;
  for (std::int64_t point = mine.begin; point < mine.end; ++point) {
    // A neighbour beyond the edge adds nothing to the diagonal.
    const auto add = [&](bool is_inside, std::int64_t neighbour, double value) {
      entries.set(at++, {point, is_inside ? neighbour : point}, is_inside ? value : 0.0);
    };
    add(true, point, 4 + 2 * wind);
    add(point % side > 0, point - 1, -1 - wind);
    add(point % side < side - 1, point + 1, -1);
    add(point >= side, point - side, -1 - wind);
    add(point + side < n, point + side, -1);
  }
  return sporos::assemble<sporos::CSR<>>(rows, entries);
}

struct Result {
  int steps = 0;
  double residual = 1;  ///< relative residual
};

/// Solves A x = b, starting from the given x.
Result solve(const Matrix& A, const Vector& b, const Vector& x, double tolerance, int most_steps) {
  const auto rows = along(A, 0);
  const Vector d(rows), r(rows), shadow(rows), p(rows), v(rows), t(rows), turned_p(rows), turned_r(rows);
  const Number alpha, beta, omega, rho, shadow_v, tr, tt, rr;

  // Each statement is planned once: its messages, buffers, and what each rank computes.
  auto find_rho = plan(assign(rho(), shadow(i) * r(i)));
  auto turn = plan(assign(p(i), r(i) + beta() * p(i) - beta() * omega() * v(i)));
  auto precondition_p = plan(assign(turned_p(i), p(i) / d(i)));
  auto product_p = plan(assign(v(i), A(i, j) * turned_p(j)).with_constant_operands());
  auto find_shadow_v = plan(assign(shadow_v(), shadow(i) * v(i)));
  auto half_step = plan(assign(r(i), -(alpha() * v(i))).accumulate());
  auto precondition_r = plan(assign(turned_r(i), r(i) / d(i)));
  auto product_r = plan(assign(t(i), A(i, j) * turned_r(j)).with_constant_operands());
  auto find_tr = plan(assign(tr(), t(i) * r(i)));
  auto find_tt = plan(assign(tt(), t(i) * t(i)));
  auto step_x = plan(assign(x(i), alpha() * turned_p(i) + omega() * turned_r(i)).accumulate());
  auto step_r = plan(assign(r(i), -(omega() * t(i))).accumulate());
  auto find_rr = plan(assign(rr(), r(i) * r(i)));
  const auto number = [](const Number& of) -> double& { return of.values()(0); };

  d(i) = A(i, i);
  r(i) = b(i) - A(i, j) * x(j);
  shadow(i) = r(i);
  find_rr.run();
  const double first = std::sqrt(number(rr));
  double last_rho = number(alpha) = number(omega) = 1;
  Result out;
  while (out.steps < most_steps && out.residual > tolerance) {
    find_rho.run();
    number(beta) = number(rho) / last_rho * number(alpha) / number(omega);
    last_rho = number(rho);
    turn.run();
    precondition_p.run();
    product_p.run();
    find_shadow_v.run();
    number(alpha) = number(rho) / number(shadow_v);
    half_step.run();
    precondition_r.run();
    product_r.run();
    find_tr.run();
    find_tt.run();
    number(omega) = number(tt) > 0 ? number(tr) / number(tt) : 0;
    step_x.run();
    step_r.run();
    find_rr.run();
    out.residual = std::sqrt(number(rr)) / first;
    ++out.steps;
  }
  return out;
}

int run(const Communicator& ranks, int argc, char** argv) {
  const std::string given = argc > 1 ? argv[1] : "60";
  const bool is_side = std::all_of(given.begin(), given.end(), [](char c) { return c >= '0' && c <= '9'; });
  const Matrix A =
      is_side ? convection(ranks, std::atoll(given.c_str())) : sporos::read<sporos::CSR<>>(ranks, given);
  const Vector x(along(A, 0)), b(along(A, 0)), ones(along(A, 0));
  ones(i) = 1.0;
  b(i) = A(i, j) * ones(j);

  const Result result = solve(A, b, x, 1e-10, 2000);
  const Number error;
  error() = (x(i) - ones(i)) * (x(i) - ones(i));
  const double distance = std::sqrt(error.values()(0) / static_cast<double>(A.extent(0)));
  const std::int64_t nonzeros = total_nnz(A);
  if (ranks.rank() == 0)
    fmt::print("{} unknowns, {} nonzeros on {} ranks: {} steps, residual {:.1e}, error {:.1e}\n", A.extent(0),
               nonzeros, ranks.size(), result.steps, result.residual, distance);
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
