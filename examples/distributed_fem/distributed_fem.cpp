// SPDX-License-Identifier: Apache-2.0
/// @file distributed_fem.cpp
/// Linear finite elements on triangles, assembled and solved on any number of ranks, and the matrix in the
/// form that hypre, Tpetra and PETSc take.
///
///     distributed_fem [cells on a side of the square]
///     mpirun -n 4 distributed_fem
///
/// Solves -laplace(u) + u = f on the unit square, with no flow through its sides, for the f that makes
/// u(x, y) = cos(pi x) cos(pi y), so that the error is known. Each rank loops over its own triangles and
/// contributes to nodes of any rank.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numbers>
#include <sporos/distributed/distributed.hpp>
#include <vector>

namespace {

using namespace sporos::indices;
using sporos::Communicator;
using Matrix = sporos::Distributed<sporos::Tensor<double, sporos::CSR<>>>;
using Vector = sporos::Distributed<sporos::Tensor<double, sporos::DenseVector>>;

/// A square of side x side cells, each cut into two triangles. Nodes are numbered row by row.
struct Mesh {
  std::int64_t side;

  std::int64_t nodes() const { return (side + 1) * (side + 1); }
  std::int64_t triangles() const { return 2 * side * side; }
  std::array<std::int64_t, 3> corners(std::int64_t triangle) const {
    const std::int64_t cell = triangle / 2, lower = cell / side * (side + 1) + cell % side,
                       upper = lower + side + 1;
    if (triangle % 2 == 0) return {lower, lower + 1, upper};
    return {upper + 1, upper, lower + 1};
  }
  std::array<double, 2> position(std::int64_t node) const {
    const auto cells = static_cast<double>(side);
    return {static_cast<double>(node % (side + 1)) / cells, static_cast<double>(node / (side + 1)) / cells};
  }
};

/// The integrals over a triangle of products of two of its hat functions, and of their gradients.
struct Element {
  double mass[3][3], stiffness[3][3];

  explicit Element(const std::array<std::array<double, 2>, 3>& p) {
    const auto side = [&](int a, int axis) { return p[(a + 2) % 3u][axis] - p[(a + 1) % 3u][axis]; };
    const double area = std::abs(side(0, 0) * side(1, 1) - side(0, 1) * side(1, 0)) / 2;
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) {
        mass[a][b] = area / (a == b ? 6 : 12);
        stiffness[a][b] = (side(a, 0) * side(b, 0) + side(a, 1) * side(b, 1)) / (4 * area);
      }
  }
};

struct System {
  Matrix stiffness, mass;
};

/// The contributions of this rank's triangles, sent to the owners of rows and added there.
System assemble(const Communicator& ranks, const Mesh& mesh) {
  const std::int64_t n = mesh.nodes();
  const sporos::Bounds mine = sporos::Partition::blocks(mesh.triangles(), ranks.size()).range(ranks.rank());
  sporos::Entries<double, 2> stiffness({n, n}, 9 * mine.size()), mass({n, n}, 9 * mine.size());
  std::int64_t at = 0;
  for (std::int64_t triangle = mine.begin; triangle < mine.end; ++triangle) {
    const auto nodes = mesh.corners(triangle);
    const Element element({mesh.position(nodes[0]), mesh.position(nodes[1]), mesh.position(nodes[2])});
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b, ++at) {
        stiffness.set(at, {nodes[a], nodes[b]}, element.stiffness[a][b]);
        mass.set(at, {nodes[a], nodes[b]}, element.mass[a][b]);
      }
  }
  const auto rows = sporos::Distribution<2>::blocks(ranks, {n, n});
  return {sporos::assemble<sporos::CSR<>>(rows, stiffness), sporos::assemble<sporos::CSR<>>(rows, mass)};
}

/// Solves A x = b by the conjugate gradient method, starting from x = 0.
int solve(const Matrix& A, const Vector& b, const Vector& x, double tolerance) {
  const Vector r(b.distribution()), p(b.distribution()), q(b.distribution());
  auto product = plan(assign(q(i), A(i, j) * p(j)).with_constant_operands());
  x(i) = 0.0;
  r(i) = b(i);
  p(i) = r(i);
  double rr = sum(r(i) * r(i));
  const double enough = tolerance * tolerance * rr;
  int steps = 0;
  for (; rr > enough && steps < 2000; ++steps) {
    product.run();
    const double alpha = rr / static_cast<double>(sum(p(i) * q(i)));
    x(i) += alpha * p(i);
    r(i) -= alpha * q(i);
    const double next = sum(r(i) * r(i));
    p(i) = r(i) + (next / rr) * p(i);
    rr = next;
  }
  return steps;
}

/// Stands for a library that knows nothing of Sporos: y = A x, for rows in CSR with local column numbers,
/// this rank's own first and then the ghosts. hypre's ParCSR, a Tpetra::CrsMatrix and PETSc's MATIS have such
/// rows. (PETSc's MatCreateMPIAIJWithArrays takes rows with global columns: those of A.local().)
template <class Position, class Column>
std::vector<double> foreign_product(std::int64_t rows, const Position* begins, const Column* columns,
                                    const double* values, const std::vector<double>& x) {
  std::vector<double> y(static_cast<std::size_t>(rows));
  for (std::size_t row = 0; row < y.size(); ++row)
    for (auto q = begins[row]; q < begins[row + 1]; ++q)
      y[row] += values[q] * x[static_cast<std::size_t>(columns[q])];
  return y;
}

/// The largest difference between A x and the foreign product, over all ranks.
double hand_over(const Communicator& ranks, const Matrix& A, const Vector& x) {
  const auto G = ghosted(A, x.distribution().partition(0));
  const auto all = gather(x);  // a library with its own messages fetches only the ghosts' values
  std::vector<double> with_ghosts(x.local().values().data(), x.local().values().data() + G.own_columns);
  for (const std::int64_t ghost : G.ghosts) with_ghosts.push_back(at(all, {ghost}));
  const auto& level = G.matrix.template level<1>();
  const auto y = foreign_product(G.matrix.extent(0), level.positions.data(), level.coordinates.data(),
                                 G.matrix.values().data(), with_ghosts);
  const Vector expected(x.distribution());
  expected(i) = A(i, j) * x(j);
  double difference = 0;
  for (std::size_t row = 0; row < y.size(); ++row)
    difference = std::max(difference, std::abs(y[row] - expected.local().values()(row)));
  // rows, own columns, ghosts, and the first of them with its owner
  std::array<std::int64_t, 5> mine{G.matrix.extent(0), G.own_columns, std::ssize(G.ghosts), 0, 0};
  if (!G.ghosts.empty()) mine[3] = G.ghosts[0], mine[4] = G.owners[0];
  const auto of_ranks = ranks.all(mine);
  for (int rank = 0; rank < ranks.size() && ranks.rank() == 0; ++rank) {
    const auto& [rows, own, ghosts, first, owner] = of_ranks[static_cast<std::size_t>(rank)];
    fmt::print("rank {}: {} rows, {} columns of its own, {} ghosts", rank, rows, own, ghosts);
    if (ghosts > 0) fmt::print(", the first is {} of rank {}", first, owner);
    fmt::print("\n");
  }
  return ranks.max(difference);
}

int run(const Communicator& ranks, int argc, char** argv) {
  const Mesh mesh{argc > 1 ? std::atoll(argv[1]) : 40};
  const System system = assemble(ranks, mesh);
  const Matrix A(system.mass.distribution());
  A(i, j) = system.stiffness(i, j) + system.mass(i, j);

  const Vector exact(along(A, 0)), b(along(A, 0)), u(along(A, 0)), x(along(A, 0));
  const sporos::Bounds mine = exact.distribution().partition(0).range(ranks.rank());
  for (std::int64_t node = mine.begin; node < mine.end; ++node) {
    const auto [px, py] = mesh.position(node);
    exact.local().values()(static_cast<std::size_t>(node - mine.begin)) =
        std::cos(std::numbers::pi * px) * std::cos(std::numbers::pi * py);
  }
  const double factor = 2 * std::numbers::pi * std::numbers::pi + 1;  // f = factor * u
  b(i) = factor * system.mass(i, j) * exact(j);
  const int steps = solve(A, b, u, 1e-8);
  const double error = norm(u(i) - exact(i)) / norm(exact);

  const double difference = hand_over(ranks, A, exact);
  const std::int64_t nonzeros = total_nnz(A);
  if (ranks.rank() == 0)
    fmt::print("{} triangles, {} nodes, {} nonzeros on {} ranks: {} steps, relative error {:.1e}\n",
               mesh.triangles(), mesh.nodes(), nonzeros, ranks.size(), steps, error);
  return error < 1e-2 && difference < 1e-12 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const sporos::MpiScope mpi(argc, argv);
  const sporos::ScopeGuard guard(argc, argv);
  const auto ranks = Communicator::world();
  return sporos::run_jointly(ranks, [&] { return run(ranks, argc, argv); });
}
