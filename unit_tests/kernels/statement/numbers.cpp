// SPDX-License-Identifier: Apache-2.0
/// @file numbers.cpp
/// Expressions whose variables are all summed, as numbers, against loops over dense arrays.
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "../typed.hpp"

namespace sporos::test {
namespace {

const Sizes number_sizes("ijk", 13);

/// Entries in any number for a coordinate.
using RepeatingEntries = COO<2, ModeOrder<0, 1>, std::int64_t, std::int32_t, false>;

template <class F, class Value = double>
auto operand(std::string_view modes, double density, std::uint64_t seed) {
  return small_tensor<Value, F>(number_sizes, modes, density, seed);
}

/// The sum of term(i, j) over all coordinates of a matrix.
template <class Term>
double over_matrix(const Term& term) {
  double out = 0;
  for (std::int64_t row = 0; row < 13; ++row)
    for (std::int64_t column = 0; column < 13; ++column) out += term(row, column);
  return out;
}

TEST(ANumber, IsASumOverAllVariables) {
  const auto A = operand<CSR<>>("ij", 0.3, 1);
  const auto B = operand<CSC<>>("ij", 0.4, 2);
  const auto x = operand<DenseVector>("i", 1, 3);
  const double product = sum(A(i, j) * B(j, i));
  EXPECT_EQ(product, over_matrix([&](auto r, auto c) { return at(A, {r, c}) * at(B, {c, r}); }));
  const double once_for_each = sum(A(i, j) + x(i));
  EXPECT_EQ(once_for_each, over_matrix([&](auto r, auto c) { return at(A, {r, c}) + at(x, {r}); }));
  EXPECT_EQ(value(sum(i, j, A(i, j) * x(j))),
            over_matrix([&](auto r, auto c) { return at(A, {r, c}) * at(x, {c}); }));
}

TEST(ANumber, IsComputedWithAndComparedLikeAnyOther) {
  const auto A = operand<CSR<>>("ij", 0.3, 1);
  const auto x = operand<DenseVector>("i", 1, 3);
  const Tensor<double, CSR<>> nothing({13, 13});
  const double of_A = over_matrix([&](auto r, auto c) { return at(A, {r, c}); });
  const double squares = sum(x(i) * x(i));
  ASSERT_NE(of_A, 0);
  const double mean = -sum(A(i, j)) / sum(x(i) * x(i)) + 1.0;
  EXPECT_DOUBLE_EQ(mean, -of_A / squares + 1);
  const double larger = max(sum(x(i) * x(i)), 2.0 * squares);
  EXPECT_DOUBLE_EQ(larger, 2 * squares);
  EXPECT_DOUBLE_EQ(std::sqrt(sum(x(i) * x(i))), std::sqrt(squares));
  // The comparisons below hold although nothing is stored.
  if (sum(nothing(i, j)) < 0.5)
    SUCCEED();
  else
    ADD_FAILURE() << "0 < 0.5";
  EXPECT_TRUE(sum(nothing(i, j)) >= sum(nothing(i, j)));
  EXPECT_TRUE(sum(nothing(i, j)) == 0.0);
  EXPECT_FALSE(sum(nothing(i, j)) > 0.5);
  EXPECT_FALSE(sum(nothing(i, j)) != 0.0);
}

TEST(ANumber, IsATensorOfOrderZero) {
  Tensor<double, Scalar> a;
  a() = 2.5;
  const double twice = 2.0 * a();
  EXPECT_EQ(twice, 5);
  EXPECT_EQ(value(sum(a())), 2.5);
}

TEST(ANumber, HasATypeInWhichSumsFit) {
  const auto small = operand<CSR<>, std::int8_t>("ij", 0.5, 4);
  Tensor<std::int8_t, DenseMatrix<>> full({13, 13});
  full(i, j) = 100;
  static_assert(std::is_same_v<decltype(value(sum(full(i, j)))), std::int64_t>);
  EXPECT_EQ(value(sum(full(i, j))), 16900);
  static_assert(
      std::is_same_v<decltype(value(sum(operand<CSR<>, sporos::half>("ij", 0.5, 4)(i, j)))), float>);
  static_assert(std::is_same_v<decltype(value(0.5 * sum(full(i, j)))), double>);
  EXPECT_EQ(value(0.5 * sum(full(i, j))), 8450);

  constexpr int count = (1 << 24) + 4096;  // more than a float counts one by one
  Tensor<float, DenseVector> ones({count});
  ones(i) = 1.0;
  EXPECT_EQ(value<double>(sum(ones(i))), count);

  Tensor<bool, CSR<>> M({13, 13});
  M(i, j) = small(i, j) != 0;
  const bool any = sum(M(i, j));
  EXPECT_TRUE(any);
}

TEST(ANumber, OfSignedAndUnsignedIntegersHasTheirCommonType) {
  const Tensor<std::int32_t, DenseVector> a({1});
  const Tensor<std::int64_t, DenseVector> c({1});
  const Tensor<std::uint8_t, DenseVector> b({1});
  a.values()(0) = -1;
  b.values()(0) = 200;
  c.values()(0) = -3;
  static_assert(std::is_same_v<decltype(value(sum(a(i) * b(i)))), std::int64_t>);
  static_assert(std::is_same_v<decltype(value(sum(b(i) * b(i)))), std::uint64_t>);
  EXPECT_EQ(value(sum(a(i) * b(i))), -200);
  EXPECT_EQ(value(sum(c(i) * b(i))), -600);
  EXPECT_EQ(value(sum(b(i) * b(i))), 40000u);
  const double product = sum(a(i) * b(i));
  EXPECT_EQ(product, -200);
}

TEST(ANumber, IsPartOfAStatementWhereItStandsInOne) {
  const auto A = operand<CSR<>>("ij", 0.3, 1);
  const auto x = operand<DenseVector>("i", 1, 3);
  const Tensor<double, DenseVector> y({13});
  y(i) = x(i) / sum(x(k) * x(k));
  const double squares = sum(x(i) * x(i));
  for (std::int64_t row = 0; row < 13; ++row) EXPECT_DOUBLE_EQ(at(y, {row}), at(x, {row}) / squares);
  const Tensor<double, Scalar> s;
  s() = sum(A(i, j));
  EXPECT_EQ(at(s, {}), over_matrix([&](auto r, auto c) { return at(A, {r, c}); }));
}

TEST(TheNorm, OfATensorIsThatOfItsElements) {
  const auto check = [](const auto& t) {
    double squares = 0, values = 0;
    for (std::int64_t r = 0; r < 13; ++r)
      for (std::int64_t c = 0; c < 13; ++c) {
        squares += at(t, {r, c}) * at(t, {r, c});
        values += at(t, {r, c});
      }
    ASSERT_GT(squares, 0);
    EXPECT_DOUBLE_EQ(norm(t), std::sqrt(squares));
    const double total = sum(t);
    EXPECT_EQ(total, values);
  };
  check(operand<CSR<>>("ij", 0.3, 1));
  check(operand<BCSR<2, 3>>("ij", 0.3, 2));
  check(operand<DenseMatrix<>>("ij", 1, 3));
  // A coordinate that is stored twice is one element.
  check(assemble<RepeatingEntries>(
      Entries<double, 2>({13, 13}, {{{1, 2}, 3.0}, {{1, 2}, 4.0}, {{5, 0}, 2.0}}), Duplicates::keep));

  EXPECT_EQ(norm(Tensor<double, CSF<3>>({4, 5, 6})), 0);
  Tensor<std::int8_t, DenseVector> x({3});
  x(i) = -100;
  EXPECT_DOUBLE_EQ(norm(x), 100 * std::sqrt(3.0));
  EXPECT_EQ(value(sum(x) / 2 + sum(block(x, {0, 2}))), -350);  // summed in 64 bits
  Tensor<Kokkos::complex<float>, DenseVector> z({2});
  z(i) = Kokkos::complex<float>(3, 4);
  static_assert(std::is_same_v<decltype(norm(z)), float>);
  EXPECT_FLOAT_EQ(norm(z), 5 * std::sqrt(2.0f));
}

TEST(TheNorm, OfAnExpressionTakesItsSumsFirst) {
  const auto A = operand<CSR<>>("ij", 0.3, 1);
  const auto B = operand<CSR<>>("ij", 0.3, 2);
  const auto b = operand<DenseVector>("i", 1, 3);
  const auto x = operand<DenseVector>("i", 1, 4);
  double residual = 0;
  for (std::int64_t row = 0; row < 13; ++row) {
    double of_row = at(b, {row});
    for (std::int64_t column = 0; column < 13; ++column) of_row -= at(A, {row, column}) * at(x, {column});
    residual += of_row * of_row;
  }
  EXPECT_DOUBLE_EQ(norm(b(i) - sum(j, A(i, j) * x(j))), std::sqrt(residual));
  EXPECT_DOUBLE_EQ(norm(A(i, j) - B(i, j)), std::sqrt(over_matrix([&](auto r, auto c) {
                     return (at(A, {r, c}) - at(B, {r, c})) * (at(A, {r, c}) - at(B, {r, c}));
                   })));
}

}  // namespace
}  // namespace sporos::test
