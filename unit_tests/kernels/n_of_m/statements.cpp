// SPDX-License-Identifier: Apache-2.0
/// @file statements.cpp
/// N:M sparse tensors as operands and results of statements on the host, against the same statements of dense
/// ones.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>

#include "reference.hpp"

namespace sporos::test::n_of_m {
namespace {

using namespace sporos::indices;
using Dense2 = DenseMatrix<>;

/// Small integers, a third of them zero, so that sums are exact.
Tensor<double, Dense2> numbers(const Extents<2>& extents, int seed) {
  Tensor<double, Dense2> out(extents);
  for (std::int64_t at = 0; at < out.nnz(); ++at)
    out.values()(static_cast<std::size_t>(at)) =
        static_cast<double>((at * 37 + seed * 11) % 9 - 3) * (at % 3 != 0);
  return out;
}

template <TensorFormat F>
void expect_statements(const Extents<2>& extents) {
  SCOPED_TRACE(format_name<F>() + ", " + to_string(extents));
  const auto B = prune<F>(numbers(extents, 1));
  const auto dense_B = convert<Dense2>(B);
  const auto A = numbers({5, extents[0]}, 2), D = numbers({extents[1], 6}, 3), E = numbers(extents, 4);
  const auto expect_same = [](const auto& result, const auto& expected) {
    EXPECT_NO_THROW(validate(result));
    EXPECT_TRUE(same(table(convert<CSR<>>(convert<Dense2>(result))), table(convert<CSR<>>(expected))));
  };
  const Tensor<double, Dense2> left({5, extents[1]}), left_expected({5, extents[1]});
  left(i, j) = A(i, k) * B(k, j);
  left_expected(i, j) = A(i, k) * dense_B(k, j);
  expect_same(left, left_expected);
  const Tensor<double, Dense2> right({extents[0], 6}), right_expected({extents[0], 6});
  right(i, j) = B(i, k) * D(k, j);
  right_expected(i, j) = dense_B(i, k) * D(k, j);
  expect_same(right, right_expected);
  const Tensor<double, Dense2> sampled(extents), sampled_expected(extents);
  sampled(i, j) = B(i, j) * E(i, j);
  sampled_expected(i, j) = dense_B(i, j) * E(i, j);
  expect_same(sampled, sampled_expected);
  // Results whose pattern fits.
  Tensor<double, F> result(extents);
  result(i, j) = B(i, j) * E(i, j);
  expect_same(result, sampled_expected);
  auto again = plan(assign(result(i, j), 2.0 * B(i, j)));
  again.run();
  again.run();
  sampled_expected(i, j) = 2.0 * dense_B(i, j);
  expect_same(result, sampled_expected);
  const Tensor<double, CSR<>> rows(extents);
  rows(i, j) = B(i, j) * E(i, j);
  sampled_expected(i, j) = dense_B(i, j) * E(i, j);
  expect_same(rows, sampled_expected);
  double sum = 0;
  const Tensor<double, Scalar> total;
  total() = B(i, j) * E(i, j);
  for (const auto& [coordinate, value] : table(convert<CSR<>>(sampled_expected))) sum += value;
  EXPECT_EQ(total.values()(0), sum);
}

TEST(NofMStatements, AreThoseOfDenseTensors) {
  for (const Extents<2>& extents : {Extents<2>{16, 24}, {7, 5}, {1, 1}, {33, 70}, {0, 3}, {3, 0}}) {
    expect_statements<NM<2, 4>>(extents);
    expect_statements<NM<3, 5, 2>>(extents);
    expect_statements<NM<1, 3, 4, 1>>(extents);
    expect_statements<TwoFour>(extents);
  }
}

TEST(NofMStatements, RefuseAResultThatDoesNotFitAndLeaveItAsItWas) {
  const auto full = numbers({8, 8}, 1);
  const auto B = prune<NM<2, 4>>(full);
  const auto A = prune<NM<2, 4>>(numbers({8, 8}, 6));
  const auto before = table(A);
  const auto message = message_of<FormatError>([&] { A(i, j) = B(i, k) * full(k, j); });
  EXPECT_TRUE(contains(message, "more than 2 of 4"));
  EXPECT_TRUE(same(table(A), before));
}

}  // namespace
}  // namespace sporos::test::n_of_m
