// SPDX-License-Identifier: Apache-2.0
/// @file products.hpp
/// Products of 2:4 sparse and dense matrices by a candidate, against sums in double on the host.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <vector>

#include "../dense_products.hpp"

namespace sporos::test {

/// C = A B or C += A B, or its transpose, for A in TwoFour.
/// @tparam Candidate     what computes it
/// @tparam F             the format of the dense factor
/// @tparam InnerIsFirst  whether the dense factor is B(k, j), not B(j, k)
/// @tparam AIsLeft       whether the result is A B, not its transpose
/// @param shape          m, n, k of A B
template <class Candidate, class Value, class Out, class F, bool InnerIsFirst, bool AIsLeft>
void expect_product(const Extents<3>& shape, bool accumulates = false) {
  using namespace sporos::indices;
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
    const auto by_kernel = statement.template use<Candidate>();
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
inline const std::vector<Extents<3>> shapes_of_weights = {
    {1, 1, 1},     {128, 64, 128},   {130, 70, 300},  {64, 128, 64},     {333, 417, 517}, {65, 33, 31},
    {8, 40, 4100}, {300, 200, 2048}, {256, 256, 384}, {4400, 1500, 90},  {1, 300, 129},   {0, 5, 7},
    {5, 0, 7},     {5, 7, 0},        {700, 530, 3},   {1000, 1100, 1792}};

template <class Candidate, class Value, class Out, class F, bool InnerIsFirst, bool AIsLeft>
void expect_products() {
  for (const auto& shape : shapes_of_weights)
    expect_product<Candidate, Value, Out, F, InnerIsFirst, AIsLeft>(shape);
  expect_product<Candidate, Value, Out, F, InnerIsFirst, AIsLeft>({130, 270, 300}, true);
  expect_product<Candidate, Value, Out, F, InnerIsFirst, AIsLeft>({260, 70, 3000}, true);
}

/// An infinity of B reaches the rows of A that keep its column, and no tail of any tile.
template <class Candidate>
void expect_infinities_stay() {
  using namespace sporos::indices;
  const Tensor<half, DenseMatrix<>> dense({70, 70});
  for (std::int64_t row = 0; row < 70; ++row)
    for (const std::int64_t column : {std::int64_t{0}, 1 + row % 3})
      dense.values()(row * 70 + column) = half(1.0f);
  const auto A = convert<TwoFour>(dense).copy_to<Cuda>();
  const Tensor<half, DenseMatrix<>> B({70, 65});
  for (std::int64_t column = 0; column < 65; ++column)
    B.values()(2 * 65 + column) = half(std::numeric_limits<float>::infinity());
  const Tensor<float, DenseMatrix<>, Cuda> C({70, 65});
  const auto device_B = B.copy_to<Cuda>();
  assign(C(i, j), A(i, k) * device_B(k, j)).template use<Candidate>().run();
  const auto result = C.copy_to<Host>();
  for (std::int64_t row = 0; row < 70; ++row)
    for (std::int64_t column = 0; column < 65; ++column)
      EXPECT_EQ(result.values()(row * 65 + column),
                1 + row % 3 == 2 ? std::numeric_limits<float>::infinity() : 0.0f);
}

}  // namespace sporos::test
