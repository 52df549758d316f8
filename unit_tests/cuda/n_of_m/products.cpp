// SPDX-License-Identifier: Apache-2.0
/// @file products.cpp
/// N:M products by gathering against sums in double on the host: formats, values, layouts, shapes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <vector>

#include "products.hpp"

namespace sporos::test {
namespace {

using sporos::indices::i;
using sporos::indices::j;
using sporos::indices::k;

template <class Value, class Out, class F>
void expect_products() {
  expect_nm_products<gpu::NmByGathering, Value, Out, F>();
}
template <class Value, class Out, class F, class Layout>
void expect_product(const Extents<3>& shape, bool accumulates = false) {
  expect_nm_product<gpu::NmByGathering, Value, Out, F, Layout>(shape, accumulates);
}

TEST(CudaNofM, HalfOnTensorCores) {
  expect_products<half, half, NM<16, 32, 32>>();
  expect_products<half, half, NM<4, 32, 64>>();
}
TEST(CudaNofM, HalfOnTensorCoresWithWindowsThatDoNotDivideStages) {
  expect_products<half, float, NM<2, 5, 96>>();
  expect_products<half, half, NM<200, 256, 32>>();
}
/// Units of a tile's columns, whose kept rows alone are copied to shared memory; few stages and many.
TEST(CudaNofM, WideUnits) {
  expect_products<half, half, NM<16, 32, 128>>();
  expect_products<bfloat16, float, NM<8, 32, 256, 1>>();
  expect_products<half, half, NM<5, 7, 128, 1>>();
  expect_product<half, half, NM<16, 32, 128>, RowMajor>({260, 300, 5000});
  expect_product<half, float, NM<16, 32, 128>, ColumnMajor>({60, 200, 5000}, true);
  expect_product<half, half, NM<8, 32, 128>, RowMajor>({4400, 1500, 300});
}
/// So many tiles, of an odd number of rows of tiles, that blocks compute several.
TEST(CudaNofM, ResultsThatFillTheGpu) {
  expect_product<half, half, NM<4, 32, 64>, RowMajor>({4400, 1500, 300});
  expect_product<half, half, NM<16, 32, 32>, ColumnMajor>({4400, 1500, 70});
  expect_product<float, float, NM<3, 4, 32>, RowMajor>({4400, 1500, 140});
  expect_product<float, float, NM<16, 32, 32>, RowMajor>({4224, 512, 700});
  expect_product<float, float, NM<4, 32, 64, 1>, ColumnMajor>({4400, 1500, 300});
}
TEST(CudaNofM, TransposedBfloat16OnTensorCores) {
  expect_products<bfloat16, bfloat16, NM<2, 4, 32, 1>>();
  expect_products<bfloat16, float, NM<1, 1, 32, 1>>();
}
TEST(CudaNofM, ElementsOneByOne) {
  expect_products<bfloat16, bfloat16, NM<2, 4>>();
  expect_products<half, half, NM<2, 4>>();
  expect_products<float, float, NM<3, 5, 1, 1>>();
}
TEST(CudaNofM, FloatsInUnits) {
  expect_products<float, float, NM<16, 32, 32>>();
  expect_products<float, double, NM<7, 16, 12>>();
}
TEST(CudaNofM, Doubles) {
  expect_products<double, double, NM<1, 8, 16>>();
  expect_products<double, double, NM<100, 256, 3, 1>>();
}

TEST(CudaNofM, FloatsSplitInHalfs) {
  expect_products<float, float, NM<4, 32, 64, 1>>();
  expect_products<float, float, NM<3, 4, 32>>();
}

/// What splitting in halfs cannot hold is computed on CUDA cores: the same as the loop nest's, to the bit
/// where it is infinite or not a number.
TEST(CudaNofM, FloatsOfTooWideARangeAreNotSplit) {
  using Format = NM<16, 32, 32>;
  const auto dense_B = random_dense<float, DenseMatrix<>>({128, 64}, 8);
  const auto dense_A = random_dense<float, DenseMatrix<>>({70, 128}, 9);
  const auto expect = [&](bool in_a, const std::vector<float>& values) {
    const auto A = dense_A.clone(), unpruned = dense_B.clone();
    const auto& changed = in_a ? A : unpruned;
    for (std::size_t at = 0; at < values.size(); ++at)
      changed.values()(5 * (in_a ? 128 : 64) + 3 + at) = values[at];
    const auto B = prune<Format>(unpruned);
    const Tensor<float, DenseMatrix<>> expected({70, 64});
    assign(expected(i, j), A(i, k) * B(k, j)).run();
    const Tensor<float, DenseMatrix<>, Cuda> C({70, 64});
    assign(C(i, j), A.copy_to<Cuda>()(i, k) * B.copy_to<Cuda>()(k, j)).use<gpu::NmByGathering>().run();
    const auto result = C.copy_to<Host>();
    const auto sizes = Tensor<float, DenseMatrix<>>({70, 64});
    assign(sizes(i, j), map([](float x) { return std::abs(x); }, A(i, k)) *
                            map([](float x) { return std::abs(x); }, B(k, j)))
        .run();
    for (std::int64_t at = 0; at < expected.nnz(); ++at) {
      const float here = result.values()(at), there = expected.values()(at);
      if (std::isfinite(there))
        EXPECT_NEAR(here, there, sizes.values()(at) * 300 * std::ldexp(1.0, -24)) << at;
      else if (std::isnan(there))
        EXPECT_TRUE(std::isnan(here)) << at;
      else
        EXPECT_EQ(here, there) << at;
    }
  };
  const float infinity = std::numeric_limits<float>::infinity();
  for (const bool in_a : {true, false}) {
    expect(in_a, {infinity});
    expect(in_a, {-infinity, infinity});
    expect(in_a, {std::numeric_limits<float>::quiet_NaN()});
    expect(in_a, {1e30f});
    expect(in_a, {3e38f});
    expect(in_a, {1e-30f, 1e-38f, 1e-44f});
  }
}

/// By blocks, whose operands are packed and copied only then: of every layout and size of tiles, in batches,
/// added to the result; then of a range that can be split again.
TEST(CudaNofM, FloatsOfTooWideARangeAreComputedByBlocks) {
  using Format = NM<8, 32, 32>;
  const auto expect = [&]<class Layout>(Layout, const Extents<3>& shape, bool accumulates) {
    const auto [m, n, inner] = shape;
    SCOPED_TRACE(to_string(shape));
    const auto A = random_dense<float, DenseMatrix<Layout>>({m, inner}, 1);
    const auto B = prune<Format>(random_dense<float, DenseMatrix<>>({inner, n}, 2));
    const auto before = random_dense<float, DenseMatrix<>>({m, n}, 3);
    for (std::int64_t at = 0; at < A.nnz(); ++at)
      if (at % 7 != 0) A.values()(at) = std::ldexp(A.values()(at), -40);
    const auto device_A = A.template copy_to<Cuda>();
    const auto device_B = B.template copy_to<Cuda>();
    const auto C = before.template copy_to<Cuda>();
    const auto statement =
        assign(C(i, j), device_A(i, k) * device_B(k, j)).template use<gpu::NmByGathering>();
    auto product = plan(accumulates ? statement.accumulate() : statement);
    product.run();
    EXPECT_EQ((wrong_sums<float, float>(convert<DenseMatrix<>, double>(A), convert<DenseMatrix<>, double>(B),
                                        accumulates ? &before : nullptr, C.template copy_to<Host>())),
              0);
    const auto plain = random_dense<float, DenseMatrix<Layout>>({m, inner}, 4);
    Kokkos::deep_copy(device_A.values(), plain.template copy_to<Cuda>().values());
    Kokkos::deep_copy(C.values(), before.template copy_to<Cuda>().values());
    product.run();
    EXPECT_EQ(
        (wrong_sums<float, float>(convert<DenseMatrix<>, double>(plain), convert<DenseMatrix<>, double>(B),
                                  accumulates ? &before : nullptr, C.template copy_to<Host>())),
        0);
  };
  for (const std::int64_t inner : {300, 303}) {
    expect(RowMajor{}, {200, 130, inner}, false);
    expect(ColumnMajor{}, {200, 130, inner}, true);
    expect(ColumnMajor{}, {201, 130, inner}, false);
    expect(RowMajor{}, {2052, 900, inner}, true);
    expect(ColumnMajor{}, {2053, 900, inner}, false);
  }
}

TEST(CudaNofM, FloatsOfAnyMagnitudeAreSplit) {
  using Format = NM<16, 32, 32>;
  for (const int of_a : {-140, -60, 0, 60, 120})
    for (const int of_b : {-140, -60, 0, 60, 120}) {
      if (of_a + of_b > 120 || of_a + of_b < -120) continue;
      const auto A = random_dense<float, DenseMatrix<>>({30, 64}, 8),
                 unpruned = random_dense<float, DenseMatrix<>>({64, 32}, 9);
      for (std::int64_t at = 0; at < A.nnz(); ++at)
        A.values()(at) = std::ldexp(std::ldexp(std::round(std::ldexp(A.values()(at), 4)), -4), of_a);
      for (std::int64_t at = 0; at < unpruned.nnz(); ++at)
        unpruned.values()(at) =
            std::ldexp(std::ldexp(std::round(std::ldexp(unpruned.values()(at), 4)), -4), of_b);
      const auto B = prune<Format>(unpruned);
      const Tensor<float, DenseMatrix<>> expected({30, 32});
      assign(expected(i, j), A(i, k) * B(k, j)).run();
      const Tensor<float, DenseMatrix<>, Cuda> C({30, 32});
      assign(C(i, j), A.copy_to<Cuda>()(i, k) * B.copy_to<Cuda>()(k, j)).use<gpu::NmByGathering>().run();
      expect_equal_tensors(expected, C);  // few bits, so that sums are exact
    }
}

TEST(CudaNofM, PlansReadNewValuesUnlessTheyAreConstant) {
  const auto dense = random_dense<half, DenseMatrix<>>({96, 64}, 5).copy_to<Cuda>();
  const auto B = prune<NM<8, 16, 32>>(dense);
  const auto A = random_dense<half, DenseMatrix<>>({40, 96}, 6).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> C({40, 64}), kept({40, 64});
  auto product = plan(assign(C(i, j), A(i, k) * B(k, j)).use<gpu::NmByGathering>());
  auto constant =
      plan(assign(kept(i, j), A(i, k) * B(k, j)).with_constant_operands().use<gpu::NmByGathering>());
  product.run();
  constant.run();
  const auto before = C.copy_to<Host>();
  expect_equal_tensors(before, kept);
  Kokkos::deep_copy(A.values(), half(2.0f));
  product.run();
  constant.run();
  expect_equal_tensors(C.copy_to<Host>(), kept);
  Kokkos::deep_copy(B.values(), half(3.0f));
  product.run();
  constant.run();
  const auto after = C.copy_to<Host>(), old = kept.copy_to<Host>();
  EXPECT_EQ(after.values()(0), 48 * 6.0f);
  EXPECT_NE(old.values()(0), after.values()(0));
}

/// A NaN in a row of A's column that B does not keep, and in one where its unit is zero.
template <int L>
void expect_units_of_zeros_meet_nothing() {
  const Tensor<half, DenseMatrix<>> dense({32, L});
  for (std::int64_t column = 0; column < L; ++column) dense.values()(3 * L + column) = half(1.0f);
  const auto B = prune<NM<2, 4, L>>(dense).template copy_to<Cuda>();
  const auto A = random_dense<half, DenseMatrix<>>({20, 32}, 6);
  for (std::int64_t row = 0; row < 20; ++row)
    for (const std::int64_t column : {0, 1, 2, 17})
      A.values()(row * 32 + column) = half(std::numeric_limits<float>::quiet_NaN());
  const Tensor<float, DenseMatrix<>, Cuda> C({20, L});
  assign(C(i, j), A.copy_to<Cuda>()(i, k) * B(k, j)).template use<gpu::NmByGathering>().run();
  const auto result = C.copy_to<Host>();
  for (std::int64_t row = 0; row < 20; ++row)
    EXPECT_EQ(result.values()(row * L), static_cast<float>(A.values()(row * 32 + 3)));
}
TEST(CudaNofM, UnitsOfZerosMeetNothing) {
  expect_units_of_zeros_meet_nothing<32>();
  expect_units_of_zeros_meet_nothing<128>();
}

}  // namespace
}  // namespace sporos::test
