// SPDX-License-Identifier: Apache-2.0
/// @file products.cpp
/// Products of dense and N:M sparse matrices by the host's kernel, against the same with the zeros stored.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sporos/sporos.hpp>

#include "kernels/kernel_of.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

template <class Value, class F>
Tensor<Value, F> random(const Extents<2>& extents, unsigned seed) {
  std::mt19937 draw(seed);
  std::uniform_real_distribution<Value> number(-1, 1);
  const Tensor<Value, F> out(extents);
  for (std::int64_t at = 0; at < out.nnz(); ++at) out.values()(at) = number(draw);
  return out;
}

/// Sums of `terms` products of numbers in [-1, 1], each rounded, in two orders.
template <class Value>
void expect_near(const Tensor<Value, DenseMatrix<>>& result, const Tensor<Value, DenseMatrix<>>& expected,
                 std::int64_t terms) {
  const double bound = 2 * static_cast<double>(terms * (terms + 2)) *
                       static_cast<double>(std::numeric_limits<Value>::epsilon());
  for (std::int64_t at = 0; at < expected.nnz(); ++at)
    ASSERT_NEAR(result.values()(at), expected.values()(at), bound) << "at " << at;
}

/// C = A B, C += A B, and an epilogue of it, A stored along either mode.
template <class Value, TensorFormat F, class AF>
void expect_products(std::int64_t m, std::int64_t n, std::int64_t inner) {
  SCOPED_TRACE(text(format_name<F>(), ", ", format_name<AF>(), ", ", m, " x ", n, " x ", inner));
  constexpr bool is_transposed = NmTraits<F>::along == 1;
  const auto A = random<Value, AF>({m, inner}, 1);
  const auto B =
      prune<F>(random<Value, DenseMatrix<>>(is_transposed ? Extents<2>{n, inner} : Extents<2>{inner, n}, 2));
  const auto dense_B = convert<DenseMatrix<>>(B);
  const Tensor<Value, DenseMatrix<>> C({m, n}), expected({m, n});
  const Tensor<Value, DenseVector> bias({n});
  for (std::int64_t at = 0; at < n; ++at) bias.values()(at) = static_cast<Value>(at % 3);
  const auto check = [&](const auto& of) {
    const auto statement = of(C, B);
    EXPECT_EQ(kernel_of(statement), "N:M product by units");
    statement.run();
    of(expected, dense_B).generic().run();
    expect_near(C, expected, inner);
  };
  const auto product = [&](const auto& b) {
    if constexpr (is_transposed)
      return A(i, k) * b(j, k);
    else
      return A(i, k) * b(k, j);
  };
  check([&](const auto& c, const auto& b) { return assign(c(i, j), product(b)); });
  check([&](const auto& c, const auto& b) { return assign(c(i, j), product(b)).accumulate(); });
  check([&](const auto& c, const auto& b) { return assign(c(i, j), 2.0 * sum(k, product(b)) - bias(j)); });
}

template <class Value, TensorFormat F>
void expect_products_of_shapes() {
  for (const auto& [m, n, inner] : {Extents<3>{1, 1, 1},
                                    {1, 200, 100},
                                    {8, 32, 32},
                                    {9, 70, 33},
                                    {3, 200, 100},
                                    {40, 31, 129},
                                    {0, 4, 4},
                                    {4, 0, 4},
                                    {4, 4, 0}}) {
    expect_products<Value, F, DenseMatrix<>>(m, n, inner);
    expect_products<Value, F, DenseMatrix<ColumnMajor>>(m, n, inner);
  }
}

TEST(NofMProducts, UnitsOfManyColumns) {
  expect_products_of_shapes<float, NM<8, 32, 80>>();
  expect_products_of_shapes<float, NM<16, 32, 32, 1>>();
  expect_products_of_shapes<double, NM<3, 5, 24>>();
}
TEST(NofMProducts, UnitsOfFewColumns) {
  expect_products_of_shapes<float, NM<2, 4, 1, 1>>();
  expect_products_of_shapes<double, NM<2, 4>>();
  expect_products_of_shapes<double, NM<1, 3, 7, 1>>();
  expect_products_of_shapes<float, NM<5, 8, 3>>();
  expect_products_of_shapes<float, TwoFour>();
}

TEST(NofMProducts, TheResultMayBeAnOperand) {
  const auto B = prune<NM<4, 8, 8>>(random<double, DenseMatrix<>>({64, 64}, 1));
  const auto A = random<double, DenseMatrix<>>({64, 64}, 2);
  const Tensor<double, DenseMatrix<>> C({64, 64});
  C(i, j) = A(i, k) * B(k, j);
  A(i, j) = A(i, k) * B(k, j);
  for (std::int64_t at = 0; at < C.nnz(); ++at) ASSERT_EQ(A.values()(at), C.values()(at));
}

/// What may be rounded to tf32 is not rounded where that gains nothing.
TEST(NofMProducts, TheHostComputesInFloatWhereTf32IsAllowed) {
  const auto B = prune<NM<4, 8, 8>>(random<float, DenseMatrix<>>({64, 64}, 1));
  const auto A = random<float, DenseMatrix<>>({20, 64}, 2);
  const Tensor<float, DenseMatrix<>> C({20, 64}), allowed({20, 64});
  const auto product = assign(allowed(i, j), A(i, k) * B(k, j)).allow_tf32();
  static_assert(decltype(product)::schedule::allows_tf32);
  static_assert(!decltype(assign(C(i, j), A(i, k) * B(k, j)))::schedule::allows_tf32);
  C(i, j) = A(i, k) * B(k, j);
  product.run();
  for (std::int64_t at = 0; at < C.nnz(); ++at) ASSERT_EQ(allowed.values()(at), C.values()(at));
}

}  // namespace
}  // namespace sporos::test
