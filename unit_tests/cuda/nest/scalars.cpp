// SPDX-License-Identifier: Apache-2.0
/// @file scalars.cpp
/// Sums over everything on the GPU, to which all threads add, against the host's.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>

#include "../inputs.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

/// Runs a statement, made by `statement(result, operand)`, in both places.
template <class T, class Make>
void expect_same_sum(const T& operand, const Make& make) {
  const Tensor<double, Scalar> host;
  const Tensor<double, Scalar, Cuda> device;
  host.values()(0) = 5;
  Kokkos::deep_copy(device.values(), 5.0);
  make(host, operand).run();
  make(device, operand.template copy_to<Cuda>()).run();
  expect_equal_tensors(host, device);
}

TEST(CudaScalars, AreSumsOverSparseAndDenseOperands) {
  const auto A = assemble<CSR<>>(random_entries<double, 2>({302, 203}, 3000, 1));
  const auto x = filled<double, DenseVector>({5000}, 2);
  expect_same_sum(A, [](const auto& s, const auto& a) { return assign(s(), a(i, j) * a(i, j)); });
  expect_same_sum(A, [](const auto& s, const auto& a) { return assign(s(), a(i, j)).accumulate(); });
  expect_same_sum(A, [](const auto& s, const auto& a) { return assign(s(), a(i, j)).deterministic(); });
  expect_same_sum(x, [](const auto& s, const auto& a) { return assign(s(), a(i) * a(i)); });
}

}  // namespace
