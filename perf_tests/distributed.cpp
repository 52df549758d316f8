// SPDX-License-Identifier: Apache-2.0
/// @file distributed.cpp
/// Statements on distributed tensors, on as many ranks as it is started with, beside the same statement on
/// the tensors of one process and beside PETSc.
///
///     OMP_NUM_THREADS=1 mpirun -n 2 perf_distributed [points on a side of the grid] [JSON file]
///
/// The matrix is the five-point Laplacian of a square grid, by rows. All contenders of a case are measured in
/// turn, round by round; a time is that of the slowest rank.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <sporos/distributed/distributed.hpp>
#include <string>
#include <utility>
#include <vector>

#ifdef SPOROS_HAVE_PETSC
#include <petscksp.h>
#endif

#include "on_ranks.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using perf::AllModes;
using Contender = perf::RankContender;

using Matrix = Distributed<Tensor<double, CSR<>>>;
using Vector = Distributed<Tensor<double, DenseVector>>;
using Rows = Distributed<Tensor<double, DenseMatrix<>>>;

constexpr std::int64_t width = 16;  // columns of the dense operand of SpMM and MTTKRP
constexpr int steps = 50;           // of conjugate gradients

/// Calls visit(row, column, value) for the entries of some rows.
template <class Visit>
void for_each_entry(const Bounds& rows, std::int64_t side, const Visit& visit) {
  for (std::int64_t row = rows.begin; row < rows.end; ++row) {
    if (row >= side) visit(row, row - side, -1.0);
    if (row % side > 0) visit(row, row - 1, -1.0);
    visit(row, row, 4.0);
    if (row % side < side - 1) visit(row, row + 1, -1.0);
    if (row + side < side * side) visit(row, row + side, -1.0);
  }
}

Matrix laplacian(const Communicator& ranks, std::int64_t side) {
  const std::int64_t n = side * side;
  const auto distribution = Distribution<2>::blocks(ranks, {n, n});
  const Bounds mine = distribution.partition(0).range(ranks.rank());
  std::int64_t count = 0;
  for_each_entry(mine, side, [&](auto...) { ++count; });
  Entries<double, 2> entries({n, n}, count);
  std::int64_t at = 0;
  for_each_entry(mine, side, [&](std::int64_t i, std::int64_t j, double v) { entries.set(at++, {i, j}, v); });
  return assemble<CSR<>>(distribution, entries);
}

/// This rank's part of a tensor of which two slices have seven tenths of the nonzeros.
Entries<double, 3> skewed_entries(const Communicator& ranks) {
  const Extents<3> extents{20000, 4000, 4000};
  const std::int64_t nonzeros = 2000000 / ranks.size();
  std::mt19937_64 draw(static_cast<std::uint64_t>(ranks.rank()) + 1);
  const auto below = [&](std::int64_t end) {
    return static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(end));
  };
  Entries<double, 3> out(extents, nonzeros);
  for (std::int64_t e = 0; e < nonzeros; ++e) {
    const std::int64_t luck = below(10);
    const std::int64_t slice = luck < 5 ? 11 : luck < 7 ? 4321 : below(extents[0]);
    out.set(e, {slice, below(extents[1]), below(extents[2])}, 1.0);
  }
  return out;
}

/// The steps of conjugate gradients with Jacobi's preconditioner, planned once (examples/distributed_cg).
class ConjugateGradients {
 public:
  ConjugateGradients(const Matrix& A, const Vector& b)
      : rows_(along(A, 0)), x_(rows_), d_(rows_), r_(rows_), z_(rows_), p_(rows_), q_(rows_), b_(b) {
    d_(i) = A(i, i);
    const auto statement = assign(q_(i), A(i, j) * p_(j)).with_constant_operands();
    const auto product = std::make_shared<decltype(plan(statement))>(plan(statement));
    product_ = [product] { product->run(); };
    take(dot_, pq_, p_, q_);
    take(rz_dot_, rz_, r_, z_);
    take(rr_dot_, rr_, r_, r_);
    const auto keep = [](auto statement_plan) {
      const auto kept = std::make_shared<decltype(statement_plan)>(std::move(statement_plan));
      return [kept] { kept->run(); };
    };
    clear_ = keep(plan(assign(x_(i), 0.0 * b_(i))));
    begin_ = keep(plan(assign(r_(i), 1.0 * b_(i))));
    precondition_ = keep(plan(assign(z_(i), r_(i) / d_(i))));
    first_ = keep(plan(assign(p_(i), 1.0 * z_(i))));
    step_x_ = keep(plan(assign(x_(i), alpha_() * p_(i)).accumulate()));
    step_r_ = keep(plan(assign(r_(i), -(alpha_() * q_(i))).accumulate()));
    turn_ = keep(plan(assign(p_(i), z_(i) + beta_() * p_(i))));
  }

  void run() {
    clear_();
    begin_();
    precondition_();
    first_();
    rz_dot_();
    double rho = rz_.values()(0);
    for (int step = 0; step < steps; ++step) {
      product_();
      dot_();
      alpha_.values()(0) = rho / pq_.values()(0);
      step_x_();
      step_r_();
      precondition_();
      rz_dot_();
      rr_dot_();
      beta_.values()(0) = rz_.values()(0) / rho;
      rho = rz_.values()(0);
      turn_();
    }
  }
  double residual() const { return std::sqrt(rr_.values()(0)); }

 private:
  using Number = Tensor<double, Scalar>;
  static void take(std::function<void()>& step, const Number& s, const Vector& a, const Vector& b) {
    const auto kept =
        std::make_shared<decltype(plan(assign(s(), a(i) * b(i))))>(plan(assign(s(), a(i) * b(i))));
    step = [kept] { kept->run(); };
  }

  Distribution<1> rows_;
  Vector x_, d_, r_, z_, p_, q_, b_;
  Number alpha_, beta_, pq_, rz_, rr_;
  std::function<void()> product_, dot_, rz_dot_, rr_dot_, clear_, begin_, precondition_, first_, step_x_,
      step_r_, turn_;
};

#ifdef SPOROS_HAVE_PETSC

/// PETSc's objects for the same matrix, divided in the same way.
struct Petsc {
  Mat A = nullptr, X = nullptr, Y = nullptr, C = nullptr;
  Vec x = nullptr, y = nullptr, b = nullptr;
  KSP cg = nullptr;

  Petsc(const Communicator& ranks, const Matrix& from, std::int64_t side) {
    const Bounds mine = from.distribution().partition(0).range(ranks.rank());
    const auto n = static_cast<PetscInt>(side * side), local = static_cast<PetscInt>(mine.size());
    MatCreateAIJ(ranks.mpi(), local, local, n, n, 5, nullptr, 3, nullptr, &A);
    for_each_entry(mine, side, [&](std::int64_t i, std::int64_t j, double v) {
      MatSetValue(A, static_cast<PetscInt>(i), static_cast<PetscInt>(j), v, INSERT_VALUES);
    });
    MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
    MatCreateVecs(A, &x, &y);
    VecDuplicate(x, &b);
    VecSet(x, 1.0);
    MatMult(A, x, b);
    MatCreateDense(ranks.mpi(), local, PETSC_DECIDE, n, static_cast<PetscInt>(width), nullptr, &X);
    PetscScalar* values = nullptr;
    MatDenseGetArray(X, &values);
    std::fill(values, values + static_cast<std::int64_t>(local) * width, 1.0);
    MatDenseRestoreArray(X, &values);
    MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY);
    MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &Y);
    MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C);
    KSPCreate(ranks.mpi(), &cg);
    KSPSetType(cg, KSPCG);
    KSPSetOperators(cg, A, A);
    PC jacobi = nullptr;
    KSPGetPC(cg, &jacobi);
    PCSetType(jacobi, PCJACOBI);
    KSPSetTolerances(cg, 0, 0, PETSC_DEFAULT, steps);
    KSPSetNormType(cg, KSP_NORM_UNPRECONDITIONED);
    KSPSetUp(cg);
  }
  ~Petsc() {
    KSPDestroy(&cg);
    for (Mat* matrix : {&A, &X, &Y, &C}) MatDestroy(matrix);
    for (Vec* vector : {&x, &y, &b}) VecDestroy(vector);
  }
  Petsc(const Petsc&) = delete;
  Petsc& operator=(const Petsc&) = delete;
};

#endif

void run(int argc, char** argv) {
  const auto ranks = Communicator::world();
  const std::int64_t side = argc > 1 ? std::atoll(argv[1]) : 1000;
  perf::RankTimes measured(ranks);
  const Matrix A = laplacian(ranks, side);
  const std::int64_t n = A.extent(0);
  const auto rows = along(A, 0);
  const Vector x(rows), y(rows), b(rows);
  x(i) = 1.0;
  const auto by_rows = Distribution<2>::along(ranks, {n, width}, 0, A.distribution().partition(0));
  const Rows X(by_rows), Y(by_rows);
  X(i, k) = 1.0;
  const Matrix C(A.distribution());
  b(i) = A(i, j) * x(j);

#ifdef SPOROS_HAVE_PETSC
  Petsc petsc(ranks, A, side);
#endif
  const bool alone = ranks.size() == 1;
  {
    auto product = plan(assign(y(i), A(i, j) * x(j)));
    auto constant = plan(assign(y(i), A(i, j) * x(j)).with_constant_operands());
    std::vector<Contender> contenders{{"sporos", [&] { product.run(); }},
                                      {"constant matrix", [&] { constant.run(); }}};
    // On one rank, what the same statement takes on the local tensors.
    const Tensor<double, DenseVector> whole = alone ? x.local() : Tensor<double, DenseVector>({n});
    auto local = plan(assign(y.local()(i), A.local()(i, j) * whole(j)));
    if (alone) contenders.push_back({"one process", [&] { local.run(); }});
#ifdef SPOROS_HAVE_PETSC
    contenders.push_back({"petsc", [&] { MatMult(petsc.A, petsc.x, petsc.y); }});
#endif
    measured.compare("SpMV", contenders);
  }
  {
    auto product = plan(assign(Y(i, k), A(i, j) * X(j, k)));
    std::vector<Contender> contenders{{"sporos", [&] { product.run(); }}};
#ifdef SPOROS_HAVE_PETSC
    contenders.push_back(
        {"petsc", [&] { MatMatMult(petsc.A, petsc.X, MAT_REUSE_MATRIX, PETSC_DEFAULT, &petsc.Y); }});
#endif
    measured.compare("SpMM, 16 columns", contenders);
  }
  {
    const auto statement = assign(C(i, j), A(i, k) * A(k, j));
    auto product = plan(statement);
    std::vector<Contender> once{{"sporos", [&] { statement.run(); }}};
    std::vector<Contender> again{{"sporos", [&] { product.run(); }}};
#ifdef SPOROS_HAVE_PETSC
    once.push_back({"petsc", [&] {
                      Mat square = nullptr;
                      MatMatMult(petsc.A, petsc.A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &square);
                      MatDestroy(&square);
                    }});
    again.push_back(
        {"petsc", [&] { MatMatMult(petsc.A, petsc.A, MAT_REUSE_MATRIX, PETSC_DEFAULT, &petsc.C); }});
#endif
    measured.compare("SpGEMM", once);
    measured.compare("SpGEMM, new values", again);
  }
  {
    ConjugateGradients solver(A, b);
    std::vector<Contender> contenders{{"sporos", [&] { solver.run(); }}};
#ifdef SPOROS_HAVE_PETSC
    contenders.push_back({"petsc", [&] { KSPSolve(petsc.cg, petsc.b, petsc.y); }});
#endif
    measured.compare("CG, 50 steps", contenders);
#ifdef SPOROS_HAVE_PETSC
    PetscReal theirs = 0;
    KSPGetResidualNorm(petsc.cg, &theirs);
    if (std::abs(theirs - solver.residual()) > 1e-6 * theirs)
      throw InternalError(
          text("residuals differ: ", solver.residual(), " and PETSc's ", static_cast<double>(theirs)));
#endif
  }
  {
    const std::int64_t extent = 2000, nonzeros = 2000000 / ranks.size();
    std::mt19937_64 draw(static_cast<std::uint64_t>(ranks.rank()) + 1);
    const auto any = [&] { return static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(extent)); };
    Entries<double, 3> entries({extent, extent, extent}, nonzeros);
    for (std::int64_t e = 0; e < nonzeros; ++e) entries.set(e, {any(), any(), any()}, 1.0);
    const auto T = assemble<CSF<3>>(Distribution<3>::balanced(ranks, entries), entries);
    const auto factors = Distribution<2>::blocks(ranks, {extent, width});
    const Rows U(factors), V(factors);
    const Rows M(Distribution<2>::along(ranks, {extent, width}, 0, T.distribution().partition(0)));
    U(i, r) = 1.0;
    V(i, r) = 2.0;
    auto product = plan(assign(M(i, r), T(i, k, l) * U(k, r) * V(l, r)));
    measured.compare("MTTKRP, rank 16", {{"sporos", [&] { product.run(); }}});
  }
  {
    const auto entries = skewed_entries(ranks);
    const AllModes bricks(Distribution<3>::bricks(ranks, entries.extents), entries, width);
    const AllModes fine(Distribution<3>::fine_grained(ranks, entries), entries, width);
    const auto contender = [&](const char* name, const AllModes& of) {
      if (ranks.rank() == 0)
        std::printf("%-24s %-12s the busiest rank has %.3f times the average nonzeros; %.1f MB sent\n",
                    "MTTKRP, skewed", name, of.imbalance(), static_cast<double>(of.bytes()) * 1e-6);
      return Contender{name, [&] { of.run(); }, {{"imbalance", of.imbalance()}, {"bytes sent", of.bytes()}}};
    };
    measured.compare("MTTKRP, skewed, 3 modes",
                     {contender("bricks", bricks), contender("fine-grained", fine)});
    const auto of_bricks = bricks.sums(), of_fine = fine.sums();
    for (std::size_t mode = 0; mode < of_fine.size(); ++mode)
      if (std::abs(of_fine[mode] - of_bricks[mode]) > 1e-9 * std::abs(of_bricks[mode]))
        throw InternalError(text("results of mode ", mode, " differ: ", of_fine[mode], " and ",
                                 of_bricks[mode], " in bricks"));
  }

  perf::json context = perf::context_of("distributed", ranks, argc, argv);
#ifdef SPOROS_HAVE_PETSC
  context["petsc"] = text(PETSC_VERSION_MAJOR, '.', PETSC_VERSION_MINOR, '.', PETSC_VERSION_SUBMINOR);
#endif
  measured.write(argc > 2 ? argv[2] : "", context);
}

}  // namespace

int main(int argc, char** argv) {
  const MpiScope mpi(argc, argv);
  const ScopeGuard guard(argc, argv);
#ifdef SPOROS_HAVE_PETSC
  PetscInitializeNoArguments();
#endif
  int failed = 0;
  try {
    run(argc, argv);
  } catch (const std::exception& error) {
    if (Communicator::world().rank() == 0) std::fprintf(stderr, "%s\n", error.what());
    failed = 1;
  }
#ifdef SPOROS_HAVE_PETSC
  PetscFinalize();
#endif
  return failed;
}
