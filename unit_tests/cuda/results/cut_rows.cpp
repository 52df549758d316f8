// SPDX-License-Identifier: Apache-2.0
/// @file cut_rows.cpp
/// The loop nest on the GPU over matrices with long rows, which it cuts, against the host's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>
#include <sstream>

#include "../estimates.hpp"
#include "../inputs.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

/// Rows of a few nonzeros, and some of 128, 129 and thousands.
template <class F, class Value = double>
auto with_long_rows(const Extents<2>& extents, unsigned seed) {
  auto entries = entries_with_a_long_row<Value>(extents, 5000, extents[0] / 2, 6 * extents[1], seed);
  std::int64_t at = 0;
  for (const std::int64_t row : {std::int64_t{0}, extents[0] - 1})
    for (std::int64_t column = 0; column < 128 + (row > 0); ++column)
      entries.set(at++, {row, column}, Value(2));
  return assemble<F>(entries);
}

TEST(CudaNest, CutsLongRowsOfProducts) {
  const auto B = with_long_rows<CSR<>>({301, 1503}, 1);
  const auto C = filled<double, DenseMatrix<>>({1503, 37}, 2);
  const auto product = [](const auto& A, const auto& b, const auto& c) {
    return assign(A(i, j), b(i, k) * c(k, j));
  };
  expect_equals_host<DenseMatrix<>>({301, 37}, product, B, C);
  expect_equals_host<DenseMatrix<>>({301, 37}, product,
                                    with_long_rows<CSR<std::int32_t, std::int32_t>>({301, 1503}, 3), C);
  expect_equals_host<DenseMatrix<>>({301, 37}, product, B,
                                    filled<double, DenseMatrix<ColumnMajor>>({1503, 37}, 2));
  const auto few = assemble<CSR<>>(random_entries<double, 2>({301, 1503}, 30, 4));
  expect_equals_host<DenseMatrix<>>({301, 37}, product, few, C);
}

TEST(CudaNest, CutsLongRowsOfMatricesTimesVectors) {
  const auto B = with_long_rows<CSR<>>({301, 1503}, 5);
  const auto x = filled<double, DenseVector>({1503}, 6);
  const auto d = filled<double, DenseVector>({301}, 7);
  expect_equals_host<DenseVector>(
      {301}, [](const auto& y, const auto& b, const auto& v) { return assign(y(i), 2.0 * b(i, j) * v(j)); },
      B, x);
  // Another factor has the rows' variable.
  expect_equals_host<DenseVector>(
      {301},
      [](const auto& y, const auto& b, const auto& v, const auto& e) {
        return assign(y(i), e(i) * b(i, j) * v(j));
      },
      B, x, d);
  // Two matrices of one type, of which one is cut.
  const auto other = with_long_rows<CSR<>>({301, 1503}, 8);
  expect_equals_host<DenseVector>(
      {301}, [](const auto& y, const auto& b, const auto& c) { return assign(y(i), b(i, j) * c(i, j)); }, B,
      other);
  // A sum is not cut.
  expect_equals_host<DenseVector>(
      {301},
      [](const auto& y, const auto& b, const auto& v, const auto& e) {
        return assign(y(i), e(i) - b(i, j) * v(j));
      },
      B, x, d);
}

TEST(CudaNest, AddsToResultsOfCutRows) {
  const auto B = with_long_rows<CSR<>>({301, 1503}, 9);
  const auto C = filled<double, DenseMatrix<>>({1503, 33}, 10);
  const auto before = filled<double, DenseMatrix<>>({301, 33}, 11);
  const auto A = before.clone();
  assign(A(i, j), B(i, k) * C(k, j)).accumulate().generic().run();
  const auto device_A = on_device(before);
  assign(device_A(i, j), on_device(B)(i, k) * on_device(C)(k, j)).accumulate().generic().run();
  expect_equal_tensors(A, device_A);
}

TEST(CudaNest, CutsRowsOfTensorsByTheirSecondMode) {
  auto entries = random_entries<double, 3>({12, 3001, 9}, 20000, 12);
  const auto T = assemble<Format<Map<Dim<0>, Dim<1>, Dim<2>>, Dense, Compressed<>, Compressed<>>>(entries);
  const auto C = filled<double, DenseMatrix<>>({3001, 21}, 13);
  const auto D = filled<double, DenseMatrix<>>({9, 21}, 14);
  expect_equals_host<DenseMatrix<>>(
      {12, 21},
      [](const auto& A, const auto& t, const auto& c, const auto& d) {
        return assign(A(i, j), t(i, k, l) * c(k, j) * d(l, j));
      },
      T, C, D);
}

TEST(CudaNest, MakesTheSameSumsOfCutRowsFromRunToRun) {
  const auto B = with_long_rows<CSR<>, float>({301, 1503}, 15).template copy_to<Cuda>();
  const auto C = filled<float, DenseMatrix<>>({1503, 37}, 16).copy_to<Cuda>();
  for (std::int64_t at = 0; at < 2; ++at) {
    const auto values = at == 0 ? B.values() : C.values();
    const auto host = copy_array<Kokkos::HostSpace>(values);
    for (std::size_t q = 0; q < host.extent(0); ++q) host(q) = 1.0F / (host(q) + static_cast<float>(q % 97));
    Kokkos::deep_copy(values, host);
  }
  const Tensor<float, DenseMatrix<>, Cuda> A({301, 37});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j)).generic();
  statement.run();
  const auto first = A.copy_to<Host>();
  auto again = plan(statement);
  for (int run = 0; run < 3; ++run) {
    Kokkos::deep_copy(A.values(), -1.0F);
    again.run();
    expect_equal_tensors(first, A);
  }
}

TEST(CudaNest, TakesNoMoreMemoryForCutRowsThanEstimated) {
  const auto B = with_long_rows<CSR<>>({301, 1503}, 17).template copy_to<Cuda>();
  const auto C = filled<double, DenseMatrix<>>({1503, 37}, 18).copy_to<Cuda>();
  const Tensor<double, DenseMatrix<>, Cuda> A({301, 37});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j)).generic();
  expect_bounded(statement);
  std::ostringstream words;
  words << explain(statement);
  EXPECT_NE(words.str().find("nonzeros are cut"), std::string::npos) << words.str();
  // Where memory is bounded, they are not.
  std::ostringstream others;
  others << explain(statement.on(Resources<Cuda>().within(std::int64_t{1} << 30)));
  EXPECT_EQ(others.str().find("nonzeros are cut"), std::string::npos) << others.str();
}

/// Sums of pieces for which no device has memory: 2^13 pieces with 2^22 doubles each.
TEST(CudaNest, LeavesResultsAsTheyWereWhereSumsOfPiecesCannotBeAllocated) {
  constexpr std::int64_t columns = std::int64_t{1} << 22, nonzeros = std::int64_t{1} << 20;
  Entries<double, 2> entries({2, nonzeros}, nonzeros + 1);
  entries.set(0, {0, 3}, 1.0);
  for (std::int64_t column = 0; column < nonzeros; ++column) entries.set(column + 1, {1, column}, 1.0);
  const auto B = assemble<CSR<>>(entries).copy_to<Cuda>();
  const auto x = filled<double, DenseVector>({nonzeros}, 19).copy_to<Cuda>();
  const auto d = filled<double, DenseVector>({columns}, 20).copy_to<Cuda>();
  const auto A = poisoned<double, DenseMatrix<>>({2, columns});
  const auto before = A.copy_to<Host>();
  try {
    assign(A(i, j), B(i, k) * x(k) * d(j)).generic().run();
    ADD_FAILURE() << "no error";
  } catch (const MemoryError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("cannot be allocated"));
  }
  expect_equal_tensors(before, A);
}

}  // namespace
