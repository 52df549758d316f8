// SPDX-License-Identifier: Apache-2.0
/// @file real_values.cpp
/// Functions of complex numbers whose values are real: abs, real, imag, comparisons and masks, in real
/// results.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <vector>

namespace sporos::test::real_values {
namespace {

using namespace sporos::indices;
using Complex = Kokkos::complex<double>;

constexpr std::int64_t n = 12;
/// Bounds the error of a sum of `n` terms of magnitudes below 100.
constexpr double bound = 100 * n * n * std::numeric_limits<double>::epsilon();

std::complex<double> value_at(std::int64_t row, std::int64_t column) {
  if ((row * 5 + column * 3) % 4 != 0) return 0;
  return {static_cast<double>((row * 7 + column) % 5) - 2, static_cast<double>((row + column * 2) % 7) - 3};
}
template <class F>
Tensor<Complex, F> matrix() {
  std::vector<std::pair<Extents<2>, Complex>> stored;
  for (std::int64_t r = 0; r < n; ++r)
    for (std::int64_t c = 0; c < n; ++c)
      if ((r * 5 + c * 3) % 4 == 0) stored.push_back({{r, c}, Complex(value_at(r, c))});
  Entries<Complex, 2> list({n, n}, static_cast<std::int64_t>(stored.size()));
  for (std::size_t e = 0; e < stored.size(); ++e)
    list.set(static_cast<std::int64_t>(e), stored[e].first, stored[e].second);
  return assemble<F>(list);
}
Tensor<Complex, DenseVector> vector() {
  const Tensor<Complex, DenseVector> z({n});
  for (std::int64_t at = 0; at < n; ++at)
    z.values()(at) = Complex(static_cast<double>(at % 5) - 2, static_cast<double>(at % 3) - 1);
  return z;
}

/// Compares a matrix with f(row, column).
template <class T, class F>
void expect_matrix(const T& A, const F& f) {
  validate(A);
  for (std::int64_t r = 0; r < n; ++r)
    for (std::int64_t c = 0; c < n; ++c)
      EXPECT_NEAR(static_cast<double>(at(A, {r, c})), f(r, c), bound) << r << ", " << c;
}
template <class F>
void expect_vector(const Tensor<double, DenseVector>& y, const F& f) {
  for (std::int64_t r = 0; r < n; ++r) EXPECT_NEAR(y.values()(r), f(r), bound) << r;
}

template <class F, class R>
void check_matrices() {
  SCOPED_TRACE(F::str() + " into " + R::str());
  const auto A = matrix<F>();
  const auto B = matrix<CSR<>>();
  const Tensor<double, R> S({n, n});
  S(i, j) = abs(A(i, j));
  expect_matrix(S, [](auto r, auto c) { return std::abs(value_at(r, c)); });
  S(i, j) = real(A(i, j)) - 2.0 * imag(A(i, j));
  expect_matrix(S, [](auto r, auto c) { return value_at(r, c).real() - 2 * value_at(r, c).imag(); });
  S(i, j) = abs(A(i, k)) * abs(B(k, j));
  expect_matrix(S, [](auto r, auto c) {
    double sum = 0;
    for (std::int64_t m = 0; m < n; ++m) sum += std::abs(value_at(r, m)) * std::abs(value_at(m, c));
    return sum;
  });
  S(i, j) = real(conj(A(i, k)) * B(k, j));
  expect_matrix(S, [](auto r, auto c) {
    double sum = 0;
    for (std::int64_t m = 0; m < n; ++m) sum += (std::conj(value_at(r, m)) * value_at(m, c)).real();
    return sum;
  });
  auto again = plan(assign(S(i, j), abs(A(i, j))));
  again.run();
  again.run();
  expect_matrix(S, [](auto r, auto c) { return std::abs(value_at(r, c)); });
}
TEST(RealValues, OfComplexMatricesGoIntoRealOnes) {
  check_matrices<CSR<>, CSR<>>();
  check_matrices<CSC<>, CSR<>>();
  check_matrices<CSR<>, COO<2>>();
  check_matrices<DCSR<>, DenseMatrix<>>();
  check_matrices<CSC<>, DCSC<>>();
}

TEST(RealValues, OfComplexVectorsAndTheirSums) {
  const auto z = vector();
  const auto A = matrix<CSR<>>();
  const Tensor<double, DenseVector> y({n}), x({n});
  x(i) = 2.0;
  const auto of = [&](std::int64_t at) { return std::complex<double>(z.values()(at)); };
  y(i) = max(abs(z(i)) * x(i), 3.0);
  expect_vector(y, [&](auto r) { return std::max(2 * std::abs(of(r)), 3.0); });
  const auto product = [&](std::int64_t r) {
    std::complex<double> sum = 0;
    for (std::int64_t c = 0; c < n; ++c) sum += value_at(r, c) * of(c);
    return sum;
  };
  y(i) = abs(sum(j, A(i, j) * z(j)));
  expect_vector(y, [&](auto r) { return std::abs(product(r)); });
  y(i) += real(A(i, j) * z(j));
  expect_vector(y, [&](auto r) { return std::abs(product(r)) + product(r).real(); });
  y(i) = imag(Complex(0, 1) * z(i)) + real(z(i) * Complex(1, 1)) - abs(z(i) - Complex(1, 2));
  expect_vector(y, [&](auto r) {
    return of(r).real() + of(r).real() - of(r).imag() - std::abs(of(r) - std::complex<double>(1, 2));
  });
  y(i) = relu(A(i, j) != A(i, j)) + abs(z(i));  // an epilogue of real sums beside complex numbers
  expect_vector(y, [&](auto r) { return std::abs(of(r)); });
  const Tensor<Complex, DenseVector> w({n});
  w(i) = conj(z(i)) * abs(z(i));
  for (std::int64_t r = 0; r < n; ++r)
    EXPECT_NEAR(std::abs(std::complex<double>(w.values()(r)) - std::conj(of(r)) * std::abs(of(r))), 0, bound);
}

TEST(RealValues, AreConditionsAndMasks) {
  const auto z = vector();
  const auto A = matrix<CSR<>>();
  const Tensor<double, CSR<>> R({n, n}), S({n, n}), expected({n, n});
  R(i, j) = 1.0 * pattern(A(i, j));
  expect_matrix(R, [](auto r, auto c) { return (r * 5 + c * 3) % 4 == 0 ? 1.0 : 0.0; });
  const Tensor<bool, DenseVector> same({n});
  same(i) = z(i) == conj(z(i));
  for (std::int64_t r = 0; r < n; ++r) EXPECT_EQ(same.values()(r), z.values()(r).imag() == 0);
  const auto nonzero = [](auto r, auto c) { return value_at(r, c) != std::complex<double>(0); };
  const auto squared = [](auto r, auto c) {
    double sum = 0;
    for (std::int64_t m = 0; m < n; ++m) sum += (r * 5 + m * 3) % 4 == 0 && (m * 5 + c * 3) % 4 == 0;
    return sum;
  };
  S(i, j) = !A(i, j) * (R(i, k) * R(k, j));
  expect_matrix(S, [&](auto r, auto c) { return nonzero(r, c) ? 0 : squared(r, c); });
  S(i, j) = !pattern(A(i, j)) * (R(i, k) * R(k, j));
  expect_matrix(S, [&](auto r, auto c) { return (r * 5 + c * 3) % 4 == 0 ? 0 : squared(r, c); });
}

TEST(RealValues, AreNumbersThatAreReal) {
  const auto z = vector();
  std::complex<double> all = 0;
  double magnitudes = 0, squares = 0;
  for (std::int64_t at = 0; at < n; ++at) {
    const std::complex<double> here(z.values()(at));
    all += here;
    magnitudes += std::abs(here);
    squares += std::norm(here);
  }
  const double of_magnitudes = sum(abs(z(i)));
  const double of_all = abs(sum(z(i)));
  const double product = real(sum(z(i) * conj(z(i))));
  static_assert(std::is_same_v<decltype(value(sum(abs(z(i))))), double>);
  static_assert(std::is_same_v<decltype(value(sum(conj(z(i))))), Complex>);
  EXPECT_NEAR(of_magnitudes, magnitudes, bound);
  EXPECT_NEAR(of_all, std::abs(all), bound);
  EXPECT_NEAR(product, squares, bound);
  EXPECT_NEAR(norm(z), std::sqrt(squares), bound);
  EXPECT_NEAR(norm(real(z(i))), norm(map([](const Complex& v) { return Complex(v.real()); }, z(i))), bound);
}

}  // namespace
}  // namespace sporos::test::real_values
