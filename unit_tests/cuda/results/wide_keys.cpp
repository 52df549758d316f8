// SPDX-License-Identifier: Apache-2.0
/// @file wide_keys.cpp
/// Sparse results on the GPU over extents whose coordinates take more than the 63 bits of a word.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/core/peak_memory.hpp>
#include <sporos/sporos.hpp>

#include "../inputs.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

constexpr std::int64_t wide = std::int64_t{1} << 40;

/// Random entries of which some modes are spread over long extents: those with a stride, of which coordinate
/// c becomes c * stride + 7.
template <int Order>
Entries<double, Order> spread(const Extents<Order>& drawn, const Extents<Order>& strides, std::int64_t count,
                              unsigned seed) {
  const auto entries = random_entries<double, Order>(drawn, count, seed);
  Extents<Order> extents = drawn;
  for (std::size_t mode = 0; mode < extents.size(); ++mode)
    if (strides[mode] > 0) extents[mode] = wide;
  Entries<double, Order> out(extents, count);
  for (std::int64_t e = 0; e < count; ++e) {
    Extents<Order> at = entries.coordinate(e);
    for (std::size_t mode = 0; mode < at.size(); ++mode)
      if (strides[mode] > 0) at[mode] = at[mode] * strides[mode] + 7;
    out.set(e, at, entries.values(static_cast<std::size_t>(e)));
  }
  return out;
}

constexpr std::int64_t far = (std::int64_t{1} << 33) + 1, near = 1;

using Rows = DCSR<std::int64_t, std::int64_t>;
using Columns = DCSC<std::int64_t, std::int64_t>;

class CudaWideKeys : public testing::Test {
 protected:
  const Tensor<double, Columns> B = assemble<Columns>(spread<2>({60, 41}, {far, 0}, 700, 1));
  const Tensor<double, Rows> C = assemble<Rows>(spread<2>({41, 50}, {0, far}, 700, 2));
};

TEST_F(CudaWideKeys, MultiplyMatricesIntoEveryFormat) {
  const auto product = [](const auto& A, const auto& b, const auto& c) {
    return assign(A(i, j), b(i, k) * c(k, j));
  };
  expect_equals_host<Rows>({wide, wide}, product, B, C);
  expect_equals_host<Columns>({wide, wide}, product, B, C);
  expect_equals_host<COO<2, RowMajor, std::int64_t, std::int64_t>>({wide, wide}, product, B, C);
}

TEST_F(CudaWideKeys, AddMatricesOfAnyOrder) {
  const auto D = assemble<Rows>(spread<2>({60, 50}, {far, near}, 900, 3));
  const auto E = assemble<Columns>(spread<2>({50, 60}, {near, far}, 900, 4));
  expect_equals_host<Rows>(
      {wide, wide},
      [](const auto& A, const auto& d, const auto& e) { return assign(A(i, j), d(i, j) - 2.0 * e(j, i)); }, D,
      E);
}

TEST_F(CudaWideKeys, MergeBatchesInTheirOrder) {
  const Tensor<double, Rows> expected({wide, wide});
  expected(i, j) = B(i, k) * C(k, j);
  const auto device_B = on_device(B);
  const auto device_C = on_device(C);
  for (const std::int64_t capacity : {1, 300, 5000, 1'000'000}) {
    const Tensor<double, Rows, Cuda> A({wide, wide});
    const auto statement = assign(A(i, j), device_B(i, k) * device_C(k, j))
                               .workspace(CoordinatePolicy{.settings = {.capacity = capacity}});
    EXPECT_TRUE(explain(statement).find("in 2 words") != std::string::npos) << explain(statement);
    statement.run();
    expect_equal_tensors(expected, A);
    statement.deterministic().run();
    expect_equal_tensors(expected, A);
  }
}

TEST_F(CudaWideKeys, KeepToTheMemoryThatIsAllowed) {
  const Tensor<double, Rows> expected({wide, wide});
  expected(i, j) = B(i, k) * C(k, j);
  const auto device_B = on_device(B);
  const auto device_C = on_device(C);
  const Tensor<double, Rows, Cuda> A({wide, wide});
  const auto statement = assign(A(i, j), device_B(i, k) * device_C(k, j));
  const Estimate most = estimate(statement);
  PeakMemory peak;
  statement.on(Resources<Cuda>(Cuda())).run();
  EXPECT_LE(peak.bytes(), most.result + most.workspace);
  expect_equal_tensors(expected, A);
}

TEST(CudaWideTensors, TakeAWordForEachLevelOrForSome) {
  using Deep = CSF<3, detail::natural_order<3>, std::int64_t, std::int64_t>;
  using Permuted = CSF<3, ModeOrder<2, 0, 1>, std::int64_t, std::int64_t>;
  // Levels that are built on the host.
  using Blocks =
      Format<Map<Quotient<0, 2>, Quotient<1, 3>, Remainder<0, 2>, Remainder<1, 3>>,
             Compressed<std::int64_t, std::int64_t>, Compressed<std::int64_t, std::int64_t>, Dense, Dense>;
  const auto T = assemble<Deep>(spread<3>({30, 20, 25}, {far, 0, far}, 800, 5));
  const auto U = assemble<Rows>(spread<2>({20, 40}, {0, far}, 300, 6));
  const auto product = [](const auto& A, const auto& t, const auto& u) {
    return assign(A(i, k, l), t(i, j, k) * u(j, l));
  };
  expect_equals_host<Deep>({wide, wide, wide}, product, T, U);
  expect_equals_host<Permuted>({wide, wide, wide}, product, T, U);
  const auto D = assemble<Rows>(spread<2>({60, 50}, {far, far}, 900, 7));
  const auto E = assemble<Columns>(spread<2>({50, 60}, {far, far}, 900, 8));
  expect_equals_host<Blocks>(
      {wide, wide},
      [](const auto& A, const auto& d, const auto& e) { return assign(A(i, j), d(i, j) + e(j, i)); }, D, E);
}

}  // namespace
