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

namespace sporos::test {
namespace {

using sporos::indices::i;
using sporos::indices::j;
using sporos::indices::k;

/// C = A B or C += A B, or its transpose, for A in TwoFour.
/// @tparam F             the format of the dense factor
/// @tparam InnerIsFirst  whether the dense factor is B(k, j), not B(j, k)
/// @tparam AIsLeft       whether the result is A B, not its transpose
/// @param shape          m, n, k of A B
template <class Value, class Out, class F, bool InnerIsFirst, bool AIsLeft>
void expect_product(const Extents<3>& shape, bool accumulates = false) {
  const auto [m, n, inner] = shape;
  SCOPED_TRACE(
      text(value_name<Value>(), ", ", format_name<F>(), ", ", InnerIsFirst, AIsLeft, ", ", to_string(shape)));
  const auto A = prune<TwoFour>(random_dense<Value, DenseMatrix<>>({m, inner}, 1));
  const auto B = random_dense<Value, F>(InnerIsFirst ? Extents<2>{inner, n} : Extents<2>{n, inner}, 2);
  const auto before = random_dense<Out, DenseMatrix<>>(AIsLeft ? Extents<2>{m, n} : Extents<2>{n, m}, 3);
  const auto device_A = A.template copy_to<Cuda>();
  const auto device_B = B.template copy_to<Cuda>();
  const auto C = before.template copy_to<Cuda>();
  if (!accumulates && C.nnz() > 0)
    Kokkos::deep_copy(C.values(), static_cast<Out>(std::numeric_limits<float>::quiet_NaN()));
  const auto run = [&](const auto& statement) {
    const auto by_kernel = statement.template use<gpu::TwoFourOnTensorCores>();
    accumulates ? by_kernel.accumulate().run() : by_kernel.run();
  };
  if constexpr (AIsLeft && InnerIsFirst)
    run(assign(C(i, j), device_A(i, k) * device_B(k, j)));
  else if constexpr (AIsLeft)
    run(assign(C(i, j), device_B(j, k) * device_A(i, k)));
  else if constexpr (InnerIsFirst)
    run(assign(C(i, j), device_A(j, k) * device_B(k, i)));
  else
    run(assign(C(i, j), device_B(i, k) * device_A(j, k)));

  auto wide_B = convert<DenseMatrix<>, double>(B);
  if constexpr (!InnerIsFirst) wide_B = transpose(wide_B);
  const auto turned = [](const auto& t) {
    if constexpr (AIsLeft)
      return t;
    else
      return transpose(t);
  };
  const auto turned_before = turned(before);
  EXPECT_EQ(
      (wrong_sums<Value, Out>(convert<DenseMatrix<>, double>(A), wide_B,
                              accumulates ? &turned_before : nullptr, turned(C.template copy_to<Host>()))),
      0);
}

/// Tails of every tile; few stages and many; results of several tiles a block, and tiles of several blocks.
const std::vector<Extents<3>> shapes_of_weights = {
    {1, 1, 1},     {128, 64, 128},   {130, 70, 300},  {64, 128, 64},     {333, 417, 517}, {65, 33, 31},
    {8, 40, 4100}, {300, 200, 2048}, {256, 256, 384}, {4400, 1500, 90},  {1, 300, 129},   {0, 5, 7},
    {5, 0, 7},     {5, 7, 0},        {700, 530, 3},   {1000, 1100, 1792}};

template <class Value, class Out, class F, bool InnerIsFirst, bool AIsLeft>
void expect_products() {
  for (const auto& shape : shapes_of_weights) expect_product<Value, Out, F, InnerIsFirst, AIsLeft>(shape);
  expect_product<Value, Out, F, InnerIsFirst, AIsLeft>({130, 270, 300}, true);
  expect_product<Value, Out, F, InnerIsFirst, AIsLeft>({260, 70, 3000}, true);
}

TEST(CudaTwoFour, SparseTimesDense) {
  expect_products<half, half, DenseMatrix<RowMajor>, true, true>();
  expect_products<half, half, DenseMatrix<ColumnMajor>, true, true>();
}
TEST(CudaTwoFour, LayersOfANetwork) {
  expect_products<half, half, DenseMatrix<RowMajor>, false, false>();
  expect_products<bfloat16, bfloat16, DenseMatrix<RowMajor>, false, false>();
}
TEST(CudaTwoFour, Transposed) {
  expect_products<half, half, DenseMatrix<RowMajor>, true, false>();
  expect_products<bfloat16, bfloat16, DenseMatrix<ColumnMajor>, false, true>();
}
TEST(CudaTwoFour, ResultsOfOtherTypes) {
  expect_products<half, float, DenseMatrix<RowMajor>, true, true>();
  expect_products<bfloat16, float, DenseMatrix<RowMajor>, false, false>();
  expect_products<bfloat16, half, DenseMatrix<RowMajor>, false, true>();
}

/// Every size of tiles, in every way in which blocks share something, with tails of all of them: rows of
/// tiles without a partner, more tiles than blocks, metadata that ends within a slot.
TEST(CudaTwoFour, AllTilesAndClusters) {
  constexpr std::int64_t m = 2 * 192 + 40, n = 256 + 72, inner = 5 * 128;
  const auto A = prune<TwoFour>(random_dense<half, DenseMatrix<>>({m, inner}, 1));
  const auto B = random_dense<half, DenseMatrix<>>({inner, n}, 2);
  const auto wide_A = convert<DenseMatrix<>, double>(A), wide_B = convert<DenseMatrix<>, double>(B);
  const auto device_A = A.copy_to<Cuda>();
  const auto by_rows = B.copy_to<Cuda>();
  const auto by_columns = transpose(B).copy_to<Cuda>();
  using Product = gpu::TiledProduct<half, std::remove_cvref_t<decltype(epilogue_of(
                                              assign(by_rows(i, j), device_A(i, k) * by_columns(k, j))))>>;
  const Cuda space;
  const auto expect_tile = [&]<int Tile, bool BIsByRows, bool DIsByRows>() {
    constexpr gpu::TwoFourTile tile = gpu::two_four_tiles[Tile];
    using Config = gpu::TwoFourConfig<half, tile.columns, BIsByRows, tile.groups>;
    const auto expect_clusters = [&](gpu::ClusterShares shares, int blocks, int clusters) {
      SCOPED_TRACE(text(tile.rows(), " x ", tile.columns, ", ", blocks, " blocks share ",
                        shares == gpu::ClusterShares::tile ? "a tile" : "columns", ", ", clusters,
                        " at a time"));
      const Tensor<half, DenseMatrix<>, Cuda> D(DIsByRows ? Extents<2>{m, n} : Extents<2>{n, m});
      Kokkos::deep_copy(D.values(), half(std::numeric_limits<float>::quiet_NaN()));
      const gpu::TwoFourOperands<half> operands{device_A.values().data(),
                                                device_A.level<2>().indices.data(),
                                                inner,
                                                (BIsByRows ? by_rows : by_columns).values().data(),
                                                BIsByRows ? inner : n,
                                                BIsByRows ? n : inner,
                                                BIsByRows ? n : inner};
      gpu::two_four_product<Config, DIsByRows>(space, Product{m, n, inner, D.values().data(), false, {}},
                                               operands, {Tile, shares, blocks, clusters, 0});
      const auto as_stored = D.copy_to<Host>();
      const auto result = DIsByRows ? as_stored : transpose(as_stored);
      const Tensor<half, DenseMatrix<>>* const none = nullptr;
      EXPECT_EQ((wrong_sums<half, half>(wide_A, wide_B, none, result)), 0);
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
  const Tensor<half, DenseMatrix<>> dense({70, 70});
  for (std::int64_t row = 0; row < 70; ++row)
    for (const std::int64_t column : {std::int64_t{0}, 1 + row % 3})
      dense.values()(row * 70 + column) = half(1.0f);
  const auto A = convert<TwoFour>(dense).copy_to<Cuda>();
  const Tensor<half, DenseMatrix<>> B({70, 65});
  for (std::int64_t column = 0; column < 65; ++column)
    B.values()(2 * 65 + column) = half(std::numeric_limits<float>::infinity());
  const Tensor<float, DenseMatrix<>, Cuda> C({70, 65});
  C(i, j) = A(i, k) * B.copy_to<Cuda>()(k, j);
  const auto result = C.copy_to<Host>();
  for (std::int64_t row = 0; row < 70; ++row)
    for (std::int64_t column = 0; column < 65; ++column)
      EXPECT_EQ(result.values()(row * 65 + column),
                1 + row % 3 == 2 ? std::numeric_limits<float>::infinity() : 0.0f);
}

}  // namespace
}  // namespace sporos::test
