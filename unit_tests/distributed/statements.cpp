// SPDX-License-Identifier: Apache-2.0
/// @file statements.cpp
/// Statements on distributed tensors, in combinations of distributions and formats, against the same
/// statement on the whole tensors.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <sporos/distributed/distributed.hpp>
#include <string>
#include <vector>

#include "ranks.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

using Vector = Tensor<double, DenseVector>;
using Matrix = Tensor<double, DenseMatrix<>>;

/// y(i) = A(i, j) * x(j), run twice by a plan, with other values the second time.
template <class F>
void expect_spmv(std::int64_t m, std::int64_t n, double density) {
  const auto A = assemble<F>(all_entries<2>({m, n}, density));
  const auto x = whole_dense<DenseVector>({n}, 1);
  const Vector y({m}), twice({m});
  y(i) = A(i, j) * x(j);
  twice(i) = 2.0 * y(i);
  const auto of_A = kinds<2>({m, n});
  const auto of_x = kinds<1>({n}), of_y = kinds<1>({m});
  for_some(
      combinations, 5,
      [&](std::size_t a, std::size_t b, std::size_t c) {
        SCOPED_TRACE(text(of_A[a].str(), ' ', of_x[b].str(), ' ', of_y[c].str()));
        const auto B = spread(of_A[a], A);
        const auto u = spread(of_x[b], x);
        const Distributed<Vector> v(of_y[c]);
        auto product = plan(assign(v(i), B(i, j) * u(j)));
        product.run();
        EXPECT_TRUE(holds(v, y));
        u(j) += u(j);
        product.run();
        EXPECT_TRUE(holds(v, twice));
      },
      of_A.size(), of_x.size(), of_y.size());
}

TEST(DistributedStatements, MultiplyAMatrixAndAVector) {
  expect_spmv<CSR<>>(13, 9, 0.3);
  expect_spmv<CSC<>>(9, 13, 0.3);
  expect_spmv<COO<2>>(10, 10, 0.3);
  expect_spmv<BCSR<2, 3>>(13, 9, 0.3);
  expect_spmv<CSR<>>(2, 3, 0.9);  // more ranks than rows
}

/// The coordinates of a mode at which a rank has nonzeros and whose rows it does not own.
template <class T>
std::int64_t foreign_rows(const T& tensor, int mode, const Partition& rows) {
  const auto local = entries(tensor.local());
  std::set<std::int64_t> found;
  for (std::int64_t e = 0; e < local.size(); ++e) {
    const auto at = tensor.distribution().global(world().rank(), local.coordinate(e));
    const std::int64_t row = at[static_cast<std::size_t>(mode)];
    if (rows.owner(row) != world().rank()) found.insert(row);
  }
  return std::ssize(found);
}

TEST(DistributedStatements, SendWhatBricksNeedAlsoWhereFactorsAreLargerThanTheTensor) {
  const Extents<3> extents{20, 60, 300};
  const std::int64_t width = 16;
  const auto T =
      spread(Distribution<3>::bricks(world(), extents), assemble<CSF<3>>(all_entries<3>(extents, 0.0005)));
  std::vector<Distributed<Matrix>> F, M;
  std::int64_t halo = 0;
  for (int mode = 0; mode < 3; ++mode) {
    F.emplace_back(Distribution<2>::blocks(world(), {T.extent(mode), width}));
    M.emplace_back(F.back().distribution());
    halo += foreign_rows(T, mode, F.back().distribution().partition(0));
  }
  const auto bytes = static_cast<double>(world().sum(halo) * width) * sizeof(double);
  EXPECT_LE(traffic(assign(M[0](i, r), T(i, k, l) * F[1](k, r) * F[2](l, r))).bytes(), 1.05 * bytes);
  EXPECT_LE(traffic(assign(M[1](k, r), T(i, k, l) * F[0](i, r) * F[2](l, r))).bytes(), 1.05 * bytes);
  EXPECT_LE(traffic(assign(M[2](l, r), T(i, k, l) * F[0](i, r) * F[1](k, r))).bytes(), 1.05 * bytes);
}

TEST(DistributedStatements, LeaveSparseProductsWithTheOwnersOfTheirRows) {
  const std::int64_t n = 200;
  const auto rows = Distribution<2>::blocks(world(), {n, n});
  const auto A = spread(rows, assemble<CSR<>>(all_entries<2>({n, n}, 0.025)));
  const auto B = spread(rows, assemble<CSR<>>(all_entries<2>({n, n}, 0.025, 8)));
  const auto d = spread(Distribution<1>::blocks(world(), {n}), whole_dense<DenseVector>({n}, 1));
  const Distributed<Tensor<double, CSR<>>> C(rows);
  if (world().size() == 1) return;
  for (int time = 0; time < 2; ++time) {  // the result has no values at first
    const auto statement = assign(C(i, j), d(i) * A(i, k) * B(k, j));
    EXPECT_NE(explain(statement).find("its coordinates of i"), std::string::npos);
    statement.run();
  }
}

TEST(DistributedStatements, AreComputedByTheOwnersThatTheyName) {
  const std::int64_t m = 13, n = 9;
  const auto A = assemble<CSR<>>(all_entries<2>({m, n}, 0.3));
  const auto x = whole_dense<DenseVector>({n}, 1);
  const Vector y({m});
  y(i) = A(i, j) * x(j);
  const auto B = spread(Distribution<2>::blocks(world(), {m, n}), A);
  const auto of_x = kinds<1>({n}), of_y = kinds<1>({m});
  const Distributed<Vector> v(along(B, 0));
  // The owners of the result would compute, with a halo.
  EXPECT_EQ(plan(assign(v(i), B(i, j) * spread(along(B, 1), x)(j)).on_owners_of(B(i, j))).candidate(),
            world().size() > 1 ? HaloProduct::name : OwnerComputes::name);
  for (const auto& of : of_x) {
    const auto u = spread(of, x);
    const auto statement = assign(v(i), B(i, j) * u(j)).on_owners_of(u(j));
    auto product = plan(statement);
    for (int round = 0; round < 2; ++round) {
      product.run();
      EXPECT_TRUE(holds(v, y)) << of.str();
    }
    const bool is_divided = !of.is_replicated();
    EXPECT_EQ(explain(statement).find("its coordinates of j") != std::string::npos, is_divided) << of.str();
  }
  // Owners of a tensor that is not the statement's, on a grid.
  const auto u = spread(of_x[1], x);
  for (const auto& of : kinds<2>({m, n})) {
    const Distributed<Tensor<double, CSR<>>> owners(of);
    assign(v(i), B(i, j) * u(j)).on_owners_of(owners(i, j)).run();
    EXPECT_TRUE(holds(v, y)) << of.str();
  }
  EXPECT_THROW(assign(v(i), B(i, j) * u(j)).on_owners_of(v(j)).run(), ShapeError);
  if (world().size() == 1) return;
  EXPECT_THROW(assign(v(i), B(i, j) * u(j)).on_owners_of(u(j)).deterministic().run(), ScheduleError);
  EXPECT_THROW(assign(v(i), B(i, j) * u(j)).on_owners_of(u(j)).use<HaloProduct>().run(), ScheduleError);
}

TEST(DistributedStatements, AddToAResult) {
  const auto A = assemble<CSR<>>(all_entries<2>({8, 8}, 0.3));
  const auto x = whole_dense<DenseVector>({8}, 1), before = whole_dense<DenseVector>({8}, 2);
  const auto expected = before.clone();
  expected(i) += A(i, j) * x(j);
  for (const auto& of_A : kinds<2>({8, 8}))
    for (const auto& of_y : kinds<1>({8})) {
      const auto y = spread(of_y, before);
      y(i) += spread(of_A, A)(i, j) * spread(of_y, x)(j);
      EXPECT_TRUE(holds(y, expected)) << of_A.str() << ' ' << of_y.str();
    }
}

TEST(DistributedStatements, MultiplyASparseAndADenseMatrix) {
  const std::int64_t m = 11, n = 7, width = 3;
  const auto A = assemble<CSR<>>(all_entries<2>({m, n}, 0.3));
  const auto X = whole_dense<DenseMatrix<>>({n, width}, 1);
  const Matrix Y({m, width});
  Y(i, k) = A(i, j) * X(j, k);
  const auto of_A = kinds<2>({m, n}), of_X = kinds<2>({n, width}), of_Y = kinds<2>({m, width});
  for_some(
      combinations, 6,
      [&](std::size_t a, std::size_t b, std::size_t c) {
        const Distributed<Matrix> V(of_Y[c]);
        V(i, k) = spread(of_A[a], A)(i, j) * spread(of_X[b], X)(j, k);
        EXPECT_TRUE(holds(V, Y)) << of_A[a].str() << ' ' << of_X[b].str() << ' ' << of_Y[c].str();
      },
      of_A.size(), of_X.size(), of_Y.size());
}

/// A(i, j) = B(i, k) * C(k, j), all sparse, run twice by a plan.
template <class F>
void expect_spgemm() {
  const std::int64_t m = 9, n = 8, inner = 7;
  const auto B = assemble<F>(all_entries<2>({m, inner}, 0.3, 1));
  const auto C = assemble<F>(all_entries<2>({inner, n}, 0.3, 2));
  const Tensor<double, F> A({m, n}), twice({m, n});
  A(i, j) = B(i, k) * C(k, j);
  twice(i, j) = 2.0 * A(i, j);
  const auto of_A = kinds<2>({m, n}), of_B = kinds<2>({m, inner}), of_C = kinds<2>({inner, n});
  for_some(
      combinations, 7,
      [&](std::size_t a, std::size_t b, std::size_t c) {
        SCOPED_TRACE(text(of_A[a].str(), ' ', of_B[b].str(), ' ', of_C[c].str()));
        const auto P = spread(of_B[b], B), Q = spread(of_C[c], C);
        const Distributed<Tensor<double, F>> R(of_A[a]);
        auto product = plan(assign(R(i, j), P(i, k) * Q(k, j)));
        product.run();
        EXPECT_TRUE(holds(R, A));
        for (std::size_t q = 0; q < P.local().values().extent(0); ++q) P.local().values()(q) *= 2;
        product.run();
        EXPECT_TRUE(holds(R, twice));
      },
      of_A.size(), of_B.size(), of_C.size());
}

TEST(DistributedStatements, MultiplySparseMatrices) {
  expect_spgemm<CSR<>>();
  expect_spgemm<DCSR<>>();
}

TEST(DistributedStatements, AddSparseMatrices) {
  const auto B = assemble<CSR<>>(all_entries<2>({9, 8}, 0.3, 1));
  const auto C = assemble<CSR<>>(all_entries<2>({9, 8}, 0.3, 2));
  const Tensor<double, CSR<>> A({9, 8});
  A(i, j) = 2.0 * B(i, j) - C(i, j);
  const auto of = kinds<2>({9, 8});
  for_some(
      combinations, 8,
      [&](std::size_t a, std::size_t b, std::size_t c) {
        const Distributed<Tensor<double, CSR<>>> R(of[a]);
        R(i, j) = 2.0 * spread(of[b], B)(i, j) - spread(of[c], C)(i, j);
        EXPECT_TRUE(holds(R, A)) << of[a].str() << ' ' << of[b].str() << ' ' << of[c].str();
      },
      of.size(), of.size(), of.size());
}

TEST(DistributedStatements, SampleADenseProduct) {
  const std::int64_t m = 9, n = 8, inner = 4;
  const auto B = assemble<CSR<>>(all_entries<2>({m, n}, 0.3, 1));
  const auto C = whole_dense<DenseMatrix<>>({m, inner}, 2);
  const auto D = whole_dense<DenseMatrix<>>({inner, n}, 3);
  const Tensor<double, CSR<>> A({m, n});
  A(i, j) = B(i, j) * C(i, k) * D(k, j);
  const auto of_A = kinds<2>({m, n}), of_C = kinds<2>({m, inner}), of_D = kinds<2>({inner, n});
  for_some(
      combinations, 9,
      [&](std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
        const Distributed<Tensor<double, CSR<>>> R(of_A[a]);
        R(i, j) = spread(of_A[b], B)(i, j) * spread(of_C[c], C)(i, k) * spread(of_D[d], D)(k, j);
        EXPECT_TRUE(holds(R, A)) << of_A[a].str() << ' ' << of_A[b].str() << ' ' << of_C[c].str() << ' '
                                 << of_D[d].str();
      },
      of_A.size(), of_A.size(), of_C.size(), of_D.size());
}

TEST(DistributedStatements, MultiplyATensorByFactorMatrices) {
  const Extents<3> extents{6, 5, 7};
  const std::int64_t width = 2;
  const auto T = assemble<CSF<3>>(all_entries<3>(extents, 0.2));
  const auto U = whole_dense<DenseMatrix<>>({extents[1], width}, 1);
  const auto V = whole_dense<DenseMatrix<>>({extents[2], width}, 2);
  const Matrix M({extents[0], width});
  M(i, r) = T(i, k, l) * U(k, r) * V(l, r);
  const auto of_T = kinds<3>(extents);
  const auto of_M = kinds<2>({extents[0], width});
  const auto of_U = kinds<2>({extents[1], width}), of_V = kinds<2>({extents[2], width});
  for_some(
      combinations, 10,
      [&](std::size_t t, std::size_t a, std::size_t u, std::size_t v) {
        const Distributed<Matrix> R(of_M[a]);
        R(i, r) = spread(of_T[t], T)(i, k, l) * spread(of_U[u], U)(k, r) * spread(of_V[v], V)(l, r);
        EXPECT_TRUE(holds(R, M)) << of_T[t].str() << ' ' << of_M[a].str() << ' ' << of_U[u].str() << ' '
                                 << of_V[v].str();
      },
      of_T.size(), of_M.size(), of_U.size(), of_V.size());
}

TEST(DistributedStatements, MultiplyATensorByAMatrixOrAVectorInOneMode) {
  const Extents<3> extents{6, 5, 7};
  const std::int64_t width = 3;
  const auto T = assemble<CSF<3>>(all_entries<3>(extents, 0.2));
  const auto U = whole_dense<DenseMatrix<>>({extents[2], width}, 1);
  const auto v = whole_dense<DenseVector>({extents[2]}, 2);
  const Tensor<double, DenseTensor<3>> Y({extents[0], extents[1], width});
  const Tensor<double, CSR<>> Z({extents[0], extents[1]});
  Y(i, k, r) = T(i, k, l) * U(l, r);
  Z(i, k) = T(i, k, l) * v(l);
  const auto of_T = kinds<3>(extents), of_Y = kinds<3>({extents[0], extents[1], width});
  const auto of_U = kinds<2>({extents[2], width}), of_Z = kinds<2>({extents[0], extents[1]});
  const auto of_v = kinds<1>({extents[2]});
  for_some(
      combinations / 2, 12,
      [&](std::size_t t, std::size_t y, std::size_t u, std::size_t z, std::size_t one) {
        SCOPED_TRACE(text(of_T[t].str(), ' ', of_Y[y].str(), ' ', of_U[u].str(), ' ', of_Z[z].str(), ' ',
                          of_v[one].str()));
        const auto S = spread(of_T[t], T);
        const Distributed<Tensor<double, DenseTensor<3>>> R(of_Y[y]);
        R(i, k, r) = S(i, k, l) * spread(of_U[u], U)(l, r);
        EXPECT_TRUE(holds(R, Y));
        const Distributed<Tensor<double, CSR<>>> Q(of_Z[z]);
        Q(i, k) = S(i, k, l) * spread(of_v[one], v)(l);
        EXPECT_TRUE(holds(Q, Z));
      },
      of_T.size(), of_Y.size(), of_U.size(), of_Z.size(), of_v.size());
}

TEST(DistributedStatements, AreNumbersOnAllRanks) {
  const auto A = assemble<CSR<>>(all_entries<2>({9, 8}, 0.3, 1));
  const auto x = whole_dense<DenseVector>({9}, 2);
  const double expected_sum = sum(A), expected_dot = sum(x(i) * x(i));
  const double expected_norm = norm(A), expected_distance = norm(x(i) - sum(j, A(i, j)));
  for (const auto& of_A : kinds<2>({9, 8}))
    for (const auto& of_x : kinds<1>({9})) {
      SCOPED_TRACE(text(of_A.str(), ' ', of_x.str()));
      const auto B = spread(of_A, A);
      const auto u = spread(of_x, x);
      const double s = sum(B(i, j)), dot = sum(u(i) * u(i));
      EXPECT_EQ(s, expected_sum);
      EXPECT_EQ(sum(B), expected_sum);
      EXPECT_EQ(dot, expected_dot);
      EXPECT_EQ(norm(B), expected_norm);
      EXPECT_EQ(norm(u(i) - sum(j, B(i, j))), expected_distance);
      const double mean = sum(u(i)) / sum(B(i, j) * B(i, j));
      EXPECT_EQ(mean, static_cast<double>(sum(x(i)) / sum(A(i, j) * A(i, j))));
    }
}

TEST(DistributedStatements, ReduceToScalars) {
  const auto A = assemble<CSR<>>(all_entries<2>({9, 8}, 0.3, 1));
  const auto x = whole_dense<DenseVector>({9}, 2);
  const Tensor<double, Scalar> squares, dot;
  squares() = A(i, j) * A(i, j);
  dot() = x(i) * x(i);
  for (const auto& of_A : kinds<2>({9, 8})) {
    const auto B = spread(of_A, A);
    const Tensor<double, Scalar> s;
    s() = B(i, j) * B(i, j);
    EXPECT_EQ(at(s, {}), at(squares, {})) << of_A.str();
    assign(s(), B(i, j) * B(i, j)).deterministic().run();
    EXPECT_EQ(at(s, {}), at(squares, {})) << of_A.str();
  }
  const auto of_x = kinds<1>({9});
  for (const auto& one : of_x)
    for (const auto& other : of_x) {
      const Distributed<Tensor<double, Scalar>> s(Distribution<0>::replicated(world(), {}));
      s() = spread(one, x)(i) * spread(other, x)(i);
      EXPECT_EQ(at(s.local(), {}), at(dot, {})) << one.str() << ' ' << other.str();
    }
}

struct Square {
  KOKKOS_FUNCTION double operator()(double value) const { return value * value; }
};

TEST(DistributedStatements, AreRightWhateverTheirExpression) {
  const std::int64_t n = 8;
  const auto A = assemble<CSR<>>(all_entries<2>({n, n}, 0.4, 1));
  const auto x = whole_dense<DenseVector>({n}, 2), b = whole_dense<DenseVector>({n}, 3);
  const Vector sums({n}), squares({n}), least({n}), transposed({n}), diagonal({n});
  sums(i) = A(i, j) * x(j) + b(i);
  squares(i) = map(Square{}, sum(j, A(i, j) * x(j)));
  assign(least(i), A(i, j) * x(j)).over(MinPlus{}).run();
  transposed(j) = A(i, j) * x(i);
  diagonal(i) = A(i, i);
  for (const auto& of_A : kinds<2>({n, n}))
    for (const auto& of_x : kinds<1>({n})) {
      SCOPED_TRACE(text(of_A.str(), ' ', of_x.str()));
      const auto B = spread(of_A, A);
      const auto u = spread(of_x, x), c = spread(of_x, b);
      const Distributed<Vector> y(of_x);
      y(i) = B(i, j) * u(j) + c(i);
      EXPECT_TRUE(holds(y, sums));
      y(i) = map(Square{}, sum(j, B(i, j) * u(j)));
      EXPECT_TRUE(holds(y, squares));
      assign(y(i), B(i, j) * u(j)).over(MinPlus{}).run();
      EXPECT_TRUE(holds(y, least));
      y(j) = B(i, j) * u(i);
      EXPECT_TRUE(holds(y, transposed));
      y(i) = B(i, i);
      EXPECT_TRUE(holds(y, diagonal));
      u(i) = u(i) + 2.0 * c(i);
      u(i) = u(i) - 2.0 * c(i);
      EXPECT_TRUE(holds(u, x));
    }
}

TEST(DistributedStatements, SendSumsOfWhatIsStoredAlone) {
  // The transposed product: a rank has sums for the columns of its nonzeros, here one of its own and one of
  // the next.
  const std::int64_t n = 12;
  Entries<double, 2> all({n, n}, 2 * n);
  for (std::int64_t e = 0; e < n; ++e) {
    all.set(2 * e, {e, e}, 1.0);
    all.set(2 * e + 1, {e, (e + 1) % n}, 2.0);
  }
  const auto whole = assemble<CSR<>>(all);
  const auto x = whole_dense<DenseVector>({n}, 1);
  const Vector y({n});
  y(j) = whole(i, j) * x(i);
  const auto A = assemble<CSR<>>(Distribution<2>::blocks(world(), {n, n}), share(world(), all));
  const auto u = spread(along(A, 0), x);
  const Distributed<Vector> v(along(A, 0));
  const auto statement = assign(v(j), A(i, j) * u(i));
  const Traffic told = traffic(statement);
  for (const RankTraffic& rank : told.ranks) EXPECT_EQ(rank.sent, world().size() > 1 ? 8 : 0);
  auto product = plan(statement);
  for (int round = 0; round < 2; ++round) {
    product.run();
    EXPECT_TRUE(holds(v, y));
  }
  assign(v(j), A(i, j) * u(i)).accumulate().run();
  y(j) += whole(i, j) * x(i);
  EXPECT_TRUE(holds(v, y));
  // Coordinates that no rank has a sum for become zero.
  const auto first =
      assemble<CSR<>>(A.distribution(), world().rank() == 0 ? Entries<double, 2>({n, n}, {{{3, 2}, 1.0}})
                                                            : Entries<double, 2>({n, n}, 0));
  v(j) = first(i, j) * u(i);
  y(j) = gather(first)(i, j) * x(i);
  EXPECT_TRUE(holds(v, y));
}

TEST(DistributedStatements, AreTheSameBitByBitWhereThatIsAskedFor) {
  const std::int64_t n = 150;
  const auto third = [](auto list) {
    for (std::int64_t e = 0; e < list.size(); ++e) list.values.data()[e] /= 3.0 + static_cast<double>(e % 7);
    return list;
  };
  const auto A = assemble<CSR<>>(third(all_entries<2>({n, n}, 0.1)), Duplicates::last);
  const auto x = assemble<DenseVector>(third(all_entries<1>({n}, 1.5)), Duplicates::last);
  const Vector y({n});
  const Tensor<double, Scalar> dot, sum;
  const Vector z({n});
  assign(y(i), A(i, j) * x(j)).deterministic().run();
  assign(z(j), A(i, j) * x(i)).deterministic().run();
  assign(dot(), x(i) * y(i)).deterministic().run();
  for (const auto& of_A : kinds<2>({n, n}))
    for (const auto& of_x : kinds<1>({n})) {
      const auto u = spread(of_x, x);
      const Distributed<Vector> v(of_x);
      assign(v(i), spread(of_A, A)(i, j) * u(j)).deterministic().run();
      EXPECT_TRUE(holds(v, y)) << of_A.str() << ' ' << of_x.str();
      const Distributed<Vector> w(of_x);
      assign(w(j), spread(of_A, A)(i, j) * u(i)).deterministic().run();
      EXPECT_TRUE(holds(w, z)) << of_A.str() << ' ' << of_x.str();
      assign(sum(), u(i) * v(i)).deterministic().run();
      EXPECT_EQ(at(sum, {}), at(dot, {})) << of_x.str();
    }
}

/// Operands that are in place, of which the one has coordinates that the other lacks.
TEST(DistributedStatements, NumberCoordinatesThatOneFactorHas) {
  const std::int64_t n = 11;
  const auto A = assemble<COO<2>>(all_entries<2>({n, n}, 0.3, 1));
  const auto B = assemble<DCSR<>>(all_entries<2>({n, n}, 0.1, 2));
  const Tensor<double, COO<2>> S({n, n});
  const Vector y({n});
  S(i, j) = A(i, j) * sum(k, B(i, k));
  y(i) = A(i, j) * sum(k, B(i, k));
  const auto of = kinds<2>({n, n});
  for_some(
      combinations, 8,
      [&](std::size_t a, std::size_t b, std::size_t s) {
        SCOPED_TRACE(text(of[a].str(), ' ', of[b].str(), ' ', of[s].str()));
        const auto P = spread(of[a], A);
        const auto Q = spread(of[b], B);
        const Distributed<Tensor<double, COO<2>>> R(of[s]);
        R(i, j) = P(i, j) * sum(k, Q(i, k));
        EXPECT_TRUE(holds(R, S));
        const Distributed<Vector> z(along(R, 0));
        z(i) = P(i, j) * sum(k, Q(i, k));
        EXPECT_TRUE(holds(z, y));
      },
      of.size(), of.size(), of.size());
}

TEST(DistributedStatements, TakeTensorsThatEveryRankHas) {
  const auto A = assemble<CSR<>>(all_entries<2>({9, 6}, 0.3, 1));
  const auto W = whole_dense<DenseMatrix<>>({6, 2}, 2);
  const Matrix Y({9, 2});
  Y(i, k) = A(i, j) * W(j, k);
  for (const auto& of_A : kinds<2>({9, 6})) {
    const Matrix Z({9, 2});
    Z(i, k) = spread(of_A, A)(i, j) * W(j, k);
    for (std::size_t q = 0; q < 18; ++q) EXPECT_EQ(Z.values()(q), Y.values()(q)) << of_A.str();
  }
}

}  // namespace
}  // namespace sporos::test
