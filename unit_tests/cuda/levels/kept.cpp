// SPDX-License-Identifier: Apache-2.0
/// @file kept.cpp
/// The kernels of GPUs take levels made outside the library by what they store, whatever their names.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>
#include <string>
#include <type_traits>

#include "../../levels/kept.hpp"
#include "../inputs.hpp"
#include "kernels/kernel_of.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

using Segment = Compressed<std::int32_t, std::int32_t>;
using KeptRows = Format<Map<Dim<0>, Dim<1>>, Dense, Kept<Segment>>;
using KeptColumns = Format<Map<Dim<1>, Dim<0>>, Dense, Kept<Segment>>;
using KeptRowsOfHost = Format<Map<Dim<0>, Dim<1>>, Dense, Kept<Segment, false>>;
using KeptList = Format<Map<Dim<0>, Dim<1>>, Kept<Compressed<std::int32_t, std::int32_t, true, false>>,
                        Kept<Singleton<std::int32_t>>>;

/// The same matrix on the host in CSR and on the GPU.
struct Matrix {
  Tensor<float, CSR<>> host;

  explicit Matrix(const Extents<2>& extents, unsigned seed)
      : host(assemble<CSR<>>(random_entries<float, 2>(extents, 5000, seed))) {}
  template <class F>
  auto device() const {
    return convert<F>(host).template copy_to<Cuda>();
  }
};

TEST(CudaKeptLevels, AreMultipliedByVectors) {
  const Matrix matrix({307, 211}, 1);
  const auto x = filled<float, DenseVector>({211}, 2);
  const Tensor<float, DenseVector> expected({307});
  expected(i) = matrix.host(i, j) * x(j);
  const auto y = poisoned<float, DenseVector>({307});
  const auto A = matrix.device<KeptRows>();
  const auto device_x = on_device(x);
  const auto statement = assign(y(i), A(i, j) * device_x(j));
  EXPECT_EQ(kernel_of(statement), std::string(gpu::SpmvByTiles::name));
  statement.run();
  expect_equal_tensors(expected, y);
}

template <class Kernel, class F>
void expect_product_by() {
  SCOPED_TRACE(text(Kernel::name, ", ", F::str()));
  const Matrix matrix({307, 211}, 3);
  const auto B = filled<float, DenseMatrix<>>({211, 33}, 4);
  const Tensor<float, DenseMatrix<>> expected({307, 33});
  expected(i, j) = matrix.host(i, k) * B(k, j);
  const auto A = matrix.device<F>();
  const auto device_B = on_device(B);
  const auto C = poisoned<float, DenseMatrix<>>({307, 33});
  const auto statement = assign(C(i, j), A(i, k) * device_B(k, j));
  EXPECT_NE(kernel_of(statement), "");
  statement.template use<Kernel>().run();
  expect_equal_tensors(expected, C);
}

TEST(CudaKeptLevels, AreMultipliedByDenseMatrices) {
  expect_product_by<gpu::SpmmByGroups, KeptRows>();
  expect_product_by<gpu::SpmmByGroups, KeptColumns>();
  expect_product_by<gpu::SpmmByGroups, KeptRowsOfHost>();
}

TEST(CudaKeptLevels, AreMultipliedOnTheRight) {
  const Matrix matrix({211, 307}, 5);
  const auto X = filled<float, DenseMatrix<>>({70, 211}, 6);
  const Tensor<float, DenseMatrix<>> expected({70, 307});
  expected(i, j) = X(i, k) * matrix.host(k, j);
  const auto W = matrix.device<KeptColumns>();
  const auto device_X = on_device(X);
  const auto check = [&]<class Kernel>(std::type_identity<Kernel>) {
    SCOPED_TRACE(Kernel::name);
    const auto Y = poisoned<float, DenseMatrix<>>({70, 307});
    assign(Y(i, j), device_X(i, k) * W(k, j)).template use<Kernel>().run();
    expect_equal_tensors(expected, Y);
  };
  check(std::type_identity<gpu::SpmmIntoColumns>());
  check(std::type_identity<gpu::SpmmFromSharedRows>());
}

TEST(CudaKeptLevels, AreMultipliedInBatches) {
  const Matrix matrix({211, 307}, 7);
  const auto X = filled<float, DenseTensor<3>>({3, 70, 211}, 8);
  const Tensor<float, DenseTensor<3>> expected({3, 70, 307});
  expected(l, i, j) = X(l, i, k) * matrix.host(k, j);
  const auto W = matrix.device<KeptRows>();
  const auto device_X = on_device(X);
  const auto Y = poisoned<float, DenseTensor<3>>({3, 70, 307});
  const auto statement = assign(Y(l, i, j), device_X(l, i, k) * W(k, j));
  EXPECT_EQ(kernel_of(statement), std::string(ProductsInBatches::name));
  statement.run();
  expect_equal_tensors(expected, Y);
}

/// A = B * C and, by rows, A = B + B, of which B is in BF, C in CF and A in AF.
template <class AF, class BF, class CF>
void expect_sparse_product(const char* kernel) {
  SCOPED_TRACE(text(AF::str(), ", ", BF::str(), ", ", CF::str()));
  const Matrix left({307, 211}, 9), right({211, 150}, 10);
  const Tensor<float, CSR<>> expected({307, 150});
  expected(i, j) = left.host(i, k) * right.host(k, j);
  const auto B = left.device<BF>();
  const auto C = right.device<CF>();
  const Tensor<float, AF, Cuda> A({307, 150});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j));
  EXPECT_EQ(kernel_of(statement), kernel);
  auto product = plan(statement);
  product.run();
  expect_equal_tensors(convert<AF>(expected), A);
  EXPECT_NO_THROW(validate(A));
  product.run();
  expect_equal_tensors(convert<AF>(expected), A);
}

TEST(CudaKeptLevels, AreResultsOfSparseProducts) {
  const std::string by_bins(gpu::SpgemmByBins::name);
  expect_sparse_product<KeptRows, KeptRows, KeptRows>(by_bins.c_str());
  expect_sparse_product<KeptColumns, KeptRows, KeptColumns>(by_bins.c_str());
  expect_sparse_product<CSR<>, KeptRows, KeptColumns>(by_bins.c_str());
  // What the host alone can build is left to the nest.
  expect_sparse_product<KeptRowsOfHost, KeptRows, KeptRowsOfHost>("");
}

TEST(CudaKeptLevels, AreResultsOfSparseSums) {
  const Matrix left({307, 211}, 11), right({307, 211}, 12);
  const Tensor<float, CSR<>> expected({307, 211});
  expected(i, j) = left.host(i, j) - 2.0f * right.host(i, j);
  const auto B = left.device<KeptRows>(), C = right.device<KeptRows>();
  const Tensor<float, KeptRows, Cuda> A({307, 211});
  const auto statement = assign(A(i, j), B(i, j) - 2.0f * C(i, j));
  EXPECT_EQ(kernel_of(statement), std::string(gpu::SparseSumByMatches::name));
  statement.run();
  expect_equal_tensors(convert<KeptRows>(expected), A);
}

template <class F>
void expect_sampled_product() {
  SCOPED_TRACE(F::str());
  const Matrix matrix({307, 211}, 13);
  const auto C = filled<float, DenseMatrix<>>({307, 37}, 14);
  const auto D = filled<float, DenseMatrix<>>({211, 37}, 15);
  const Tensor<float, CSR<>> expected({307, 211});
  expected(i, j) = matrix.host(i, j) * C(i, k) * D(j, k);
  const auto B = matrix.device<F>();
  const auto device_C = on_device(C), device_D = on_device(D);
  const Tensor<float, F, Cuda> A({307, 211});
  const auto statement = assign(A(i, j), B(i, j) * device_C(i, k) * device_D(j, k));
  EXPECT_EQ(kernel_of(statement), std::string(gpu::SddmmByWarps::name));
  statement.run();
  expect_equal_tensors(convert<F>(expected), A);
}

TEST(CudaKeptLevels, AreSampled) {
  expect_sampled_product<KeptRows>();
  expect_sampled_product<KeptColumns>();
  expect_sampled_product<KeptRowsOfHost>();
  expect_sampled_product<KeptList>();
}

TEST(CudaKeptLevels, AreResultsOfTheNest) {
  const Matrix matrix({307, 211}, 16);
  const auto A = matrix.device<CSR<>>();
  const auto check = [&]<class F>(std::type_identity<F>) {
    const Tensor<float, F, Cuda> B({307, 211});
    B(i, j) = A(i, j);
    expect_equal_tensors(convert<F>(matrix.host), B);
    EXPECT_NO_THROW(validate(B));
  };
  check(std::type_identity<KeptRows>());
  check(std::type_identity<KeptList>());
  check(std::type_identity<KeptRowsOfHost>());
}

}  // namespace
