// SPDX-License-Identifier: Apache-2.0
/// @file host_statements.cpp
/// Statements on the host in a program for CUDA, whose host code nvcc compiles: each of the host's kernels
/// against the loop nest.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>

#include "../inputs.hpp"
#include "kernels/kernel_of.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

/// @param write  write(R) is a statement with the result R
template <class R, class Write>
void expect_kernel_equals_nest(const Extents<R::order>& extents, const Write& write) {
  const R by_kernel(extents), by_nest(extents);
  EXPECT_NE(kernel_of(write(by_kernel)), "");
  write(by_kernel).run();
  write(by_nest).generic().run();
  expect_equal_tensors(by_nest, by_kernel);
}

template <class Value>
class HostStatementsOfACudaProgram : public testing::Test {};
using Values = testing::Types<double, float>;
TYPED_TEST_SUITE(HostStatementsOfACudaProgram, Values);

TYPED_TEST(HostStatementsOfACudaProgram, RunByKernels) {
  using Matrix = Tensor<TypeParam, CSR<>>;
  using Rows = Tensor<TypeParam, DenseMatrix<>>;
  using Vector = Tensor<TypeParam, DenseVector>;
  constexpr std::int64_t m = 90, n = 70;
  const auto A = assemble<CSR<>>(entries_with_a_long_row<TypeParam>({m, n}, 900, 11, 60, 1));
  const auto B = assemble<CSR<>>(entries_with_a_long_row<TypeParam>({n, m}, 700, 5, 80, 2));
  const auto x = filled<TypeParam, DenseVector>({n}, 3);
  const auto X = filled<TypeParam, DenseMatrix<>>({n, 37}, 4);
  const auto U = filled<TypeParam, DenseMatrix<>>({m, 37}, 5);
  const auto V = filled<TypeParam, DenseMatrix<>>({n, 37}, 6);
  expect_kernel_equals_nest<Vector>({m}, [&](const auto& y) { return assign(y(i), A(i, j) * x(j)); });
  expect_kernel_equals_nest<Rows>({m, 37}, [&](const auto& Y) { return assign(Y(i, k), A(i, j) * X(j, k)); });
  expect_kernel_equals_nest<Matrix>(
      {m, n}, [&](const auto& S) { return assign(S(i, j), A(i, j) * U(i, k) * V(j, k)); });
  expect_kernel_equals_nest<Matrix>({m, m},
                                    [&](const auto& C) { return assign(C(i, j), A(i, k) * B(k, j)); });
}

TYPED_TEST(HostStatementsOfACudaProgram, RunMttkrpOfEachModeByItsKernel) {
  using Rows = Tensor<TypeParam, DenseMatrix<>>;
  const Extents<3> n{13, 7, 19};
  const auto T = assemble<CSF<3>>(random_entries<TypeParam, 3>(n, 500, 7));
  const auto A = filled<TypeParam, DenseMatrix<>>({n[0], 21}, 8);
  const auto B = filled<TypeParam, DenseMatrix<>>({n[1], 21}, 9);
  const auto C = filled<TypeParam, DenseMatrix<>>({n[2], 21}, 10);
  expect_kernel_equals_nest<Rows>(
      {n[0], 21}, [&](const auto& M) { return assign(M(i, r), T(i, k, l) * B(k, r) * C(l, r)); });
  expect_kernel_equals_nest<Rows>(
      {n[1], 21}, [&](const auto& M) { return assign(M(k, r), T(i, k, l) * A(i, r) * C(l, r)); });
  expect_kernel_equals_nest<Rows>(
      {n[2], 21}, [&](const auto& M) { return assign(M(l, r), T(i, k, l) * A(i, r) * B(k, r)); });
}

}  // namespace
