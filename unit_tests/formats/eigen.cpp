// SPDX-License-Identifier: Apache-2.0
/// @file eigen.cpp
/// Eigen's matrices as tensors over the same memory.
#include <sporos/formats/eigen.hpp>

#include <complex>
#include <sporos/formats/read_only.hpp>

#include "reference.hpp"

namespace sporos::test {
namespace {

template <class Matrix>
Matrix eigen_matrix(const Entries<double, 2>& entries) {
  std::vector<Eigen::Triplet<double>> list;
  for (std::int64_t e = 0; e < entries.size(); ++e) {
    const auto [row, column] = entries.coordinate(e);
    list.emplace_back(static_cast<int>(row), static_cast<int>(column),
                      entries.values(static_cast<std::size_t>(e)));
  }
  Matrix out(entries.extents[0], entries.extents[1]);
  out.setFromTriplets(list.begin(), list.end());
  return out;
}

template <class T>
auto table_of(const T& t) {
  return table(entries(t));
}

TEST(Eigen, SparseMatricesOfBothOrdersAreTensors) {
  const auto list = random_entries<double, 2>({12, 15}, 60, 1);
  auto rows = eigen_matrix<Eigen::SparseMatrix<double, Eigen::RowMajor>>(list);
  auto columns = eigen_matrix<Eigen::SparseMatrix<double>>(list);
  const auto A = wrap(rows);
  const auto B = wrap(columns);
  static_assert(std::is_same_v<decltype(A), const Tensor<double, CSR<int, int>>>);
  static_assert(std::is_same_v<decltype(B), const Tensor<double, CSC<int, int>>>);
  EXPECT_TRUE(same(table_of(A), table(list)));
  EXPECT_TRUE(same(table_of(B), table(list)));
  EXPECT_EQ(A.values().data(), rows.valuePtr());
  A.values()(0) = 77;
  EXPECT_EQ(rows.valuePtr()[0], 77);
  using Wide = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t>;
  auto wide = eigen_matrix<Wide>(list);
  EXPECT_TRUE(same(table_of(wrap(wide)), table(list)));
}

TEST(Eigen, ConstMatricesAndMapsAreOnlyRead) {
  const auto list = random_entries<double, 2>({5, 6}, 12, 2);
  const auto matrix = eigen_matrix<Eigen::SparseMatrix<double>>(list);
  const auto A = wrap(matrix);
  static_assert(std::is_same_v<decltype(A), const Tensor<const double, CSC<int, int>>>);
  EXPECT_TRUE(same(table_of(A), table(list)));
  const Eigen::Map<const Eigen::SparseMatrix<double>> map(5, 6, matrix.nonZeros(), matrix.outerIndexPtr(),
                                                          matrix.innerIndexPtr(), matrix.valuePtr());
  EXPECT_TRUE(same(table_of(wrap(map)), table(list)));
  const std::vector<double> numbers{1, 2, 3, 4, 5, 6};
  const auto D = wrap(Eigen::Map<const Eigen::MatrixXd>(numbers.data(), 2, 3));
  static_assert(std::is_same_v<decltype(D), const Tensor<const double, DenseMatrix<ColumnMajor>>>);
  EXPECT_EQ(at(D, {1, 2}), 6);
  EXPECT_EQ(at(D, {0, 1}), 3);
}

TEST(Eigen, DenseMatricesOfBothOrdersAndVectorsAreTensors) {
  Eigen::MatrixXd columns(3, 4);
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows(3, 4);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) rows(i, j) = static_cast<float>(columns(i, j) = 10 * i + j);
  const auto C = wrap(columns);
  const auto R = wrap(rows);
  static_assert(std::is_same_v<decltype(C), const Tensor<double, DenseMatrix<ColumnMajor>>>);
  static_assert(std::is_same_v<decltype(R), const Tensor<float, DenseMatrix<>>>);
  EXPECT_EQ(at(C, {2, 1}), 21);
  EXPECT_EQ(at(R, {2, 1}), 21);
  Eigen::VectorXd vector = Eigen::VectorXd::LinSpaced(5, 0, 4);
  const auto x = wrap(vector);
  static_assert(std::is_same_v<decltype(x), const Tensor<double, DenseVector>>);
  x.values()(3) = 8;
  EXPECT_EQ(vector(3), 8);
  Eigen::Vector3cd complex(std::complex<double>(1, 2), 3, 4);
  EXPECT_EQ(at(wrap(complex), {0}), Kokkos::complex<double>(1, 2));
  Eigen::MatrixXd none;
  EXPECT_EQ(wrap(none).extents(), (Extents<2>{0, 0}));
}

TEST(Eigen, WhatIsNotContiguousOrCompressedIsRefused) {
  Eigen::MatrixXd matrix(4, 5);
  auto block = matrix.block(1, 1, 2, 3);
  EXPECT_TRUE(contains(message_of<FormatError>([&] { wrap(block); }), "2 x 3 are not contiguous"));
  auto row = matrix.row(2);
  EXPECT_THROW(wrap(row), FormatError);
  auto whole_columns = matrix.middleCols(1, 2);
  EXPECT_EQ(wrap(whole_columns).values().data(), &matrix(0, 1));
  Eigen::SparseMatrix<double> sparse(3, 3);
  sparse.insert(1, 1) = 2;
  EXPECT_TRUE(contains(message_of<FormatError>([&] { wrap(sparse); }), "makeCompressed()"));
  sparse.makeCompressed();
  EXPECT_EQ(wrap(sparse).nnz(), 1);
}

TEST(Eigen, ArraysThatAreNoMatrixAreRefused) {
  std::vector<int> columns{0, 2, 1}, rows{1, 0};
  std::vector<double> values{1, 2};
  using Map = Eigen::Map<Eigen::SparseMatrix<double>>;
  EXPECT_THROW(wrap(Map(2, 2, 2, columns.data(), rows.data(), values.data())), FormatError);
  columns = {0, 1, 2};
  EXPECT_NO_THROW(wrap(Map(2, 2, 2, columns.data(), rows.data(), values.data())));
  rows = {1, 2};
  EXPECT_THROW(wrap(Map(2, 2, 2, columns.data(), rows.data(), values.data())), FormatError);
}

}  // namespace
}  // namespace sporos::test
