// SPDX-License-Identifier: Apache-2.0
/// @file epilogues.cpp
/// Which right sides are a product with an epilogue, and what the epilogue makes of a sum, against the loop
/// nest.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <sporos/kernels/epilogue/epilogue.hpp>
#include <sporos/sporos.hpp>
#include <string>
#include <type_traits>
#include <utility>

#include "kernels/kernel_of.hpp"
#include "kernels/same_bytes.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

struct Relu {
  KOKKOS_FUNCTION float operator()(float x) const { return x > 0 ? x : 0; }
};
struct Logistic {
  KOKKOS_FUNCTION float operator()(float x) const { return 1 / (1 + std::exp(-x)); }
};

/// The tensors of the statements.
struct Epilogues : testing::Test {
  static constexpr std::int64_t m = 5, inner = 7, n = 6;

  template <class F, int Order = F::order>
  static Tensor<float, F> numbered(const Extents<Order>& extents, float shift) {
    Tensor<float, F> out(extents);
    for (std::int64_t at = 0; at < out.nnz(); ++at)
      out.values()(at) = static_cast<float>((at * 7 + 3) % 11) - shift;
    return out;
  }

  Tensor<float, CSR<>> A = convert<CSR<>>(numbered<DenseMatrix<>>({m, inner}, 3));
  Tensor<float, DenseMatrix<ColumnMajor>> B = numbered<DenseMatrix<ColumnMajor>>({inner, n}, 5);
  Tensor<float, DenseMatrix<>> D = numbered<DenseMatrix<>>({m, n}, 4);
  Tensor<float, DenseMatrix<ColumnMajor>> E = numbered<DenseMatrix<ColumnMajor>>({m, n}, 2);
  Tensor<float, DenseVector> b = numbered<DenseVector>({n}, 6.5f), s = numbered<DenseVector>({m}, 20);
  Tensor<float, Scalar> alpha = numbered<Scalar>({}, 1);
  Tensor<float, CSR<>> S = convert<CSR<>>(numbered<DenseMatrix<>>({m, n}, 3));
  Tensor<float, DenseMatrix<>> C{{m, n}};

  /// Computes the statement with the sums A B and its epilogue, and compares with the loop nest.
  template <class Right>
  void expect_right(const Right& right) {
    const auto statement = assign(C(i, j), right);
    using Statement = std::remove_const_t<decltype(statement)>;
    ASSERT_EQ((factors_of_sums<Statement>::size), 2) << statement.str();
    const auto& first = factor_of_sums<0>(statement).tensor();
    const auto& second = factor_of_sums<1>(statement).tensor();
    EXPECT_TRUE((first.identity() == A.identity() && second.identity() == B.identity()) ||
                (first.identity() == B.identity() && second.identity() == A.identity()))
        << statement.str();
    Tensor<float, DenseMatrix<>> sums({m, n}), expected({m, n});
    sums(i, j) = A(i, k) * B(k, j);
    assign(expected(i, j), right).generic().run();
    const auto epilogue = epilogue_of(statement);
    for (std::int64_t row = 0; row < m; ++row)
      for (std::int64_t column = 0; column < n; ++column)
        EXPECT_FLOAT_EQ(epilogue(sums.values()(row * n + column), row, column),
                        expected.values()(row * n + column))
            << statement.str();
  }
  template <class Right>
  static constexpr bool has_none(const Right&) {
    return factors_of_sums<decltype(assign(std::declval<decltype(C(i, j))>(),
                                           std::declval<const Right&>()))>::size == 0;
  }
};

TEST_F(Epilogues, ScaleAddAndMap) {
  expect_right(A(i, k) * B(k, j));
  expect_right(B(k, j) * A(i, k));
  expect_right(sum(k, A(i, k) * B(k, j)));
  expect_right(2.0 * A(i, k) * B(k, j) + b(j));
  expect_right(A(i, k) * (3.0f * B(k, j)) - D(i, j));
  expect_right(A(i, k) * -B(k, j) - -E(i, j));
  expect_right(s(i) * (A(i, k) / b(j) * B(k, j)) / 2.0);
  expect_right(A(i, k) * (B(k, j) / s(i)));
  expect_right(alpha() * A(i, k) * B(k, j) + E(i, j) * s(i));
  expect_right(-(D(i, j) - 2.0 * (A(i, k) * B(k, j) + b(j))));
  expect_right(map(Relu{}, sum(k, A(i, k) * B(k, j))));
  expect_right(map(Relu{}, sum(k, A(i, k) * B(k, j)) + b(j)));
  expect_right(map(Relu{}, b(j) - s(i) * sum(k, A(i, k) * B(k, j))) * D(i, j) + map(Relu{}, E(i, j)));
  expect_right(map(everywhere(Logistic{}), sum(k, A(i, k) * B(k, j))));
  expect_right(D(i, j) / map(everywhere(Logistic{}), sum(k, A(i, k) * B(k, j))));
}

/// Of integers, the quotients of terms are not that of their sum.
TEST_F(Epilogues, DivideNoSumsOfIntegersInPlaceOfTerms) {
  const auto narrow = convert<CSR<>, std::int64_t>(A);
  const Tensor<std::int64_t, DenseMatrix<>> X({inner, n}), Y({m, n});
  const auto factors = [&](const auto& right) {
    return factors_of_sums<decltype(assign(std::declval<decltype(Y(i, j))>(), right))>::size;
  };
  EXPECT_EQ(factors(narrow(i, k) / 2 * X(k, j)), 0);
  EXPECT_EQ(factors(narrow(i, k) * X(k, j) / 2), 0);
  EXPECT_EQ(factors(sum(k, narrow(i, k) * X(k, j) / 2)), 0);
  EXPECT_EQ(factors(2 * narrow(i, k) * X(k, j)), 2);
}

TEST_F(Epilogues, OtherRightSidesHaveNone) {
  // The function is applied to each term.
  EXPECT_TRUE(has_none(map(Relu{}, A(i, k) * B(k, j))));
  EXPECT_TRUE(has_none(map(Relu{}, A(i, k)) * B(k, j)));
  // More than one sum, or a sum of sums.
  EXPECT_TRUE(has_none(A(i, k) * B(k, j) + A(i, l) * B(l, j)));
  EXPECT_TRUE(has_none(sum(k, A(i, k) * B(k, j)) / sum(l, A(i, l))));
  EXPECT_TRUE(has_none(sum(k, A(i, k) * B(k, j) + b(j))));
  // Summed over l outside of the function, and over k inside.
  EXPECT_TRUE(has_none(map(Relu{}, sum(k, A(i, k) * B(k, j) * b(l)))));
  // What is present depends on more than the product.
  EXPECT_TRUE(has_none(S(i, j) * A(i, k) * B(k, j)));
  EXPECT_TRUE(has_none(A(i, k) * B(k, j) + S(i, j)));
  EXPECT_TRUE(has_none(map(where_stored(Logistic{}), sum(k, A(i, k) * B(k, j)))));
  // The sum is no number by itself.
  EXPECT_TRUE(has_none(b(j) / A(i, k) * B(k, j)));
  EXPECT_TRUE(has_none(D(i, j) + b(j)));
  // What is wider than the sums would be rounded.
  const Tensor<double, DenseVector> wide({n});
  EXPECT_TRUE(has_none(A(i, k) * B(k, j) + wide(j)));
}

/// The sums are formed in a row-major product, which the loop nest could not read one sum at a time.
TEST_F(Epilogues, SumsComeFirst) {
  const auto by_rows = convert<DenseMatrix<>>(B);
  const auto by_nest = [&](const auto& right) {
    Tensor<float, DenseMatrix<>> expected({m, n});
    assign(expected(i, j), right).generic().run();
    return expected;
  };
  const auto layer = assign(C(i, j), map(Relu{}, sum(k, A(i, k) * by_rows(k, j)) + b(j)));
  EXPECT_EQ(kernel_of(layer), SumsFirst::name);
  EXPECT_EQ(kernel_of(assign(C(i, j), max(sum(k, A(i, k) * by_rows(k, j)) + b(j), 0))), SumsFirst::name);
  const auto expected = by_nest(map(Relu{}, sum(k, A(i, k) * B(k, j)) + b(j)));
  layer.run();
  EXPECT_TRUE(same_bytes(expected, C));

  // The result is an operand, of the epilogue and of the product; it is added to.
  C.values()(0) = 5;
  const auto before = C.clone();
  C(i, j) = map(Relu{}, sum(k, A(i, k) * by_rows(k, j))) - C(i, j);
  EXPECT_TRUE(same_bytes(by_nest(map(Relu{}, sum(k, A(i, k) * B(k, j))) - before(i, j)), C));
  const auto grown = C.clone();
  C(i, j) += map(Relu{}, sum(k, A(i, k) * by_rows(k, j)));
  EXPECT_TRUE(same_bytes(by_nest(map(Relu{}, sum(k, A(i, k) * B(k, j))) + grown(i, j)), C));

  // Of other types and formats, as a plan.
  const Tensor<half, DenseMatrix<ColumnMajor>> narrow({m, n});
  auto layers = plan(assign(narrow(i, j), map(Relu{}, b(j) - sum(k, A(i, k) * by_rows(k, j)))));
  layers.run();
  by_rows.values()(3) = -9;
  layers.run();
  const auto other = convert<DenseMatrix<ColumnMajor>>(by_rows);
  const auto sums = by_nest(map(Relu{}, b(j) - sum(k, A(i, k) * other(k, j))));
  for (std::int64_t row = 0; row < m; ++row)
    for (std::int64_t column = 0; column < n; ++column)
      EXPECT_EQ(static_cast<float>(at(narrow, {row, column})), at(sums, {row, column}));
  EXPECT_EQ(layers.bytes(), m * n * 4);
}

/// Rows, columns and sums without anything in them.
TEST_F(Epilogues, EmptyProducts) {
  const Tensor<float, CSR<>> nothing({m, inner});
  const auto by_rows = convert<DenseMatrix<>>(B);
  C(i, j) = map(Relu{}, sum(k, nothing(i, k) * by_rows(k, j)) + b(j));
  for (std::int64_t row = 0; row < m; ++row)
    for (std::int64_t column = 0; column < n; ++column)
      EXPECT_EQ(at(C, {row, column}), Relu{}(b.values()(column)));
  const Tensor<float, CSR<>> no_rows({0, inner});
  const Tensor<float, DenseMatrix<>> no_result({0, n});
  no_result(i, j) = map(Relu{}, sum(k, no_rows(i, k) * by_rows(k, j)) + b(j));
  const Tensor<float, CSR<>> no_terms({m, 0});
  const Tensor<float, DenseMatrix<>> no_sums({0, n});
  C(i, j) = map(Relu{}, sum(k, no_terms(i, k) * no_sums(k, j)) + b(j));
  EXPECT_EQ(at(C, {1, 2}), Relu{}(b.values()(2)));
  const Tensor<float, Scalar> norm;
  norm() = map(everywhere(Logistic{}), sum(i, k, A(i, k) * A(i, k)));
  EXPECT_EQ(at(norm, {}), 1.0f);
}

/// Operands that store the summed variable above the others, or other variables below it.
TEST_F(Epilogues, SumsOfOperandsInAnyOrder) {
  const auto by_columns = convert<CSC<>>(A);
  const auto blocked = convert<BCSR<2, 2>>(A);
  const Tensor<float, DenseVector> y({m}), z({m}), expected({m});
  assign(expected(i), map(Relu{}, sum(k, A(i, k)) - s(i))).generic().run();
  y(i) = map(Relu{}, sum(k, by_columns(i, k)) - s(i));
  z(i) = map(Relu{}, sum(k, blocked(i, k)) - s(i));
  EXPECT_TRUE(same_bytes(expected, y));
  EXPECT_TRUE(same_bytes(expected, z));
}

/// An infinity next to a sum without terms does not make it NaN.
TEST_F(Epilogues, WhatIsNotThereStaysZero) {
  const Tensor<float, CSR<>> nothing({m, inner});
  const Tensor<float, DenseVector> infinities({m}), y({m});
  for (std::int64_t row = 0; row < m; ++row)
    infinities.values()(row) = std::numeric_limits<float>::infinity();
  y(i) = infinities(i) * map(Relu{}, sum(k, nothing(i, k)));
  EXPECT_EQ(at(y, {0}), 0.0f);
  y(i) = map(Relu{}, sum(k, nothing(i, k))) / y(i);
  EXPECT_EQ(at(y, {0}), 0.0f);
  y(i) = 1.0 / sum(k, nothing(i, k));
  EXPECT_EQ(at(y, {0}), 0.0f);
  y(i) = 2.0 * map(Relu{}, sum(k, nothing(i, k)));
  EXPECT_EQ(at(y, {0}), 0.0f);
}

TEST_F(Epilogues, AreExplained) {
  const auto by_rows = convert<DenseMatrix<>>(B);
  const auto layer = assign(C(i, j), map(Relu{}, sum(k, A(i, k) * by_rows(k, j)) + b(j)));
  const std::string text = explain(layer);
  EXPECT_NE(text.find("  sums: A(i, j) = B(i, k) * C(k, j), by "), std::string::npos) << text;
  EXPECT_EQ(estimate(layer).workspace, 0);
  EXPECT_GE(estimate(layer.accumulate()).workspace, m * n * 4);
}

}  // namespace
}  // namespace sporos::test
