// SPDX-License-Identifier: Apache-2.0
/// @file of_sparse_matrices.cpp
/// Batches of sparse matrices on the host: their products, and their matrices as parts of them.
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

template <class F>
void expect_slices() {
  const auto dense = numbers<double, DenseTensor<3>>({3, 8, 12}, 1);
  const auto batches = prune<F>(dense);
  EXPECT_NO_THROW(validate(batches));
  for (std::int64_t at = 0; at < 3; ++at) {
    const auto matrix = slice(batches, at);
    static_assert(
        std::is_same_v<decltype(slice(batches, at)), Tensor<double, typename BatchTraits<F>::matrix, Host>>);
    EXPECT_NO_THROW(validate(matrix));
    const Tensor<double, DenseMatrix<>> one({8, 12});
    for (std::int64_t place = 0; place < one.nnz(); ++place)
      one.values()(place) = dense.values()(at * one.nnz() + place);
    const auto expected = prune<typename BatchTraits<F>::matrix>(one);
    ASSERT_EQ(matrix.extents(), expected.extents());
    ASSERT_EQ(matrix.nnz(), expected.nnz());
    for (std::int64_t place = 0; place < expected.nnz(); ++place)
      EXPECT_EQ(matrix.values()(place), expected.values()(place));
    const auto wide = convert<DenseMatrix<>>(matrix), wide_expected = convert<DenseMatrix<>>(expected);
    for (std::int64_t place = 0; place < wide.nnz(); ++place)
      EXPECT_EQ(wide.values()(place), wide_expected.values()(place));
  }
  slice(batches, 1).values()(0) = 77;
  EXPECT_EQ(batches.values()(batches.nnz() / 3), 77);
  EXPECT_THROW((void)slice(batches, 3), RangeError);
  EXPECT_THROW((void)slice(batches, -1), RangeError);
}
TEST(BatchesOfSparseMatrices, HaveMatricesThatShareTheirArrays) {
  expect_slices<Batches<NM<2, 4>>>();
  expect_slices<Batches<NM<2, 4, 3>>>();
  expect_slices<Batches<NM<1, 3, 2, 1>>>();
  expect_slices<Batches<TwoFour>>();
}
TEST(BatchesOfSparseMatrices, OfDenseMatricesHaveMatrices) {
  const auto batches = numbers<float, DenseTensor<3>>({2, 3, 4}, 1);
  const Tensor<float, DenseMatrix<>> second = slice(batches, 1);
  for (std::int64_t at = 0; at < 12; ++at) EXPECT_EQ(second.values()(at), batches.values()(12 + at));
}
TEST(BatchesOfSparseMatrices, WhoseMetadataBeginsInsideAByteAreNamed) {
  const Tensor<double, Batches<TwoFour>> odd({2, 1, 20});
  EXPECT_THROW((void)slice(odd, 0), FormatError);
}

TEST(BatchesOfSparseMatrices, AreNamedAndPrinted) {
  EXPECT_EQ((format_name<Batches<NM<2, 4, 32>>>()), "Batches<NM<2, 4, 32>>");
  EXPECT_EQ(format_name<Batches<TwoFour>>(), "Batches<TwoFour>");
  EXPECT_EQ((format_name<Batches<CSR<std::int32_t, std::int32_t>>>()), "Batches<CSR<int32, int32>>");
  EXPECT_EQ(format_name<Batches<DenseMatrix<>>>(), "DenseTensor<3>");
  static_assert(std::is_same_v<Batches<DenseMatrix<>>, DenseTensor<3>>);
  static_assert(std::is_same_v<BatchTraits<Batches<TwoFour>>::matrix, TwoFour>);
  static_assert(std::is_same_v<BatchTraits<Batches<NM<1, 3, 4, 1>>>::matrix, NM<1, 3, 4, 1>>);
  static_assert(!BatchTraits<TwoFour>::is && !BatchTraits<CSR<>>::is && !BatchTraits<NM<2, 4>>::is);
  static_assert(!BatchTraits<CSF<3>>::is && !BatchTraits<DenseTensor<4>>::is);
  const auto S =
      assemble<Batches<CSR<>>>(Entries<double, 3>({2, 2, 3}, {{{0, 1, 2}, 5.0}, {{1, 0, 0}, 6.0}}));
  EXPECT_NO_THROW(validate(S));
  std::ostringstream out;
  print(out, S);
  EXPECT_EQ(out.str(),
            "Tensor<double, Batches<CSR>> 2 x 2 x 3, 2 nonzeros, 64 B\n"
            "Dense(d0), Dense(d1), Compressed(d2)\n"
            "root\n"
            "├─ 0\n"
            "│  ├─ 0\n"
            "│  └─ 1\n"
            "│     └─ 2: 5\n"
            "└─ 1\n"
            "   ├─ 0\n"
            "   │  └─ 0: 6\n"
            "   └─ 1\n");
}

}  // namespace
}  // namespace sporos::test::batches
