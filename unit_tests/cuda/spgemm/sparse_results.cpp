// SPDX-License-Identifier: Apache-2.0
/// @file sparse_results.cpp
/// SpGEMM and sparse sums on the GPU against the host's loop nest: rows of all sizes, index and value types.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>
#include <sporos/sporos.hpp>
#include <vector>

#include "../inputs.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

using Narrow = CSR<std::int32_t, std::int32_t>;

template <class F, class Value>
void expect_product_equals_host(const Entries<Value, 2>& left, const Entries<Value, 2>& right) {
  const auto B = assemble<F>(left);
  const auto C = assemble<F>(right);
  const Tensor<Value, F> A({B.extent(0), C.extent(1)});
  A(i, j) = B(i, k) * C(k, j);
  const auto device_B = B.template copy_to<Cuda>();
  const auto device_C = C.template copy_to<Cuda>();
  const Tensor<Value, F, Cuda> device_A(A.extents());
  device_A(i, j) = device_B(i, k) * device_C(k, j);
  expect_equal_tensors(A, device_A);
}

TEST(CudaSpgemm, EqualsTheHostsWhereRowsAreShort) {
  expect_product_equals_host<Narrow>(random_entries<double, 2>({3001, 2003}, 6000, 1),
                                     random_entries<double, 2>({2003, 4001}, 6000, 2));
}
TEST(CudaSpgemm, EqualsTheHostsInEveryBinOfRows) {
  // Row sizes grow with the row's number, from nothing to thousands of columns.
  Entries<double, 2> left({400, 3000}, 400 * 399 / 2);
  std::int64_t at = 0;
  for (std::int64_t row = 0; row < 400; ++row)
    for (std::int64_t e = 0; e < row; ++e)
      left.set(at++, {row, (row * 7 + e * 11) % 3000}, double(1 + e % 3));
  expect_product_equals_host<Narrow>(left, random_entries<double, 2>({3000, 9001}, 60000, 3));
}
/// B's row s has s entries among few columns, so that many meet; rows 260 and above are empty. Row n of A has
/// n products: of one row of B, of two, or of many small ones with empty ones between.
template <class F, class Value>
void expect_products_of_every_number(std::int64_t columns) {
  std::mt19937_64 draw(11);
  Entries<Value, 2> right({300, columns}, 259 * 260 / 2);
  std::int64_t at = 0;
  for (std::int64_t row = 0; row < 260; ++row) {
    const std::int64_t first = columns - 300;
    for (std::int64_t e = 0; e < row; ++e)
      right.set(at++, {row, first + (row * 13 + e) % 300},
                static_cast<Value>(static_cast<int>(1 + draw() % 5)));
  }
  std::vector<Extents<2>> places;
  for (std::int64_t n = 0; n < 260; ++n) {
    places.push_back({3 * n, n});
    places.push_back({3 * n + 1, n / 3});
    if (n / 3 != n - n / 3) places.push_back({3 * n + 1, n - n / 3});
    std::int64_t left_over = n;
    for (std::int64_t size = 1; size <= left_over; left_over -= size, ++size)
      places.push_back({3 * n + 2, size});
    if (left_over > 0) places.push_back({3 * n + 2, 0});
    for (std::int64_t empty = 260; empty < 300; ++empty) places.push_back({3 * n + 2, empty});
  }
  Entries<Value, 2> left({780, 300}, static_cast<std::int64_t>(places.size()));
  at = 0;
  for (const auto& place : places)
    left.set(at++, place, static_cast<Value>(static_cast<int>(1 + draw() % 3)));
  expect_product_equals_host<F>(left, right);
}
TEST(CudaSpgemm, EqualsTheHostsForEveryNumberOfProductsInARow) {
  expect_products_of_every_number<Narrow, double>(300);
  expect_products_of_every_number<CSR<std::int64_t, std::int64_t>, float>(301);
}
TEST(CudaSpgemm, EqualsTheHostsWhereColumnsAndNumbersOfProductsExceed32Bits) {
  for (const std::int64_t columns :
       {(std::int64_t{1} << 24) - 1, std::int64_t{1} << 24, std::int64_t{1} << 26,
        (std::int64_t{1} << 28) - 1, std::int64_t{1} << 28, (std::int64_t{1} << 31) - 1})
    expect_products_of_every_number<Narrow, float>(columns);
}
TEST(CudaSpgemm, EqualsTheHostsWhereRowsOfTheLeftFactorAreVeryLong) {
  // Of few products, since most rows of B are empty, and of many.
  Entries<double, 2> left({40, 90000}, 2 * 90000 + 38 * 5);
  std::int64_t at = 0;
  for (std::int64_t k = 0; k < 90000; ++k) {
    left.set(at++, {3, k}, double(1 + k % 3));
    left.set(at++, {17, k}, double(1 + k % 5));
  }
  for (std::int64_t row = 0; row < 38; ++row)
    for (std::int64_t e = 0; e < 5; ++e)
      left.set(at++, {row == 3 ? 38 : row == 17 ? 39 : row, (row * 991 + e * 77) % 90000}, 1.0);
  for (const std::int64_t count : {20, 250, 40000})
    expect_product_equals_host<Narrow>(left, random_entries<double, 2>({90000, 500}, count, 12));
}
TEST(CudaSpgemm, EqualsTheHostsWhereRowsHaveManyProductsOfFewColumns) {
  // Bitmaps in shared memory, whose sums are made in one part and in several; then C has too many columns for
  // them.
  for (const std::int64_t columns : {40, 3000, 60000, 200000, 500000})
    expect_product_equals_host<Narrow>(entries_with_a_long_row<double>({600, 3000}, 30000, 77, 3000, 14),
                                       entries_with_a_long_row<double>({3000, columns}, 90000, 5, 20000, 15));
  expect_product_equals_host<CSR<>>(
      entries_with_a_long_row<Kokkos::complex<double>>({300, 3000}, 30000, 77, 3000, 14),
      random_entries<Kokkos::complex<double>, 2>({3000, 30000}, 90000, 15));
  expect_product_equals_host<CSR<std::int64_t, std::int64_t>>(
      entries_with_a_long_row<std::int64_t>({300, 3000}, 30000, 77, 3000, 14),
      random_entries<std::int64_t, 2>({3000, 30000}, 90000, 15));
}
TEST(CudaSpgemm, EqualsTheHostsWhereARowHasMoreProductsThanABlockTakes) {
  Entries<double, 2> left({20, 2000}, 2000 + 60);
  for (std::int64_t k = 0; k < 2000; ++k) left.set(k, {7, k}, double(1 + k % 3));
  for (std::int64_t e = 0; e < 60; ++e) left.set(2000 + e, {e % 20, (e * 31) % 2000}, 1.0);
  for (const std::int64_t columns : {900, 100000})
    expect_product_equals_host<Narrow>(left, random_entries<double, 2>({2000, columns}, 2'000'000, 16));
}
TEST(CudaSpgemm, MakesTheSameBitsInEveryRunWhereRowsHaveFewProducts) {
  std::mt19937_64 draw(13);
  std::uniform_real_distribution<float> value(-1, 1);
  Entries<float, 2> entries({2000, 2000}, 12000);
  for (std::int64_t at = 0; at < 12000; ++at)
    entries.set(at, {static_cast<std::int64_t>(draw() % 2000), static_cast<std::int64_t>(draw() % 300)},
                value(draw));
  const auto B = assemble<Narrow>(entries).copy_to<Cuda>();
  const auto run = [&] {
    const Tensor<float, Narrow, Cuda> A({2000, 2000});
    A(i, j) = B(i, k) * B(k, j);
    return A.copy_to<Host>();
  };
  const auto first = run();
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto again = run();
    ASSERT_EQ(again.nnz(), first.nnz());
    for (std::int64_t at = 0; at < first.nnz(); ++at)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(first.values()(at)),
                std::bit_cast<std::uint32_t>(again.values()(at)))
          << at;
  }
}
TEST(CudaSpgemm, EqualsTheHostsWhereARowExceedsSharedMemory) {
  const auto left = entries_with_a_long_row<float>({2003, 3001}, 3000, 700, 2500, 4);
  expect_product_equals_host<Narrow>(left, random_entries<float, 2>({3001, 70001}, 90000, 5));
}
TEST(CudaSpgemm, EqualsTheHostsForOtherIndexAndValueTypes) {
  expect_product_equals_host<CSR<std::int64_t, std::int64_t>>(
      random_entries<std::int64_t, 2>({301, 203}, 3000, 6),
      random_entries<std::int64_t, 2>({203, 401}, 3000, 7));
  expect_product_equals_host<CSR<>>(random_entries<Kokkos::complex<double>, 2>({301, 203}, 3000, 8),
                                    random_entries<Kokkos::complex<double>, 2>({203, 401}, 3000, 9));
  expect_product_equals_host<CSR<>>(random_entries<float, 2>({301, 203}, 3000, 8),
                                    random_entries<float, 2>({203, 401}, 3000, 9));
}
TEST(CudaSpgemm, IsEmptyWhereAFactorIs) {
  expect_product_equals_host<CSR<>>(Entries<double, 2>({301, 203}, 0),
                                    random_entries<double, 2>({203, 41}, 300, 1));
  expect_product_equals_host<CSR<>>(random_entries<double, 2>({203, 41}, 300, 1),
                                    Entries<double, 2>({41, 20}, 0));
}
TEST(CudaSpgemm, MayWriteOneOfItsFactors) {
  const auto entries = random_entries<double, 2>({301, 301}, 3000, 10);
  const auto A = assemble<CSR<>>(entries);
  const auto device_A = A.copy_to<Cuda>();
  A(i, j) = A(i, k) * A(k, j);
  device_A(i, j) = device_A(i, k) * device_A(k, j);
  expect_equal_tensors(A, device_A);
}

template <class F, class Value>
void expect_sum_equals_host(const Entries<Value, 2>& left, const Entries<Value, 2>& right) {
  const auto B = assemble<F>(left);
  const auto C = assemble<F>(right);
  const auto device_B = B.template copy_to<Cuda>();
  const auto device_C = C.template copy_to<Cuda>();
  const Tensor<Value, F> A(B.extents());
  const Tensor<Value, F, Cuda> device_A(B.extents());
  A(i, j) = B(i, j) + C(i, j);
  device_A(i, j) = device_B(i, j) + device_C(i, j);
  expect_equal_tensors(A, device_A);
  A(i, j) = Value(2) * B(i, j) - C(i, j) * Value(3);
  device_A(i, j) = Value(2) * device_B(i, j) - device_C(i, j) * Value(3);
  expect_equal_tensors(A, device_A);
}

TEST(CudaSparseSum, EqualsTheHosts) {
  expect_sum_equals_host<Narrow>(random_entries<double, 2>({3001, 2003}, 40000, 1),
                                 random_entries<double, 2>({3001, 2003}, 60000, 2));
  expect_sum_equals_host<CSR<>>(random_entries<float, 2>({101, 203}, 9000, 1),
                                random_entries<float, 2>({101, 203}, 6000, 2));
  expect_sum_equals_host<CSR<std::int64_t, std::int64_t>>(
      random_entries<std::int64_t, 2>({101, 203}, 9000, 1),
      random_entries<std::int64_t, 2>({101, 203}, 60, 2));
}
TEST(CudaSparseSum, EqualsTheHostsWhereRowsAreEmptyOrLong) {
  expect_sum_equals_host<CSR<>>(entries_with_a_long_row<double>({90001, 4001}, 700, 45000, 3000, 3),
                                entries_with_a_long_row<double>({90001, 4001}, 700, 45001, 3000, 4));
  expect_sum_equals_host<CSR<>>(entries_with_a_long_row<double>({90001, 4001}, 700, 45000, 3000, 3),
                                Entries<double, 2>({90001, 4001}, 0));
  expect_sum_equals_host<CSR<>>(Entries<double, 2>({90001, 4001}, 0),
                                entries_with_a_long_row<double>({90001, 4001}, 700, 45000, 3000, 3));
  expect_sum_equals_host<CSR<>>(Entries<double, 2>({91, 41}, 0), Entries<double, 2>({91, 41}, 0));
}

}  // namespace
