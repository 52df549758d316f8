// SPDX-License-Identifier: Apache-2.0
/// @file linear_sums.cpp
/// Sums of terms with different variables, inside operations that are linear in them.
#include <cmath>

#include "../statements.hpp"

namespace sporos::test {
namespace {

struct NegatedTwice : Notation<"i", "i", "ij", "j"> {
  static auto write(const auto& y, const auto& b, const auto& A, const auto& x) {
    return assign(y(i), -(-(b(i) - A(i, j) * x(j))));
  }
  static auto element(const Sizes& n, const auto& b, const auto& A, const auto& x, auto i) {
    return b(i) - sum(n['j'], [&](auto j) { return A(i, j) * x(j); });
  }
};
TEST(NegatedTwice, EqualsTheDenseOneInEveryFormatAndOrder) { check<NegatedTwice, 1>(); }

struct ScaledResidual : Notation<"i", "i", "ij", "j"> {
  static auto write(const auto& y, const auto& b, const auto& A, const auto& x) {
    return assign(y(i), 2 * (b(i) - A(i, j) * x(j)));
  }
  static auto element(const Sizes& n, const auto& b, const auto& A, const auto& x, auto i) {
    return 2 * (b(i) - sum(n['j'], [&](auto j) { return A(i, j) * x(j); }));
  }
};
TEST(ScaledResidual, EqualsTheDenseOneInEveryFormatAndOrder) { check<ScaledResidual, 2>(); }

struct DifferenceOfResiduals : Notation<"i", "i", "i", "ij", "j"> {
  static auto write(const auto& y, const auto& b, const auto& c, const auto& A, const auto& x) {
    return assign(y(i), c(i) - (b(i) - (A(i, j) * x(j) + c(i))));
  }
  static auto element(const Sizes& n, const auto& b, const auto& c, const auto& A, const auto& x, auto i) {
    return c(i) - (b(i) - (sum(n['j'], [&](auto j) { return A(i, j) * x(j); }) + c(i)));
  }
};
TEST(DifferenceOfResiduals, EqualsTheDenseOneInEveryFormatAndOrder) { check<DifferenceOfResiduals, 2>(); }

struct ResidualTimesVector : Notation<"i", "i", "ij", "j"> {
  static auto write(const auto& y, const auto& b, const auto& A, const auto& x) {
    return assign(y(i), b(i) * (b(i) + A(i, j) * x(j)));
  }
  static auto element(const Sizes& n, const auto& b, const auto& A, const auto& x, auto i) {
    return b(i) * (b(i) + sum(n['j'], [&](auto j) { return A(i, j) * x(j); }));
  }
};
TEST(ResidualTimesVector, EqualsTheDenseOneInEveryFormatAndOrder) { check<ResidualTimesVector, 2>(); }

struct ScaledMatrixResidual : Notation<"ij", "ij", "ik", "kj"> {
  static auto write(const auto& R, const auto& B, const auto& A, const auto& X) {
    return assign(R(i, j), -2 * (B(i, j) - A(i, k) * X(k, j)));
  }
  static auto element(const Sizes& n, const auto& B, const auto& A, const auto& X, auto i, auto j) {
    return -2 * (B(i, j) - sum(n['k'], [&](auto k) { return A(i, k) * X(k, j); }));
  }
};
TEST(ScaledMatrixResidual, EqualsTheDenseOneInEveryFormatAndOrder) { check<ScaledMatrixResidual, 4>(); }

struct ProductOfSums : Notation<"i", "i", "ij", "ik"> {
  static auto write(const auto& y, const auto& b, const auto& A, const auto& B) {
    return assign(y(i), (b(i) + A(i, j)) * (b(i) - B(i, k)));
  }
  static auto element(const Sizes& n, const auto& b, const auto& A, const auto& B, auto i) {
    return (b(i) + sum(n['j'], [&](auto j) { return A(i, j); })) *
           (b(i) - sum(n['k'], [&](auto k) { return B(i, k); }));
  }
};
TEST(ProductOfSums, EqualsTheDenseOneInEveryFormatAndOrder) { check<ProductOfSums, 2>(); }

TEST(JacobisIteration, DividesWhatIsLeftByTheDiagonal) {
  const Sizes sizes("ij", 17);
  const auto A = random_tensor<CSR<>>(sizes, "ij", 0.3, false, 1);
  const auto b = random_tensor<DenseVector>(sizes, "i", 1, false, 2);
  const auto z = random_tensor<DenseVector>(sizes, "j", 1, false, 3);
  const Tensor<double, DenseVector> d({17}), y({17}), apart({17});
  for (std::size_t at = 0; at < 17; ++at) d.values()(at) = 3 + static_cast<double>(at);
  y(i) = (b(i) - A(i, j) * z(j)) / d(i);
  apart(i) = b(i) - A(i, j) * z(j);
  for (std::size_t at = 0; at < 17; ++at)
    EXPECT_EQ(y.values()(at), apart.values()(at) / d.values()(at)) << "the difference is divided once";
}

TEST(AnIntegerSum, IsDividedWhenItIsComplete) {
  const auto A = assemble<CSR<>>(Entries<int, 2>({2, 2}, {{{0, 0}, 3}, {{0, 1}, 4}, {{1, 1}, -5}}));
  const Tensor<int, DenseVector> b({2}), y({2});
  b.values()(0) = 2;
  b.values()(1) = 1;
  y(i) = (b(i) - A(i, j)) / 2;
  EXPECT_EQ(at(y, {0}), (2 - 7) / 2);
  EXPECT_EQ(at(y, {1}), (1 + 5) / 2);
}

TEST(AScaledSum, HoldsNothingWhereNoTermIsPresent) {
  const auto A = assemble<CSR<>>(Entries<double, 2>({4, 4}, {{{1, 2}, 3}}));
  const auto b = assemble<SparseVector<>>(Entries<double, 1>({4}, {{{3}, 5}}));
  const Tensor<double, SparseVector<>> y({4});
  y(i) = 2 * (b(i) - A(i, j));
  EXPECT_EQ(y.nnz(), 2);
  EXPECT_EQ(at(y, {1}), -6);
  EXPECT_EQ(at(y, {3}), 10);
}

}  // namespace
}  // namespace sporos::test
