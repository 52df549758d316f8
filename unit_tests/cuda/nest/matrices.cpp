// SPDX-License-Identifier: Apache-2.0
/// @file matrices.cpp
/// Products of a matrix in any format with dense results on the GPU, equal to the host's.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>

#include "../inputs.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

template <class F>
class CudaMatrix : public testing::Test {};
using MatrixFormats = testing::Types<CSR<>, CSR<std::int32_t, std::int32_t>, CSC<>, DCSR<>, COO<2>,
                                     BCSR<2, 3>, DenseMatrix<>, DenseMatrix<ColumnMajor>>;
TYPED_TEST_SUITE(CudaMatrix, MatrixFormats);

TYPED_TEST(CudaMatrix, TimesAVectorEqualsTheHosts) {
  const auto A = assemble<TypeParam>(random_entries<double, 2>({3001, 2003}, 40000, 1));
  const auto x = filled<double, DenseVector>({2003}, 2);
  const Tensor<double, DenseVector> y({3001});
  y(i) = A(i, j) * x(j);

  const auto device_A = A.template copy_to<Cuda>();
  const auto device_x = x.copy_to<Cuda>();
  const Tensor<double, DenseVector, Cuda> device_y({3001});
  device_y(i) = device_A(i, j) * device_x(j);
  expect_equal_tensors(y, device_y);
}

TYPED_TEST(CudaMatrix, TimesADenseMatrixEqualsTheHosts) {
  const auto A = assemble<TypeParam>(random_entries<double, 2>({307, 211}, 4000, 3));
  const auto device_A = A.template copy_to<Cuda>();
  // Fewer columns than a warp has threads, and more.
  for (const std::int64_t columns : {1, 19, 75}) {
    const auto X = filled<double, DenseMatrix<>>({211, columns}, 4);
    const Tensor<double, DenseMatrix<>> Y({307, columns});
    Y(i, j) = A(i, k) * X(k, j);

    const auto device_X = X.copy_to<Cuda>();
    const Tensor<double, DenseMatrix<>, Cuda> device_Y({307, columns});
    device_Y(i, j) = device_A(i, k) * device_X(k, j);
    expect_equal_tensors(Y, device_Y);
    device_Y(i, j) += device_A(i, k) * device_X(k, j);
    Y(i, j) += A(i, k) * X(k, j);
    expect_equal_tensors(Y, device_Y);
  }
}

TYPED_TEST(CudaMatrix, TransposedTimesADenseMatrixEqualsTheHosts) {
  const auto A = assemble<TypeParam>(random_entries<double, 2>({307, 211}, 4000, 3));
  const auto X = filled<double, DenseMatrix<ColumnMajor>>({307, 45}, 4);
  const Tensor<double, DenseMatrix<>> Y({211, 45});
  Y(i, j) = A(k, i) * X(k, j);

  const auto device_A = A.template copy_to<Cuda>();
  const auto device_X = X.template copy_to<Cuda>();
  const Tensor<double, DenseMatrix<>, Cuda> device_Y({211, 45});
  device_Y(i, j) = device_A(k, i) * device_X(k, j);
  expect_equal_tensors(Y, device_Y);
  assign(device_Y(i, j), device_A(k, i) * device_X(k, j)).deterministic().run();
  expect_equal_tensors(Y, device_Y);
}

TEST(CudaLoops, RunInAnyOrderThatReads) {
  const auto A = assemble<CSR<>>(random_entries<double, 2>({307, 211}, 4000, 5));
  const auto X = filled<double, DenseMatrix<>>({211, 45}, 6);
  const auto B = filled<double, DenseMatrix<>>({307, 45}, 7);
  const Tensor<double, DenseMatrix<>> Y({307, 45});
  Y(i, j) = 2.0 * B(i, j) - A(i, k) * X(k, j);

  const auto device_A = A.copy_to<Cuda>();
  const auto device_X = X.copy_to<Cuda>();
  const auto device_B = B.copy_to<Cuda>();
  const Tensor<double, DenseMatrix<>, Cuda> device_Y({307, 45});
  const auto statement = assign(device_Y(i, j), 2.0 * device_B(i, j) - device_A(i, k) * device_X(k, j));
  statement.run();
  expect_equal_tensors(Y, device_Y);
  statement.reorder(i, k, j).run();
  expect_equal_tensors(Y, device_Y);
  statement.reorder(i, j, k).run();
  expect_equal_tensors(Y, device_Y);
  statement.reorder(j, i, k).run();
  expect_equal_tensors(Y, device_Y);
}

}  // namespace
