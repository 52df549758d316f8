// SPDX-License-Identifier: Apache-2.0
/// @file candidate.cpp
/// Batches of products with one N:M or 2:4 sparse matrix on the host, against the same sums of dense tensors.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>

#include "kernels/kernel_of.hpp"
#include "products.hpp"

namespace sporos::test::batches {
namespace {

using namespace sporos::indices;

template <TensorFormat F>
void expect_batches() {
  for (const std::int64_t batches : {0, 1, 3}) {
    expect_products<Host, double, F>({batches, 5, 7, 24});
    expect_products<Host, double, F>({batches, 4, 1, 10});
  }
  expect_products<Host, double, F>({2, 5, 7, 0});
  expect_products<Host, double, F>({2, 0, 7, 8});
  expect_products<Host, float, F>({3, 6, 9, 16});
}

TEST(NofMBatches, AreThoseOfDenseTensors) {
  expect_batches<NM<2, 4>>();
  expect_batches<NM<3, 5, 2>>();
  expect_batches<NM<1, 3, 4, 1>>();
  expect_batches<TwoFour>();
}

TEST(NofMBatches, AreTakenByTheirCandidate) {
  const Tensor<double, DenseTensor<3>> A({2, 3, 8}), C({2, 3, 4});
  const Tensor<double, NM<2, 4>> B({8, 4});
  EXPECT_EQ(kernel_of(assign(C(b, i, j), A(b, i, k) * B(k, j))), "Products in batches");
}

TEST(NofMBatches, AreAddedToWhatIsThere) {
  const auto A = numbers<double, DenseTensor<3>>({3, 4, 8}, 1);
  const auto B = prune<NM<2, 4>>(numbers<double, DenseMatrix<>>({8, 5}, 2));
  const auto C = numbers<double, DenseTensor<3>>({3, 4, 5}, 3), expected = C.clone();
  C(b, i, j) += A(b, i, k) * B(k, j);
  expected(b, i, j) += A(b, i, k) * convert<DenseMatrix<>>(B)(k, j);
  expect_same_values(C, expected);
}

/// Whose matrices are overwritten one after the other.
TEST(NofMBatches, TheResultMayBeAnOperand) {
  const auto B = prune<NM<2, 4>>(numbers<double, DenseMatrix<>>({8, 8}, 2));
  const auto A = numbers<double, DenseTensor<3>>({3, 8, 8}, 1), turned = A.clone();
  const Tensor<double, DenseTensor<3>> expected({3, 8, 8}), expected_turned({3, 8, 8});
  expected(b, i, j) = A(b, i, k) * convert<DenseMatrix<>>(B)(k, j);
  expected_turned(b, i, j) = A(b, k, i) * convert<DenseMatrix<>>(B)(k, j);
  A(b, i, j) = A(b, i, k) * B(k, j);
  turned(b, i, j) = turned(b, k, i) * B(k, j);
  expect_same_values(A, expected);
  expect_same_values(turned, expected_turned);
}

TEST(NofMBatches, PlansReadNewValues) {
  const auto A = numbers<double, DenseTensor<3>>({3, 8, 4}, 1);
  const auto B = prune<NM<2, 4>>(numbers<double, DenseMatrix<>>({8, 5}, 2));
  const Tensor<double, DenseTensor<3>> C({3, 4, 5}), expected({3, 4, 5});
  auto product = plan(assign(C(b, i, j), A(b, k, i) * B(k, j)));
  for (int run = 0; run < 3; ++run) {
    product.run();
    expected(b, i, j) = A(b, k, i) * convert<DenseMatrix<>>(B)(k, j);
    expect_same_values(C, expected);
    Kokkos::deep_copy(A.values(), run + 2.0);
    Kokkos::deep_copy(B.values(), run + 3.0);
  }
}

TEST(NofMBatches, ShapesThatDoNotFitAreNamed) {
  const Tensor<double, DenseTensor<3>> A({2, 3, 8}), C({4, 3, 4});
  const Tensor<double, NM<2, 4>> B({8, 4});
  EXPECT_THROW(C(b, i, j) = A(b, i, k) * B(k, j), ShapeError);
}

}  // namespace
}  // namespace sporos::test::batches
