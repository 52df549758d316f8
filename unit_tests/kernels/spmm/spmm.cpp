// SPDX-License-Identifier: Apache-2.0
/// @file spmm.cpp
/// The product of a sparse and a dense matrix: which statements the kernel takes, and that it computes what
/// dense loops and the nest do.
#include "../dense_products.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

template <class Value, class Space>
using Matrix = Tensor<Value, DenseMatrix<>, Space>;

/// C = A * B by loops over all of A.
template <class Sparse, class B>
auto by_dense_loops(const Sparse& a, const B& b) {
  const std::int64_t width = b.extent(1);
  const Matrix<typename Sparse::value_type, Serial> c({a.extent(0), width});
  const auto dense = dense_of(a);
  for (std::int64_t row = 0; row < a.extent(0); ++row)
    for (std::int64_t inner = 0; inner < a.extent(1); ++inner)
      for (std::int64_t column = 0; column < width; ++column)
        c.values()(static_cast<std::size_t>(row * width + column)) +=
            dense.values()(static_cast<std::size_t>(row * a.extent(1) + inner)) *
            b.values()(static_cast<std::size_t>(inner * width + column));
  return c;
}

template <class Value, class Format, class Space>
void expect_products(const std::vector<std::int64_t>& widths) {
  for (const auto& [name, rows] : sparse_kinds())
    for (const std::int64_t width : widths) {
      const auto A = matrix<Value, Format, Space>(rows, small_value<Value>, 1);
      const auto B = small_dense<Value, DenseMatrix<>, Space>({A.extent(1), width}, 2);
      const auto C = small_dense<Value, DenseMatrix<>, Space>({A.extent(0), width}, 3);
      const auto other = small_dense<Value, DenseMatrix<>, Space>({A.extent(0), width}, 3);
      const auto expected = by_dense_loops(A, B);
      EXPECT_EQ(kernel_of(assign(C(i, j), A(i, k) * B(k, j))), SpmmByRows::name);
      C(i, j) = A(i, k) * B(k, j);
      EXPECT_EQ(first_difference(C, expected), "") << name << ", " << width << " columns";
      C(i, j) += A(i, k) * B(k, j);
      other(i, j) = 2 * expected(i, j);
      EXPECT_EQ(first_difference(C, other), "") << name << ", " << width << " columns, added";
      assign(other(i, j), B(k, j) * A(i, k)).generic().run();
      EXPECT_EQ(first_difference(other, expected), "") << name << ", " << width << " columns, by the nest";
    }
}

TEST(SparseTimesDense, IsTheDenseProductForAnyNumberOfColumns) {
  expect_products<double, CSR<>, Serial>({0, 1, 2, 3, 5, 7, 8, 9, 13, 16, 24, 31, 32, 64, 71, 128, 131, 263});
  expect_products<float, CSR<>, Serial>({1, 3, 6, 15, 17, 32, 47, 256, 263});
}

TEST(SparseTimesDense, IsTheDenseProductForIndicesOfAnyWidth) {
  expect_products<double, CSR<std::int32_t, std::int32_t>, OpenMP>({1, 32});
  expect_products<float, CSR<std::int64_t, std::int64_t>, OpenMP>({7, 16});
  expect_products<double, CSR<std::uint16_t, std::uint8_t>, Serial>({33});
}

TEST(SparseTimesDense, IsTheSameForAnyNumberOfThreads) {
  const auto rows = of_all_lengths(1203, 1000, 7);
  const auto A = matrix<double, CSR<>, Serial>(rows, real_value, 1);
  const auto B = real_dense<double, DenseMatrix<>, Serial>({1000, 45}, 2);
  const Matrix<double, Serial> C({1203, 45});
  C(i, j) = A(i, k) * B(k, j);
  const auto D = A.move_to<OpenMP>();
  const auto E = B.move_to<OpenMP>();
  const Matrix<double, OpenMP> F({1203, 45});
  F(i, j) = D(i, k) * E(k, j);
  EXPECT_EQ(first_difference(F, C), "");
}

TEST(SparseTimesDense, OfMatricesPastTheCachesIsThatOfTheNest) {
  constexpr std::int64_t width = 67;
  const auto far = sporos::detail::most_near_factor / 8 / width + 100;
  const auto past = sporos::detail::most_kept_result / 8 / width + 100;
  for (const auto& [rows, columns] :
       {std::pair(past, std::int64_t{50}), {std::int64_t{50}, far}, {past, far}}) {
    const auto A = matrix<double>(scattered(rows, columns, 3, 7), small_value<double>, 1);
    const auto B = small_dense<double, DenseMatrix<>>({columns, width}, 2);
    const Matrix<double, Host> C({rows, width}), D({rows, width});
    C(i, j) = A(i, k) * B(k, j);
    assign(D(i, j), A(i, k) * B(k, j)).generic().run();
    EXPECT_EQ(first_difference(C, D), "") << rows << " rows of C, " << columns << " of B";
  }
}

TEST(SparseTimesDense, MayBeWrittenOverItsOperand) {
  const auto A = matrix<double>(scattered(40, 40, 6, 1), small_value<double>, 1);
  const auto B = small_dense<double, DenseMatrix<>>({40, 11}, 2);
  const auto expected = by_dense_loops(A, B);
  B(i, j) = A(i, k) * B(k, j);
  EXPECT_EQ(first_difference(B, expected), "");
}

TEST(SparseTimesDense, OfOtherKindsIsLeftToTheNest) {
  const auto A = matrix<double>(scattered(40, 40, 6, 1), small_value<double>, 1);
  const Tensor<double, CSC<>> S({40, 40});
  const Matrix<double, Host> B({40, 40}), C({40, 40});
  const Matrix<float, Host> F({40, 40});
  const Tensor<double, DenseMatrix<ColumnMajor>> T({40, 40});
  EXPECT_EQ(kernel_of(assign(C(i, j), A(i, k) * B(k, j)).generic()), "");
  EXPECT_EQ(kernel_of(assign(C(i, j), A(k, i) * B(k, j))), "");
  EXPECT_EQ(kernel_of(assign(C(i, j), A(i, k) * B(j, k))), "");
  EXPECT_EQ(kernel_of(assign(C(i, j), S(i, k) * B(k, j))), "");
  EXPECT_EQ(kernel_of(assign(C(i, j), A(i, k) * T(k, j))), "");
  EXPECT_EQ(kernel_of(assign(T(i, j), A(i, k) * B(k, j))), "");
  EXPECT_EQ(kernel_of(assign(C(i, j), A(i, k) * F(k, j))), "");
  EXPECT_EQ(kernel_of(assign(C(i, j), 2.0 * A(i, k) * B(k, j))), "");
}

TEST(SparseTimesDense, OfExtentsThatDoNotFitIsRefused) {
  const Tensor<double, CSR<>> A({40, 30});
  const Matrix<double, Host> B({30, 5}), C({40, 6});
  EXPECT_THROW(C(i, j) = A(i, k) * B(k, j), ShapeError);
}

}  // namespace
}  // namespace sporos::test
