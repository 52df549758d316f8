// SPDX-License-Identifier: Apache-2.0
/// @file kokkos_kernels.cpp
/// CSR tensors and matrices of Kokkos Kernels over the same memory.
#ifdef SPOROS_HAVE_KOKKOS_KERNELS

#include <sporos/formats/at.hpp>
#include <sporos/formats/kokkos_kernels.hpp>

#include "matrix_formats.hpp"

namespace sporos::test {
namespace {

TEST(KokkosKernels, ATensorBecomesAMatrixOverTheSameMemory) {
  const auto entries = random_entries<double, 2>({30, 40}, 200, 1);
  const auto t = assemble<CSR<int, int>>(entries);
  const auto matrix = to_crs_matrix(t);
  EXPECT_EQ(matrix.numRows(), 30);
  EXPECT_EQ(matrix.numCols(), 40);
  EXPECT_EQ(static_cast<std::int64_t>(matrix.nnz()), t.nnz());
  EXPECT_EQ(matrix.values.data(), t.values().data());
  EXPECT_EQ(matrix.graph.row_map.data(), t.level<1>().positions.data());
  Table<double, 2> list;
  for (int row = 0; row < matrix.numRows(); ++row) {
    const auto view = matrix.rowConst(row);
    for (int at = 0; at < view.length; ++at)
      list.emplace_back(Extents<2>{row, view.colidx(at)}, view.value(at));
  }
  EXPECT_TRUE(same(list, table(entries)));
}

TEST(KokkosKernels, AMatrixBecomesATensorThatKeepsItAlive) {
  const auto entries = random_entries<double, 2>({30, 40}, 200, 1);
  const double* memory = nullptr;
  const auto t = [&] {
    const auto matrix = to_crs_matrix(assemble<CSR<>>(entries));
    memory = matrix.values.data();
    return from_crs_matrix(matrix);
  }();
  EXPECT_EQ(t.values().data(), memory);
  EXPECT_TRUE(same(table(t), table(entries)));
  EXPECT_TRUE(same(table(convert<CSC<>>(t)), table(entries)));
}

TEST(KokkosKernels, AMatrixOfConstValuesIsOnlyRead) {
  const auto entries = random_entries<double, 2>({30, 40}, 200, 2);
  using Matrix = KokkosSparse::CrsMatrix<const double, int, Host::device_type, void, std::int64_t>;
  const Matrix matrix(to_crs_matrix(assemble<CSR<std::int64_t, int>>(entries)));
  const auto t = from_crs_matrix(matrix);
  static_assert(std::is_same_v<decltype(t), const Tensor<const double, CSR<std::int64_t, int>>>);
  EXPECT_TRUE(same(table(t.clone()), table(entries)));
}

TEST(KokkosKernels, AMatrixWithoutRows) {
  const KokkosSparse::CrsMatrix<double, int, Host::device_type, void, std::size_t> none;
  const auto t = from_crs_matrix(none);
  EXPECT_EQ(t.extents(), (Extents<2>{0, 0}));
  EXPECT_EQ(t.nnz(), 0);
}

TEST(KokkosKernels, UnsortedRowsAreRefusedUnlessTrusted) {
  const auto t = assemble<CSR<int, int>>(Entries<double, 2>({2, 3}, {{{1, 0}, 1.0}, {{1, 2}, 2.0}}));
  const auto matrix = to_crs_matrix(t);
  std::swap(t.level<1>().coordinates(0), t.level<1>().coordinates(1));
  EXPECT_THROW(from_crs_matrix(matrix), FormatError);
  EXPECT_EQ(from_crs_matrix(trusted, matrix).nnz(), 2);
}

TEST(KokkosKernels, ColumnsBeyondTheOrdinalTypeAreRefused) {
  const Tensor<double, CSR<std::int64_t, std::int32_t>> t({2, std::int64_t{1} << 31});
  EXPECT_THROW(to_crs_matrix(t), RangeError);
}

}  // namespace
}  // namespace sporos::test

#endif
