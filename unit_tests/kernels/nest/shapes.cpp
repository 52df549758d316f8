// SPDX-License-Identifier: Apache-2.0
/// @file shapes.cpp
/// Shapes that do not fit are refused with both of them named; shapes that are huge or degenerate work.
#include <gmock/gmock.h>

#include "../statements.hpp"
#include "reference.hpp"

namespace sporos::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Shapes, ThatDifferAlongAReductionAreNamedBoth) {
  const Tensor<double, CSR<>> A({3, 5}), B({3, 4}), C({7, 5});
  EXPECT_THAT(
      message_of<ShapeError>([&] { A(i, j) = B(i, k) * C(k, j); }),
      AllOf(HasSubstr("A(i, j) = B(i, k) * C(k, j)"), HasSubstr("index k"),
            HasSubstr("mode 1 of B(i, k) has extent 4"), HasSubstr("mode 0 of C(k, j) has extent 7")));
}

TEST(Shapes, ThatDifferBetweenResultAndOperandAreNamedBoth) {
  const Tensor<double, DenseVector> y({3}), x({5});
  const Tensor<double, CSR<>> A({4, 5});
  EXPECT_THAT(message_of<ShapeError>([&] { y(i) = A(i, j) * x(j); }),
              AllOf(HasSubstr("mode 0 of A(i) has extent 3"), HasSubstr("mode 0 of B(i, j) has extent 4")));
}

TEST(Shapes, OfADiagonalHaveToBeSquare) {
  const Tensor<double, DenseVector> y({3});
  const Tensor<double, DenseMatrix<>> A({3, 4});
  EXPECT_THAT(message_of<ShapeError>([&] { y(i) = A(i, i); }),
              AllOf(HasSubstr("extent 3"), HasSubstr("extent 4")));
}

TEST(Shapes, AResultIsLeftAsItWasWhereShapesDiffer) {
  const auto A = assemble<CSR<>>(Entries<double, 2>({2, 2}, {{{0, 1}, 5.0}}));
  const Tensor<double, CSR<>> B({2, 3}), C({2, 2});
  EXPECT_THROW((A(i, j) = B(i, k) * C(k, j)), ShapeError);
  EXPECT_EQ(A.nnz(), 1);
  EXPECT_EQ(A.values()(0), 5.0);
}

using HugeMatrix = DCSR<std::int64_t, std::int64_t>;
constexpr std::int64_t huge = std::int64_t{1} << 40;

Tensor<double, HugeMatrix> huge_matrix(std::initializer_list<std::pair<Extents<2>, double>> entries) {
  return assemble<HugeMatrix>(Entries<double, 2>({huge, huge}, entries));
}

TEST(Shapes, OfTwoToTheFortiethPowerMultiplyElementwise) {
  const auto B =
      huge_matrix({{{0, 0}, 1.0}, {{5, huge - 1}, 2.0}, {{huge - 1, 7}, 3.0}, {{huge - 1, huge - 1}, 4.0}});
  const auto C = huge_matrix(
      {{{1, 0}, 1.0}, {{5, huge - 1}, 10.0}, {{huge - 1, 8}, 3.0}, {{huge - 1, huge - 1}, 100.0}});
  const Tensor<double, HugeMatrix> A({huge, huge});
  A(i, j) = B(i, j) * C(i, j);
  validate(A);
  const auto found = entries(A);
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found.coordinate(0), (Extents<2>{5, huge - 1}));
  EXPECT_EQ(found.values(0), 20.0);
  EXPECT_EQ(found.coordinate(1), (Extents<2>{huge - 1, huge - 1}));
  EXPECT_EQ(found.values(1), 400.0);
}

TEST(Shapes, OfTwoToTheFortiethPowerAdd) {
  const auto B = huge_matrix({{{0, 0}, 1.0}, {{huge - 1, 7}, 3.0}});
  const auto C = huge_matrix({{{huge / 2, 0}, 5.0}, {{huge - 1, 7}, 4.0}});
  const Tensor<double, HugeMatrix> A({huge, huge});
  A(i, j) = B(i, j) - C(i, j);
  validate(A);
  const auto found = entries(A);
  ASSERT_EQ(found.size(), 3);
  EXPECT_EQ(found.coordinate(1), (Extents<2>{huge / 2, 0}));
  EXPECT_EQ(found.values(1), -5.0);
  EXPECT_EQ(found.values(2), -1.0);
}

TEST(Shapes, OfTwoToTheFortiethPowerReduceToANumber) {
  const auto B = huge_matrix({{{0, 0}, 1.0}, {{5, huge - 1}, 2.0}, {{huge - 1, 7}, 3.0}});
  const Tensor<double, Scalar> s;
  s() = B(i, j);
  EXPECT_EQ(s.values()(0), 6.0);
  s() = B(i, j) * B(i, j);
  EXPECT_EQ(s.values()(0), 14.0);
}

TEST(Shapes, OfTwoToTheFortiethPowerMultiplyInLoopOrdersThatNeedNoWorkspaceOfThatWidth) {
  const auto B = huge_matrix({{{0, 3}, 2.0}, {{5, huge - 1}, 3.0}, {{huge - 1, 3}, 5.0}});
  const auto C = huge_matrix({{{3, 9}, 7.0}, {{huge - 1, 0}, 11.0}, {{huge - 1, huge - 2}, 13.0}});
  using HugeColumns = DCSC<std::int64_t, std::int64_t>;
  const auto columns = convert<HugeColumns>(B);
  const Tensor<double, HugeMatrix> A({huge, huge});
  assign(A(i, j), columns(i, k) * C(k, j)).reorder(k, i, j).run();
  validate(A);
  const auto found = entries(A);
  ASSERT_EQ(found.size(), 4);
  const Extents<2> at[] = {{0, 9}, {5, 0}, {5, huge - 2}, {huge - 1, 9}};
  const double values[] = {14, 33, 39, 35};
  for (int q = 0; q < 4; ++q) {
    EXPECT_EQ(found.coordinate(q), at[q]);
    EXPECT_EQ(found.values(q), values[q]);
  }
}

TEST(Shapes, AWorkspaceThatMemoryCannotHoldIsRefusedAsSuch) {
  const auto B = huge_matrix({{{0, 3}, 2.0}});
  const Tensor<double, HugeMatrix> A({huge, huge});
  EXPECT_THROW(assign(A(i, j), B(i, k) * B(k, j)).workspace(dense_workspace).run(), MemoryError);
  EXPECT_EQ(A.nnz(), 0);
}

TEST(Shapes, OfOrderZeroNeedNoLoop) {
  const Tensor<double, Scalar> a, b, c;
  b.values()(0) = 3;
  c.values()(0) = 4;
  a() = b() * c() - 2;
  EXPECT_EQ(a.values()(0), 10.0);
  a() = 7;
  EXPECT_EQ(a.values()(0), 7.0);
}

TEST(Shapes, AScalarFillsDenseAndSparseResults) {
  const Tensor<double, DenseMatrix<>> A({2, 3});
  const Tensor<double, CSR<>> B({2, 3});
  A(i, j) = 2.5;
  B(i, j) = 2.5;
  validate(B);
  ASSERT_EQ(B.nnz(), 6);
  for (int q = 0; q < 6; ++q) {
    EXPECT_EQ(A.values()(q), 2.5);
    EXPECT_EQ(B.values()(q), 2.5);
  }
}

}  // namespace
}  // namespace sporos::test
