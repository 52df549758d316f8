// SPDX-License-Identifier: Apache-2.0
/// @file spmm.cpp
/// Products of sparse and dense matrices on CUDA cores: against sums in double, and against the host's where
/// they are exact.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sporos/sporos.hpp>
#include <vector>

#include "dense_products.hpp"
#include "inputs.hpp"
#include "kernels/kernel_of.hpp"

namespace sporos::test {
namespace {

using sporos::indices::i;
using sporos::indices::j;
using sporos::indices::k;

/// A dense matrix of which one in `of` elements is not zero.
template <class Value>
Tensor<Value, DenseMatrix<>> thinned(const Extents<2>& extents, unsigned of, unsigned seed) {
  auto out = random_dense<Value, DenseMatrix<>>(extents, seed);
  std::mt19937_64 draw(seed + 1);
  for (std::int64_t at = 0; at < out.nnz(); ++at)
    if (draw() % of != 0) out.values()(at) = Value{};
  return out;
}

/// C = A B or C += A B, as a statement and as a plan that is run twice.
/// @tparam AF          the format of A
/// @tparam Transposed  whether A is stored and indexed as its transpose
/// @tparam BF          the format of B
/// @param shape        m, n, k of A B
template <class Kernel, class Value, class Out, class AF, bool Transposed, class BF>
void expect_product(const Extents<3>& shape, unsigned of = 5, bool accumulates = false) {
  const auto [m, n, inner] = shape;
  SCOPED_TRACE(text(value_name<Value>(), ", ", format_name<AF>(), ", ", Transposed, ", ", format_name<BF>(),
                    ", ", to_string(shape)));
  const auto dense_A = thinned<Value>(Transposed ? Extents<2>{inner, m} : Extents<2>{m, inner}, of, 1);
  const auto A = convert<AF>(dense_A).template copy_to<Cuda>();
  const auto B = random_dense<Value, BF>({inner, n}, 2);
  const auto device_B = B.template copy_to<Cuda>();
  const auto before = random_dense<Out, DenseMatrix<>>({m, n}, 3);
  auto wide_A = convert<DenseMatrix<>, double>(dense_A);
  if constexpr (Transposed) wide_A = transpose(wide_A);
  const auto wide_B = convert<DenseMatrix<>, double>(B);
  const auto check = [&](const auto& run) {
    const auto C = before.template copy_to<Cuda>();
    if (!accumulates && C.nnz() > 0)
      Kokkos::deep_copy(C.values(), static_cast<Out>(std::numeric_limits<float>::quiet_NaN()));
    const auto start = [&](const auto& statement) {
      const auto by_kernel = statement.template use<Kernel>();
      accumulates ? run(by_kernel.accumulate()) : run(by_kernel);
    };
    if constexpr (Transposed)
      start(assign(C(i, j), A(k, i) * device_B(k, j)));
    else
      start(assign(C(i, j), A(i, k) * device_B(k, j)));
    EXPECT_EQ(
        (wrong_sums<Value, Out>(wide_A, wide_B, accumulates ? &before : nullptr, C.template copy_to<Host>())),
        0);
  };
  check([](const auto& statement) { statement.run(); });
  check([&](const auto& statement) {
    auto product = plan(statement);
    product.run();
    if (!accumulates) product.run();
  });
}

/// Tails of every group, panel and pack; empty matrices.
const std::vector<Extents<3>> shapes = {{1, 1, 1},      {7, 3, 5},     {130, 8, 33},   {65, 32, 100},
                                        {33, 64, 517},  {40, 100, 90}, {21, 257, 64},  {300, 256, 129},
                                        {50, 520, 300}, {9, 12, 2100}, {5, 1030, 200}, {0, 5, 7},
                                        {5, 0, 7},      {5, 7, 0}};

template <class Kernel, class Value, class Out, class AF, bool Transposed, class BF>
void expect_products() {
  for (const auto& shape : shapes) expect_product<Kernel, Value, Out, AF, Transposed, BF>(shape);
  expect_product<Kernel, Value, Out, AF, Transposed, BF>({30, 40, 900}, 1);
  expect_product<Kernel, Value, Out, AF, Transposed, BF>({130, 270, 300}, 5, true);
}

using IntCsr = CSR<std::int32_t, std::int32_t>;

TEST(CudaSpmm, OfEachValue) {
  expect_products<gpu::SpmmByGroups, double, double, CSR<>, false, DenseMatrix<>>();
  expect_products<gpu::SpmmByGroups, float, float, IntCsr, false, DenseMatrix<>>();
  expect_products<gpu::SpmmByGroups, half, half, IntCsr, false, DenseMatrix<>>();
  expect_products<gpu::SpmmByGroups, bfloat16, bfloat16, IntCsr, false, DenseMatrix<>>();
}
TEST(CudaSpmm, ResultsOfOtherTypes) {
  expect_products<gpu::SpmmByGroups, half, float, IntCsr, false, DenseMatrix<>>();
  expect_products<gpu::SpmmByGroups, float, double, IntCsr, false, DenseMatrix<>>();
}
TEST(CudaSpmm, OfEachLayout) {
  expect_products<gpu::SpmmByGroups, float, float, IntCsr, true, DenseMatrix<>>();
  expect_products<gpu::SpmmByGroups, float, float, CSC<std::int32_t, std::int32_t>, false,
                  DenseMatrix<ColumnMajor>>();
  expect_products<gpu::SpmmByGroups, half, half, CSC<>, true, DenseMatrix<ColumnMajor>>();
}

/// Several blocks for a tile, several tiles for a block; empty tiles.
template <class Value, class Out, class AF, bool Transposed, class BF>
void expect_products_on_tensor_cores() {
  using Kernel = gpu::SpmmOnTensorCores;
  expect_products<Kernel, Value, Out, AF, Transposed, BF>();
  expect_product<Kernel, Value, Out, AF, Transposed, BF>({256, 256, 1500}, 2);
  expect_product<Kernel, Value, Out, AF, Transposed, BF>({260, 70, 3000}, 10, true);
  expect_product<Kernel, Value, Out, AF, Transposed, BF>({3000, 600, 200}, 20);
  expect_product<Kernel, Value, Out, AF, Transposed, BF>({700, 130, 1000}, 300);
}
TEST(CudaSpmm, OnTensorCores) {
  expect_products_on_tensor_cores<half, half, IntCsr, false, DenseMatrix<>>();
  expect_products_on_tensor_cores<bfloat16, float, CSR<>, false, DenseMatrix<>>();
  expect_products_on_tensor_cores<half, float, IntCsr, true, DenseMatrix<ColumnMajor>>();
}

template <class Value>
void expect_same_as_host(const Entries<Value, 2>& entries, std::int64_t columns) {
  const auto A = assemble<IntCsr>(entries);
  const auto X = filled<Value, DenseMatrix<>>({A.extent(1), columns}, 13);
  const Tensor<Value, DenseMatrix<>> Y({A.extent(0), columns});
  Y(i, j) = A(i, k) * X(k, j);
  const auto device_A = A.template copy_to<Cuda>();
  const auto device_X = X.template copy_to<Cuda>();
  const auto device_Y = poisoned<Value, DenseMatrix<>>({A.extent(0), columns});
  const auto statement = assign(device_Y(i, j), device_A(i, k) * device_X(k, j));
  EXPECT_EQ(kernel_of(statement), "SpMM by groups of lanes");
  statement.run();
  expect_equal_tensors(Y, device_Y);
  Kokkos::deep_copy(device_Y.values(), Value(-77));
  auto product = plan(statement);
  for (int run = 0; run < 3; ++run) product.run();
  expect_equal_tensors(Y, device_Y);
}

TEST(CudaSpmm, LongAndEmptyRows) {
  for (const std::int64_t columns : {1, 3, 32, 128})
    expect_same_as_host(entries_with_a_long_row<double>({9001, 4001}, 7000, 4500, 3000, 12), columns);
  expect_same_as_host(entries_with_a_long_row<std::int64_t>({9, 40001}, 30, 8, 30000, 12), 24);
  expect_same_as_host(entries_with_a_long_row<std::int32_t>({1, 3'000'001}, 0, 0, 2'000'000, 12), 5);
  expect_same_as_host(entries_with_a_long_row<Kokkos::complex<double>>({70, 5001}, 900, 3, 4000, 12), 6);
  expect_same_as_host(entries_with_a_long_row<double>({1'000'000, 50}, 10, 999'999, 10, 12), 7);
}

TEST(CudaSpmm, PlansReadNewValuesUnlessTheyAreConstant) {
  const auto A = convert<IntCsr>(thinned<half>({200, 300}, 3, 1)).copy_to<Cuda>();
  const auto B = random_dense<half, DenseMatrix<>>({300, 65}, 2).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> C({200, 65}), kept({200, 65}), by_groups({200, 65});
  auto product = plan(assign(C(i, j), A(i, k) * B(k, j)).use<gpu::SpmmOnTensorCores>());
  auto constant =
      plan(assign(kept(i, j), A(i, k) * B(k, j)).with_constant_operands().use<gpu::SpmmOnTensorCores>());
  product.run();
  constant.run();
  expect_equal_tensors(C.copy_to<Host>(), kept.copy_to<Host>());
  Kokkos::deep_copy(A.values(), half(2.0f));
  Kokkos::deep_copy(B.values(), half(3.0f));
  product.run();
  constant.run();
  assign(by_groups(i, j), A(i, k) * B(k, j)).use<gpu::SpmmByGroups>().run();
  expect_equal_tensors(C.copy_to<Host>(), by_groups.copy_to<Host>());
  EXPECT_NE(kept.copy_to<Host>().values()(0), C.copy_to<Host>().values()(0));
}

TEST(CudaSpmm, LargeDenserProductsAreComputedOnTensorCores) {
  const auto A = convert<IntCsr>(thinned<half>({1024, 1024}, 4, 1)).copy_to<Cuda>();
  const Tensor<half, DenseMatrix<>, Cuda> B({1024, 256}), C({1024, 256});
  const auto product = plan(assign(C(i, j), A(i, k) * B(k, j)).with_constant_operands());
  EXPECT_EQ(product.candidate(), "SpMM by tiles on tensor cores");
}

TEST(CudaSpmm, ResultsAreTheSameFromRunToRun) {
  const auto A = convert<IntCsr>(thinned<float>({20, 40000}, 2, 1)).copy_to<Cuda>();
  const auto B = random_dense<float, DenseMatrix<>>({40000, 70}, 2).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> C({20, 70});
  C(i, j) = A(i, k) * B(k, j);
  const auto first = C.copy_to<Host>();
  auto product = plan(assign(C(i, j), A(i, k) * B(k, j)));
  for (int run = 0; run < 10; ++run) {
    Kokkos::deep_copy(C.values(), -1.0f);
    if (run % 2 == 0)
      product.run();
    else
      C(i, j) = A(i, k) * B(k, j);
    expect_equal_tensors(first, C.copy_to<Host>());
  }
}

TEST(CudaSpmm, EpiloguesAndAliases) {
  const auto host_A = convert<IntCsr>(thinned<double>({60, 60}, 4, 1));
  const auto host_B = random_dense<double, DenseMatrix<>>({60, 60}, 2);
  const auto host_s = random_dense<double, DenseMatrix<>>({1, 60}, 3);
  const Tensor<double, DenseVector> s({60});
  for (std::int64_t at = 0; at < 60; ++at) s.values()(at) = host_s.values()(at);
  const Tensor<double, DenseMatrix<>> C({60, 60});
  C(i, j) = s(i) * sum(k, host_A(i, k) * host_B(k, j)) - host_B(i, j);
  const auto A = host_A.copy_to<Cuda>();
  const auto B = host_B.copy_to<Cuda>();
  const auto device_s = s.copy_to<Cuda>();
  const auto statement = assign(B(i, j), device_s(i) * sum(k, A(i, k) * B(k, j)) - B(i, j));
  EXPECT_EQ(kernel_of(statement), "SpMM by groups of lanes");
  statement.run();
  const auto result = B.copy_to<Host>();
  for (std::int64_t at = 0; at < C.nnz(); ++at) EXPECT_NEAR(result.values()(at), C.values()(at), 1e-12);
}

/// An infinity reaches the rows that store something in its row of B, and no others.
template <class Kernel, class Value>
void expect_infinities() {
  const Tensor<Value, DenseMatrix<>> dense({70, 70});
  for (std::int64_t row = 0; row < 70; ++row)
    for (const std::int64_t column : {std::int64_t{0}, 1 + row % 3, 40 + row % 7})
      dense.values()(row * 70 + column) = Value(1.0f);
  const auto A = convert<IntCsr>(dense).template copy_to<Cuda>();
  const Tensor<Value, DenseMatrix<>> B({70, 65});
  for (std::int64_t column = 0; column < 65; ++column)
    B.values()(2 * 65 + column) = Value(std::numeric_limits<float>::infinity());
  const Tensor<float, DenseMatrix<>, Cuda> C({70, 65});
  const auto device_B = B.template copy_to<Cuda>();
  assign(C(i, j), A(i, k) * device_B(k, j)).template use<Kernel>().run();
  const auto result = C.copy_to<Host>();
  for (std::int64_t row = 0; row < 70; ++row)
    for (std::int64_t column = 0; column < 65; ++column)
      EXPECT_EQ(result.values()(row * 65 + column),
                1 + row % 3 == 2 ? std::numeric_limits<float>::infinity() : 0.0f);
}
TEST(CudaSpmm, InfinitiesReachWhatTheyAreMultipliedBy) {
  expect_infinities<gpu::SpmmByGroups, float>();
  expect_infinities<gpu::SpmmOnTensorCores, half>();
}

}  // namespace
}  // namespace sporos::test
