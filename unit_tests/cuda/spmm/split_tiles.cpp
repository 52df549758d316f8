// SPDX-License-Identifier: Apache-2.0
/// @file split_tiles.cpp
/// Products of floats on tensor cores, floats split in two: against sums in double.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <sporos/sporos.hpp>
#include <string>
#include <type_traits>

#include "products.hpp"

namespace sporos::test {
namespace {

using sporos::indices::i;
using sporos::indices::j;
using sporos::indices::k;

TEST(CudaSpmm, OfSplitFloatsOnTensorCores) {
  expect_products_by_tiles<gpu::SpmmBySplitTiles, float, float, IntCsr, false, DenseMatrix<>>();
  expect_products_by_tiles<gpu::SpmmBySplitTiles, float, float, CSC<>, false, DenseMatrix<ColumnMajor>>();
  expect_products_by_tiles<gpu::SpmmBySplitTiles, float, float, CSR<>, true, DenseMatrix<>>();
}

/// Tiles of both heights and of every width, by every number of blocks.
TEST(CudaSpmm, SplitTilesOfEveryShape) {
  const std::int64_t m = 201, n = 516, inner = 700;
  const auto dense_A = thinned<float>({m, inner}, 30, 1);  // and so some tiles are empty
  const auto A = convert<IntCsr>(dense_A).copy_to<Cuda>();
  const auto B = random_dense<float, DenseMatrix<>>({inner, n}, 2);
  const auto device_B = B.copy_to<Cuda>();
  const auto wide_A = convert<DenseMatrix<>, double>(dense_A), wide_B = convert<DenseMatrix<>, double>(B);
  const Kokkos::Cuda space;
  const auto& columns = A.level<1>();
  using View = gpu::CsrView<const float, const std::int32_t, const std::int32_t>;
  const View view{m, inner, A.nnz(), columns.positions.data(), columns.coordinates.data(), A.values().data()};
  for (const int rows : {gpu::SplitTiles::fewest_rows, gpu::SplitTiles::most_rows}) {
    gpu::SplitTiles tiles = gpu::SplitTiles::of(rows, m, inner);
    const auto counts = gpu::count_pattern(Resources<Cuda>(), view, {.split_tiles = true}).split_tiles;
    const auto which = static_cast<std::size_t>(gpu::SplitTileCounts::of(rows));
    const std::int64_t kept = counts.kept[which];
    EXPECT_LE(kept, tiles.tiles());
    EXPECT_GE(counts.most_of_row[which] * tiles.row_tiles, kept);
    const auto size = [](std::int64_t count) { return static_cast<std::size_t>(count); };
    const Array<char, gpu::Memory> values("values", size(kept * gpu::SplitTiles::bytes_of(rows)));
    const Array<std::int32_t, gpu::Memory> first("first", size(tiles.tiles() + 1)),
        at_column("at column", size(kept)), are_kept("are kept", size(tiles.tiles()));
    const auto bytes = gpu::sizes_to_positions_bytes<std::int32_t, std::int32_t>(space, tiles.tiles());
    const Array<char, gpu::Memory> scratch("scratch", size(bytes));
    tiles.first = first.data();
    tiles.at_column = at_column.data();
    tiles.values = values.data();
    gpu::pack_split_tiles(space, view, tiles, kept, are_kept.data(), scratch.data(), bytes);
    const auto map =
        gpu::swizzled_tensor_map(device_B.values().data(), inner, n, n, gpu::SplitTiles::columns);
    for (const int groups : {1, 2, 4})
      for (const int blocks : {1, 2, 4, 8}) {
        SCOPED_TRACE(text(rows, " rows, ", groups, " groups, ", blocks, " blocks"));
        const auto C = poisoned<float, DenseMatrix<>>({m, n});
        const auto epilogue = epilogue_of(assign(C(i, j), A(i, k) * device_B(k, j)));
        const gpu::SplitTilesProduct<std::remove_const_t<decltype(epilogue)>, View> product{
            {m, n, inner, C.values().data(), false, epilogue},
            tiles,
            view,
            device_B.values().data(),
            n,
            true};
        gpu::SplitTilesChoice{rows, groups, blocks}.visit_config(
            [&]<class Config>(std::type_identity<Config>) {
              gpu::spmm_split_tiles<Config>(space, product, map, blocks);
            });
        EXPECT_EQ((wrong_sums<float, float>(wide_A, wide_B, nullptr, C.copy_to<Host>())), 0);
      }
  }
}

/// Where all products have one sign, what tensor cores cut off adds up: only within a stage.
TEST(CudaSpmm, SumsOfSplitFloatsLoseLittle) {
  const std::int64_t inner = 4096;
  std::mt19937_64 draw(1);
  const auto positive = [&](const Extents<2>& extents) {
    const Tensor<float, DenseMatrix<>> out(extents);
    for (std::int64_t at = 0; at < out.nnz(); ++at)
      out.values()(at) = 0.5f + static_cast<float>(draw() >> 40) * 0x1p-24f;
    return out;
  };
  const auto A = positive({8, inner}), B = positive({inner, 32});
  const Tensor<float, DenseMatrix<>, Cuda> device_C({8, 32});
  const auto device_A = convert<IntCsr>(A).copy_to<Cuda>();
  const auto device_B = B.copy_to<Cuda>();
  plan(assign(device_C(i, j), device_A(i, k) * device_B(k, j)).use<gpu::SpmmBySplitTiles>()).run();
  const auto C = device_C.copy_to<Host>();
  const double bound = 3 * 0x1p-20 + static_cast<double>(inner / gpu::SplitTiles::columns) * 0x1p-24;
  for (std::int64_t row = 0; row < 8; ++row)
    for (std::int64_t column = 0; column < 32; ++column) {
      double exact = 0;
      for (std::int64_t p = 0; p < inner; ++p)
        exact += static_cast<double>(A.values()(row * inner + p)) * B.values()(p * 32 + column);
      EXPECT_NEAR(C.values()(row * 32 + column), exact, bound * exact);
    }
}

/// Of floats as well, where packed tiles may take memory.
TEST(CudaSpmm, LargeDenserProductsOfFloatsAreComputedOnTensorCores) {
  const auto kernel = [](const auto& statement) {
    return std::string(plan(statement.with_constant_operands()).candidate());
  };
  const auto some = convert<IntCsr>(thinned<float>({1024, 1024}, 4, 1)).copy_to<Cuda>();
  const auto few = convert<IntCsr>(thinned<float>({1024, 1024}, 60, 1)).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> B({1024, 256}), C({1024, 256});
  const auto statement = assign(C(i, j), some(i, k) * B(k, j));
  EXPECT_EQ(kernel(statement), gpu::SpmmBySplitTiles::name);
  EXPECT_EQ(kernel(assign(C(i, j), few(i, k) * B(k, j))), gpu::SpmmByPaddedRows::name);
  const Resources<Cuda> bounded = Resources<Cuda>().within(std::int64_t{1} << 30);
  EXPECT_EQ(kernel(statement.on(bounded)), gpu::SpmmByCublas::name);
}

TEST(CudaSpmm, SplitTilesTakeNoMoreMemoryThanEstimated) {
  expect_within_estimates<gpu::SpmmBySplitTiles, float>();
}

TEST(CudaSpmm, SplitTilesOfPlansReadNewValuesUnlessTheyAreConstant) {
  expect_new_values<gpu::SpmmBySplitTiles, float>();
}
TEST(CudaSpmm, SplitTilesMakeTheSameFromRunToRun) { expect_same_from_run_to_run<gpu::SpmmBySplitTiles>(); }
TEST(CudaSpmm, SplitTilesKeepInfinitiesToWhatTheyAreMultipliedBy) {
  expect_infinities<gpu::SpmmBySplitTiles, float>();
}

}  // namespace
}  // namespace sporos::test
