// SPDX-License-Identifier: Apache-2.0
/// @file sddmm.cpp
/// The SDDMM kernel against the host's loop nest: layouts, inner extents, value types.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>

#include "../inputs.hpp"
#include "kernels/kernel_of.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

template <class Value, class F, class LayoutC, class LayoutD>
void expect_sampled_product_equals_host(std::int64_t inner, const Entries<Value, 2>& entries) {
  const auto B = assemble<F>(entries);
  const auto C = filled<Value, DenseMatrix<LayoutC>>({B.extent(0), inner}, 11);
  const auto D = filled<Value, DenseMatrix<LayoutD>>({inner, B.extent(1)}, 12);
  const Tensor<Value, F> A(B.extents());
  A(i, j) = B(i, j) * C(i, k) * D(k, j);

  const auto device_B = B.template copy_to<Cuda>();
  const auto device_C = C.template copy_to<Cuda>();
  const auto device_D = D.template copy_to<Cuda>();
  const Tensor<Value, F, Cuda> device_A(B.extents());
  const auto statement = assign(device_A(i, j), device_C(i, k) * device_B(i, j) * device_D(k, j));
  EXPECT_NE(kernel_of(statement), "");
  statement.run();
  expect_equal_tensors(A, device_A);
  statement.run();
  expect_equal_tensors(A, device_A);
}

using Wide = CSR<std::int32_t, std::int32_t>;

TEST(CudaSddmm, EqualsTheHostsForInnerExtentsThatDivideAndThatDoNot) {
  const auto entries = random_entries<float, 2>({307, 211}, 5000, 1);
  for (const std::int64_t inner : {1, 3, 4, 16, 32, 33, 100, 128})
    expect_sampled_product_equals_host<float, Wide, RowMajor, ColumnMajor>(inner, entries);
}
TEST(CudaSddmm, TransposesDenseMatricesThatAreStoredTheOtherWay) {
  const auto entries = random_entries<double, 2>({307, 211}, 5000, 2);
  expect_sampled_product_equals_host<double, CSR<>, RowMajor, RowMajor>(37, entries);
  expect_sampled_product_equals_host<double, CSR<>, ColumnMajor, RowMajor>(64, entries);
  expect_sampled_product_equals_host<double, CSR<>, ColumnMajor, ColumnMajor>(8, entries);
}
TEST(CudaSddmm, EqualsTheHostsForComplexAndIntegerValues) {
  expect_sampled_product_equals_host<Kokkos::complex<double>, CSR<>, RowMajor, ColumnMajor>(
      20, random_entries<Kokkos::complex<double>, 2>({101, 67}, 900, 3));
  expect_sampled_product_equals_host<std::int64_t, CSR<std::int64_t, std::int64_t>, RowMajor, ColumnMajor>(
      20, random_entries<std::int64_t, 2>({101, 67}, 900, 4));
}
TEST(CudaSddmm, OfNoColumnsIsNotThere) {
  expect_sampled_product_equals_host<float, Wide, RowMajor, ColumnMajor>(
      0, random_entries<float, 2>({101, 67}, 900, 6));
}
TEST(CudaSddmm, EqualsTheHostsWhereRowsAreEmptyOrLong) {
  expect_sampled_product_equals_host<float, Wide, RowMajor, ColumnMajor>(
      16, entries_with_a_long_row<float>({90001, 4001}, 700, 45000, 3000, 5));
  expect_sampled_product_equals_host<float, Wide, RowMajor, ColumnMajor>(16, Entries<float, 2>({5, 7}, 0));
}

}  // namespace
