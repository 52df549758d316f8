// SPDX-License-Identifier: Apache-2.0
/// @file streams.cpp
/// How the streams of operands meet: walks inside sums that follow a sparse factor, long skips, wide
/// workspaces.
#include <map>

#include "../statements.hpp"

namespace sporos::test {
namespace {

Tensor<double, SparseVector<>> sparse(std::int64_t extent,
                                      std::initializer_list<std::pair<Extents<1>, double>> entries) {
  return assemble<SparseVector<>>(Entries<double, 1>({extent}, entries));
}

Tensor<double, DenseVector> filled(std::int64_t extent, double value) {
  Tensor<double, DenseVector> out({extent});
  Kokkos::deep_copy(out.values(), value);
  return out;
}

std::vector<double> values_of(const Tensor<double, DenseVector>& x) {
  return {x.values().data(), x.values().data() + x.nnz()};
}

TEST(Streams, ASumInsideADenseFactorFollowsTheSparseFactorBesideIt) {
  const auto d = filled(6, 10), e = filled(6, 1), a = filled(6, -1);
  const auto s = sparse(6, {{{0}, 1.0}, {{3}, 5.0}});
  const auto t = sparse(6, {{{3}, 1.0}, {{4}, 1.0}});
  const std::vector<double> expected{0, 0, 0, 15, 10, 0};
  a(i) = (d(i) + s(i)) * e(i) * t(i);
  EXPECT_EQ(values_of(a), expected);
  a(i) = t(i) * (e(i) * (s(i) + d(i)));
  EXPECT_EQ(values_of(a), expected);
  a(i) = t(i) * -(e(i) * (d(i) - -s(i)));
  EXPECT_EQ(values_of(a), std::vector<double>({0, 0, 0, -15, -10, 0}));
}

TEST(Streams, ANonzeroThatMeetsNoneAddsNothingToASum) {
  const auto a = filled(4, -1), d = filled(4, 1);
  const auto s = sparse(4, {{{0}, 1.0}, {{2}, 2.0}});
  const auto t = sparse(4, {{{1}, 3.0}, {{2}, 4.0}});
  const auto u = sparse(4, {{{3}, 7.0}});
  a(i) = s(i) * t(i) + u(i);
  EXPECT_EQ(values_of(a), std::vector<double>({0, 0, 8, 7}));
  a(i) = d(i) + s(i) * t(i);
  EXPECT_EQ(values_of(a), std::vector<double>({1, 1, 9, 1}));
}

class Skips : public testing::TestWithParam<std::int64_t> {};

TEST_P(Skips, OfAnyLengthFindEveryCommonNonzero) {
  // One side holds every coordinate, the other every stride-th: the walk over the first skips stride - 1.
  const std::int64_t extent = 3000;
  const std::int64_t stride = GetParam();
  Entries<double, 1> all({extent}, extent);
  for (std::int64_t c = 0; c < extent; ++c) all.set(c, {c}, static_cast<double>(c + 1));
  const std::int64_t count = (extent - 1) / stride + 1;
  Entries<double, 1> few({extent}, count);
  for (std::int64_t q = 0; q < count; ++q) few.set(q, {q * stride}, 2.0);
  const auto x = assemble<SparseVector<>>(all);
  const auto y = assemble<SparseVector<>>(few);
  const Tensor<double, SparseVector<>> z({extent}), w({extent});
  z(i) = x(i) * y(i);
  w(i) = y(i) * x(i);
  for (const auto& found : {z, w}) {
    ASSERT_EQ(found.nnz(), count);
    for (std::int64_t q = 0; q < count; ++q) {
      ASSERT_EQ(found.level<0>().coordinates(q), q * stride);
      ASSERT_EQ(found.values()(q), 2.0 * static_cast<double>(q * stride + 1));
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Strides, Skips,
                         testing::Values(1, 2, 7, 8, 9, 10, 15, 16, 17, 24, 25, 31, 33, 64, 100, 999, 2999,
                                         3000));

TEST(Streams, ARepeatedCoordinateIsSkippedWhole) {
  const std::int64_t extent = 100;
  Entries<double, 1> repeated({extent}, 3 * extent);
  for (std::int64_t q = 0; q < 3 * extent; ++q) repeated.set(q, {q / 3}, 1.0);
  const auto x = assemble<RepeatedVector>(repeated);
  ASSERT_EQ(x.nnz(), 3 * extent);
  const auto y = sparse(extent, {{{5}, 1.0}, {{60}, 2.0}, {{99}, 3.0}});
  const Tensor<double, SparseVector<>> z({extent});
  z(i) = x(i) * y(i);
  ASSERT_EQ(z.nnz(), 3);
  EXPECT_EQ(z.values()(0), 3.0);
  EXPECT_EQ(z.values()(1), 6.0);
  EXPECT_EQ(z.values()(2), 9.0);
}

TEST(Streams, AWorkspaceWiderThanItsBitmapsWordsHandsOutEveryCoordinateInOrder) {
  // One bit of the upper bitmap stands for 64 columns, one word for 4096.
  const std::int64_t columns = 200 * 4096 + 5;
  Entries<double, 2> some({3, columns}, 4000);
  for (std::int64_t q = 0; q < 4000; ++q) some.set(q, {q % 3, (q * 104729) % columns}, 1.0);
  const auto C = assemble<CSR<>>(some);
  const auto B = assemble<CSR<>>(Entries<double, 2>({2, 3}, {{{1, 0}, 1.0}, {{1, 1}, 2.0}, {{1, 2}, 4.0}}));
  const Tensor<double, CSR<>> A({2, columns});
  A(i, j) = B(i, k) * C(k, j);
  validate(A);
  std::map<std::int64_t, double> expected;
  for (std::int64_t q = 0; q < 4000; ++q)
    expected[(q * 104729) % columns] += static_cast<double>(1 << (q % 3));
  ASSERT_EQ(A.nnz(), static_cast<std::int64_t>(expected.size()));
  std::int64_t q = 0;
  for (const auto& [column, value] : expected) {
    ASSERT_EQ(A.level<1>().coordinates(q), column);
    ASSERT_EQ(A.values()(q), value);
    ++q;
  }
}

TEST(Streams, ADenseFactorFillsTheRowsThatASparseOneHas) {
  const std::int64_t columns = 1000;
  const Tensor<double, DenseMatrix<>> C({3, columns});
  for (std::int64_t q = 0; q < C.nnz(); ++q) C.values()(q) = static_cast<double>(q % 7 + 1);
  const auto B = assemble<CSR<>>(Entries<double, 2>({4, 3}, {{{0, 0}, 1.0}, {{0, 2}, 2.0}, {{3, 1}, 3.0}}));
  const Tensor<double, CSR<>> A({4, columns});
  A(i, j) = B(i, k) * C(k, j);
  validate(A);
  ASSERT_EQ(A.nnz(), 2 * columns);
  for (std::int64_t c = 0; c < columns; ++c) {
    ASSERT_EQ(A.values()(c), C.values()(c) + 2 * C.values()(2 * columns + c));
    ASSERT_EQ(A.values()(columns + c), 3 * C.values()(columns + c));
  }
}

}  // namespace
}  // namespace sporos::test
