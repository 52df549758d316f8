// SPDX-License-Identifier: Apache-2.0
/// @file batches.cpp
/// Batches of products with one sparse matrix on the GPU: as the rows of one product, by rows or by columns,
/// and one behind the other.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>
#include <string_view>

#include "kernels/batches/products.hpp"
#include "kernels/kernel_of.hpp"

namespace sporos::test::batches {
namespace {

using namespace sporos::indices;

/// Matrices that begin at multiples of 16 bytes, and others, for which the copy engine needs a copy.
TEST(CudaBatches, TwoFour) {
  for (const auto& [batches, rows, columns, inner] :
       {std::array<std::int64_t, 4>{3, 64, 136, 128}, {5, 33, 21, 44}, {0, 3, 4, 5}, {2, 7, 9, 0}}) {
    expect_product<Cuda, half, TwoFour>({batches, rows, columns}, {batches, rows, inner}, {columns, inner},
                                        dense_ik, sparse_jk);
    expect_product<Cuda, half, TwoFour>({batches, rows, columns}, {batches, inner, columns}, {rows, inner},
                                        dense_kj, sparse_ik);
  }
}

TEST(CudaBatches, UnitsOfColumns) {
  for (const auto& [batches, rows, columns, inner] :
       {std::array<std::int64_t, 4>{3, 64, 136, 128}, {5, 33, 21, 44}, {0, 3, 4, 5}}) {
    expect_product<Cuda, half, NM<2, 4, 32>>({batches, rows, columns}, {batches, rows, inner},
                                             {inner, columns}, dense_ik, sparse_kj);
    expect_product<Cuda, half, NM<2, 4, 32>>({batches, rows, columns}, {batches, inner, rows},
                                             {inner, columns}, dense_ki, sparse_kj);
  }
}

/// The weights of a plan are packed once, and each batch reads its own matrices.
TEST(CudaBatches, PlansWithConstantOperands) {
  const auto A = numbers<half, DenseTensor<3>>({3, 40, 24}, 1).copy_to<Cuda>();
  const auto B = prune<NM<2, 4, 32>>(numbers<half, DenseMatrix<>>({40, 64}, 2)).copy_to<Cuda>();
  const Tensor<half, DenseTensor<3>, Cuda> C({3, 24, 64}), once({3, 24, 64});
  once(b, i, j) = A(b, k, i) * B(k, j);
  auto product = plan(assign(C(b, i, j), A(b, k, i) * B(k, j)).with_constant_operands());
  for (int run = 0; run < 3; ++run) {
    Kokkos::deep_copy(C.values(), half(-1.0f));
    product.run();
    const auto result = C.copy_to<Host>(), expected = once.copy_to<Host>();
    for (std::int64_t at = 0; at < result.nnz(); ++at)
      ASSERT_EQ(static_cast<float>(result.values()(at)), static_cast<float>(expected.values()(at)));
  }
}

TEST(CudaBatches, AreMultipliedOnSparseTensorCores) {
  const Tensor<half, DenseTensor<3>, Cuda> A({4, 256, 2048}), C({4, 256, 2048});
  const Tensor<half, TwoFour, Cuda> B({2048, 2048});
  std::ostringstream out;
  out << explain(assign(C(b, i, j), A(b, i, k) * B(j, k)));
  EXPECT_NE(out.str().find("batches: 4, as the rows of one product, by 2:4 product on sparse tensor cores"),
            std::string::npos)
      << out.str();
}

/// C(b, i, j) = A(b, k, i) * B(k, j), and added to what is there, by a candidate that computes all batches as
/// the rows of one product.
/// @param shape  batches, rows and columns of the results, and the summed extent
template <class Candidate, class Value, TensorFormat F>
void expect_products_at_once(const std::array<std::int64_t, 4>& shape) {
  const auto [batches, rows, columns, inner] = shape;
  SCOPED_TRACE(text(Candidate::name, ", ", format_name<F>(), ", ", batches, " x ", rows, " x ", columns,
                    " x ", inner));
  const auto A = numbers<Value, DenseTensor<3>>({batches, inner, rows}, 1);
  const auto B = prune<F>(numbers<Value, DenseMatrix<>>({inner, columns}, 2));
  const Tensor<double, DenseTensor<3>> expected({batches, rows, columns});
  expected(b, i, j) = convert<DenseTensor<3>, double>(A)(b, k, i) * convert<DenseMatrix<>, double>(B)(k, j);
  const Tensor<Value, DenseTensor<3>> poisoned({batches, rows, columns});
  Kokkos::deep_copy(poisoned.values(), static_cast<Value>(std::numeric_limits<float>::quiet_NaN()));
  const auto C = poisoned.template copy_to<Cuda>();
  const auto device_A = A.template copy_to<Cuda>();
  const auto device_B = B.template copy_to<Cuda>();
  const auto product = assign(C(b, i, j), device_A(b, k, i) * device_B(k, j)).template use<Candidate>();
  std::ostringstream out;
  out << explain(product);
  EXPECT_NE(out.str().find(text("batches: ", batches, ", as the rows of one product")), std::string::npos)
      << out.str();
  product.run();
  expect_same_values(C.template copy_to<Host>(), expected);
  product.accumulate().run();
  for (std::int64_t at = 0; at < expected.nnz(); ++at) expected.values()(at) *= 2;
  expect_same_values(C.template copy_to<Host>(), expected);
}

/// Matrices whose columns the copy engine reads where they are, since no tile has rows of two batches, and
/// others, which are copied first; tiles of either size, and of teams of warps.
TEST(CudaBatches, ByColumnsAreOneProductOnTensorCores) {
  using Candidate = gpu::NmByGathering;
  for (const std::int64_t rows : {64, 33, 40, 1}) {
    expect_products_at_once<Candidate, half, NM<16, 32, 32>>({3, rows, 130, 128});
    expect_products_at_once<Candidate, half, NM<2, 4, 128>>({3, rows, 200, 100});
    expect_products_at_once<Candidate, float, NM<16, 32, 32>>({3, rows, 130, 130});
    expect_products_at_once<Candidate, half, NM<2, 4>>({3, rows, 21, 44});
    expect_products_at_once<Candidate, double, NM<3, 8, 4>>({3, rows, 21, 44});
  }
  expect_products_at_once<Candidate, half, NM<16, 32, 32>>({64, 64, 600, 64});
  expect_products_at_once<Candidate, float, NM<16, 32, 32>>({64, 64, 600, 64});
  expect_products_at_once<Candidate, half, NM<16, 32, 32>>({0, 4, 5, 6});
}
TEST(CudaBatches, ByColumnsAreOneProductOnCudaCores) {
  using Candidate = gpu::NmByBlocks;
  for (const std::int64_t rows : {128, 33, 40, 1}) {
    expect_products_at_once<Candidate, float, NM<16, 32, 32>>({3, rows, 130, 128});
    expect_products_at_once<Candidate, double, NM<3, 8, 4>>({3, rows, 21, 44});
    expect_products_at_once<Candidate, half, NM<2, 5, 4>>({3, rows, 21, 44});
  }
  expect_products_at_once<Candidate, float, NM<8, 32, 32>>({32, 128, 600, 64});
  expect_products_at_once<Candidate, float, NM<8, 32, 32>>({4, 128, 1024, 512});
}
/// The same where only rows that a tile's units keep are copied, as they are or after a copy.
TEST(CudaBatches, ByColumnsListRowsOfAllBatches) {
  using Candidate = gpu::NmByBlocksOfListedRows;
  for (const std::int64_t rows : {128, 256, 33, 40, 1})
    expect_products_at_once<Candidate, float, NM<2, 32, 32>>({3, rows, 130, 228});
  expect_products_at_once<Candidate, double, NM<4, 32, 32>>({3, 128, 70, 100});
  expect_products_at_once<Candidate, float, NM<3, 64, 32>>({32, 128, 600, 130});
}
TEST(CudaBatches, ByColumnsAreComputedAtOnceUnlessForced) {
  const Tensor<half, DenseTensor<3>, Cuda> by_columns({4, 256, 64}), by_rows({4, 64, 256}), C({4, 64, 512});
  const Tensor<half, NM<16, 32, 32>, Cuda> B({256, 512});
  EXPECT_EQ(kernel_of(assign(C(b, i, j), by_columns(b, k, i) * B(k, j))), gpu::NmByGathering::name);
  EXPECT_EQ(kernel_of(assign(C(b, i, j), by_rows(b, i, k) * B(k, j))), ProductsInBatches::name);
}

template <class Value, TensorFormat F>
void expect_products_with() {
  for (const std::int64_t batches : {0, 1, 3}) {
    expect_products<Cuda, Value, F>({batches, 5, 7, 24});
    expect_products<Cuda, Value, F>({batches, 33, 64, 100});
  }
  expect_products<Cuda, Value, F>({2, 5, 7, 0});
  expect_products<Cuda, Value, F>({2, 0, 7, 8});
}

TEST(CudaBatches, MatricesByRowsAndByColumns) {
  expect_products_with<double, CSR<>>();
  expect_products_with<float, CSC<std::int32_t, std::int32_t>>();
  expect_products_with<half, CSR<std::int32_t, std::int32_t>>();
}

/// Whichever kernel is expected to take least time multiplies each batch.
TEST(CudaBatches, OfMatricesByRowsRunByTheKernelsForMatrices) {
  const auto explained = [](const auto& statement, std::string_view kernel) {
    EXPECT_EQ(kernel_of(statement), kernel);
    std::ostringstream out;
    out << explain(statement);
    return out.str();
  };
  const Tensor<float, DenseTensor<3>, Cuda> D({4, 256, 64}), C({4, 256, 64});
  const auto S = convert<CSR<>>(numbers<float, DenseMatrix<>>({256, 256}, 2)).copy_to<Cuda>();
  const auto on_the_left = explained(assign(C(b, i, j), S(i, k) * D(b, k, j)), gpu::SpmmByGroups::name);
  EXPECT_NE(on_the_left.find("batches: 4, of which each has the same sparse matrix, by one kernel"),
            std::string::npos)
      << on_the_left;
  const Tensor<float, DenseTensor<3>, Cuda> X({4, 64, 256}), Y({4, 64, 256});
  const auto on_the_right = explained(assign(Y(b, i, j), X(b, i, k) * S(j, k)), ProductsInBatches::name);
  EXPECT_NE(on_the_right.find("batches: 4, as the rows of one product, by SpMM"), std::string::npos)
      << on_the_right;
}

/// Plans keep what they know of the pattern, and read values again.
TEST(CudaBatches, PlansAddToWhatIsThereAndReadNewValues) {
  const auto D = numbers<double, DenseTensor<3>>({3, 40, 24}, 1).copy_to<Cuda>();
  const auto S = convert<CSR<>>(numbers<double, DenseMatrix<>>({30, 40}, 2)).copy_to<Cuda>();
  const auto before = numbers<double, DenseTensor<3>>({3, 30, 24}, 3);
  const auto C = before.copy_to<Cuda>();
  const Tensor<double, DenseTensor<3>> expected({3, 30, 24});
  auto product = plan(assign(C(b, i, j), S(i, k) * D(b, k, j)).accumulate());
  product.run();
  expected(b, i, j) = before(b, i, j) + S.copy_to<Host>()(i, k) * D.copy_to<Host>()(b, k, j);
  expect_same_values(C.copy_to<Host>(), expected);
  Kokkos::deep_copy(S.values(), 2.0);
  Kokkos::deep_copy(C.values(), 0.0);
  product.run();
  expected(b, i, j) = S.copy_to<Host>()(i, k) * D.copy_to<Host>()(b, k, j);
  expect_same_values(C.copy_to<Host>(), expected);
}

}  // namespace
}  // namespace sporos::test::batches
