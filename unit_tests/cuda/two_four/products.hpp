// SPDX-License-Identifier: Apache-2.0
/// @file products.hpp
/// Products of 2:4 sparse and dense matrices by a candidate, against sums in double on the host.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "../dense_products.hpp"

namespace sporos::test {

/// C = A B or C += A B, or its transpose, for A in TwoFour.
/// @tparam F             the format of the dense factor
/// @tparam InnerIsFirst  whether the dense factor is B(k, j), not B(j, k)
/// @tparam AIsLeft       whether the result is A B, not its transpose
/// @param shape          m, n, k of A B
/// @param run_by         runs the statement that it is given
template <class Value, class Out, class F, bool InnerIsFirst, bool AIsLeft, class Run>
void expect_product_run_by(const Run& run_by, const Extents<3>& shape, bool accumulates = false) {
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
  const auto run = [&](const auto& statement) { run_by(accumulates ? statement.accumulate() : statement); };
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

/// The same as a statement, run by a candidate.
template <class Candidate, class Value, class Out, class F, bool InnerIsFirst, bool AIsLeft>
void expect_product(const Extents<3>& shape, bool accumulates = false) {
  expect_product_run_by<Value, Out, F, InnerIsFirst, AIsLeft>(
      [](const auto& statement) { statement.template use<Candidate>().run(); }, shape, accumulates);
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

/// Operands of one product of halfs, whose tiles are computed by kernels that are called with all their
/// constants.
class ProductOfTiles {
 public:
  /// @param shape  m, n, k, of which k is one that kernels read in place
  explicit ProductOfTiles(const Extents<3>& shape)
      : shape_(shape),
        A_(prune<TwoFour>(random_dense<half, DenseMatrix<>>({shape[0], shape[2]}, 1))),
        B_(random_dense<half, DenseMatrix<>>({shape[2], shape[1]}, 2)) {}

  /// Calls multiply(product, operands) and compares D = A B, or its transpose if it is not by rows.
  template <bool BIsByRows, bool DIsByRows, class Multiply>
  void expect(const Multiply& multiply) const {
    const auto [m, n, inner] = shape_;
    const Tensor<half, DenseMatrix<>, Cuda> D(DIsByRows ? Extents<2>{m, n} : Extents<2>{n, m});
    Kokkos::deep_copy(D.values(), half(std::numeric_limits<float>::quiet_NaN()));
    const gpu::TwoFourOperands<half> operands{device_A_.values().data(),
                                              device_A_.level<2>().indices.data(),
                                              inner,
                                              (BIsByRows ? by_rows_ : by_columns_).values().data(),
                                              BIsByRows ? inner : n,
                                              BIsByRows ? n : inner,
                                              BIsByRows ? n : inner};
    multiply(Product{m, n, inner, D.values().data(), false, {}}, operands);
    const auto as_stored = D.copy_to<Host>();
    const auto result = DIsByRows ? as_stored : transpose(as_stored);
    const Tensor<half, DenseMatrix<>>* const none = nullptr;
    EXPECT_EQ((wrong_sums<half, half>(wide_A_, wide_B_, none, result)), 0);
  }

 private:
  using Dense = Tensor<half, DenseMatrix<>, Cuda>;
  using Sparse = Tensor<half, TwoFour, Cuda>;
  using Statement = decltype(assign(std::declval<const Dense&>()(indices::i, indices::j),
                                    std::declval<const Sparse&>()(indices::i, indices::k) *
                                        std::declval<const Dense&>()(indices::k, indices::j)));
  using Product =
      gpu::TiledProduct<half, std::remove_cvref_t<decltype(epilogue_of(std::declval<const Statement&>()))>>;

  Extents<3> shape_;
  Tensor<half, TwoFour> A_;
  Tensor<half, DenseMatrix<>> B_;
  Tensor<double, DenseMatrix<>> wide_A_ = convert<DenseMatrix<>, double>(A_),
                                wide_B_ = convert<DenseMatrix<>, double>(B_);
  Sparse device_A_ = A_.copy_to<Cuda>();
  Dense by_rows_ = B_.copy_to<Cuda>(), by_columns_ = transpose(B_).copy_to<Cuda>();
};

}  // namespace sporos::test
