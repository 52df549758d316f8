// SPDX-License-Identifier: Apache-2.0
/// @file masks.cpp
/// Masks and complement masks, by value and by pattern, over combinations of formats, over semirings, and in
/// plans.
#include "../statements.hpp"
#include "reference.hpp"

namespace sporos::test {
namespace {

/// One where a term is zero; absent elsewhere.
Term<double> complement(const Term<double>& a) {
  return a.value == 0 ? Term<double>{1, true} : Term<double>{};
}

struct MaskedMatrix : Notation<"ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& M, const auto& B) {
    return assign(A(i, j), !M(i, j) * B(i, j));
  }
  static auto element(const Sizes&, const auto& M, const auto& B, auto i, auto j) {
    return complement(M(i, j)) * B(i, j);
  }
};
TEST(MaskedMatrix, EqualsTheDenseOneInEveryFormatAndOrder) { check<MaskedMatrix, 4>(); }

struct MaskedProduct : Notation<"ij", "ij", "ik", "kj"> {
  static auto write(const auto& A, const auto& M, const auto& B, const auto& C) {
    return assign(A(i, j), !M(i, j) * (B(i, k) * C(k, j)));
  }
  static auto element(const Sizes& n, const auto& M, const auto& B, const auto& C, auto i, auto j) {
    return complement(M(i, j)) * sum(n['k'], [&](auto k) { return B(i, k) * C(k, j); });
  }
};
TEST(MaskedProduct, EqualsTheDenseOneInEveryFormatAndOrder) { check<MaskedProduct, 4>(); }

struct CountOfZeros : Notation<"i", "ij", "j"> {
  static auto write(const auto& y, const auto& M, const auto& x) { return assign(y(i), !M(i, j) * x(j)); }
  static auto element(const Sizes& n, const auto& M, const auto& x, auto i) {
    return sum(n['j'], [&](auto j) { return complement(M(i, j)) * x(j); });
  }
};
TEST(CountOfZeros, EqualsTheDenseOneInEveryFormatAndOrder) { check<CountOfZeros, 2>(); }

/// M stores 0 at (0, 0), 2 at (0, 1); B stores 5, 6, 7.
struct StoredZero : testing::Test {
  Tensor<double, CSR<>> M = assemble<CSR<>>(Entries<double, 2>({2, 3}, {{{0, 0}, 0.0}, {{0, 1}, 2.0}}));
  Tensor<double, CSR<>> B =
      assemble<CSR<>>(Entries<double, 2>({2, 3}, {{{0, 0}, 5.0}, {{0, 1}, 6.0}, {{1, 1}, 7.0}}));
  Tensor<double, CSR<>> A{{2, 3}};
};

TEST_F(StoredZero, IsMaskedByAPatternAndNotByAValue) {
  A(i, j) = !M(i, j) * B(i, j);
  EXPECT_EQ(A.nnz(), 2);
  EXPECT_EQ(at(A, {0, 0}), 5);
  A(i, j) = !pattern(M(i, j)) * B(i, j);
  EXPECT_EQ(A.nnz(), 1);
  EXPECT_EQ(at(A, {1, 1}), 7);
  A(i, j) = pattern(M(i, j)) * B(i, j);
  EXPECT_EQ(A.nnz(), 2);
  EXPECT_EQ(at(A, {0, 1}), 6);
}

TEST_F(StoredZero, ChangesTheResultOfAPlanWithTheMasksValues) {
  auto masked = plan(assign(A(i, j), !M(i, j) * B(i, j)));
  masked.run();
  EXPECT_EQ(A.nnz(), 2);
  M.values()(0) = 1;
  masked.run();
  EXPECT_EQ(A.nnz(), 1);
  M.values()(0) = 0;
  M.values()(1) = 0;
  B.values()(0) = 9;
  masked.run();
  EXPECT_EQ(A.nnz(), 3);
  EXPECT_EQ(at(A, {0, 0}), 9);
}

TEST_F(StoredZero, IsAllThatBoundsAnEstimate) {
  const auto statement = assign(A(i, j), !M(i, j) * B(i, j));
  statement.run();
  EXPECT_GE(estimate(statement).result, A.bytes());
}

TEST(AMaskOfBool, IsTheOneAndTheZeroOfASemiring) {
  const auto M = assemble<CSR<>>(Entries<bool, 2>({2, 2}, {{{0, 0}, true}, {{0, 1}, false}, {{1, 1}, true}}));
  const auto B = assemble<CSR<>>(
      Entries<double, 2>({2, 2}, {{{0, 0}, 3.0}, {{0, 1}, 4.0}, {{1, 0}, 5.0}, {{1, 1}, 6.0}}));
  const Tensor<double, DenseVector> y({2});
  assign(y(i), M(i, j) * B(i, j)).over(MinPlus{}).run();
  EXPECT_EQ(at(y, {0}), 3);
  EXPECT_EQ(at(y, {1}), 6);
  assign(y(i), !M(i, j) * B(i, j)).over(MinPlus{}).run();
  EXPECT_EQ(at(y, {0}), 4);
  EXPECT_EQ(at(y, {1}), 5);
  assign(y(i), pattern(M(i, j)) * B(i, j)).over(MaxPlus{}).run();
  EXPECT_EQ(at(y, {0}), 4);
  const Tensor<bool, DenseVector> reached({2});
  assign(reached(i), (B(i, j) < 4) * B(i, j)).over(MinPlus{}).run();
  EXPECT_TRUE(reached.values()(0));
  EXPECT_FALSE(reached.values()(1));
}

TEST(AMask, OfASparseVectorLeavesOutWhatADenseOneMarks) {
  const auto next =
      assemble<CSR<>>(Entries<bool, 2>({3, 3}, {{{0, 1}, true}, {{0, 2}, true}, {{1, 0}, true}}));
  const auto frontier = assemble<SparseVector<>>(Entries<bool, 1>({3}, {{{0}, true}, {{1}, true}}));
  const Tensor<bool, DenseVector> visited({3});
  visited.values()(0) = visited.values()(1) = true;
  visited.values()(2) = false;
  const Tensor<bool, SparseVector<>> reached({3});
  reached(j) = !visited(j) * (frontier(i) * next(i, j));
  EXPECT_EQ(reached.nnz(), 1);
  EXPECT_TRUE(at(reached, {2}));
}

}  // namespace
}  // namespace sporos::test
