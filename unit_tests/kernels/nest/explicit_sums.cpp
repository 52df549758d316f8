// SPDX-License-Identifier: Apache-2.0
/// @file explicit_sums.cpp
/// sum(k, ...) in every place where it may stand, against loops over dense arrays.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../typed.hpp"
#include "reference.hpp"

namespace sporos::test {
namespace {

const Sizes sum_sizes("ijkl", 17);
constexpr std::int64_t sum_extent = 17;

struct Root {
  double operator()(double x) const { return std::sqrt(x); }
};

template <class Term>
double over(const Term& term) {
  double out = 0;
  for (std::int64_t at = 0; at < sum_extent; ++at) out += term(at);
  return out;
}

template <class Space, class F>
auto small(std::string_view modes, double density, std::uint64_t seed) {
  return small_tensor<double, F>(sum_sizes, modes, density, seed).template move_to<Space>();
}

template <class Space_>
class ExplicitSums : public testing::Test {
 protected:
  using Space = Space_;
  Tensor<double, DenseVector, Space> y_{Extents<1>{sum_extent}};
  Tensor<double, CSR<>, Space> A_ = small<Space, CSR<>>("ij", 0.3, 1);
  Tensor<double, CSR<>, Space> B_ = small<Space, CSR<>>("ij", 0.2, 2);
  Tensor<double, DenseVector, Space> x_ = small<Space, DenseVector>("i", 1, 3);

  /// y against expected(i), within the rounding of `terms` additions.
  template <class Expected>
  void expect(const Expected& expected) {
    for (std::int64_t at_i = 0; at_i < sum_extent; ++at_i)
      EXPECT_NEAR(at(y_, {at_i}), expected(at_i), 1e-12 * (1 + std::abs(expected(at_i)))) << at_i;
  }
  double a(std::int64_t row, std::int64_t column) const { return at(A_, {row, column}); }
  double b(std::int64_t row, std::int64_t column) const { return at(B_, {row, column}); }
  double x(std::int64_t row) const { return at(x_, {row}); }
};
using Spaces = testing::Types<Serial, OpenMP>;
TYPED_TEST_SUITE(ExplicitSums, Spaces);

TYPED_TEST(ExplicitSums, AreLoopsLikeAnyOtherWhereTheirPlaceDoesNotMatter) {
  const auto& [A, x, y] = std::tie(this->A_, this->x_, this->y_);
  y(i) = x(i) - sum(j, A(i, j) * x(j));
  this->expect(
      [&](auto row) { return this->x(row) - over([&](auto c) { return this->a(row, c) * this->x(c); }); });
  y(i) = 2.0 * x(i) * sum(j, A(i, j));
  this->expect([&](auto row) { return 2 * this->x(row) * over([&](auto c) { return this->a(row, c); }); });
}

TYPED_TEST(ExplicitSums, MayRunInAnyOrderWhereTheyAreLoops) {
  using Space = typename TestFixture::Space;
  const auto& [A, B] = std::tie(this->A_, this->B_);
  const Tensor<double, CSR<>, Space> C({sum_extent, sum_extent}), D({sum_extent, sum_extent});
  C(i, j) = sum(k, A(i, k) * B(k, j));
  D(i, j) = A(i, k) * B(k, j);
  EXPECT_GT(C.nnz(), 0);
  EXPECT_TRUE(same(table(C), table(D)));
}

TYPED_TEST(ExplicitSums, AreNumbersInsideAFunction) {
  const auto& [A, y] = std::tie(this->A_, this->y_);
  y(i) = map(Root{}, sum(j, A(i, j) * A(i, j)));
  this->expect(
      [&](auto row) { return std::sqrt(over([&](auto c) { return this->a(row, c) * this->a(row, c); })); });
}

TYPED_TEST(ExplicitSums, MultiplyEachOverItsOwnVariable) {
  const auto& [A, B, y] = std::tie(this->A_, this->B_, this->y_);
  y(i) = sum(j, A(i, j)) * sum(k, B(i, k));
  this->expect([&](auto row) {
    return over([&](auto c) { return this->a(row, c); }) * over([&](auto c) { return this->b(row, c); });
  });
}

TYPED_TEST(ExplicitSums, Divide) {
  using Space = typename TestFixture::Space;
  const auto& [A, x, y] = std::tie(this->A_, this->x_, this->y_);
  const auto W = small<Space, DenseMatrix<>>("ij", 1, 5);
  y(i) = A(i, j) * x(j) / sum(k, W(i, k) * W(i, k));
  this->expect([&](auto row) {
    return over([&](auto c) { return this->a(row, c) * this->x(c); }) /
           over([&](auto c) { return at(W, {row, c}) * at(W, {row, c}); });
  });
}

TYPED_TEST(ExplicitSums, CountATermWithoutTheVariableOnceForEachCoordinate) {
  const auto& [A, x, y] = std::tie(this->A_, this->x_, this->y_);
  y(i) = sum(j, A(i, j) + x(i));
  this->expect(
      [&](auto row) { return over([&](auto c) { return this->a(row, c); }) + sum_extent * this->x(row); });
  y(i) = A(i, j) + x(i);  // not so where the sum is not written
  this->expect([&](auto row) { return over([&](auto c) { return this->a(row, c); }) + this->x(row); });
}

TYPED_TEST(ExplicitSums, StandInsideOneAnother) {
  const auto& [A, B, y] = std::tie(this->A_, this->B_, this->y_);
  y(i) = map(Root{}, sum(j, A(i, j) * A(i, j) * map(Root{}, sum(k, B(j, k) * B(j, k)))));
  this->expect([&](auto row) {
    return std::sqrt(over([&](auto c) {
      return this->a(row, c) * this->a(row, c) *
             std::sqrt(over([&](auto d) { return this->b(c, d) * this->b(c, d); }));
    }));
  });
}

TYPED_TEST(ExplicitSums, ReadMatricesThatStoreOtherVariablesBelowTheirs) {
  using Space = typename TestFixture::Space;
  const auto& A = this->A_;
  const auto M = small<Space, DenseMatrix<>>("ij", 1, 8), N = small<Space, DenseMatrix<>>("ij", 1, 9);
  const Tensor<double, DenseMatrix<>, Space> C({sum_extent, sum_extent});
  const auto product = [&](std::int64_t row, std::int64_t column) {
    return over([&](auto c) { return this->a(row, c) * at(M, {c, column}); });
  };
  C(i, j) = abs(sum(k, A(i, k) * M(k, j))) * N(j, i);
  for (std::int64_t row = 0; row < sum_extent; ++row)
    for (std::int64_t column = 0; column < sum_extent; ++column)
      EXPECT_NEAR(at(C, {row, column}), std::abs(product(row, column)) * at(N, {column, row}), 1e-11);
  assign(C(i, j), abs(sum(k, A(i, k) * M(k, j)))).generic().run();
  for (std::int64_t row = 0; row < sum_extent; ++row)
    for (std::int64_t column = 0; column < sum_extent; ++column)
      EXPECT_NEAR(at(C, {row, column}), std::abs(product(row, column)), 1e-11);
  this->y_(j) = relu(A(2, k) * M(k, j));
  this->expect([&](auto column) { return std::max(product(2, column), 0.0); });
  // Two variables, of which the result's stands in between.
  const auto T = small<Space, DenseTensor<3>>("ijk", 1, 10);
  this->y_(j) = map(Root{}, sum(i, k, T(i, j, k) * T(i, j, k)));
  this->expect([&](auto middle) {
    return std::sqrt(over([&](auto first) {
      return over([&](auto last) { return std::pow(at(T, {first, middle, last}), 2); });
    }));
  });
}

TYPED_TEST(ExplicitSums, RunOverSeveralVariables) {
  using Space = typename TestFixture::Space;
  const auto T = small<Space, CSF<3>>("ijk", 0.1, 7);
  const auto& y = this->y_;
  y(i) = map(Root{}, sum(j, k, T(i, j, k) * T(i, j, k)));
  this->expect([&](auto row) {
    return std::sqrt(
        over([&](auto c) { return over([&](auto d) { return at(T, {row, c, d}) * at(T, {row, c, d}); }); }));
  });
}

TYPED_TEST(ExplicitSums, AreAbsentWhereNoTermIsThere) {
  using Space = typename TestFixture::Space;
  const auto& A = this->A_;
  const Tensor<double, SparseVector<>, Space> norms({sum_extent});
  norms(i) = map(Root{}, sum(j, A(i, j) * A(i, j)));
  std::int64_t filled = 0;
  const auto positions = A.template level<1>().positions;
  for (std::size_t row = 0; row < static_cast<std::size_t>(sum_extent); ++row)
    filled += positions(row + 1) > positions(row);
  EXPECT_LT(filled, sum_extent);
  EXPECT_EQ(norms.nnz(), filled);
}

TYPED_TEST(ExplicitSums, NeedNoOtherVariable) {
  using Space = typename TestFixture::Space;
  const auto& [A, x] = std::tie(this->A_, this->x_);
  const Tensor<double, Scalar, Space> norm;
  norm() = map(Root{}, sum(i, j, A(i, j) * A(i, j)));
  double squares = 0;
  for (const auto& [coordinate, value] : table(A)) squares += value * value;
  EXPECT_NEAR(at(norm, {}), std::sqrt(squares), 1e-12 * std::sqrt(squares));
  const auto& y = this->y_;
  y(i) = x(i) / map(Root{}, sum(j, x(j) * x(j)));
  const double length = std::sqrt(over([&](auto c) { return this->x(c) * this->x(c); }));
  this->expect([&](auto row) { return this->x(row) / length; });
}

TYPED_TEST(ExplicitSums, ArePrintedAsTheyRun) {
  const auto& [A, y] = std::tie(this->A_, this->y_);
  EXPECT_EQ(assign(y(i), map(Root{}, sum(j, A(i, j)))).str(), "A(i) = map(f, sum(j, B(i, j)))");
  EXPECT_EQ(assign(y(i), sum(j, A(i, j))).str(), "A(i) = B(i, j)");
  EXPECT_TRUE(contains(explain(assign(y(i), map(Root{}, sum(j, A(i, j))))), "for j in B"));
}

}  // namespace
}  // namespace sporos::test
