// SPDX-License-Identifier: Apache-2.0
/// @file storage_bound.cpp
/// The bound on a tensor's arrays: exact where nothing is shared, never too low.
#include <sporos/formats/storage_bound.hpp>

#include "matrix_formats.hpp"
#include "tensor_formats.hpp"

namespace sporos::test {
namespace {

TEST(AStorageBound, IsExactForRows) {
  const auto t = assemble<CSR<>>(random_unique_entries<double, 2>({9, 12}, 20, 1));
  const StorageBound bound = storage_bound<CSR<>, double>({9, 12}, t.nnz());
  EXPECT_EQ(bound.values, t.nnz());
  EXPECT_EQ(bound.bytes, t.bytes());
  EXPECT_EQ((storage_bound<COO<2>, float>({9, 12}, 20).bytes), 2 * 8 + 20 * (4 + 4 + 4));
  EXPECT_EQ((storage_bound<DenseMatrix<>, double>({9, 12}, 5).bytes), 9 * 12 * 8);
}

TEST(AStorageBound, IsNoMoreThanThereCanBe) {
  EXPECT_EQ((storage_bound<CSR<>, double>({9, 12}, 1000).values), 9 * 12);
  EXPECT_EQ((storage_bound<COO<2>, double>({9, 12}, 1000).values), 9 * 12);
  EXPECT_EQ((storage_bound<RepeatedCoo, double>({9, 12}, 1000).values), 1000);
  EXPECT_EQ((storage_bound<DCSR<>, double>({0, 12}, 1000).values), 0);
  EXPECT_EQ((storage_bound<BCSR<2, 3>, double>({9, 12}, 5).values), 5 * 6);
  EXPECT_EQ((storage_bound<DCSR<>, double>({std::int64_t{1} << 40, std::int64_t{1} << 31}, 7).values), 7);
}

TEST(AStorageBound, HoldsForEveryFormat) {
  for (const auto& entries : matrices())
    for_each_matrix_format([&]<TensorFormat F>() {
      const auto t = assemble<F>(entries);
      const auto bound = storage_bound<F, double>(entries.extents, entries.size());
      EXPECT_LE(t.nnz(), bound.values) << format_name<F>();
      EXPECT_LE(t.bytes(), bound.bytes) << format_name<F>();
    });
  for (const auto& entries : tensors())
    for_each_tensor_format([&]<TensorFormat F>() {
      const auto t = assemble<F>(entries);
      const auto bound = storage_bound<F, double>(entries.extents, entries.size());
      EXPECT_LE(t.nnz(), bound.values) << format_name<F>();
      EXPECT_LE(t.bytes(), bound.bytes) << format_name<F>();
    });
}

}  // namespace
}  // namespace sporos::test
