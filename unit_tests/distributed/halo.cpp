// SPDX-License-Identifier: Apache-2.0
/// @file halo.cpp
/// Products whose halo travels while the interior is computed: what is sent, what is said of it before it
/// runs, and which statements take this way.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <sporos/distributed/distributed.hpp>
#include <string>

#include "ranks.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

using Vector = Tensor<double, DenseVector>;
using Matrix = Tensor<double, DenseMatrix<>>;

/// The five-point stencil on a grid of side x side points, all of it on every rank.
Entries<double, 2> stencil(std::int64_t side) {
  std::vector<std::pair<Extents<2>, double>> list;
  const std::int64_t n = side * side;
  for (std::int64_t row = 0; row < n; ++row)
    for (const std::int64_t step : {-side, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, side}) {
      const std::int64_t column = row + step;
      if (column < 0 || column >= n || (step * step == 1 && column / side != row / side)) continue;
      list.push_back({{row, column}, step == 0 ? 4.0 : -1.0 - static_cast<double>(row % 3)});
    }
  Entries<double, 2> out({n, n}, std::ssize(list));
  for (std::int64_t e = 0; e < out.size(); ++e)
    out.set(e, list[static_cast<std::size_t>(e)].first, list[static_cast<std::size_t>(e)].second);
  return out;
}

struct Problem {
  Entries<double, 2> all = stencil(7);
  Tensor<double, CSR<>> whole = assemble<CSR<>>(all);
  Distributed<Tensor<double, CSR<>>> A =
      assemble<CSR<>>(Distribution<2>::balanced(world(), share(world(), all)), share(world(), all));
  Vector x = assemble<DenseVector>(all_entries<1>({49}, 2));
  Distributed<Vector> u = scatter(along(A, 0), x), v{along(A, 0)};
  Vector y{{49}};

  Problem() { y(i) = whole(i, j) * x(j); }
};

TEST(HaloProduct, SendsWhatTheOthersNeedAndNoMore) {
  Problem p;
  const auto statement = assign(p.v(i), p.A(i, j) * p.u(j));
  const Traffic told = traffic(statement);
  // The columns of this rank's rows that others own.
  const Partition& rows = p.A.distribution().partition(0);
  std::set<std::int64_t> halo;
  std::set<int> owners;
  for (std::int64_t e = 0; e < p.all.size(); ++e) {
    const auto [row, column] = p.all.coordinate(e);
    if (rows.owner(row) != world().rank() || rows.owner(column) == world().rank()) continue;
    halo.insert(column);
    owners.insert(rows.owner(column));
  }
  const RankTraffic& mine = told.ranks.at(static_cast<std::size_t>(world().rank()));
  EXPECT_EQ(mine.received, 8 * std::ssize(halo));
  EXPECT_EQ(mine.messages, std::ssize(owners));  // the pattern is symmetric
  EXPECT_EQ(mine.work, p.A.nnz());
  EXPECT_GE(told.imbalance(), 1.0);
  const Estimate estimated = estimate(statement);
  EXPECT_EQ(estimated.messages, mine.messages);
  EXPECT_EQ(estimated.sent, mine.sent);
}

/// The number of values that travel: coordinates of x that ranks' nonzeros name, and of y that they give sums
/// for, and that others own.
std::int64_t values_that_must_travel(const Problem& p, const Distribution<2>& of_A) {
  std::set<std::pair<int, std::int64_t>> of_x, of_y;
  const Partition& vectors = p.u.distribution().partition(0);
  for (std::int64_t e = 0; e < p.all.size(); ++e) {
    const auto [row, column] = p.all.coordinate(e);
    const int rank = of_A.owner({row, column});
    if (vectors.owner(column) != rank) of_x.emplace(rank, column);
    if (vectors.owner(row) != rank) of_y.emplace(rank, row);
  }
  return std::ssize(of_x) + std::ssize(of_y);
}

TEST(HaloProduct, OfAGridIsWhatItsNonzerosTouch) {
  const Problem p;
  const auto of_A = Distribution<2>::grid(world(), {49, 49});
  const auto A = redistribute(p.A, of_A);
  const auto statement = assign(p.v(i), A(i, j) * p.u(j));
  EXPECT_EQ(traffic(statement).bytes(), 8 * values_that_must_travel(p, of_A));
  auto product = plan(statement);
  for (int round = 0; round < 2; ++round) {
    p.v(i) = 7.0;  // rows that no nonzero touches become zero
    product.run();
    EXPECT_TRUE(holds(p.v, p.y));
  }
}

TEST(HaloProduct, OfColumnsIsWhatItsNonzerosTouch) {
  const Problem p;
  const auto A = redistribute<CSC<>>(p.A, p.A.distribution());
  const auto statement = assign(p.v(i), A(i, j) * p.u(j));
  EXPECT_EQ(traffic(statement).bytes(), 8 * values_that_must_travel(p, p.A.distribution()));
  statement.run();
  EXPECT_TRUE(holds(p.v, p.y));
}

TEST(HaloProduct, IsDividedByTheOwnersOfColumnsAsDrawn) {
  // The matrix of own_columns.hpp: a is in column 0, b to f are in columns 1 to 4, g is in column 5.
  const auto divide = [](bool has_a) {
    Entries<double, 2> entries({4, 6}, has_a ? 7 : 6);
    std::int64_t at = 0;
    for (const auto& c : {Extents<2>{0, 0}, {0, 1}, {0, 2}, {1, 1}, {3, 2}, {3, 3}, {3, 5}})
      if (has_a || c != Extents<2>{0, 0}) entries.set(at++, c, 1.0);
    const auto A = assemble<CSR<>>(entries);
    const Bounds own{1, 5};
    return detail::ColumnsByOwner(detail::InteriorRows(A, own), {0, 4}, own, 6);
  };
  using List = std::vector<std::int64_t>;
  const auto drawn = divide(true);
  EXPECT_EQ(drawn.own.rows, (Bounds{0, 4}));
  EXPECT_EQ(drawn.own.begins, (List{0, 2, 3, 3, 5}));
  EXPECT_EQ(drawn.own.places, (List{1, 2, 3, 4, 5}));
  EXPECT_EQ(drawn.others.rows, (Bounds{0, 4}));
  EXPECT_EQ(drawn.others.begins, (List{0, 1, 1, 1, 2}));
  EXPECT_EQ(drawn.others.places, (List{0, 6}));
  EXPECT_EQ(drawn.columns_of_halo, (List{0, 5}));

  const auto without_a = divide(false);
  EXPECT_EQ(without_a.own.begins, drawn.own.begins);
  EXPECT_EQ(without_a.others.rows, (Bounds{3, 4}));
  EXPECT_EQ(without_a.others.begins, (List{0, 1}));
  EXPECT_EQ(without_a.others.places, (List{5}));
  EXPECT_EQ(without_a.columns_of_halo, (List{5}));
}

TEST(HaloProduct, OfOtherStatementsIsTheRowsThatAreNeeded) {
  const Problem p;
  const Partition& rows = p.A.distribution().partition(0);
  // The rows of A that this rank needs of others, and their nonzeros.
  std::set<std::int64_t> halo;
  std::int64_t nonzeros = 0;
  for (std::int64_t e = 0; e < p.all.size(); ++e) {
    const auto [row, column] = p.all.coordinate(e);
    if (rows.owner(row) == world().rank() && rows.owner(column) != world().rank()) halo.insert(column);
  }
  for (std::int64_t e = 0; e < p.all.size(); ++e) nonzeros += halo.contains(p.all.coordinate(e)[0]);
  const auto here = static_cast<std::size_t>(world().rank());

  const Distributed<Tensor<double, CSR<>>> C(p.A.distribution());
  const auto square = assign(C(i, j), p.A(i, k) * p.A(k, j));
  EXPECT_EQ(traffic(square).ranks.at(here).received, 8 * nonzeros);
  square.run();
  const Tensor<double, CSR<>> expected({49, 49});
  expected(i, j) = p.whole(i, k) * p.whole(k, j);
  EXPECT_TRUE(holds(C, expected));

  const Matrix X = assemble<DenseMatrix<>>(all_entries<2>({49, 3}, 2));
  const auto U = scatter(Distribution<2>::along(world(), {49, 3}, 0, rows), X);
  const Distributed<Matrix> V(U.distribution());
  // A divisor keeps the product from taking the other way.
  const auto scaled = assign(V(i, r), p.A(i, j) * U(j, r) / 2.0);
  EXPECT_EQ(traffic(scaled).ranks.at(here).received, 3 * 8 * std::ssize(halo));
  scaled.run();
  Matrix Y({49, 3});
  Y(i, r) = p.whole(i, j) * X(j, r) / 2.0;
  EXPECT_TRUE(holds(V, Y));
}

TEST(Ghosted, NumbersOwnColumnsFirst) {
  const Problem p;
  for (const Partition& columns : {p.A.distribution().partition(0), Partition::cyclic(49, world().size())}) {
    const auto G = ghosted(p.A, columns);
    validate(G.matrix);
    EXPECT_EQ(G.matrix.values().data(), p.A.local().values().data());
    EXPECT_EQ(G.matrix.extent(1), G.own_columns + std::ssize(G.ghosts));
    EXPECT_TRUE(std::is_sorted(G.owners.begin(), G.owners.end()));
    // The product in this numbering, with the values of the ghosts from the whole vector.
    Vector x({G.matrix.extent(1)}), y({G.matrix.extent(0)});
    for (std::int64_t c = 0; c < x.extent(0); ++c) {
      const std::int64_t global = c < G.own_columns
                                      ? columns.global(world().size() == 1 ? 0 : world().rank(), c)
                                      : G.ghosts[static_cast<std::size_t>(c - G.own_columns)];
      x.values()(static_cast<std::size_t>(c)) = at(p.x, {global});
    }
    y(i) = G.matrix(i, j) * x(j);
    const Distributed<Vector> v(p.v.distribution(), y);
    EXPECT_TRUE(holds(v, p.y));
  }
  EXPECT_THROW(ghosted(p.A, Partition::blocks(48, world().size())), ShapeError);
}

TEST(HaloProduct, IsExplainedBeforeItRuns) {
  const Problem p;
  const std::string said = explain(assign(p.v(i), p.A(i, j) * p.u(j)));
  EXPECT_NE(said.find("A(i) = B(i, j) * C(j)"), std::string::npos) << said;
  EXPECT_NE(said.find("rank 0: "), std::string::npos) << said;
  EXPECT_NE(said.find("times the average work"), std::string::npos) << said;
  EXPECT_EQ(said.find("product with a halo") != std::string::npos, world().size() > 1) << said;
}

TEST(HaloProduct, GivesWhatThePartsByOwnersGive) {
  const Problem p;
  auto product = plan(assign(p.v(i), p.u(j) * p.A(i, j)));
  EXPECT_EQ(product.candidate(), world().size() > 1 ? HaloProduct::name : OwnerComputes::name);
  product.run();
  EXPECT_TRUE(holds(p.v, p.y));
  assign(p.v(i), p.A(i, j) * p.u(j)).use<OwnerComputes>().run();
  EXPECT_TRUE(holds(p.v, p.y));
  assign(p.v(i), p.A(i, j) * p.u(j)).accumulate().run();
  p.y(i) += p.whole(i, j) * p.x(j);
  EXPECT_TRUE(holds(p.v, p.y));
}

TEST(HaloProduct, TakesValuesInNewArrays) {
  const Problem p;
  auto product = plan(assign(p.v(i), p.A(i, j) * p.u(j)));
  product.run();
  const auto a = p.A.local();
  a.replace(a.extents(), a.levels(), copy_array<Kokkos::HostSpace>(a.values()));
  p.v.local().replace(p.v.local().extents(), p.v.local().levels(),
                      copy_array<Kokkos::HostSpace>(p.v.local().values()));
  const auto u = p.u.local();
  u.replace(u.extents(), u.levels(), copy_array<Kokkos::HostSpace>(u.values()));
  for (std::size_t q = 0; q < a.values().extent(0); ++q) a.values()(q) *= 2;
  for (std::size_t q = 0; q < u.values().extent(0); ++q) u.values()(q) *= 3;
  product.run();
  p.y(i) = 6.0 * p.whole(i, j) * p.x(j);
  EXPECT_TRUE(holds(p.v, p.y));
}

TEST(HaloProduct, MayBeWrittenOverItsOperand) {
  const Problem p;
  const Distributed<Vector> w(p.u.distribution());  // another tensor with the values of u
  w.local().replace(w.local().extents(), w.local().levels(), p.u.local().values());
  auto product = plan(assign(w(i), p.A(i, j) * p.u(j)));
  product.run();
  EXPECT_TRUE(holds(w, p.y));
  Vector twice({49});
  twice(i) = p.whole(i, j) * p.y(j);
  product.run();
  EXPECT_TRUE(holds(p.u, twice));
  assign(w(i), p.A(i, j) * p.u(j)).accumulate().run();
  p.y(i) = twice(i) + p.whole(i, j) * twice(j);
  EXPECT_TRUE(holds(w, p.y));
}

TEST(HaloProduct, DeclinesWhatItDoesNotTake) {
  const Problem p;
  const auto cyclic = redistribute(p.u, Distribution<1>::cyclic(world(), {49}));
  if (world().size() > 1) {
    EXPECT_THROW(assign(p.v(i), p.A(i, j) * cyclic(j)).use<HaloProduct>().run(), ScheduleError);
  }
  p.v(i) = p.A(i, j) * cyclic(j);
  EXPECT_TRUE(holds(p.v, p.y));
  p.u(i) = p.A(i, j) * p.u(j);  // the result is an operand
  EXPECT_TRUE(holds(p.u, p.y));
}

TEST(HaloProduct, MultipliesByManyColumns) {
  const Problem p;
  const auto X = assemble<DenseMatrix<>>(all_entries<2>({49, 5}, 2));
  const Matrix Y({49, 5});
  Y(i, k) = p.whole(i, j) * X(j, k);
  const auto rows = Distribution<2>::along(world(), {49, 5}, 0, p.A.distribution().partition(0));
  const auto U = scatter(rows, X);
  const Distributed<Matrix> V(rows);
  V(i, k) = p.A(i, j) * U(j, k);
  EXPECT_TRUE(holds(V, Y));
}

}  // namespace
}  // namespace sporos::test
