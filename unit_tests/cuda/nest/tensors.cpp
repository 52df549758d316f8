// SPDX-License-Identifier: Apache-2.0
/// @file tensors.cpp
/// Statements over tensors and unions with dense results on the GPU, equal to the host's.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>

#include "../inputs.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

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
  expect_equal_tensors(M, device_M);
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
  expect_equal_tensors(D, device_D);
}

}  // namespace
