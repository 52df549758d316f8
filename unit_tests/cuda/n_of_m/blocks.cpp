// SPDX-License-Identifier: Apache-2.0
/// @file blocks.cpp
/// N:M products by blocks on CUDA cores against sums in double on the host: formats, values, layouts, shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <string_view>

#include "../estimates.hpp"
#include "kernels/kernel_of.hpp"
#include "products.hpp"

namespace sporos::test {
namespace {

using sporos::indices::i;
using sporos::indices::j;
using sporos::indices::k;

template <class Value, class Out, class F>
void expect_products() {
  expect_nm_products<gpu::NmByBlocks, Value, Out, F>();
}
template <class Value, class Out, class F, class Layout = RowMajor>
void expect_product(const Extents<3>& shape, bool accumulates = false) {
  expect_nm_product<gpu::NmByBlocks, Value, Out, F, Layout>(shape, accumulates);
}

TEST(CudaNofMByBlocks, FloatsWhoseWarpsShareUnits) { expect_products<float, float, NM<16, 32, 32>>(); }
/// So many tiles that blocks compute several, and so few that several blocks share one, of odd parts of k.
TEST(CudaNofMByBlocks, ManyTilesAndFew) {
  expect_product<float, float, NM<16, 32, 32>>({4500, 1500, 140});
  expect_product<float, float, NM<16, 32, 32>, ColumnMajor>({2052, 900, 300}, true);
  expect_product<float, float, NM<16, 32, 32>>({130, 70, 5000});
  expect_product<float, float, NM<16, 32, 32>>({20, 30, 1100}, true);
  expect_product<float, float, NM<16, 32, 32>>({260, 1100, 2080});
}
/// A result with a tile for each multiprocessor is computed by teams of warps; of each size here are tiles
/// that reach beyond the result, sections of k that the teams do not share evenly, and rows that are not
/// aligned.
template <class Layout>
void expect_teams(const Extents<3>& shape, std::string_view tile) {
  const auto [m, n, inner] = shape;
  const Tensor<float, DenseMatrix<Layout>, Cuda> A({m, inner});
  const Tensor<float, NM<12, 32, 32>, Cuda> B({inner, n});
  const Tensor<float, DenseMatrix<>, Cuda> C({m, n});
  const auto statement = assign(C(i, j), A(i, k) * B(k, j)).with_constant_operands();
  EXPECT_THAT(explain(statement.template use<gpu::NmByBlocks>()),
              testing::HasSubstr(text("tiles of ", tile,
                                      " in registers, whose rows are gathered from shared "
                                      "memory, by ")));
  expect_product<float, float, NM<12, 32, 32>, Layout>(shape);
}
TEST(CudaNofMByBlocks, TeamsOfWarpsForTilesOfEachSize) {
  for (const std::int64_t inner : {500, 520, 523}) {
    expect_teams<RowMajor>({500, 500, inner}, "32 x 64");
    expect_teams<ColumnMajor>({500, 500, inner}, "32 x 64");
    expect_teams<RowMajor>({500, 1000, inner}, "64 x 64");
    expect_teams<ColumnMajor>({500, 1000, inner}, "64 x 64");
  }
  expect_teams<RowMajor>({500, 1600, 1800}, "64 x 128");
  expect_teams<ColumnMajor>({500, 1600, 1800}, "64 x 128");
  expect_teams<ColumnMajor>({501, 500, 500}, "32 x 64");
  expect_product<float, float, NM<12, 32, 32>>({500, 1000, 500}, true);
}
/// The copy engine takes sections of a row-major matrix that begin at multiples of 16 bytes; windows are put
/// together until they do, or not computed by teams.
template <class Value, bool RowMajor>
constexpr bool cuts_are_aligned() {
  using Config = gpu::NmTeamConfig<Value, RowMajor, 16 / sizeof(Value), 8, true, 2, 4>;
  for (int window = 1; window <= 256; ++window)
    for (const int kept : {1, (window + 1) / 2, window}) {
      const gpu::NmChunks cut = Config::cut(kept, window);
      if (cut.rows < cut.windows * kept || cut.rows % gpu::NmChunks::rows_at_a_time != 0) return false;
      if (!Config::takes(cut)) continue;
      if (RowMajor && cut.dense_rows() * sizeof(Value) % 16 != 0) return false;
      if (Config::shared_bytes(cut, 2) > Config::most_shared_bytes) return false;
    }
  const auto takes = [](int kept, int window) { return Config::takes(Config::cut(kept, window)); };
  return takes(5, 7) && takes(1, 1) && takes(16, 32) && takes(32, 32) && !takes(256, 256);
}
TEST(CudaNofMByBlocks, SectionsOfTeamsBeginWhereTheCopyEngineCan) {
  static_assert(cuts_are_aligned<float, true>() && cuts_are_aligned<double, true>());
  static_assert(cuts_are_aligned<float, false>() && cuts_are_aligned<double, false>());
}
TEST(CudaNofMByBlocks, WindowsThatDoNotDivideWhatIsCopied) {
  expect_products<float, float, NM<5, 7, 8, 1>>();
}
/// Sums are put where sections were, and where k has few of these, they reach further: not to the barriers.
template <int Rows, int Columns>
constexpr bool barriers_lie_behind_sums() {
  using Teams = gpu::NmTeamConfig<float, true, Rows, Columns, false, 2, 4>;
  using Blocks = gpu::NmBlockConfig<float, Rows, Columns, false, 4, 3>;
  for (int window = 1; window <= 64; ++window)
    for (int slots = 1; slots <= 8; ++slots) {
      const gpu::NmChunks cut = gpu::NmChunks::in_one_chunk(1, window, 4);
      const int barriers = Teams::barriers_at(cut, slots);
      const int used = slots * 4 * (Teams::section_bytes(cut) + Teams::layout(cut).chunk_bytes());
      if (barriers < Teams::teams * Teams::sums_bytes || barriers < used + Teams::zeros_bytes) return false;
      if (Teams::shared_bytes(cut, slots) < Teams::alignment + barriers + slots * 4 * 16) return false;
    }
  const gpu::NmSlots few{2, 2};
  return Blocks::barriers_at(few, 1024, 1024) == Blocks::sums_bytes &&
         Blocks::shared_bytes(few, 1024, 1024) == Blocks::alignment + Blocks::sums_bytes + 32;
}
TEST(CudaNofMByBlocks, NothingIsWrittenWhereBarriersAre) {
  static_assert(barriers_lie_behind_sums<4, 8>() && barriers_lie_behind_sums<8, 8>());
  for (const std::int64_t inner : {1, 28, 90, 112}) {  // a section for each team or fewer
    expect_product<float, float, NM<5, 7, 8, 1>, RowMajor>({700, 530, inner});
    expect_product<float, float, NM<5, 7, 8, 1>, ColumnMajor>({700, 530, inner});
    expect_product<float, float, NM<1, 4, 8>, RowMajor>({500, 500, inner});
  }
}
/// One window fills as much shared memory as a small tile has for it.
TEST(CudaNofMByBlocks, DoublesInLongWindows) { expect_products<double, double, NM<100, 256, 16>>(); }
TEST(CudaNofMByBlocks, DoublesWhoseWarpsShareUnits) { expect_products<double, double, NM<8, 32, 32>>(); }
TEST(CudaNofMByBlocks, FloatsInUnitsOfFour) { expect_products<float, float, NM<2, 4, 4>>(); }
TEST(CudaNofMByBlocks, UnitsOfFour) { expect_products<float, double, NM<7, 16, 12>>(); }
TEST(CudaNofMByBlocks, NarrowFloatsThatAreAllKept) { expect_products<half, half, NM<4, 4, 4>>(); }

TEST(CudaNofMByBlocks, Bfloat16) {
  expect_products<bfloat16, bfloat16, NM<2, 4, 4>>();
  expect_products<bfloat16, float, NM<5, 8, 8, 1>>();
  expect_product<bfloat16, float, NM<1, 4, 16>>({500, 500, 512});  // by teams
}

TEST(CudaNofMByBlocks, TheSameSumsInEveryRun) {
  const auto A = random_dense<float, DenseMatrix<>>({200, 3000}, 1).copy_to<Cuda>();
  const auto B = prune<NM<16, 32, 32>>(random_dense<float, DenseMatrix<>>({3000, 100}, 2).copy_to<Cuda>());
  const Tensor<float, DenseMatrix<>, Cuda> C({200, 100}), again({200, 100});
  assign(C(i, j), A(i, k) * B(k, j)).use<gpu::NmByBlocks>().run();
  const auto first = C.copy_to<Host>();
  for (int run = 0; run < 10; ++run) {
    assign(again(i, j), A(i, k) * B(k, j)).use<gpu::NmByBlocks>().run();
    expect_equal_arrays(first.values(), again.copy_to<Host>().values(), "sums");
  }
}

TEST(CudaNofMByBlocks, PlansReadNewValuesUnlessTheyAreConstant) {
  const auto B = prune<NM<16, 32, 32>>(random_dense<float, DenseMatrix<>>({96, 64}, 5).copy_to<Cuda>());
  const auto A = random_dense<float, DenseMatrix<>>({40, 96}, 6).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> C({40, 64}), kept({40, 64});
  auto product = plan(assign(C(i, j), A(i, k) * B(k, j)).use<gpu::NmByBlocks>());
  auto constant = plan(assign(kept(i, j), A(i, k) * B(k, j)).with_constant_operands().use<gpu::NmByBlocks>());
  product.run();
  constant.run();
  expect_equal_tensors(C.copy_to<Host>(), kept);
  Kokkos::deep_copy(A.values(), 2.0f);
  Kokkos::deep_copy(B.values(), 3.0f);
  product.run();
  constant.run();
  EXPECT_EQ(C.copy_to<Host>().values()(0), 48 * 6.0f);
  EXPECT_NE(kept.copy_to<Host>().values()(0), 48 * 6.0f);
}

TEST(CudaNofMByBlocks, TakesNoMoreMemoryThanEstimated) {
  for (const std::int64_t inner : {1000, 1001}) {  // A is read as it is, or copied
    const auto B = prune<NM<16, 32, 32>>(random_dense<float, DenseMatrix<>>({inner, 700}, 5).copy_to<Cuda>());
    const auto A = random_dense<float, DenseMatrix<>>({401, inner}, 6).copy_to<Cuda>();
    const Tensor<float, DenseMatrix<>, Cuda> C({401, 700});
    expect_bounded(assign(C(i, j), A(i, k) * B(k, j)).use<gpu::NmByBlocks>());
  }
}

/// What A holds where B keeps nothing, or zeros in a whole unit, is not multiplied: NaN there does not show.
TEST(CudaNofMByBlocks, UnitsOfZerosMeetNothing) {
  const Tensor<float, DenseMatrix<>> dense({64, 32});
  for (std::int64_t column = 0; column < 32; ++column) dense.values()(3 * 32 + column) = 1.0f;
  const auto B = prune<NM<16, 32, 32>>(dense).copy_to<Cuda>();
  const auto A = random_dense<float, DenseMatrix<>>({20, 64}, 6);
  for (std::int64_t row = 0; row < 20; ++row)
    for (const std::int64_t column : {0, 1, 2, 17, 40})
      A.values()(row * 64 + column) = std::numeric_limits<float>::quiet_NaN();
  const auto expect_rows = [&](const auto& stored) {
    const Tensor<float, DenseMatrix<>, Cuda> C({20, 32});
    assign(C(i, j), stored.template copy_to<Cuda>()(i, k) * B(k, j)).template use<gpu::NmByBlocks>().run();
    const auto result = C.copy_to<Host>();
    for (std::int64_t row = 0; row < 20; ++row)
      EXPECT_EQ(result.values()(row * 32), A.values()(row * 64 + 3));
  };
  expect_rows(A);
  expect_rows(convert<DenseMatrix<ColumnMajor>>(A));
}

/// Tensor cores are faster for large products of floats, and not there for double.
TEST(CudaNofMByBlocks, IsChosenWhereItIsFaster) {
  const auto kernel = [&]<class Value>(Value, const Extents<3>& shape) {
    const auto [m, n, inner] = shape;
    const Tensor<Value, DenseMatrix<>, Cuda> A({m, inner}), C({m, n});
    const Tensor<Value, NM<16, 32, 32>, Cuda> B({inner, n});
    return kernel_of(assign(C(i, j), A(i, k) * B(k, j)).with_constant_operands());
  };
  EXPECT_EQ(kernel(0.0f, {512, 512, 512}), gpu::NmByBlocks::name);
  EXPECT_EQ(kernel(0.0f, {4096, 4096, 4096}), gpu::NmByGathering::name);
  EXPECT_EQ(kernel(0.0, {512, 512, 512}), gpu::NmByBlocks::name);
}

}  // namespace
}  // namespace sporos::test
