// SPDX-License-Identifier: Apache-2.0
/// @file two_four.cpp
/// 2:4 products on sparse tensor cores against sums in double on the host: values, layouts, shapes.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "../dense_products.hpp"
#include "../inputs.hpp"
#include "kernels/kernel_of.hpp"
#include "products.hpp"

namespace sporos::test {
namespace {

using sporos::indices::i;
using sporos::indices::j;
using sporos::indices::k;

TEST(CudaTwoFour, SparseTimesDense) {
  expect_products<gpu::TwoFourOnTensorCores, half, half, DenseMatrix<RowMajor>, true, true>();
  expect_products<gpu::TwoFourOnTensorCores, half, half, DenseMatrix<ColumnMajor>, true, true>();
}
TEST(CudaTwoFour, LayersOfANetwork) {
  expect_products<gpu::TwoFourOnTensorCores, half, half, DenseMatrix<RowMajor>, false, false>();
  expect_products<gpu::TwoFourOnTensorCores, bfloat16, bfloat16, DenseMatrix<RowMajor>, false, false>();
}
TEST(CudaTwoFour, Transposed) {
  expect_products<gpu::TwoFourOnTensorCores, half, half, DenseMatrix<RowMajor>, true, false>();
  expect_products<gpu::TwoFourOnTensorCores, bfloat16, bfloat16, DenseMatrix<ColumnMajor>, false, true>();
}
TEST(CudaTwoFour, ResultsOfOtherTypes) {
  expect_products<gpu::TwoFourOnTensorCores, half, float, DenseMatrix<RowMajor>, true, true>();
  expect_products<gpu::TwoFourOnTensorCores, bfloat16, float, DenseMatrix<RowMajor>, false, false>();
  expect_products<gpu::TwoFourOnTensorCores, bfloat16, half, DenseMatrix<RowMajor>, false, true>();
}

/// Every size of tiles, in every way in which blocks share something, with tails of all of them: rows of
/// tiles without a partner, more tiles than blocks, metadata that ends within a slot.
TEST(CudaTwoFour, AllTilesAndClusters) {
  constexpr std::int64_t m = 2 * 192 + 40, n = 256 + 72, inner = 5 * 128;
  const ProductOfTiles product_of_tiles({m, n, inner});
  const Cuda space;
  const auto expect_tile = [&]<int Tile, bool BIsByRows, bool DIsByRows>() {
    constexpr gpu::TwoFourTile tile = gpu::two_four_tiles[Tile];
    using Config = gpu::TwoFourConfig<half, tile.columns, BIsByRows, tile.groups>;
    const auto expect_clusters = [&](gpu::ClusterShares shares, int blocks, int clusters) {
      SCOPED_TRACE(text(tile.rows(), " x ", tile.columns, ", ", blocks, " blocks share ",
                        shares == gpu::ClusterShares::tile ? "a tile" : "columns", ", ", clusters,
                        " at a time"));
      product_of_tiles.expect<BIsByRows, DIsByRows>([&](const auto& product, const auto& operands) {
        gpu::two_four_product<Config, DIsByRows>(space, product, operands,
                                                 {Tile, shares, blocks, clusters, 0});
      });
    };
    for (const int clusters : {3, 100}) {
      for (int blocks = 1; blocks <= tile.most_blocks; ++blocks)
        expect_clusters(gpu::ClusterShares::tile, blocks, clusters);
      for (const int blocks : {2, 4}) expect_clusters(gpu::ClusterShares::columns, blocks, clusters);
    }
  };
  [&]<std::size_t... Tiles>(std::index_sequence<Tiles...>) {
    (expect_tile.template operator()<static_cast<int>(Tiles), true, true>(), ...);
    (expect_tile.template operator()<static_cast<int>(Tiles), false, false>(), ...);
  }(std::make_index_sequence<gpu::two_four_tiles.size()>{});
}

TEST(CudaTwoFour, IsChosenForLargeProducts) {
  const Tensor<half, TwoFour, Cuda> A({2048, 2048});
  const Tensor<half, DenseMatrix<>, Cuda> B({2048, 256}), C({2048, 256});
  EXPECT_EQ(kernel_of(assign(C(i, j), A(i, k) * B(k, j))), "2:4 product on sparse tensor cores");
}

TEST(CudaTwoFour, ResultsAreTheSameFromRunToRun) {
  const auto A = prune<TwoFour>(random_dense<half, DenseMatrix<>>({300, 2048}, 1)).copy_to<Cuda>();
  const auto B = random_dense<half, DenseMatrix<>>({2048, 200}, 2).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> C({300, 200});
  auto product = plan(assign(C(i, j), A(i, k) * B(k, j)));
  product.run();
  const auto first = C.copy_to<Host>();
  for (int run = 0; run < 5; ++run) {
    product.run();
    expect_equal_tensors(first, C.copy_to<Host>());
  }
}

/// With rows that the copy engine does not take, so that plans hold a copy.
TEST(CudaTwoFour, PlansReadNewValuesUnlessTheyAreConstant) {
  const auto A = prune<TwoFour>(random_dense<half, DenseMatrix<>>({40, 90}, 5)).copy_to<Cuda>();
  const auto B = random_dense<half, DenseMatrix<>>({90, 33}, 6).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> C({40, 33}), kept({40, 33});
  auto product = plan(assign(C(i, j), A(i, k) * B(k, j)));
  auto constant = plan(assign(kept(i, j), A(i, k) * B(k, j)).with_constant_operands());
  product.run();
  constant.run();
  expect_equal_tensors(C.copy_to<Host>(), kept.copy_to<Host>());
  Kokkos::deep_copy(B.values(), half(2.0f));
  product.run();
  constant.run();
  expect_equal_tensors(C.copy_to<Host>(), kept.copy_to<Host>());
  Kokkos::deep_copy(A.values(), half(3.0f));
  product.run();
  constant.run();
  EXPECT_EQ(C.copy_to<Host>().values()(0), 46 * 6.0f);
  EXPECT_NE(kept.copy_to<Host>().values()(0), 46 * 6.0f);
}

TEST(CudaTwoFour, TheResultMayBeAnOperand) {
  const auto A = prune<TwoFour>(random_dense<half, DenseMatrix<>>({128, 128}, 5)).copy_to<Cuda>();
  const auto B = random_dense<half, DenseMatrix<>>({128, 128}, 6).copy_to<Cuda>();
  const Tensor<half, DenseMatrix<>, Cuda> C({128, 128});
  C(i, j) = A(i, k) * B(k, j);
  B(i, j) = A(i, k) * B(k, j);
  expect_equal_tensors(C.copy_to<Host>(), B.copy_to<Host>());
}

/// An infinity reaches the rows that keep its column, and no tail of any tile.
TEST(CudaTwoFour, InfinitiesReachWhatTheyAreMultipliedBy) {
  expect_infinities_stay<gpu::TwoFourOnTensorCores>();
}

}  // namespace
}  // namespace sporos::test
