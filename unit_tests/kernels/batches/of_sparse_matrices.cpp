// SPDX-License-Identifier: Apache-2.0
/// @file of_sparse_matrices.cpp
/// Products of batches of sparse matrices on the host.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>

#include "kernels/kernel_of.hpp"
#include "products.hpp"

namespace sporos::test::batches {
namespace {

using namespace sporos::indices;

template <TensorFormat F>
void expect_batches_of_sparse_matrices() {
  for (const std::int64_t batches : {0, 1, 3})
    expect_products_of_batches<Host, double, F>({batches, 5, 7, 24});
  expect_products_of_batches<Host, float, F>({3, 4, 1, 10});
  expect_products_of_batches<Host, double, F>({2, 5, 7, 0});
  expect_products_of_batches<Host, double, F>({2, 0, 7, 8});
}
TEST(BatchesOfSparseMatrices, ProductsOfNmMatrices) {
  expect_batches_of_sparse_matrices<Batches<NM<2, 4>>>();
  expect_batches_of_sparse_matrices<Batches<NM<1, 3, 4, 1>>>();
}
TEST(BatchesOfSparseMatrices, ProductsOfTwoFourMatrices) {
  expect_batches_of_sparse_matrices<Batches<TwoFour>>();
}
TEST(BatchesOfSparseMatrices, ProductsOfMatricesByRows) {
  expect_batches_of_sparse_matrices<Batches<CSR<>>>();
}

TEST(BatchesOfSparseMatrices, OfWholeBytesAreTakenByTheirCandidate) {
  const Tensor<double, DenseTensor<3>> A({2, 3, 8}), C({2, 3, 4});
  const Tensor<double, DenseMatrix<>> X({8, 4});
  const Tensor<double, Batches<NM<2, 4>>> B({2, 8, 4});
  const Tensor<double, Batches<TwoFour>> W({2, 4, 8}), left({2, 3, 8});
  EXPECT_EQ(kernel_of(assign(C(b, i, j), A(b, i, k) * B(b, k, j))), "Products in batches");
  EXPECT_EQ(kernel_of(assign(C(b, i, j), A(b, i, k) * W(b, j, k))), "Products in batches");
  EXPECT_EQ(kernel_of(assign(C(b, i, j), left(b, i, k) * X(k, j))), "Products in batches");
  std::ostringstream out;
  out << explain(assign(C(b, i, j), left(b, i, k) * X(k, j)));
  EXPECT_NE(out.str().find("batches: 2, as the rows of one product"), std::string::npos) << out.str();
  // Five windows of 2 x 2 bits per matrix: the second begins inside a byte.
  const Tensor<double, DenseTensor<3>> of_five({2, 3, 20}), result({2, 3, 1});
  const Tensor<double, Batches<TwoFour>> odd({2, 1, 20});
  EXPECT_NE(kernel_of(assign(result(b, i, j), of_five(b, i, k) * odd(b, j, k))), "Products in batches");
}

/// Plans read new values and new indices, of constant operands alone what they packed.
TEST(BatchesOfSparseMatrices, PlansReadNewValues) {
  const auto A = numbers<double, DenseTensor<3>>({3, 4, 8}, 1);
  const auto B = prune<Batches<NM<2, 4>>>(numbers<double, DenseTensor<3>>({3, 8, 5}, 2));
  const Tensor<double, DenseTensor<3>> C({3, 4, 5}), expected({3, 4, 5});
  auto product = plan(assign(C(b, i, j), A(b, i, k) * B(b, k, j)));
  for (int run = 0; run < 3; ++run) {
    product.run();
    expected(b, i, j) = A(b, i, k) * convert<DenseTensor<3>>(B)(b, k, j);
    expect_same_values(C, expected);
    for (std::int64_t at = 0; at < B.nnz(); ++at) B.values()(at) += run + 1.0;
  }
}

TEST(BatchesOfSparseMatrices, WithAnEpilogue) {
  const auto A = numbers<double, DenseTensor<3>>({3, 4, 8}, 1);
  const auto B = prune<Batches<NM<2, 4>>>(numbers<double, DenseTensor<3>>({3, 8, 5}, 2));
  const auto bias = numbers<double, DenseVector>({5}, 3);
  const auto wide = convert<DenseTensor<3>>(B);
  const Tensor<double, DenseTensor<3>> C({3, 4, 5}), expected({3, 4, 5});
  const auto statement = assign(C(b, i, j), relu(A(b, i, k) * B(b, k, j) + bias(j)));
  statement.run();
  assign(expected(b, i, j), relu(A(b, i, k) * wide(b, k, j) + bias(j))).generic().run();
  expect_same_values(C, expected);
}

}  // namespace
}  // namespace sporos::test::batches
