// SPDX-License-Identifier: Apache-2.0
/// @file statements.cpp
/// Statements with dense results on the GPU, equal to the same statements on the host.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <sporos/sporos.hpp>

namespace {

using namespace sporos;
using namespace sporos::indices;

/// `count` entries with repeated coordinates, empty rows and small integers as values, whose sums are exact.
template <class Value, int Order>
Entries<Value, Order> random_entries(const Extents<Order>& extents, std::int64_t count, unsigned seed) {
  std::mt19937_64 draw(seed);
  Entries<Value, Order> out(extents, count);
  for (std::int64_t at = 0; at < count; ++at) {
    Extents<Order> coordinate{};
    for (std::size_t mode = 0; mode < coordinate.size(); ++mode)
      coordinate[mode] = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(extents[mode]));
    if (draw() % 4) coordinate[0] -= coordinate[0] % 3;  // two rows of three get few entries
    out.set(at, coordinate, static_cast<Value>(1 + draw() % 7));
  }
  return out;
}

template <class Value, class F>
Tensor<Value, F> filled(const Extents<F::order>& extents, unsigned seed) {
  std::mt19937_64 draw(seed);
  Tensor<Value, F> out(extents);
  for (std::int64_t at = 0; at < out.nnz(); ++at) out.values()(at) = static_cast<Value>(1 + draw() % 5);
  return out;
}

template <class T, class U>
void expect_equal_values(const T& host, const U& device) {
  const auto back = device.template copy_to<Host>();
  ASSERT_EQ(host.nnz(), back.nnz());
  for (std::int64_t at = 0; at < host.nnz(); ++at)
    ASSERT_EQ(host.values()(at), back.values()(at)) << "at " << at;
}

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
  expect_equal_values(y, device_y);
}

TYPED_TEST(CudaMatrix, TimesADenseMatrixEqualsTheHosts) {
  const auto A = assemble<TypeParam>(random_entries<double, 2>({307, 211}, 4000, 3));
  const auto X = filled<double, DenseMatrix<>>({211, 19}, 4);
  const Tensor<double, DenseMatrix<>> Y({307, 19});
  Y(i, j) = A(i, k) * X(k, j);

  const auto device_A = A.template copy_to<Cuda>();
  const auto device_X = X.copy_to<Cuda>();
  const Tensor<double, DenseMatrix<>, Cuda> device_Y({307, 19});
  device_Y(i, j) = device_A(i, k) * device_X(k, j);
  expect_equal_values(Y, device_Y);
}

template <class F>
class CudaTensor : public testing::Test {};
using TensorFormats = testing::Types<CSF<3>, CSF<3, ModeOrder<2, 0, 1>>, COO<3>>;
TYPED_TEST_SUITE(CudaTensor, TensorFormats);

TYPED_TEST(CudaTensor, MatricizedTimesKhatriRaoEqualsTheHosts) {
  const auto T = assemble<TypeParam>(random_entries<double, 3>({101, 67, 83}, 5000, 5));
  const auto B = filled<double, DenseMatrix<>>({67, 16}, 6);
  const auto C = filled<double, DenseMatrix<>>({83, 16}, 7);
  const Tensor<double, DenseMatrix<>> M({101, 16});
  M(i, r) = T(i, k, l) * B(k, r) * C(l, r);

  const auto device_T = T.template copy_to<Cuda>();
  const auto device_B = B.copy_to<Cuda>();
  const auto device_C = C.copy_to<Cuda>();
  const Tensor<double, DenseMatrix<>, Cuda> device_M({101, 16});
  device_M(i, r) = device_T(i, k, l) * device_B(k, r) * device_C(l, r);
  expect_equal_values(M, device_M);
}

TEST(Cuda, AddsAndSubtractsOverUnionsAsTheHostDoes) {
  const auto A = assemble<CSR<>>(random_entries<float, 2>({503, 401}, 6000, 8));
  const auto B = assemble<DCSR<>>(random_entries<float, 2>({503, 401}, 6000, 9));
  const auto C = filled<float, DenseMatrix<>>({503, 401}, 10);
  const Tensor<float, DenseMatrix<>> D({503, 401});
  D(i, j) = A(i, j) * 2.0F + B(i, j) - A(i, j) * C(i, j);

  const auto device_A = A.copy_to<Cuda>();
  const auto device_B = B.copy_to<Cuda>();
  const auto device_C = C.copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> device_D({503, 401});
  device_D(i, j) = device_A(i, j) * 2.0F + device_B(i, j) - device_A(i, j) * device_C(i, j);
  expect_equal_values(D, device_D);
}

}  // namespace
