// SPDX-License-Identifier: Apache-2.0
/// @file spmv.cpp
/// The product of a sparse matrix and a vector: which statements the kernel takes, and that it computes what
/// dense loops and the nest do.
#include "../dense_products.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

template <class Value, class Space>
using Vector = Tensor<Value, DenseVector, Space>;

/// y = A * x by loops over all of A.
template <class Matrix, class X>
auto by_dense_loops(const Matrix& a, const X& x) {
  const Vector<typename Matrix::value_type, Serial> y({a.extent(0)});
  const auto dense = dense_of(a);
  for (std::int64_t row = 0; row < a.extent(0); ++row)
    for (std::int64_t column = 0; column < a.extent(1); ++column)
      y.values()(static_cast<std::size_t>(row)) +=
          dense.values()(static_cast<std::size_t>(row * a.extent(1) + column)) *
          x.values()(static_cast<std::size_t>(column));
  return y;
}

template <class Value, class Format, class Space>
void expect_products() {
  for (const auto& [name, rows] : sparse_kinds()) {
    const auto A = matrix<Value, Format, Space>(rows, small_value<Value>, 1);
    const auto x = small_dense<Value, DenseVector, Space>({A.extent(1)}, 2);
    const auto y = small_dense<Value, DenseVector, Space>({A.extent(0)}, 3);
    const auto twice = small_dense<Value, DenseVector, Space>({A.extent(0)}, 3);
    const auto expected = by_dense_loops(A, x);
    EXPECT_EQ(kernel_of(assign(y(i), A(i, j) * x(j))), SpmvByRows::name);
    y(i) = A(i, j) * x(j);
    EXPECT_EQ(first_difference(y, expected), "") << name;
    y(i) += A(i, j) * x(j);
    twice(i) = 2 * expected(i);
    EXPECT_EQ(first_difference(y, twice), "") << name << ", added";
    assign(twice(i), x(j) * A(i, j)).generic().run();
    EXPECT_EQ(first_difference(twice, expected), "") << name << ", by the nest";
  }
}

TEST(SparseTimesVector, IsTheDenseProductInEveryType) {
  expect_products<double, CSR<>, Serial>();
  expect_products<double, CSR<>, OpenMP>();
  expect_products<float, CSR<>, Serial>();
  expect_products<float, CSR<std::int32_t, std::int64_t>, OpenMP>();
  expect_products<double, CSR<std::int32_t, std::int32_t>, OpenMP>();
  expect_products<double, CSR<std::int64_t, std::int64_t>, Serial>();
  expect_products<double, CSR<std::uint16_t, std::uint32_t>, Serial>();
  expect_products<float, CSR<std::uint16_t, std::uint8_t>, OpenMP>();
  expect_products<float, CSR<std::uint16_t, std::int32_t>, Serial>();
  expect_products<double, CSR<std::uint32_t, std::int64_t>, Serial>();
}

TEST(SparseTimesVector, IsTheSameForAnyNumberOfThreads) {
  for (const auto& rows : {of_all_lengths(5003, 3000, 7), of_short_rows(50003, 3000)}) {
    const auto A = matrix<double, CSR<>, Serial>(rows, real_value, 1);
    const auto x = real_dense<double, DenseVector, Serial>({3000}, 2);
    const Vector<double, Serial> y({A.extent(0)});
    y(i) = A(i, j) * x(j);
    const auto B = A.move_to<OpenMP>();
    const auto z = x.move_to<OpenMP>();
    const Vector<double, OpenMP> w({A.extent(0)});
    w(i) = B(i, j) * z(j);
    EXPECT_EQ(first_difference(w, y), "");
  }
}

TEST(SparseTimesVector, MayBeWrittenOverItsOperand) {
  const auto A = matrix<double>(scattered(40, 40, 6, 1), small_value<double>, 1);
  const auto x = small_dense<double, DenseVector>({40}, 2);
  const auto expected = by_dense_loops(A, x);
  x(i) = A(i, j) * x(j);
  EXPECT_EQ(first_difference(x, expected), "");
}

TEST(SparseTimesVector, OfOtherKindsIsLeftToTheNest) {
  const auto A = matrix<double>(scattered(40, 40, 6, 1), small_value<double>, 1);
  const Tensor<double, CSC<>> C({40, 40});
  const Vector<double, Host> x({40}), y({40});
  const Vector<float, Host> z({40});
  const Vector<Kokkos::complex<double>, Host> u({40});
  EXPECT_EQ(kernel_of(assign(y(i), A(i, j) * x(j)).generic()), "");
  EXPECT_EQ(kernel_of(assign(y(j), A(i, j) * x(i))), "");
  EXPECT_EQ(kernel_of(assign(y(i), C(i, j) * x(j))), "");
  EXPECT_EQ(kernel_of(assign(y(i), 2.0 * A(i, j) * x(j))), "");
  EXPECT_EQ(kernel_of(assign(y(i), A(i, j) * z(j))), "");
  EXPECT_EQ(kernel_of(assign(u(i), A(i, j) * x(j))), "");
  EXPECT_EQ(kernel_of(assign(y(i), A(i, j) * x(i))), "");
  EXPECT_EQ(kernel_of(assign(y(i), A(i, j) * x(j) + x(i))), "");
}

TEST(SparseTimesVector, OfExtentsThatDoNotFitIsRefused) {
  const Tensor<double, CSR<>> A({40, 30});
  const Vector<double, Host> x({31}), y({40});
  EXPECT_THROW(y(i) = A(i, j) * x(j), ShapeError);
}

}  // namespace
}  // namespace sporos::test
