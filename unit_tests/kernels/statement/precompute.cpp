// SPDX-License-Identifier: Apache-2.0
/// @file precompute.cpp
/// Statements of which a part is computed first, into a tensor of its own.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>
#include <string>

#include "spread.hpp"

namespace sporos::test::precompute {
namespace {

using namespace sporos::indices;

template <class W>
void check_factor() {
  const auto B = spread<CSR<>>(30, 20, 3, 7), C = spread<CSR<>>(20, 25, 4, 5),
             D = spread<CSR<>>(30, 25, 6, 3);
  const Tensor<double, CSR<>> A({30, 25}), expected({30, 25});
  assign(expected(i, j), D(i, j) * (B(i, k) * C(k, j))).generic().run();
  const Tensor<double, W> part({30, 25});
  const auto both = assign(A(i, j), D(i, j) * (B(i, k) * C(k, j))).precompute(B(i, k) * C(k, j), part(i, j));
  EXPECT_EQ(both.str(), "A(i, j) = B(i, j) * C(i, j) where C(i, j) = D(i, k) * E(k, j)");
  both.run();
  // A dense workspace has a value at every coordinate, so the result stores more.
  const auto check = [&] {
    if (W::is_dense)
      expect_same_entries(convert<DenseMatrix<>>(A), convert<DenseMatrix<>>(expected));
    else
      expect_same_entries(A, expected);
  };
  check();
  // Each of the two can be scheduled on its own.
  both.producer().generic().run();
  both.consumer().generic().run();
  check();
}
TEST(Precompute, AFactorOfASampledProduct) {
  check_factor<CSR<>>();
  check_factor<COO<2>>();
  check_factor<DenseMatrix<>>();
}

TEST(Precompute, ATermAndAPartOfATerm) {
  const auto B = spread<CSR<>>(30, 20, 3, 7);
  Tensor<double, DenseVector> x({20}), b({30}), y({30}), expected({30}), w({30});
  for (std::size_t at = 0; at < 20; ++at) x.values()(at) = static_cast<double>(at % 5) - 2;
  for (std::size_t at = 0; at < 30; ++at) b.values()(at) = static_cast<double>(at % 7) - 3;
  expected(i) = b(i) - 2.0 * (B(i, k) * x(k));
  assign(y(i), b(i) - 2.0 * (B(i, k) * x(k))).precompute(B(i, k) * x(k), w(i)).run();
  expect_same_entries(y, expected);
  assign(y(i), b(i) - 2.0 * (B(i, k) * x(k))).precompute(2.0 * (B(i, k) * x(k)), w(i)).run();
  expect_same_entries(y, expected);
  // A part whose variables are all kept may stand inside a function.
  const Tensor<double, CSR<>> A({30, 20}), scaled({30, 20}), same({30, 20});
  const auto square = [](double v) { return v * v; };
  same(i, k) = map(square, B(i, k) * x(k));
  assign(A(i, k), map(square, B(i, k) * x(k))).precompute(B(i, k) * x(k), scaled(i, k)).run();
  expect_same_entries(A, same);
}

TEST(Precompute, IntoAPolicysWorkspace) {
  const auto B = spread<CSR<>>(30, 20, 3, 7), C = spread<CSR<>>(20, 25, 4, 5);
  const Tensor<double, CSC<>> A({30, 25}), expected({30, 25});
  expected(i, j) = B(i, k) * C(k, j);
  assign(A(i, j), B(i, k) * C(k, j)).reorder(i, k, j).precompute(B(i, k) * C(k, j), hash_workspace).run();
  expect_same_entries(A, expected);
}

TEST(Precompute, TakesTheSemiringAndTheResources) {
  const auto B = spread<CSR<>>(12, 12, 3, 5), C = spread<CSR<>>(12, 12, 4, 7);
  const Tensor<double, CSR<>> W({12, 12}), A({12, 12}), expected({12, 12});
  assign(expected(i, j), C(i, j) + (B(i, k) * C(k, j))).over(MinPlus{}).run();
  assign(A(i, j), C(i, j) + (B(i, k) * C(k, j))).over(MinPlus{}).precompute(B(i, k) * C(k, j), W(i, j)).run();
  expect_same_entries(A, expected);
  const auto small = assign(A(i, j), C(i, j) + (B(i, k) * C(k, j)))
                         .on(Resources<Host>().within(16))
                         .precompute(B(i, k) * C(k, j), W(i, j));
  EXPECT_THROW(small.run(), MemoryError);
}

TEST(Precompute, RefusesOtherTensorsAndTensorsOfTheStatement) {
  const auto B = spread<CSR<>>(12, 12, 3, 5), C = spread<CSR<>>(12, 12, 4, 7);
  const Tensor<double, CSR<>> A({12, 12}), W({12, 12});
  const auto statement = assign(A(i, j), B(i, j) + (B(i, k) * C(k, j)));
  EXPECT_THROW(statement.precompute(C(i, k) * B(k, j), W(i, j)), ScheduleError);
  EXPECT_THROW(statement.precompute(B(i, k) * C(k, j), A(i, j)), ScheduleError);
  EXPECT_THROW(statement.precompute(B(i, k) * C(k, j), B(i, j)), ScheduleError);
}

}  // namespace
}  // namespace sporos::test::precompute
