// SPDX-License-Identifier: Apache-2.0
/// @file estimates_of_factors.cpp
/// No candidate for products of sparse and dense matrices takes more memory than it is estimated to, run or
/// planned, with what it packs, copies and measures.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/kernels/spmm/cuda/dot_products_candidate.hpp>
#include <sporos/sporos.hpp>
#include <type_traits>

#include "../dense_products.hpp"
#include "../estimates.hpp"
#include "../inputs.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

/// A matrix with a long row and some that are full, in a format.
template <class F, class Value>
Tensor<Value, F, Cuda> uneven(const Extents<2>& extents) {
  return convert<F>(assemble<CSR<>>(entries_with_a_long_row<Value>(extents, 9000, 7, 900, 1)))
      .template copy_to<Cuda>();
}

/// C = A B by a kernel, of A in AF, B in BF and aligned or not.
/// @tparam MayKeep  whether the kernel keeps copies of operands that stay the same
template <class K, class Value, class AF, class BF, bool MayKeep = false, class Out = Value>
void expect_spmm_bounded() {
  for (const std::int64_t columns : {64, 67}) {
    SCOPED_TRACE(text(AF::str(), ", ", BF::str(), ", ", columns));
    const auto A = uneven<AF, Value>({300, 500});
    const auto B = random_dense<Value, BF>({500, columns}, 2).template copy_to<Cuda>();
    const Tensor<Out, DenseMatrix<>, Cuda> C({300, columns});
    const auto statement = assign(C(i, j), A(i, k) * B(k, j));
    expect_bounded_by<K>(statement);
    if constexpr (MayKeep) expect_bounded_by<K>(statement.with_constant_operands());
  }
}

TEST(CudaEstimateOfFactors, BoundsProductsByGroups) {
  expect_spmm_bounded<gpu::SpmmByGroups, double, CSR<>, DenseMatrix<>>();
  expect_spmm_bounded<gpu::SpmmByGroups, double, CSC<>, DenseMatrix<ColumnMajor>, true>();
}
TEST(CudaEstimateOfFactors, BoundsProductsByDotProducts) {
  expect_spmm_bounded<gpu::SpmmByDotProducts, half, CSR<>, DenseMatrix<>, false, float>();
}
TEST(CudaEstimateOfFactors, BoundsProductsByTiles) {
  expect_spmm_bounded<gpu::SpmmOnTensorCores, half, CSR<>, DenseMatrix<>, true, float>();
  expect_spmm_bounded<gpu::SpmmOnTensorCores, half, CSC<>, DenseMatrix<ColumnMajor>, false, float>();
}
TEST(CudaEstimateOfFactors, BoundsProductsBySplitTiles) {
  expect_spmm_bounded<gpu::SpmmBySplitTiles, float, CSR<>, DenseMatrix<>, true>();
}
TEST(CudaEstimateOfFactors, BoundsProductsByWindows) {
  expect_spmm_bounded<gpu::SpmmByWindows, double, CSR<>, DenseMatrix<>, true>();
  expect_spmm_bounded<gpu::SpmmByWindows, half, CSR<>, DenseMatrix<>, true, float>();
}
TEST(CudaEstimateOfFactors, BoundsProductsByPaddedRows) {
  expect_spmm_bounded<gpu::SpmmByPaddedRows, float, CSR<>, DenseMatrix<>, true>();
  expect_spmm_bounded<gpu::SpmmByPaddedRows, half, CSC<>, DenseMatrix<ColumnMajor>, false, float>();
}
TEST(CudaEstimateOfFactors, BoundsProductsByCublas) {
  expect_spmm_bounded<gpu::SpmmByCublas, half, CSR<>, DenseMatrix<>, true, float>();
  expect_spmm_bounded<gpu::SpmmByCublas, double, CSC<>, DenseMatrix<ColumnMajor>, true>();
}
TEST(CudaEstimateOfFactors, BoundsTransposedProducts) {
  const auto W = uneven<CSR<>, float>({300, 500});
  const auto X = random_dense<float, DenseMatrix<>>({70, 500}, 2).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> Y({70, 300});
  const Tensor<float, DenseMatrix<ColumnMajor>, Cuda> by_columns({70, 300});
  expect_bounded_by<gpu::SpmmIntoColumns>(assign(Y(i, j), X(i, k) * W(j, k)));
  expect_bounded_by<gpu::SpmmIntoColumns>(assign(by_columns(i, j), X(i, k) * W(j, k)));
  expect_bounded_by<gpu::SpmmFromSharedRows>(assign(Y(i, j), X(i, k) * W(j, k)));
}

/// The candidate that a plan leaves the product to is not the one that runs the statement: it packs.
template <class K, class S>
void expect_packing_bounded(const S& statement) {
  const std::int64_t of_statement = allocated<S>(estimate(statement.template use<K>()));
  auto product = plan(statement.template use<K>());
  product.run();
  EXPECT_GT(product.bytes(), of_statement);
  expect_bounded_by<K>(statement);
}

TEST(CudaEstimateOfFactors, BoundsProductsThatPlansLeaveToOthers) {
  const auto W = convert<CSR<>>(filled<float, DenseMatrix<>>({1024, 1024}, 1)).copy_to<Cuda>();
  const auto X = random_dense<float, DenseMatrix<>>({256, 1024}, 2).copy_to<Cuda>();
  const auto Z = random_dense<float, DenseMatrix<>>({1024, 256}, 3).copy_to<Cuda>();
  const auto b = filled<float, DenseVector>({256}, 4).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> Y({256, 1024}), C({1024, 256});
  expect_packing_bounded<gpu::SpmmIntoColumns>(assign(Y(i, j), X(i, k) * W(j, k)).with_constant_operands());
  expect_packing_bounded<SumsFirst>(
      assign(C(i, j), relu(sum(k, W(i, k) * Z(k, j)) + b(j))).with_constant_operands());
}

/// C = A B, B in an N:M format, by a kernel.
template <class K, class Value, class F, class Layout>
void expect_nm_bounded() {
  for (const std::int64_t rows : {256, 203}) {
    SCOPED_TRACE(text(F::str(), ", ", rows));
    const auto A = random_dense<Value, DenseMatrix<Layout>>({rows, 500}, 1).template copy_to<Cuda>();
    const auto B = prune<F>(random_dense<Value, DenseMatrix<>>({500, 160}, 2).template copy_to<Cuda>());
    const Tensor<Value, DenseMatrix<>, Cuda> C({rows, 160});
    const auto statement = assign(C(i, j), A(i, k) * B(k, j));
    expect_bounded_by<K>(statement);
    expect_bounded_by<K>(statement.with_constant_operands());
  }
}

TEST(CudaEstimateOfFactors, BoundsNmProductsByGathering) {
  expect_nm_bounded<gpu::NmByGathering, half, NM<2, 4, 32>, RowMajor>();
  expect_nm_bounded<gpu::NmByGathering, half, NM<8, 32, 128>, ColumnMajor>();
  expect_nm_bounded<gpu::NmByGathering, float, NM<16, 32, 32>, RowMajor>();
}
TEST(CudaEstimateOfFactors, BoundsNmProductsByBlocks) {
  expect_nm_bounded<gpu::NmByBlocks, float, NM<2, 4, 4>, RowMajor>();
  expect_nm_bounded<gpu::NmByBlocks, double, NM<8, 32, 8>, ColumnMajor>();
}
TEST(CudaEstimateOfFactors, BoundsTransposedNmProducts) {
  const auto W = prune<NM<16, 32, 32, 1>>(random_dense<half, DenseMatrix<>>({300, 500}, 1).copy_to<Cuda>());
  const auto X = random_dense<half, DenseMatrix<>>({500, 203}, 2).copy_to<Cuda>();
  const Tensor<half, DenseMatrix<>, Cuda> C({300, 203});
  const Tensor<half, DenseMatrix<ColumnMajor>, Cuda> by_columns({300, 203});
  expect_bounded_by<gpu::NmTransposed>(assign(C(i, j), W(i, k) * X(k, j)));
  expect_bounded_by<gpu::NmTransposed>(assign(by_columns(i, j), W(i, k) * X(k, j)));
}
TEST(CudaEstimateOfFactors, BoundsTwoFourProducts) {
  for (const std::int64_t inner : {256, 300}) {
    const auto A = prune<TwoFour>(random_dense<half, DenseMatrix<>>({130, inner}, 1)).copy_to<Cuda>();
    const auto B = random_dense<half, DenseMatrix<>>({inner, 67}, 2).copy_to<Cuda>();
    const Tensor<float, DenseMatrix<>, Cuda> C({130, 67});
    const auto statement = assign(C(i, j), A(i, k) * B(k, j));
    expect_bounded_by<gpu::TwoFourOnTensorCores>(statement);
    expect_bounded_by<gpu::TwoFourOnTensorCores>(statement.with_constant_operands());
    expect_bounded_by<gpu::TwoFourByWarps>(statement);
    expect_bounded_by<gpu::TwoFourByWarps>(statement.with_constant_operands());
  }
}

}  // namespace
}  // namespace sporos::test
