// SPDX-License-Identifier: Apache-2.0
/// @file spmv.cpp
/// The SpMV kernel against the host's loop nest: value and index types, long rows, empty rows; plans in CUDA
/// graphs.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>

#include "../estimates.hpp"
#include "../inputs.hpp"
#include "../kept_memory.hpp"
#include "kernels/kernel_of.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

template <class Value, class F>
void expect_product_equals_host(const Entries<Value, 2>& entries) {
  const auto A = assemble<F>(entries);
  const auto x = filled<Value, DenseVector>({A.extent(1)}, 2);
  const Tensor<Value, DenseVector> y({A.extent(0)});
  y(i) = A(i, j) * x(j);

  const auto device_A = A.template copy_to<Cuda>();
  const auto device_x = x.template copy_to<Cuda>();
  const auto device_y = poisoned<Value, DenseVector>({A.extent(0)});
  const auto statement = assign(device_y(i), device_A(i, j) * device_x(j));
  EXPECT_NE(kernel_of(statement), "");
  statement.run();
  expect_equal_tensors(y, device_y);
  // What one product leaves in the workspace is what the next expects.
  Kokkos::deep_copy(device_y.values(), static_cast<Value>(-77));
  assign(device_y(i), device_x(j) * device_A(i, j)).run();
  expect_equal_tensors(y, device_y);
  assign(device_y(i), device_A(i, j) * device_x(j)).accumulate().run();
  y(i) += A(i, j) * x(j);
  expect_equal_tensors(y, device_y);
}

template <class Pair>
class CudaSpmv : public testing::Test {};
template <class V, class F>
struct Case {
  using value = V;
  using format = F;
};
using Cases = testing::Types<Case<double, CSR<std::int32_t, std::int32_t>>, Case<float, CSR<>>,
                             Case<std::int32_t, CSR<std::int64_t, std::int64_t>>,
                             Case<Kokkos::complex<double>, CSR<std::int32_t, std::int32_t>>>;
TYPED_TEST_SUITE(CudaSpmv, Cases);

TYPED_TEST(CudaSpmv, EqualsTheHostsWhereRowsAreShort) {
  using V = typename TypeParam::value;
  expect_product_equals_host<V, typename TypeParam::format>(random_entries<V, 2>({30011, 20023}, 100000, 1));
}
TYPED_TEST(CudaSpmv, EqualsTheHostsWhereRowsAreOfMiddlingLength) {
  using V = typename TypeParam::value;
  expect_product_equals_host<V, typename TypeParam::format>(random_entries<V, 2>({503, 4001}, 60000, 3));
}
TYPED_TEST(CudaSpmv, EqualsTheHostsWhereOneRowCrossesManyTiles) {
  using V = typename TypeParam::value;
  expect_product_equals_host<V, typename TypeParam::format>(
      entries_with_a_long_row<V>({3001, 100003}, 9000, 1502, 60000, 5));
}
TYPED_TEST(CudaSpmv, EqualsTheHostsWhereTheFirstAndTheLastRowAreLong) {
  using V = typename TypeParam::value;
  auto entries = entries_with_a_long_row<V>({5, 100003}, 40, 0, 20000, 7);
  for (std::int64_t at = 10000; at < 20000; ++at) entries.coordinates[0](at) = 4;
  expect_product_equals_host<V, typename TypeParam::format>(entries);
}
TYPED_TEST(CudaSpmv, EqualsTheHostsWhereLongRowsMeetInsideATile) {
  using V = typename TypeParam::value;
  auto entries = entries_with_a_long_row<V>({6, 100003}, 40, 0, 60000, 9);
  for (std::int64_t at = 40; at < entries.size(); ++at) entries.coordinates[0](at) = at % 6;
  expect_product_equals_host<V, typename TypeParam::format>(entries);
}
TYPED_TEST(CudaSpmv, EqualsTheHostsWhereTilesAreLaidOutBefore) {
  using V = typename TypeParam::value;
  expect_product_equals_host<V, typename TypeParam::format>(
      entries_with_a_long_row<V>({4000003, 50021}, 400000, 1502, 30000, 10));
}
/// A row that starts in the last place of a tile and ends in the next but one, by so much.
template <class Value>
Entries<Value, 2> entries_with_a_row_over_a_tile(std::int64_t tile, std::int64_t excess) {
  const std::int64_t lengths[] = {2 * tile - 2, tile + excess, 5};
  Entries<Value, 2> out({3, 100003}, lengths[0] + lengths[1] + lengths[2]);
  std::int64_t at = 0;
  for (std::int64_t row = 0; row < 3; ++row)
    for (std::int64_t column = 0; column < lengths[row]; ++column, ++at)
      out.set(at, {row, 11 * column}, static_cast<Value>(1 + at % 3));
  return out;
}
TYPED_TEST(CudaSpmv, EqualsTheHostsWhereARowIsLittleLongerThanATile) {
  using V = typename TypeParam::value;
  constexpr std::int64_t tile = sporos::gpu::SpmvTiling<sporos::gpu::SpmvChoice::small>::tile;
  for (const std::int64_t excess : {-1, 0, 1, 2, 3, 12, 27, 28, 29, 40, 64})
    expect_product_equals_host<V, typename TypeParam::format>(
        entries_with_a_row_over_a_tile<V>(tile, excess));
}
TYPED_TEST(CudaSpmv, EqualsTheHostsWhereMostRowsAreEmpty) {
  using V = typename TypeParam::value;
  expect_product_equals_host<V, typename TypeParam::format>(random_entries<V, 2>({200003, 1009}, 500, 8));
}
TYPED_TEST(CudaSpmv, IsZeroWhereNothingIsStored) {
  using V = typename TypeParam::value;
  expect_product_equals_host<V, typename TypeParam::format>(Entries<V, 2>({4099, 17}, 0));
}

/// A long row, whose parts several blocks sum: in memory of the plan's own.
TEST(CudaSpmvPlans, FollowValuesInAGraph) {
  pool<Cuda>().release();
  const OwnStream stream;
  const auto matrix = [](std::int64_t columns) {
    return assemble<CSR<>>(entries_with_a_long_row<double>({300, columns}, 6000, 7, columns, 1))
        .copy_to<Cuda>();
  };
  const auto A = matrix(20'000), wide_A = matrix(400'000);
  const auto x = filled<double, DenseVector>({20'000}, 2).copy_to<Cuda>();
  const auto wide_x = filled<double, DenseVector>({400'000}, 3).copy_to<Cuda>();
  const Tensor<double, DenseVector, Cuda> y({300}), wide_y({300}), expected({300});
  auto product = plan(assign(y(i), A(i, j) * x(j)).use<gpu::SpmvByTiles>().on(stream.resources()));
  expect_graph_keeps_memory(
      stream, [&] { product.run(); },
      [&] {
        assign(wide_y(i), wide_A(i, j) * wide_x(j)).use<gpu::SpmvByTiles>().on(stream.resources()).run();
      },
      [&] {
        Kokkos::deep_copy(A.values(), 3.0);
        Kokkos::deep_copy(y.values(), -1.0);
        expected(i) = A(i, j) * x(j);
      },
      [&] { expect_equal_tensors(expected.copy_to<Host>(), y); });
  EXPECT_EQ(memory_of([&] { product.run(); }), 0);
}

TEST(CudaSpmvSums, AreTheSameBitsEveryTime) {
  // One row over many tiles: its parts are added in order, whoever finishes last.
  const std::int64_t n = 300000;
  Entries<float, 2> entries({3, n}, n);
  for (std::int64_t at = 0; at < n; ++at) entries.set(at, {1, at}, 1.0F / static_cast<float>(at + 1));
  const auto A = assemble<CSR<>>(entries).copy_to<Cuda>();
  const auto x = filled<float, DenseVector>({n}, 2).copy_to<Cuda>();
  const Tensor<float, DenseVector, Cuda> first({3});
  first(i) = A(i, j) * x(j);
  for (int run = 0; run < 20; ++run) {
    const Tensor<float, DenseVector, Cuda> again({3});
    again(i) = A(i, j) * x(j);
    expect_equal_tensors(first.copy_to<Host>(), again);
  }
}

}  // namespace
