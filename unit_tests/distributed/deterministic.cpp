// SPDX-License-Identifier: Apache-2.0
/// @file deterministic.cpp
/// Deterministic statements: the same results on any number of ranks as on one, bit by bit.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/distributed/distributed.hpp>

#include "ranks.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

using Rows = Tensor<double, CSR<>>;
using Matrix = Tensor<double, DenseMatrix<>>;

constexpr std::size_t some = 12;  // combinations of distributions for each statement

/// Random values of which sums depend on the order in which they are added.
template <class F>
Tensor<double, F> thirds(const Extents<F::order>& extents, double density, std::uint64_t seed) {
  auto list = all_entries<F::order>(extents, density, seed);
  for (std::int64_t e = 0; e < list.size(); ++e) list.values.data()[e] /= 3.0 + static_cast<double>(e % 7);
  return assemble<F>(list, Duplicates::last);
}

TEST(DeterministicStatements, MultiplyASparseAndADenseMatrix) {
  const Extents<2> of_square{90, 90}, of_rows{90, 5};
  const auto A = thirds<CSR<>>(of_square, 0.2, 1);
  const auto X = thirds<DenseMatrix<>>(of_rows, 1.5, 2);
  const Matrix Y(of_rows);
  assign(Y(i, k), A(i, j) * X(j, k)).deterministic().run();
  const auto of_A = kinds<2>(of_square), of_X = kinds<2>(of_rows);
  for_some(
      some, 3,
      [&](std::size_t a, std::size_t x, std::size_t y) {
        const Distributed<Matrix> V(of_X[y]);
        assign(V(i, k), spread(of_A[a], A)(i, j) * spread(of_X[x], X)(j, k)).deterministic().run();
        EXPECT_TRUE(holds(V, Y)) << of_A[a].str() << ' ' << of_X[x].str() << ' ' << of_X[y].str();
      },
      of_A.size(), of_X.size(), of_X.size());
}

TEST(DeterministicStatements, MultiplyAndAddSparseMatrices) {
  const Extents<2> extents{70, 70};
  const auto B = thirds<CSR<>>(extents, 0.2, 1), C = thirds<CSR<>>(extents, 0.2, 2);
  const Rows product(extents), sum(extents);
  assign(product(i, j), B(i, k) * C(k, j)).deterministic().run();
  assign(sum(i, j), B(i, j) + C(i, j)).deterministic().run();
  const auto of = kinds<2>(extents);
  for_some(
      some, 4,
      [&](std::size_t a, std::size_t b, std::size_t c) {
        SCOPED_TRACE(text(of[a].str(), ' ', of[b].str(), ' ', of[c].str()));
        const auto P = spread(of[b], B), Q = spread(of[c], C);
        const Distributed<Rows> R(of[a]);
        assign(R(i, j), P(i, k) * Q(k, j)).deterministic().run();
        EXPECT_TRUE(holds(R, product));
        assign(R(i, j), P(i, j) + Q(i, j)).deterministic().run();
        EXPECT_TRUE(holds(R, sum));
      },
      of.size(), of.size(), of.size());
}

TEST(DeterministicStatements, SampleADenseProduct) {
  const Extents<2> of_square{40, 40}, of_left{40, 33}, of_right{33, 40};
  const auto B = thirds<CSR<>>(of_square, 0.2, 1);
  const auto C = thirds<DenseMatrix<>>(of_left, 1.5, 2), D = thirds<DenseMatrix<>>(of_right, 1.5, 3);
  const Rows A(of_square);
  assign(A(i, j), B(i, j) * C(i, k) * D(k, j)).deterministic().run();
  const auto of_A = kinds<2>(of_square), of_C = kinds<2>(of_left), of_D = kinds<2>(of_right);
  for_some(
      some, 5,
      [&](std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
        const Distributed<Rows> R(of_A[a]);
        assign(R(i, j), spread(of_A[b], B)(i, j) * spread(of_C[c], C)(i, k) * spread(of_D[d], D)(k, j))
            .deterministic()
            .run();
        EXPECT_TRUE(holds(R, A)) << of_A[a].str() << ' ' << of_A[b].str() << ' ' << of_C[c].str() << ' '
                                 << of_D[d].str();
      },
      of_A.size(), of_A.size(), of_C.size(), of_D.size());
}

TEST(DeterministicStatements, MultiplyATensorByFactorMatrices) {
  const Extents<3> extents{20, 15, 25};
  const std::int64_t width = 5;
  const auto T = thirds<CSF<3>>(extents, 0.2, 1);
  const auto U = thirds<DenseMatrix<>>({extents[1], width}, 1.5, 2);
  const auto V = thirds<DenseMatrix<>>({extents[2], width}, 1.5, 3);
  const Matrix M({extents[0], width});
  assign(M(i, r), T(i, k, l) * U(k, r) * V(l, r)).deterministic().run();
  const auto of_T = kinds<3>(extents);
  const auto of_M = kinds<2>({extents[0], width}), of_U = kinds<2>({extents[1], width});
  const auto of_V = kinds<2>({extents[2], width});
  for_some(
      some, 6,
      [&](std::size_t t, std::size_t a, std::size_t u, std::size_t v) {
        const Distributed<Matrix> R(of_M[a]);
        assign(R(i, r), spread(of_T[t], T)(i, k, l) * spread(of_U[u], U)(k, r) * spread(of_V[v], V)(l, r))
            .deterministic()
            .run();
        EXPECT_TRUE(holds(R, M)) << of_T[t].str() << ' ' << of_M[a].str() << ' ' << of_U[u].str() << ' '
                                 << of_V[v].str();
      },
      of_T.size(), of_M.size(), of_U.size(), of_V.size());
}

}  // namespace
}  // namespace sporos::test
