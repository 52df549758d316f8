// SPDX-License-Identifier: Apache-2.0
/// @file padded_rows.cpp
/// Products of sparse and dense matrices by padded rows: against sums in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../device_memory.hpp"
#include "kernels/kernel_of.hpp"
#include "packed_rows.hpp"
#include "products.hpp"

namespace sporos::test::spmm_by_padded_rows {
namespace {

using namespace sporos::indices;
using Kernel = gpu::SpmmByPaddedRows;

TEST(CudaSpmmByPaddedRows, OfEachValueAndLayout) {
  expect_products<Kernel, half, half, IntCsr, false, DenseMatrix<>>();
  expect_products<Kernel, bfloat16, float, CSC<>, false, DenseMatrix<ColumnMajor>>();
  expect_products<Kernel, float, float, CSR<>, true, DenseMatrix<>>();
  expect_products<Kernel, double, double, IntCsr, false, DenseMatrix<ColumnMajor>>();
}

/// Rows of each length up to 40, some empty, one that is full and one that is nearly so.
template <class Value>
Tensor<Value, DenseMatrix<>> rows_of_each_length(std::int64_t m, std::int64_t inner) {
  const auto values = random_dense<Value, DenseMatrix<>>({m, inner}, 1);
  const Tensor<Value, DenseMatrix<>> out({m, inner});
  for (std::int64_t row = 0; row < m; ++row) {
    const std::int64_t length = row == 17 ? inner : row == 90 ? inner - 3 : row % 7 == 3 ? 0 : row % 41;
    for (std::int64_t e = 0; e < length; ++e) {
      const std::int64_t column = (e * (inner / std::max<std::int64_t>(length, 1)) + row) % inner;
      out.values()(row * inner + column) = values.values()(row * inner + column);
    }
  }
  return out;
}

/// The product by groups of 4 to 32 lanes and every sharing of rows.
template <class Value, class Out>
void expect_every_way(std::int64_t n) {
  using Prepared = ProductWithInfinities<Value, Out>;
  constexpr std::int64_t m = Prepared::m, inner = Prepared::inner;
  const Prepared prepared(rows_of_each_length<Value>(m, inner), n);
  ASSERT_NE(prepared.length(Prepared::row_of_last) % 4, 0) << "is not padded";
  const Kokkos::Cuda space;
  const auto view = prepared.view();

  const gpu::RowCounts row_counts = gpu::count_pattern(Resources<Cuda>(), view, {.rows = true}).rows;
  const gpu::RowSteps& counts = row_counts.steps;
  std::int64_t steps = 0, rows = 0, most = 0;
  for (std::int64_t row = 0; row < m; ++row) {
    const std::int64_t of_row = (prepared.length(row) + 3) / 4;
    steps += of_row;
    rows += of_row > 0 ? 1 : 0;
    most = std::max(most, of_row);
  }
  EXPECT_EQ(counts.steps, steps);
  EXPECT_EQ(counts.most, most);
  EXPECT_EQ(std::accumulate(std::begin(counts.rows), std::end(counts.rows), std::int64_t{0}), rows);

  const PackedRows<Value> packed(space, view, counts);
  for (int lanes = 2; lanes <= 5; ++lanes)
    for (int size = 0; size <= 9; ++size) {
      SCOPED_TRACE(text(n, " columns, ", 1 << lanes, " lanes, size ", size));
      const auto parts = counts.parts_from(size, std::min(3, 5 - lanes), m);
      EXPECT_EQ(std::accumulate(std::begin(parts.rows), std::end(parts.rows), std::int64_t{0}), m);
      prepared.expect([&]<class E>(const gpu::TiledProduct<Out, E>& product) {
        const bool has_packs = prepared.can_have_packs() && size % 2 == 0;
        gpu::spmm_padded_rows(space, gpu::PaddedRowsProduct<Value, Out, E, typename Prepared::View>{
                                         product, packed.rows(), view, prepared.b(), prepared.stride(),
                                         has_packs, lanes, parts});
      });
    }
}
TEST(CudaSpmmByPaddedRows, EveryWay) {
  for (const std::int64_t n : {1, 24, 264}) expect_every_way<half, half>(n);
  expect_every_way<bfloat16, float>(90);
  for (const std::int64_t n : {7, 136}) expect_every_way<float, float>(n);
  expect_every_way<double, double>(66);
}

/// Rows of one nonzero in a column that follows from the row, so many that groups of 32 lanes for all of them
/// have more than 2^31 lanes.
struct OneInEachRow {
  static constexpr std::int64_t inner = 97;
  std::int32_t *positions, *coordinates;
  float* values;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    positions[row] = static_cast<std::int32_t>(row);
    coordinates[row] = static_cast<std::int32_t>(row % inner);
    values[row] = 1;
  }
};
struct CountWrongRows {
  const float* c;  // [rows, 2], whose elements are 2 * column of the nonzero, and one more
  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& wrong) const {
    const auto expected = static_cast<float>(2 * (row % OneInEachRow::inner));
    wrong += !(c[row * 2] == expected && c[row * 2 + 1] == expected + 1);
  }
};
TEST(CudaSpmmByPaddedRows, SeventyMillionRows) {
  if (!has_memory(10)) GTEST_SKIP() << "takes 10 GB of the GPU's memory";
  constexpr std::int64_t m = 70'000'000, n = 2, stride = 4, inner = OneInEachRow::inner;
  using Range = Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>;
  using View = gpu::CsrView<const float, const std::int32_t, const std::int32_t>;
  const Kokkos::Cuda space;
  const auto size = [](std::int64_t count) { return static_cast<std::size_t>(count); };
  const Array<std::int32_t, gpu::Memory> positions("positions", size(m + 1)), coordinates("columns", size(m));
  const Array<float, gpu::Memory> values("values", size(m));
  Kokkos::parallel_for("rows", Range(0, m),
                       OneInEachRow{positions.data(), coordinates.data(), values.data()});
  Kokkos::deep_copy(Kokkos::subview(positions, size(m)), static_cast<std::int32_t>(m));
  const Tensor<float, DenseMatrix<>> B({inner, stride});
  for (std::int64_t at = 0; at < B.nnz(); ++at)
    B.values()(at) = static_cast<float>(at / stride * 2 + at % stride);
  const auto device_B = B.copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> C({m, n});
  Kokkos::deep_copy(C.values(), std::numeric_limits<float>::quiet_NaN());
  const View view{m, inner, m, positions.data(), coordinates.data(), values.data()};
  const auto counts = gpu::count_pattern(Resources<Cuda>(), view, {.rows = true}).rows.steps;
  EXPECT_EQ(counts.steps, m);
  const PackedRows<float> packed(space, view, counts);
  const Tensor<float, IntCsr, Cuda> as_operand({m, inner});
  const auto epilogue = epilogue_of(assign(C(i, j), as_operand(i, k) * device_B(k, j)));
  constexpr int lanes = 5;
  const gpu::PaddedRowsProduct<float, float, std::remove_const_t<decltype(epilogue)>, View> product{
      {m, n, inner, C.values().data(), false, epilogue},
      packed.rows(),
      view,
      device_B.values().data(),
      stride,
      false,
      lanes,
      counts.parts_from(0, 0, m)};
  gpu::spmm_padded_rows(space, product);
  std::int64_t wrong = 0;
  Kokkos::parallel_reduce("wrong rows", Range(0, m), CountWrongRows{C.values().data()}, wrong);
  EXPECT_EQ(wrong, 0);
}

/// A row of more steps than the keys have by which rows are sorted, and others of very different lengths.
TEST(CudaSpmmByPaddedRows, AVeryLongRow) {
  constexpr std::int64_t m = 50, inner = 300'000, n = 5;
  std::int64_t count = 0;
  const auto length = [](std::int64_t row) { return row == 20 ? inner : row % 3 == 0 ? row * 100 : row; };
  for (std::int64_t row = 0; row < m; ++row) count += length(row);
  Entries<float, 2> entries({m, inner}, count);
  std::int64_t at = 0;
  for (std::int64_t row = 0; row < m; ++row)
    for (std::int64_t e = 0; e < length(row); ++e) entries.set(at++, {row, e}, 1.0F);
  const auto A = assemble<IntCsr>(entries).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> B({inner, n}), C({m, n});
  Kokkos::deep_copy(B.values(), 2.0F);
  auto product = plan(assign(C(i, j), A(i, k) * B(k, j)).with_constant_operands().use<Kernel>());
  product.run();
  const auto result = C.copy_to<Host>();
  for (std::int64_t row = 0; row < m; ++row)
    for (std::int64_t column = 0; column < n; ++column)
      EXPECT_EQ(result.values()(row * n + column), static_cast<float>(2 * length(row))) << row;
}

/// Another pattern in the same arrays, for which another plan is made.
template <class Value>
void expect_new_counts() {
  SCOPED_TRACE(value_name<Value>());
  constexpr std::int64_t m = 400, inner = 400, n = 40, of_row = 16;
  const auto pattern = [&](bool is_uneven) {
    Entries<Value, 2> entries({m, inner}, m * of_row);
    std::int64_t at = 0, left = m * of_row;
    for (std::int64_t row = 0; row < m; ++row) {
      const std::int64_t length =
          !is_uneven ? of_row : std::min(left, row % 2 == 0 ? 3 * of_row - row % 5 : 0);
      left -= length;
      for (std::int64_t e = 0; e < length; ++e)
        entries.set(at++, {row, (e * 7 + (is_uneven ? row : row / 32 * 3)) % inner}, Value(1.0F));
    }
    return std::pair(assemble<IntCsr>(entries), left);
  };
  const auto [even, none_left] = pattern(false);
  const auto [uneven, some_left] = pattern(true);
  ASSERT_EQ(none_left + some_left, 0);
  ASSERT_EQ(even.nnz(), uneven.nnz());
  const auto A = even.template copy_to<Cuda>();
  const auto B = random_dense<Value, DenseMatrix<>>({inner, n}, 2).template copy_to<Cuda>();
  const auto C = poisoned<Value, DenseMatrix<>>({m, n});
  const auto statement = assign(C(i, j), A(i, k) * B(k, j)).with_constant_operands();
  plan(statement).run();
  Kokkos::deep_copy(A.template level<1>().positions, uneven.template level<1>().positions);
  Kokkos::deep_copy(A.template level<1>().coordinates, uneven.template level<1>().coordinates);
  Kokkos::deep_copy(A.values(), uneven.values());
  plan(statement).run();
  const auto result = C.template copy_to<Host>();
  assign(C(i, j), A(i, k) * B(k, j)).template use<gpu::SpmmByGroups>().run();
  const auto expected = C.template copy_to<Host>();
  for (std::int64_t at = 0; at < m * n; ++at) {
    const auto right = static_cast<double>(static_cast<accumulate_t<Value>>(expected.values()(at)));
    EXPECT_NEAR(static_cast<double>(static_cast<accumulate_t<Value>>(result.values()(at))), right,
                2 * rounding<Value>() * std::abs(right) + 1e-4);
  }
}
TEST(CudaSpmmByPaddedRows, PlansCountPatternsAnew) {
  expect_new_counts<half>();
  expect_new_counts<float>();
  expect_new_counts<double>();
}

TEST(CudaSpmmByPaddedRows, KeepInfinitiesToWhatTheyAreMultipliedBy) {
  expect_infinities<Kernel, half>();
  expect_infinities<Kernel, float>();
  expect_infinities<Kernel, double, double>();
}
TEST(CudaSpmmByPaddedRows, TakeNoMoreMemoryThanEstimated) {
  expect_within_estimates<Kernel, half>();
  expect_within_estimates<Kernel, double>();
}
TEST(CudaSpmmByPaddedRows, PlansReadNewValuesUnlessTheyAreConstant) {
  expect_new_values<Kernel, half>();
  expect_new_values<Kernel, float>();
}
TEST(CudaSpmmByPaddedRows, TheSameFromRunToRun) {
  expect_same_from_run_to_run<Kernel, float>();
  expect_same_from_run_to_run<Kernel, half>();
}

/// Plans of small products whose nonzeros share nothing; statements that run once do not pack, and plans
/// whose memory is bounded prefer a kernel that takes none.
TEST(CudaSpmmByPaddedRows, AreChosenForSmallProducts) {
  const auto A = convert<IntCsr>(thinned<float>({512, 512}, 50, 1)).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> B({512, 64}), C({512, 64});
  const auto statement = assign(C(i, j), A(i, k) * B(k, j)).with_constant_operands();
  const auto product = plan(statement);
  EXPECT_EQ(product.candidate(), Kernel::name);
  EXPECT_GE(product.bytes(), A.nnz() * 8);
  std::ostringstream out;
  product.explain(out);
  EXPECT_NE(out.str().find("packed as rows of padded steps of 4 nonzeros, the longest first, once"),
            std::string::npos)
      << out.str();
  EXPECT_EQ(kernel_of(statement), gpu::SpmmByGroups::name);
  EXPECT_EQ(plan(statement.on(Resources<Cuda>().within(std::int64_t{1} << 30))).candidate(),
            gpu::SpmmByGroups::name);
}

}  // namespace
}  // namespace sporos::test::spmm_by_padded_rows
