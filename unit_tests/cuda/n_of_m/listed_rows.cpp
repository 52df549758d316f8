// SPDX-License-Identifier: Apache-2.0
/// @file listed_rows.cpp
/// N:M products by blocks that copy only those rows of the dense factor that a tile's units keep, beside
/// those that copy all, and what plans say of both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <sporos/core/peak_memory.hpp>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>

#include "../estimates.hpp"
#include "products.hpp"

namespace sporos::test::listed_rows {
namespace {

using sporos::indices::i;
using sporos::indices::j;
using sporos::indices::k;
using testing::HasSubstr;
using testing::Not;

constexpr const char *says_listed = "copies: only rows of the dense operand that a tile keeps (packing); all",
                     *says_all = "copies: all rows of the dense operand; only those that a tile keeps";

/// The sums against those in double on the host, and where neither way divides a tile's k among blocks, which
/// adds in another order, against those of the other way: bit by bit.
/// @param is_divided  whether some way does
template <class Value, class F, class Layout = RowMajor>
void expect_both_ways(const Extents<3>& shape, bool is_divided = false) {
  expect_nm_product<gpu::NmByBlocksOfListedRows, Value, Value, F, Layout>(shape);
  const auto [m, n, inner] = shape;
  SCOPED_TRACE(text(format_name<F>(), ", ", to_string(shape)));
  const auto A = random_dense<Value, DenseMatrix<Layout>>({m, inner}, 1).template copy_to<Cuda>();
  const auto B = prune<F>(random_dense<Value, DenseMatrix<>>({inner, n}, 2).template copy_to<Cuda>());
  const Tensor<Value, DenseMatrix<>, Cuda> listed({m, n}), all({m, n});
  for (const auto& result : {listed, all})
    Kokkos::deep_copy(result.values(), Value(std::numeric_limits<float>::quiet_NaN()));
  const auto of_listed = assign(listed(i, j), A(i, k) * B(k, j)).template use<gpu::NmByBlocksOfListedRows>(),
             of_listed_again = of_listed.accumulate();
  const auto of_all = assign(all(i, j), A(i, k) * B(k, j)).template use<gpu::NmByBlocksOfAllRows>();
  EXPECT_THAT(explain(of_listed), HasSubstr(says_listed));
  EXPECT_THAT(explain(of_all), HasSubstr(says_all));
  EXPECT_EQ(testing::Value(explain(of_listed), HasSubstr("thread blocks each")) ||
                testing::Value(explain(of_all), HasSubstr("thread blocks each")) ||
                testing::Value(explain(of_all), HasSubstr("teams of warps")),
            is_divided);
  of_listed.run();
  of_all.run();
  if (!is_divided)
    expect_equal_arrays(all.template copy_to<Host>().values(), listed.template copy_to<Host>().values(),
                        "sums");
  const auto once = listed.template copy_to<Host>();
  of_listed_again.run();
  const auto twice = listed.template copy_to<Host>();
  for (std::int64_t at = 0; at < once.nnz(); at += 13)
    ASSERT_EQ(twice.values()(at), 2 * once.values()(at)) << at;
}

/// Tiles that reach beyond the result; windows, and with 703 also rows of A, that end in the middle; units of
/// a tile that are not there.
TEST(CudaNofMListedRows, AnEighth) {
  expect_both_ways<float, NM<4, 32, 32>, ColumnMajor>({2052, 1700, 140});
  expect_both_ways<float, NM<4, 32, 32>, RowMajor>({2053, 1690, 143});
}
TEST(CudaNofMListedRows, ASixteenth) {
  expect_both_ways<float, NM<2, 32, 32>, ColumnMajor>({2052, 1700, 140});
  expect_both_ways<float, NM<2, 32, 32>, ColumnMajor>({2053, 1690, 143});
  expect_both_ways<float, NM<2, 32, 32>, RowMajor>({2052, 1700, 200});
}
TEST(CudaNofMListedRows, AThirtySecond) {
  expect_both_ways<float, NM<1, 32, 32>, ColumnMajor>({2052, 1700, 260});
  expect_both_ways<float, NM<1, 32, 32>, RowMajor>({2053, 1690, 100});
}
TEST(CudaNofMListedRows, ThreeOf64) {
  expect_both_ways<float, NM<3, 64, 32>, ColumnMajor>({2052, 1700, 300});
  expect_both_ways<float, NM<3, 64, 32>, RowMajor>({2053, 1690, 63});
}
/// So many tiles of each size that blocks compute several.
TEST(CudaNofMListedRows, ManyTiles) {
  expect_both_ways<float, NM<2, 32, 32>, ColumnMajor>({5000, 1800, 70});
  expect_both_ways<float, NM<1, 16, 64>, ColumnMajor>({4100, 4200, 30});
}
/// So few that several blocks share one, or that all rows would be copied by teams.
TEST(CudaNofMListedRows, FewTiles) {
  expect_both_ways<float, NM<2, 32, 32>, ColumnMajor>({260, 520, 4000}, true);
  expect_both_ways<float, NM<4, 32, 32>, RowMajor>({130, 70, 5000}, true);
  expect_both_ways<float, NM<3, 64, 32>, RowMajor>({70, 300, 2100}, true);
}
TEST(CudaNofMListedRows, Doubles) {
  expect_both_ways<double, NM<2, 32, 32>, ColumnMajor>({1026, 1700, 140});
  expect_both_ways<double, NM<3, 64, 32>, RowMajor>({1027, 1690, 140});
  expect_both_ways<double, NM<4, 32, 32>, ColumnMajor>({66, 130, 1500}, true);
}
/// Sections of one long window in several chunks, units that do not divide a tile's columns, and windows
/// along the rows of what is stored.
TEST(CudaNofMListedRows, LongWindowsAndOddUnits) {
  expect_nm_product<gpu::NmByBlocksOfListedRows, float, float, NM<32, 256, 96>, RowMajor>({200, 500, 700});
  expect_nm_product<gpu::NmByBlocksOfListedRows, float, float, NM<4, 200, 32>, ColumnMajor>({333, 417, 517});
  expect_nm_product<gpu::NmByBlocksOfListedRows, double, double, NM<32, 256, 96>, ColumnMajor>(
      {200, 500, 700});
}
TEST(CudaNofMListedRows, ProductsOfAllShapes) {
  expect_nm_products<gpu::NmByBlocksOfListedRows, float, float, NM<2, 32, 32>>();
  expect_nm_products<gpu::NmByBlocksOfListedRows, float, float, NM<4, 32, 32, 1>>();
}

/// A B by tiles of one Config, which `shared` blocks compute each.
template <class Config, class Value, class F>
Tensor<Value, DenseMatrix<>> product_by(const Tensor<Value, DenseMatrix<ColumnMajor>, Cuda>& A,
                                        const Tensor<Value, F, Cuda>& B, int shared) {
  using Traits = NmTraits<F>;
  const std::int64_t m = A.extent(0), inner = A.extent(1), n = B.extent(1);
  constexpr gpu::NmChunks cut = Config::lists_rows ? gpu::NmChunks::of_listed(Traits::kept, Traits::window)
                                                   : gpu::NmChunks::of(Traits::kept, Traits::window);
  constexpr gpu::NmChunkLayout layout = Config::layout(cut, Traits::unit);
  static_assert(Config::slots(layout).fit());
  const Array<char, gpu::Memory> packed("packed", static_cast<std::size_t>(layout.bytes(inner, n)));
  const Tensor<Value, DenseMatrix<>, Cuda> C({m, n});
  Kokkos::deep_copy(C.values(), Value(std::numeric_limits<float>::quiet_NaN()));
  gpu::NmBlockProduct<Value, NoEpilogue<Value>> product{};
  if constexpr (Config::lists_rows) {
    gpu::list_rows(Cuda(), nm_view(B), layout, packed.data());
    product.listed.lists = reinterpret_cast<const std::uint16_t*>(packed.data() + layout.lists_at(inner, n));
  }
  gpu::pack_chunks<Value>(Cuda(), nm_view(B), layout, packed.data());
  product.m = m;
  product.n = n;
  product.sections = static_cast<int>(cut.sections(inner));
  product.packed = packed.data();
  product.c = C.values().data();
  product.slots = Config::slots(layout);
  product.set_layout(layout);
  gpu::nm_block_product<Config>(Cuda(), product, A.values().data(), {inner, m, m, 1}, shared);
  return C.template copy_to<Host>();
}

/// Small and large tiles, whichever of them a plan would take, of one block and of several.
template <class Value, int Rows, int Warps, int AtATime, class F>
void expect_tiles(const Extents<3>& shape) {
  const auto [m, n, inner] = shape;
  SCOPED_TRACE(text(format_name<F>(), ", ", Rows, " rows a thread, ", to_string(shape)));
  const auto A = random_dense<Value, DenseMatrix<ColumnMajor>>({m, inner}, 1);
  const auto B = prune<F>(random_dense<Value, DenseMatrix<>>({inner, n}, 2));
  const auto device_A = A.template copy_to<Cuda>();
  const auto device_B = B.template copy_to<Cuda>();
  using Listed = gpu::NmBlockConfig<Value, Rows, 8, true, Warps, AtATime, true>;
  using All = gpu::NmBlockConfig<Value, Rows, 8, true, Warps, AtATime>;
  const auto dense_A = convert<DenseMatrix<>, double>(A), dense_B = convert<DenseMatrix<>, double>(B);
  expect_equal_arrays(product_by<All>(device_A, device_B, 1).values(),
                      product_by<Listed>(device_A, device_B, 1).values(), "sums");
  for (const int shared : {1, 2, 4, 8})
    EXPECT_EQ(
        (wrong_sums<Value, Value>(dense_A, dense_B, nullptr, product_by<Listed>(device_A, device_B, shared))),
        0)
        << shared << " blocks for a tile";
}
TEST(CudaNofMListedRows, TilesOfEachSizeAsOneBlockOrSeveral) {
  for (const std::int64_t inner : {1700, 1801}) {
    expect_tiles<float, 16, 8, 1, NM<2, 32, 32>>({300, 530, inner});
    expect_tiles<float, 8, 4, 3, NM<2, 32, 32>>({300, 530, inner});
  }
  expect_tiles<float, 16, 8, 1, NM<3, 64, 64>>({260, 300, 2100});
  expect_tiles<float, 16, 8, 1, NM<20, 160, 64>>({132, 300, 2100});  // two chunks for each section
  expect_tiles<double, 8, 8, 1, NM<2, 32, 32>>({150, 530, 1700});
  expect_tiles<double, 4, 4, 3, NM<1, 32, 32>>({150, 530, 2100});
}

/// What A holds where B keeps nothing is not multiplied, and of the rows that it keeps, whose values may be
/// zero in some unit, not by that unit.
TEST(CudaNofMListedRows, RowsThatAreNotKeptMeetNothing) {
  const std::int64_t m = 200, n = 200, inner = 192;
  const Tensor<float, DenseMatrix<>> dense({inner, n});
  for (const std::int64_t row : {3, 40, 41, 190})
    for (std::int64_t column = 0; column < n; ++column)
      if (row != 40 || column >= 32) dense.values()(row * n + column) = 1.0f;
  const auto B = prune<NM<2, 32, 32>>(dense).copy_to<Cuda>();
  const auto A = random_dense<float, DenseMatrix<ColumnMajor>>({m, inner}, 6);
  for (std::int64_t row = 0; row < inner; ++row)
    if (row != 3 && row != 40 && row != 41 && row != 190)
      for (std::int64_t at = 0; at < m; ++at)
        A.values()(row * m + at) = std::numeric_limits<float>::infinity();
  const auto device_A = A.copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> C({m, n});
  Kokkos::deep_copy(C.values(), std::numeric_limits<float>::quiet_NaN());
  assign(C(i, j), device_A(i, k) * B(k, j)).use<gpu::NmByBlocksOfListedRows>().run();
  const auto result = C.copy_to<Host>();
  const auto a = [&](std::int64_t row, std::int64_t at) { return A.values()(row * m + at); };
  for (std::int64_t at = 0; at < m; ++at)
    for (const std::int64_t column : {0, 31, 32, 128, 199}) {
      float sum = a(3, at);
      if (column >= 32) sum += a(40, at);
      sum += a(41, at);
      sum += a(190, at);
      EXPECT_EQ(result.values()(at * n + column), sum) << at << ", " << column;
    }
}

TEST(CudaNofMListedRows, TakeNoMoreMemoryThanEstimated) {
  for (const std::int64_t rows : {1024, 1023}) {  // A is read as it is, or copied
    const auto B = prune<NM<2, 32, 32>>(random_dense<float, DenseMatrix<>>({700, 900}, 5).copy_to<Cuda>());
    const auto A = random_dense<float, DenseMatrix<ColumnMajor>>({rows, 700}, 6).copy_to<Cuda>();
    const Tensor<float, DenseMatrix<>, Cuda> C({rows, 900});
    expect_all_bounded(assign(C(i, j), A(i, k) * B(k, j)).use<gpu::NmByBlocksOfListedRows>());
  }
}

/// A plan that reads A as it is allocates what it holds, and that is what is packed: chunks and lists.
TEST(CudaNofMListedRows, PlansHoldChunksAndLists) {
  using F = NM<2, 32, 32>;
  const std::int64_t m = 4096, n = 2000, inner = 500;
  const auto B = prune<F>(random_dense<float, DenseMatrix<>>({inner, n}, 5).copy_to<Cuda>());
  const auto A = random_dense<float, DenseMatrix<ColumnMajor>>({m, inner}, 6).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> C({m, n});
  const auto statement =
      assign(C(i, j), A(i, k) * B(k, j)).with_constant_operands().use<gpu::NmByBlocksOfListedRows>();
  const bool is_large = testing::Value(explain(statement), HasSubstr("tiles of 128 x 256"));
  const gpu::NmChunks cut = gpu::NmChunks::of_listed(2, 32);
  const gpu::NmChunkLayout layout = is_large
                                        ? gpu::NmBlockConfig<float, 16, 8, true, 8, 1, true>::layout(cut, 32)
                                        : gpu::NmBlockConfig<float, 8, 8, true, 4, 3, true>::layout(cut, 32);
  gpu::NmByBlocksOfListedRows::Plan<std::remove_const_t<decltype(statement)>> planned(statement,
                                                                                      statement.resources());
  const std::int64_t taken = memory_of([&] { planned.prepare(); });
  EXPECT_GE(taken, planned.held_bytes());
  EXPECT_LE(taken, planned.held_bytes() + uncounted);
  EXPECT_EQ(planned.held_bytes(), layout.bytes(inner, n));
  EXPECT_EQ(planned.bytes().workspace, layout.bytes(inner, n));
  EXPECT_GT(layout.bytes(inner, n), layout.lists_at(inner, n));
}

/// The faster of both ways is taken, and what the other would take is said; where much is kept, there is no
/// other.
TEST(CudaNofMListedRows, AreChosenAndExplained) {
  const auto explained = [&]<class F>(F, const Extents<3>& shape) {
    const auto [m, n, inner] = shape;
    const Tensor<float, DenseMatrix<ColumnMajor>, Cuda> A({m, inner});
    const Tensor<float, F, Cuda> B({inner, n});
    const Tensor<float, DenseMatrix<>, Cuda> C({m, n});
    const auto statement = assign(C(i, j), A(i, k) * B(k, j)).with_constant_operands();
    const auto seconds = [&]<class K>(K) {
      const auto by = statement.template use<K>();
      return detail::offer_of<K>(by).cost().once;
    };
    const std::string text = explain(statement.template use<gpu::NmByBlocks>());
    if constexpr (gpu::can_list_rows(NmTraits<F>::kept, NmTraits<F>::window, NmTraits<F>::unit, 32)) {
      const double listed = seconds(gpu::NmByBlocksOfListedRows{}), all = seconds(gpu::NmByBlocksOfAllRows{});
      EXPECT_EQ(seconds(gpu::NmByBlocks{}), std::min(listed, all));
      std::ostringstream said;
      said << (listed < all ? says_listed : says_all);
      EXPECT_THAT(text, HasSubstr(said.str()));
      said.str({});
      said << " would take " << std::max(listed, all) * 1e6 << " microseconds\n";
      EXPECT_THAT(text, HasSubstr(said.str()));
    }
    return text;
  };
  EXPECT_THAT(explained(NM<2, 32, 32>{}, {2052, 4100, 700}), HasSubstr(says_listed));
  EXPECT_THAT(explained(NM<1, 32, 32>{}, {4096, 4096, 4096}), HasSubstr(says_listed));
  EXPECT_THAT(explained(NM<4, 32, 32>{}, {512, 512, 512}), HasSubstr(says_all));  // by teams
  EXPECT_THAT(explained(NM<8, 32, 32>{}, {2052, 4100, 700}), Not(HasSubstr("copies:")));
  EXPECT_THAT(explained(NM<2, 32, 16>{}, {2052, 4100, 700}), Not(HasSubstr("copies:")));
}

/// Equation 3 of NM-SpMM for the tile that a plan takes, beside the device's operations for each element that
/// it reads.
TEST(CudaNofMListedRows, PlansSayTheIntensityOfTheirTiles) {
  const auto explained = [&]<class K, class Value, class F>(K, Value, F) {
    const std::int64_t extent = 4096;
    const Tensor<Value, DenseMatrix<ColumnMajor>, Cuda> A({extent, extent});
    const Tensor<Value, F, Cuda> B({extent, extent});
    const Tensor<Value, DenseMatrix<>, Cuda> C({extent, extent});
    return std::string(explain(assign(C(i, j), A(i, k) * B(k, j)).template use<K>()));
  };
  const gpu::NmDevice device = gpu::nm_device(Cuda().cuda_device_prop().multiProcessorCount);
  const auto line = [&](double intensity, int value_bytes) {
    std::ostringstream out;
    gpu::write_intensity(out, intensity, device, value_bytes);
    return out.str();
  };
  const auto of_blocks = explained(gpu::NmByBlocks{}, 0.0f, NM<16, 32, 32>{});
  EXPECT_THAT(of_blocks, HasSubstr("tiles of 128 x 256"));
  EXPECT_THAT(of_blocks, HasSubstr(line(gpu::arithmetic_intensity(128, 256, 4096, 2048), 4)));
  const auto of_listed = explained(gpu::NmByBlocksOfListedRows{}, 0.0f, NM<2, 32, 32>{});
  const bool is_large = testing::Value(of_listed, HasSubstr("tiles of 128 x 256"));
  const double dense_rows = 4096 * gpu::kept_by_any(2, 32, is_large ? 8 : 4);
  EXPECT_THAT(of_listed, HasSubstr(line(is_large ? gpu::arithmetic_intensity(128, 256, dense_rows, 256)
                                                 : gpu::arithmetic_intensity(64, 128, dense_rows, 256),
                                        4)));
  EXPECT_THAT(explained(gpu::NmByGathering{}, 0.0, NM<2, 4>{}),
              HasSubstr(line(gpu::arithmetic_intensity(64, 64, 4096, 2048), 8)));
}

}  // namespace
}  // namespace sporos::test::listed_rows
