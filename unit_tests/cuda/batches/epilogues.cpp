// SPDX-License-Identifier: Apache-2.0
/// @file epilogues.cpp
/// Batches of products with one N:M or 2:4 matrix and an epilogue on the GPU, which are the rows of one
/// product: numbers are small integers, whose sums are exact in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <sstream>

#include "kernels/batches/products.hpp"
#include "kernels/kernel_of.hpp"

namespace sporos::test::batches {
namespace {

using namespace sporos::indices;

/// Y(b, i, j) from the sums of X(b, i, k) W(k, j), where X is stored so or as X(b, k, i), and W so or as
/// W(j, k): a bias and an activation, and operands of every number of modes added to what is there.
/// @param shape  batches, rows and columns of the results, and the summed extent
template <class Candidate, class Value, TensorFormat F, bool IsKMajor, bool IsTransposed = false>
void expect_epilogues(const std::array<std::int64_t, 4>& shape) {
  const auto [batches, rows, columns, inner] = shape;
  SCOPED_TRACE(text(Candidate::name, ", ", format_name<F>(), ", ", batches, " x ", rows, " x ", columns,
                    " x ", inner));
  const auto X = numbers<Value, DenseTensor<3>>(
      IsKMajor ? Extents<3>{batches, inner, rows} : Extents<3>{batches, rows, inner}, 1);
  const auto W = prune<F>(numbers<Value, DenseMatrix<>>(
      IsTransposed ? Extents<2>{columns, inner} : Extents<2>{inner, columns}, 2));
  const auto bias = numbers<accumulate_t<Value>, DenseVector>({columns}, 3);
  const auto of_batch = numbers<Value, DenseVector>({batches}, 4);
  const auto of_row = numbers<Value, DenseMatrix<>>({batches, rows}, 5);
  const auto of_all = numbers<Value, DenseTensor<3>>({batches, rows, columns}, 6);
  const Tensor<Value, DenseTensor<3>> poisoned({batches, rows, columns});
  Kokkos::deep_copy(poisoned.values(), static_cast<Value>(std::numeric_limits<float>::quiet_NaN()));
  const auto Y = poisoned.template copy_to<Cuda>();
  const auto x = X.template copy_to<Cuda>();
  const auto w = W.template copy_to<Cuda>();
  const auto p = bias.template copy_to<Cuda>();
  const auto s = of_batch.template copy_to<Cuda>();
  const auto t = of_row.template copy_to<Cuda>();
  const auto d = of_all.template copy_to<Cuda>();
  const auto terms = [&] {
    if constexpr (IsKMajor)
      return x(b, k, i) * w(k, j);
    else if constexpr (IsTransposed)
      return x(b, i, k) * w(j, k);
    else
      return x(b, i, k) * w(k, j);
  }();

  // What is expected, on the host.
  const auto number = [](auto value) { return static_cast<double>(static_cast<float>(value)); };
  const auto stored = [&](double value) { return number(static_cast<Value>(static_cast<float>(value))); };
  const auto dense = convert<DenseMatrix<>, double>(W);
  const Tensor<double, DenseTensor<3>> first({batches, rows, columns}), second({batches, rows, columns});
  for (std::int64_t batch = 0; batch < batches; ++batch)
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column) {
        double sum = 0;
        for (std::int64_t at = 0; at < inner; ++at)
          sum += number(X.values()(IsKMajor ? (batch * inner + at) * rows + row
                                            : (batch * rows + row) * inner + at)) *
                 dense.values()(IsTransposed ? column * inner + at : at * columns + column);
        const std::int64_t line = batch * rows + row, place = line * columns + column;
        first.values()(place) = stored(std::max(sum + number(bias.values()(column)), 0.0));
        second.values()(place) =
            stored(first.values()(place) + std::max(sum, 0.0) * number(of_batch.values()(batch)) +
                   number(of_row.values()(line)) - number(of_all.values()(place)));
      }

  const auto activated = assign(Y(b, i, j), relu(sum(k, terms) + p(j))).template use<Candidate>();
  std::ostringstream out;
  out << explain(activated);
  EXPECT_NE(out.str().find(text("batches: ", batches, ", as the rows of one product")), std::string::npos)
      << out.str();
  activated.run();
  expect_same_values(Y.template copy_to<Host>(), first);
  assign(Y(b, i, j), relu(sum(k, terms)) * s(b) + t(b, i) - d(b, i, j))
      .accumulate()
      .template use<Candidate>()
      .run();
  expect_same_values(Y.template copy_to<Host>(), second);
}

/// Batches whose rows fill tiles, that end within one, and of one row; without terms, and none.
template <class Candidate, class Value, TensorFormat F, bool IsKMajor>
void expect_epilogues_of_matrices() {
  for (const std::int64_t rows : {64, 33, 1})
    expect_epilogues<Candidate, Value, F, IsKMajor>({3, rows, 130, 96});
  expect_epilogues<Candidate, Value, F, IsKMajor>({2, 5, 7, 0});
  expect_epilogues<Candidate, Value, F, IsKMajor>({0, 5, 7, 8});
}

TEST(CudaBatchesWithEpilogues, OfNmProductsOnTensorCores) {
  expect_epilogues_of_matrices<gpu::NmByGathering, half, NM<2, 8, 32>, false>();
  expect_epilogues_of_matrices<gpu::NmByGathering, half, NM<2, 8, 32>, true>();
  expect_epilogues_of_matrices<gpu::NmByGathering, float, NM<2, 8, 32>, false>();
  expect_epilogues_of_matrices<gpu::NmByGathering, half, NM<2, 8, 128>, false>();
  expect_epilogues<gpu::NmByGathering, half, NM<2, 8, 32>, false>({50, 100, 520, 64});
  expect_epilogues<gpu::NmByGathering, half, NM<2, 8, 8, 1>, false, true>({3, 40, 130, 96});
}
TEST(CudaBatchesWithEpilogues, OfNmProductsOnCudaCores) {
  expect_epilogues_of_matrices<gpu::NmByGathering, double, NM<2, 4>, false>();
  expect_epilogues_of_matrices<gpu::NmByBlocks, float, NM<2, 8, 32>, false>();
  expect_epilogues_of_matrices<gpu::NmByBlocks, float, NM<2, 8, 32>, true>();
  expect_epilogues<gpu::NmByBlocks, float, NM<2, 8, 32>, false>({4, 300, 1024, 300});
}
TEST(CudaBatchesWithEpilogues, OfTwoFourProducts) {
  for (const std::int64_t rows : {64, 33, 1})
    expect_epilogues<gpu::TwoFourOnTensorCores, half, TwoFour, false, true>({3, rows, 130, 96});
  expect_epilogues<gpu::TwoFourOnTensorCores, half, TwoFour, false, true>({5, 100, 520, 260});
  expect_epilogues<gpu::TwoFourOnTensorCores, half, TwoFour, false, true>({2, 5, 7, 0});
}
TEST(CudaBatchesWithEpilogues, OfTwoFourProductsByWarps) {
  for (const std::int64_t rows : {64, 33, 1})
    expect_epilogues<gpu::TwoFourByWarps, half, TwoFour, false, true>({3, rows, 130, 96});
  expect_epilogues<gpu::TwoFourByWarps, half, TwoFour, false, true>({5, 100, 520, 260});
  expect_epilogues<gpu::TwoFourByWarps, half, TwoFour, false, true>({2, 5, 7, 0});
}

/// A pass of its own over the sums would take longer.
TEST(CudaBatchesWithEpilogues, AreComputedAtOnceUnlessForced) {
  const Tensor<half, DenseTensor<3>, Cuda> X({4, 256, 2048}), Y({4, 256, 2048});
  const Tensor<float, DenseVector, Cuda> p({2048});
  const Tensor<half, NM<16, 32, 32>, Cuda> N({2048, 2048});
  const Tensor<half, TwoFour, Cuda> T({2048, 2048});
  EXPECT_EQ(kernel_of(assign(Y(b, i, j), relu(sum(k, X(b, i, k) * N(k, j)) + p(j)))),
            gpu::NmByGathering::name);
  EXPECT_EQ(kernel_of(assign(Y(b, i, j), relu(X(b, i, k) * N(k, j) + p(j)))), gpu::NmByGathering::name);
  EXPECT_EQ(kernel_of(assign(Y(b, i, j), relu(sum(k, X(b, i, k) * T(j, k)) + p(j)))),
            gpu::TwoFourOnTensorCores::name);
}

}  // namespace
}  // namespace sporos::test::batches
