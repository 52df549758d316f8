// SPDX-License-Identifier: Apache-2.0
/// @file estimates.cpp
/// No candidate for sparse results, vectors, sampled products, tensors and statements of several passes takes
/// more memory than it is estimated to, run or planned.
#include "../estimates.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>

#include "../dense_products.hpp"
#include "../inputs.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

/// Two matrices, one of which has a long row.
template <class F, class Value = double>
Tensor<Value, F, Cuda> sparse_on_gpu(unsigned seed, const Extents<2>& extents = {300, 500}) {
  return convert<F>(assemble<CSR<>>(entries_with_a_long_row<Value>(extents, 6000, 7, 400, seed)))
      .template copy_to<Cuda>();
}
template <class Value, class F>
Tensor<Value, F, Cuda> dense_on_gpu(const Extents<F::order>& extents, unsigned seed) {
  return filled<Value, F>(extents, seed).template copy_to<Cuda>();
}

TEST(CudaEstimate, BoundsProductsWithVectors) {
  const auto A = sparse_on_gpu<CSR<>>(1);
  const auto square = sparse_on_gpu<CSR<>>(2, {500, 500});
  const auto x = dense_on_gpu<double, DenseVector>({500}, 3);
  const Tensor<double, DenseVector, Cuda> y({300});
  expect_bounded_by<gpu::SpmvByTiles>(assign(y(i), A(i, j) * x(j)));
  expect_bounded_by<gpu::SpmvByTiles>(assign(x(i), square(i, j) * x(j)));
}

TEST(CudaEstimate, BoundsSparseProducts) {
  const auto B = sparse_on_gpu<CSR<>>(1);
  const auto C = sparse_on_gpu<CSR<>>(2, {500, 400});
  const auto by_columns = sparse_on_gpu<CSC<>>(3, {500, 400});
  const Tensor<double, CSR<>, Cuda> A({300, 400});
  const Tensor<double, CSC<>, Cuda> D({300, 400});
  expect_bounded_by<gpu::SpgemmByBins>(assign(A(i, j), B(i, k) * C(k, j)));
  expect_bounded_by<gpu::SpgemmByBins>(assign(D(i, j), B(i, k) * by_columns(k, j)));
}

TEST(CudaEstimate, BoundsSparseSums) {
  const auto B = sparse_on_gpu<CSR<>>(1), C = sparse_on_gpu<CSR<>>(2);
  const Tensor<double, CSR<>, Cuda> A({300, 500});
  expect_bounded_by<gpu::SparseSumByMatches>(assign(A(i, j), B(i, j) - 2.0 * C(i, j)));
}

TEST(CudaEstimate, BoundsTheNestsSparseResults) {
  const auto B = sparse_on_gpu<CSR<>>(1), C = sparse_on_gpu<CSR<>>(2),
             D = sparse_on_gpu<CSR<>>(3, {500, 400});
  const auto into = [&]<class F>(std::type_identity<F>) {
    const Tensor<double, F, Cuda> A({300, 500}), product({300, 400});
    expect_bounded_by<gpu::MergedNest>(assign(A(i, j), B(i, j) + C(i, j)));
    expect_bounded_by<gpu::MergedNest>(assign(product(i, j), B(i, k) * D(k, j)));
  };
  into(std::type_identity<CSR<>>());
  into(std::type_identity<COO<2>>());
  into(std::type_identity<BCSR<4, 4>>());
}

TEST(CudaEstimate, BoundsTheNestsDenseResults) {
  const auto A = sparse_on_gpu<CSR<>>(1);
  const auto by_columns = sparse_on_gpu<CSC<>>(2);
  const auto x = dense_on_gpu<double, DenseVector>({500}, 3);
  const auto B = dense_on_gpu<double, DenseMatrix<>>({500, 37}, 4);
  const Tensor<double, DenseVector, Cuda> y({300});
  const Tensor<double, DenseMatrix<>, Cuda> C({300, 37});
  const Tensor<double, Scalar, Cuda> s;
  expect_bounded_by<LocatedNest>(assign(y(i), A(i, j) * x(j)));
  expect_bounded_by<LocatedNest>(assign(y(i), by_columns(i, j) * x(j)));
  expect_bounded_by<LocatedNest>(assign(y(i), by_columns(i, j) * x(j)).deterministic());
  expect_bounded_by<LocatedNest>(assign(C(i, j), A(i, k) * B(k, j)));
  expect_bounded_by<LocatedNest>(assign(s(), A(i, j) * A(i, j)));
}

TEST(CudaEstimate, BoundsMttkrp) {
  const auto entries = random_entries<double, 3>({60, 70, 80}, 9000, 1);
  const auto fibers = assemble<CSF<3>>(entries).copy_to<Cuda>();
  const auto list = assemble<COO<3>>(entries).copy_to<Cuda>();
  const auto U = dense_on_gpu<double, DenseMatrix<>>({70, 33}, 2);
  const auto V = dense_on_gpu<double, DenseMatrix<>>({80, 33}, 3);
  const Tensor<double, DenseMatrix<>, Cuda> M({60, 33});
  expect_bounded_by<gpu::MttkrpByNonzeros>(assign(M(i, r), fibers(i, k, l) * U(k, r) * V(l, r)));
  expect_bounded_by<gpu::MttkrpByNonzeros>(assign(M(i, r), list(i, k, l) * U(k, r) * V(l, r)));
}

TEST(CudaEstimate, BoundsDenseProducts) {
  const auto A = dense_on_gpu<float, DenseMatrix<>>({130, 70}, 1);
  const auto B = dense_on_gpu<float, DenseMatrix<ColumnMajor>>({70, 90}, 2);
  const auto b = dense_on_gpu<float, DenseVector>({90}, 3);
  const Tensor<float, DenseMatrix<>, Cuda> C({130, 90});
  expect_bounded_by<gpu::GemmByCublas>(assign(C(i, j), A(i, k) * B(k, j)));
  expect_bounded_by<gpu::GemmByCublas>(assign(C(i, j), 2.0f * sum(k, A(i, k) * B(k, j)) + b(j)));
  const auto many = dense_on_gpu<float, DenseTensor<3>>({3, 70, 130}, 4);
  const Tensor<float, DenseTensor<3>, Cuda> D({3, 70, 70});
  expect_bounded_by<gpu::GemmByCublas>(assign(D(l, i, j), many(l, i, k) * many(l, j, k)));
}

/// A = B sampled by C D, B in CSR or COO, by each of the kernels.
template <class F, class LayoutC, class LayoutD>
void expect_sampled_bounded(std::int64_t inner) {
  const auto B = sparse_on_gpu<F, half>(1);
  const auto C = dense_on_gpu<half, DenseMatrix<LayoutC>>({300, inner}, 2);
  const auto D = dense_on_gpu<half, DenseMatrix<LayoutD>>({inner, 500}, 3);
  const Tensor<half, F, Cuda> A({300, 500});
  const auto statement = assign(A(i, j), B(i, j) * C(i, k) * D(k, j));
  expect_bounded_by<gpu::SddmmByWarps>(statement);
  expect_bounded_by<gpu::SddmmByTiles>(statement);
  expect_bounded_by<gpu::SddmmByWindows>(statement);
  expect_bounded_by<gpu::SddmmByNonzeros>(statement);
}

TEST(CudaEstimate, BoundsSampledProducts) {
  expect_sampled_bounded<CSR<>, RowMajor, ColumnMajor>(64);
  expect_sampled_bounded<CSR<>, RowMajor, ColumnMajor>(37);
  expect_sampled_bounded<COO<2>, ColumnMajor, RowMajor>(50);
}

TEST(CudaEstimate, BoundsProductsInBatches) {
  const auto W = sparse_on_gpu<CSR<>, float>(1);
  const auto X = dense_on_gpu<float, DenseTensor<3>>({3, 70, 300}, 2);
  const auto turned = dense_on_gpu<float, DenseTensor<3>>({3, 300, 70}, 3);
  const Tensor<float, DenseTensor<3>, Cuda> Y({3, 70, 500});
  expect_bounded_by<ProductsInBatches>(assign(Y(l, i, j), X(l, i, k) * W(k, j)));
  expect_bounded_by<ProductsInBatches>(assign(Y(l, i, j), turned(l, k, i) * W(k, j)));
  const auto pruned = prune<NM<2, 4, 32>>(random_dense<half, DenseMatrix<>>({100, 160}, 4)).copy_to<Cuda>();
  const auto of_halfs = dense_on_gpu<half, DenseTensor<3>>({3, 70, 100}, 5);
  const Tensor<half, DenseTensor<3>, Cuda> Z({3, 70, 160});
  expect_bounded_by<ProductsInBatches>(assign(Z(l, i, j), of_halfs(l, i, k) * pruned(k, j)));
}
TEST(CudaEstimate, BoundsProductsWithBatchesOfSparseMatrices) {
  const auto of_halfs = dense_on_gpu<half, DenseTensor<3>>({3, 70, 100}, 5);
  const auto pruned =
      prune<Batches<NM<2, 4, 32>>>(random_dense<half, DenseTensor<3>>({3, 100, 160}, 4)).copy_to<Cuda>();
  const auto two_four =
      prune<Batches<TwoFour>>(random_dense<half, DenseTensor<3>>({3, 160, 100}, 6)).copy_to<Cuda>();
  const Tensor<half, DenseTensor<3>, Cuda> Z({3, 70, 160});
  const auto by_units = assign(Z(l, i, j), of_halfs(l, i, k) * pruned(l, k, j));
  const auto by_windows = assign(Z(l, i, j), of_halfs(l, i, k) * two_four(l, j, k));
  expect_bounded_by<ProductsInBatches>(by_units);
  expect_bounded_by<ProductsInBatches>(by_units.with_constant_operands());
  expect_bounded_by<ProductsInBatches>(by_windows);
  expect_bounded_by<ProductsInBatches>(by_windows.with_constant_operands());
}
TEST(CudaEstimate, BoundsBatchesOfProductsByGroups) {
  const auto W = sparse_on_gpu<CSR<>, float>(1);
  const auto D = dense_on_gpu<float, DenseTensor<3>>({3, 500, 70}, 2);
  auto of_batches = filled<float, DenseTensor<3>>({3, 300, 500}, 3);
  for (std::int64_t at = 0; at < of_batches.nnz(); ++at)
    if (at % 7 != 0 && at / 500 % 50 != 3) of_batches.values()(at) = 0;
  const auto S = convert<Batches<CSR<>>>(of_batches).copy_to<Cuda>();
  const Tensor<float, DenseTensor<3>, Cuda> Y({3, 300, 70});
  expect_bounded_by<gpu::SpmmByGroups>(assign(Y(l, i, j), W(i, k) * D(l, k, j)));
  expect_bounded_by<gpu::SpmmByGroups>(assign(Y(l, i, j), S(l, i, k) * D(l, k, j)));
}
TEST(CudaEstimate, BoundsBatchesOfProductsByTiles) {
  const auto W = sparse_on_gpu<CSR<>, half>(1);
  for (const std::int64_t columns : {64, 67}) {
    const auto D = dense_on_gpu<half, DenseTensor<3>>({3, 500, columns}, 2);
    const Tensor<half, DenseTensor<3>, Cuda> Y({3, 300, columns});
    const auto statement = assign(Y(l, i, j), W(i, k) * D(l, k, j));
    expect_bounded_by<gpu::SpmmOnTensorCores>(statement);
    expect_bounded_by<gpu::SpmmOnTensorCores>(statement.with_constant_operands());
  }
}

TEST(CudaEstimate, BoundsSumsBeforeAnEpilogue) {
  const auto A = sparse_on_gpu<CSR<>>(1);
  const auto x = dense_on_gpu<double, DenseVector>({500}, 2);
  const auto b = dense_on_gpu<double, DenseVector>({300}, 3);
  const Tensor<double, DenseVector, Cuda> y({300});
  const auto statement = assign(y(i), relu(sum(j, A(i, j) * x(j)) + b(i)));
  expect_bounded_by<SumsFirst>(statement);
  expect_bounded_by<SumsFirst>(statement.accumulate());
  // Chunks of columns add to sums of their own, beside the sums that the epilogue is applied to.
  const auto by_columns = sparse_on_gpu<CSC<>>(4);
  expect_bounded_by<SumsFirst>(
      assign(y(i), relu(sum(j, by_columns(i, j) * x(j)) + b(i))).accumulate().deterministic());
}

TEST(CudaEstimate, BoundsPartsOfTensors) {
  const auto A = sparse_on_gpu<CSR<>>(1);
  const auto x = dense_on_gpu<double, DenseVector>({500}, 2);
  const Tensor<double, DenseMatrix<>, Cuda> D({300, 300});
  expect_all_bounded(assign(D(2, i), A(i, j) * x(j)));  // in place
  expect_all_bounded(assign(D(i, 2), A(i, j) * x(j)));  // copied to its places
}

}  // namespace
}  // namespace sporos::test
