// SPDX-License-Identifier: Apache-2.0
/// @file activations.cpp
/// relu and gelu: their values, over what they sum, and that they are epilogues of products.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <sporos/kernels/epilogue/epilogue.hpp>
#include <sporos/sporos.hpp>
#include <type_traits>

#include "kernels/inputs.hpp"
#include "kernels/same_bytes.hpp"

namespace sporos::test::activations {
namespace {

using namespace sporos::indices;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

TEST(Activations, OfEachValue) {
  EXPECT_EQ(Rectifier{}(2.5), 2.5);
  EXPECT_EQ(Rectifier{}(-2.5f), 0.0f);
  EXPECT_EQ(Rectifier{}(-3), 0);
  EXPECT_EQ(Rectifier{}(-infinity), 0.0);
  EXPECT_EQ(Rectifier{}(infinity), infinity);
  EXPECT_TRUE(std::isnan(Rectifier{}(not_a_number)));
  for (const double x : {-5.0, -1.0, -1e-3, 1e-3, 0.5, 1.0, 5.0}) {
    const double expected = 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    EXPECT_NEAR(GaussianErrorLinearUnit{}(x), expected, 4e-16 * std::abs(x));
    EXPECT_NEAR(GaussianErrorLinearUnit{}(static_cast<float>(x)), expected, 3e-7 * std::abs(x));
  }
  // Where 1 + erf(x) has no digits left.
  EXPECT_NEAR(GaussianErrorLinearUnit{}(-12.0) / (-12 * 1.776482112077678e-33), 1, 1e-12);
  EXPECT_EQ(GaussianErrorLinearUnit{}(-infinity), 0.0);
  EXPECT_EQ(GaussianErrorLinearUnit{}(infinity), infinity);
  EXPECT_TRUE(std::isnan(GaussianErrorLinearUnit{}(not_a_number)));
}

TEST(Activations, KeepZeroAndItsSign) {
  const auto expect_zeros = [](auto f) {
    EXPECT_EQ(f(0.0), 0.0);
    EXPECT_FALSE(std::signbit(f(0.0f)));
    EXPECT_TRUE(std::signbit(f(-0.0f)));
  };
  expect_zeros(Rectifier{});
  expect_zeros(GaussianErrorLinearUnit{});
  static_assert(Rectifier::at_zero == AtZero::kept && GaussianErrorLinearUnit::at_zero == AtZero::kept);
}

struct Statements : testing::Test {
  static constexpr std::int64_t m = 5, inner = 7, n = 6;

  template <class F>
  static Tensor<double, F> numbered(const Extents<F::order>& extents, double shift) {
    Tensor<double, F> out(extents);
    for (std::int64_t at = 0; at < out.nnz(); ++at)
      out.values()(at) = static_cast<double>((at * 7 + 3) % 11) - shift;
    return out;
  }

  Tensor<double, CSR<>> A = convert<CSR<>>(numbered<DenseMatrix<>>({m, inner}, 3));
  Tensor<double, DenseMatrix<ColumnMajor>> B = numbered<DenseMatrix<ColumnMajor>>({inner, n}, 5);
  Tensor<double, DenseMatrix<>> D = numbered<DenseMatrix<>>({m, n}, 4);
  Tensor<double, DenseVector> b = numbered<DenseVector>({n}, 6.5), s = numbered<DenseVector>({m}, 20);

  template <class Right, class Explicit>
  void expect_same(const Right& right, const Explicit& with_sums) const {
    const Tensor<double, DenseMatrix<>> C({m, n}), expected({m, n});
    const auto statement = assign(C(i, j), right);
    EXPECT_EQ(statement.str(), assign(expected(i, j), with_sums).str());
    statement.run();
    assign(expected(i, j), with_sums).generic().run();
    EXPECT_TRUE(same_bytes(expected, C));
  }
};

TEST_F(Statements, SumInsideWhatStandsNowhereElse) {
  const auto product = A(i, k) * B(k, j);
  expect_same(relu(product + b(j)), relu(sum(k, product) + b(j)));
  expect_same(gelu(b(j) - 2.0 * product), gelu(b(j) - sum(k, 2.0 * product)));
  expect_same(0.5 * relu(product) + D(i, j), 0.5 * relu(sum(k, product)) + D(i, j));
  expect_same(relu(gelu(product) - b(j)), relu(gelu(sum(k, product)) - b(j)));
  expect_same(relu(product + A(i, l) * B(l, j)), relu(sum(k, product) + sum(l, A(i, l) * B(l, j))));
}

TEST_F(Statements, LeaveSumsThatAreOutside) {
  const Tensor<double, DenseMatrix<>> C({m, n}), expected({m, n});
  // k stands in another factor, so that each term is activated.
  C(i, j) = relu(A(i, k)) * B(k, j);
  assign(expected(i, j), max(A(i, k), 0) * B(k, j)).generic().run();
  EXPECT_TRUE(same_bytes(expected, C));
  // An explicit sum around it, or around the whole expression.
  const Tensor<double, DenseVector> y({m}), z({m});
  y(i) = sum(k, relu(A(i, k)));
  assign(z(i), sum(k, max(A(i, k), 0))).generic().run();
  EXPECT_TRUE(same_bytes(z, y));
  const double total = sum(relu(D(i, j)));
  EXPECT_EQ(total, static_cast<double>(sum(max(D(i, j), 0))));
  // l is summed over outside, since it stands beside it, and k inside.
  y(i) = relu(A(i, k) * B(k, l)) * b(l);
  assign(z(i), relu(sum(k, A(i, k) * B(k, l))) * b(l)).generic().run();
  EXPECT_TRUE(same_bytes(z, y));
}

TEST_F(Statements, AreEpilogues) {
  const auto layer = assign(D(i, j), relu(A(i, k) * B(k, j) + b(j)));
  EXPECT_EQ((factors_of_sums<std::remove_const_t<decltype(layer)>>::size), 2);
  EXPECT_EQ(layer.str(), "A(i, j) = relu(sum(k, B(i, k) * C(k, j)) + D(j))");
}

TEST_F(Statements, KeepThePatternOfSparseOperands) {
  const auto S = convert<CSR<>>(numbered<DenseMatrix<>>({m, n}, 3));
  const Tensor<double, CSR<>> rectified({m, n}), smooth({m, n});
  rectified(i, j) = relu(S(i, j));
  smooth(i, j) = gelu(S(i, j));
  EXPECT_EQ(rectified.nnz(), S.nnz());
  for (std::int64_t q = 0; q < S.nnz(); ++q) {
    EXPECT_EQ(rectified.values()(q), std::max(S.values()(q), 0.0));
    EXPECT_EQ(smooth.values()(q), GaussianErrorLinearUnit{}(S.values()(q)));
  }
}

TEST(Gelu, OfTheLargestNumbersIsThose) {
  EXPECT_EQ(GaussianErrorLinearUnit{}(1e308), 1e308);
  EXPECT_EQ(GaussianErrorLinearUnit{}(3e38f), 3e38f);
  EXPECT_EQ(GaussianErrorLinearUnit{}(-1e308), 0.0);
}

TEST_F(Statements, TakeNarrowFloats) {
  const auto narrow = convert<DenseMatrix<>, half>(D);
  const Tensor<half, DenseMatrix<>> C({m, n});
  C(i, j) = relu(narrow(i, j));
  for (std::int64_t at = 0; at < C.nnz(); ++at)
    EXPECT_EQ(static_cast<float>(C.values()(at)), std::max(static_cast<float>(narrow.values()(at)), 0.0f));
}

}  // namespace
}  // namespace sporos::test::activations
