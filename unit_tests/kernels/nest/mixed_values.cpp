// SPDX-License-Identifier: Apache-2.0
/// @file mixed_values.cpp
/// Statements over several value types compute in the widest and round once, so that no loop order shows in
/// what a narrower result holds.
#include "../typed.hpp"

namespace sporos::test {
namespace {

/// Rows whose columns are dense: values are added up in the blocks that the result appends.
using DenseRows = Format<Map<Dim<0>, Dim<1>>, Compressed<std::int64_t, std::int32_t, true, true>, Dense>;

template <class F>
Tensor<double, F> matrix(std::initializer_list<std::pair<Extents<2>, double>> values) {
  return assemble<F>(Entries<double, 2>({2, 4}, values));
}

// Row 0 sums to 0.5 + 0.5 + 0.75 + 0.5 = 2.25, row 1 to 1 - 1 = 0.
const std::initializer_list<std::pair<Extents<2>, double>> fractions{
    {{0, 0}, 0.5}, {{0, 1}, 0.5}, {{0, 2}, 0.75}, {{0, 3}, 0.5}, {{1, 1}, 1}, {{1, 3}, -1}};

Tensor<double, CSR<>> ones(std::int64_t rows) {
  Entries<double, 2> out({rows, 1}, rows);
  for (std::int64_t row = 0; row < rows; ++row) out.set(row, {row, 0}, 1);
  return assemble<CSR<>>(out);
}

TEST(MixedValues, IntegersTakeTheWholePartOfASumOfDoublesInEveryLoopOrder) {
  const auto rows = matrix<CSR<>>(fractions);
  const auto columns = matrix<CSC<>>(fractions);
  const Tensor<int, DenseVector> y({2});
  const auto expect = [&] {
    EXPECT_EQ(y.values()(0), 2);
    EXPECT_EQ(y.values()(1), 0);
  };
  y(i) = rows(i, j);
  expect();
  y(i) = columns(i, j);
  expect();
  const Tensor<int, SparseVector<>> sparse({2});
  sparse(i) = columns(i, j);
  ASSERT_EQ(sparse.nnz(), 2);
  EXPECT_EQ(sparse.values()(0), 2);
}

TEST(MixedValues, ProductsRoundOnceInEveryLoopOrderAndResultFormat) {
  const auto rows = matrix<CSR<>>(fractions);
  const auto columns = matrix<CSC<>>(fractions);
  const auto right = ones(4);
  const auto right_columns = convert<CSC<>>(right);
  const auto check = [](const auto& A, const char* how) {
    const auto terms = read(A).terms;
    EXPECT_EQ(terms(0, 0).value, 2) << how;
    EXPECT_EQ(terms(1, 0).value, 0) << how;
    EXPECT_TRUE(terms(1, 0).present) << how;
  };
  const auto check_orders = [&](const auto& A) {
    assign(A(i, j), rows(i, k) * right(k, j)).reorder(i, k, j).run();
    check(A, "i, k, j");
    assign(A(i, j), rows(i, k) * right_columns(k, j)).reorder(i, j, k).run();
    check(A, "i, j, k");
    assign(A(i, j), columns(i, k) * right(k, j)).reorder(k, i, j).run();
    check(A, "k, i, j");
  };
  check_orders(Tensor<std::int64_t, RowMajorMatrix>({2, 1}));
  check_orders(Tensor<std::int64_t, CSR<>>({2, 1}));
  check_orders(Tensor<std::int64_t, DenseRows>({2, 1}));
}

TEST(MixedValues, FloatsRoundASumOfDoublesOnce) {
  // Added in float, the small ones would be lost one by one.
  constexpr double small = 0x1p-25;
  const auto B = assemble<CSC<>>(Entries<double, 2>(
      {1, 5}, {{{0, 0}, 1}, {{0, 1}, small}, {{0, 2}, small}, {{0, 3}, small}, {{0, 4}, small}}));
  const auto rows = convert<CSR<>>(B);
  const Tensor<float, DenseVector> y({1});
  y(i) = B(i, j);
  EXPECT_EQ(y.values()(0), 1 + 0x1p-23f);
  y(i) = rows(i, j);
  EXPECT_EQ(y.values()(0), 1 + 0x1p-23f);
  y.values()(0) = 0x1p-23f;
  y(i) += B(i, j);
  EXPECT_EQ(y.values()(0), 1 + 0x1p-22f);
}

TEST(MixedValues, HalvesAreAddedUpInFloat) {
  // In half, 2048 + 1 is 2048.
  const std::int64_t count = 3000;
  const auto one = [](std::mt19937_64&) { return 1.0f; };
  Sizes sizes("ij", count);
  sizes['i'] = 1;
  const auto x = tensor_with<half, DenseVector>(sizes, "j", 1, 1, one);
  const Tensor<half, Scalar> s;
  s() = x(j);
  EXPECT_EQ(static_cast<float>(s.values()(0)), 3000.0f);
  const auto row = tensor_with<half, RowMajorMatrix>(sizes, "ij", 1, 1, one);
  const Tensor<half, DenseVector> y({1});
  assign(y(i), row(i, j)).reorder(j, i).run();
  EXPECT_EQ(static_cast<float>(y.values()(0)), 3000.0f);
}

TEST(MixedValues, ABoolOfDoublesSaysWhetherTheirSumIsZero) {
  const Tensor<bool, DenseVector> y({2});
  const auto rows = matrix<CSR<>>(fractions);
  const auto columns = matrix<CSC<>>(fractions);
  y(i) = rows(i, j);
  EXPECT_TRUE(y.values()(0));
  EXPECT_FALSE(y.values()(1));
  y(i) = columns(i, j);
  EXPECT_TRUE(y.values()(0));
  EXPECT_FALSE(y.values()(1));
}

TEST(MixedValues, BoolsAreCountedByAnInteger) {
  const auto pattern = matrix<CSR<>>(fractions);
  const Tensor<bool, CSR<>> there({2, 4});
  there(i, j) = pattern(i, j);
  const Tensor<int, DenseVector> count({2});
  count(i) = there(i, j);
  EXPECT_EQ(count.values()(0), 4);
  EXPECT_EQ(count.values()(1), 2);
}

TEST(MixedValues, RealTimesComplexIsComplex) {
  using Complex = Kokkos::complex<double>;
  const auto A = matrix<CSR<>>(fractions);
  const Tensor<Complex, DenseVector> x({4}), y({2});
  for (int at = 0; at < 4; ++at) x.values()(at) = Complex(at, 1);
  y(i) = 2 * A(i, j) * x(j);
  EXPECT_EQ(y.values()(0), Complex(7, 4.5));
  EXPECT_EQ(y.values()(1), Complex(-4, 0));
}

}  // namespace
}  // namespace sporos::test
