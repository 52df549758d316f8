// SPDX-License-Identifier: Apache-2.0
/// @file by_columns.cpp
/// Products of matrices by rows and by columns on the GPU, against the host's.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>

#include "../inputs.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

template <class A, class B, class C>
void check(const Extents<3>& n, std::int64_t left, std::int64_t right) {
  SCOPED_TRACE(A::str() + " = " + B::str() + " * " + C::str());
  const auto b = assemble<B>(random_entries<double, 2>({n[0], n[1]}, left, 1));
  const auto c = assemble<C>(random_entries<double, 2>({n[1], n[2]}, right, 2));
  const Tensor<double, A> expected({n[0], n[2]});
  expected(i, j) = b(i, k) * c(k, j);
  const auto device_b = b.template copy_to<Cuda>();
  const auto device_c = c.template copy_to<Cuda>();
  const Tensor<double, A, Cuda> made({n[0], n[2]});
  const auto statement = assign(made(i, j), device_b(i, k) * device_c(k, j));
  auto again = plan(statement);
  EXPECT_EQ(again.candidate(), "SpGEMM by bins");
  again.run();
  expect_equal_tensors(expected, made);
  // Other values in the same pattern are copied again.
  Kokkos::deep_copy(device_b.values(), 2.0);
  Kokkos::deep_copy(b.values(), 2.0);
  expected(i, j) = b(i, k) * c(k, j);
  again.run();
  expect_equal_tensors(expected, made);
  statement.run();
  expect_equal_tensors(expected, made);
}

template <class A, class B, class C>
void check_sizes() {
  check<A, B, C>({302, 203, 402}, 3000, 2500);
  check<A, B, C>({1, 203, 402}, 60, 2500);
  check<A, B, C>({302, 1, 5}, 40, 3);
  check<A, B, C>({302, 203, 402}, 0, 2500);
}

TEST(CudaProducts, OfMatricesByColumns) {
  check_sizes<CSR<>, CSC<>, CSR<>>();
  check_sizes<CSR<>, CSR<>, CSC<>>();
  check_sizes<CSC<>, CSC<>, CSC<>>();
  check_sizes<CSC<>, CSR<>, CSR<>>();
}

}  // namespace
