// SPDX-License-Identifier: Apache-2.0
/// @file spmm.cpp
/// Products of sparse and dense matrices: against sums in double, and against the host's where they are
/// exact.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sporos/kernels/spmm/cuda/dot_products_candidate.hpp>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/kernel_of.hpp"
#include "products.hpp"

namespace sporos::test {
namespace {

using sporos::indices::i;
using sporos::indices::j;
using sporos::indices::k;

TEST(CudaSpmm, OfEachValue) {
  expect_products<gpu::SpmmByGroups, double, double, CSR<>, false, DenseMatrix<>>();
  expect_products<gpu::SpmmByGroups, float, float, IntCsr, false, DenseMatrix<>>();
  expect_products<gpu::SpmmByGroups, half, half, IntCsr, false, DenseMatrix<>>();
  expect_products<gpu::SpmmByGroups, bfloat16, bfloat16, IntCsr, false, DenseMatrix<>>();
}
TEST(CudaSpmm, ResultsOfOtherTypes) {
  expect_products<gpu::SpmmByGroups, half, float, IntCsr, false, DenseMatrix<>>();
  expect_products<gpu::SpmmByGroups, float, double, IntCsr, false, DenseMatrix<>>();
}
TEST(CudaSpmm, OfEachLayout) {
  expect_products<gpu::SpmmByGroups, float, float, IntCsr, true, DenseMatrix<>>();
  expect_products<gpu::SpmmByGroups, float, float, CSC<std::int32_t, std::int32_t>, false,
                  DenseMatrix<ColumnMajor>>();
  expect_products<gpu::SpmmByGroups, half, half, CSC<>, true, DenseMatrix<ColumnMajor>>();
}

TEST(CudaSpmm, OnTensorCores) {
  expect_products_by_tiles<gpu::SpmmOnTensorCores, half, half, IntCsr, false, DenseMatrix<>>();
  expect_products_by_tiles<gpu::SpmmOnTensorCores, bfloat16, float, CSR<>, false, DenseMatrix<>>();
  expect_products_by_tiles<gpu::SpmmOnTensorCores, half, float, IntCsr, true, DenseMatrix<ColumnMajor>>();
}

/// Rows of every number of warps; cut rows, also with odd numbers of columns.
template <class Value, class Out, class AF, bool Transposed, class BF>
void expect_products_by_dot_products() {
  using Kernel = gpu::SpmmByDotProducts;
  expect_products<Kernel, Value, Out, AF, Transposed, BF>();
  for (const unsigned of : {3u, 6u, 12u, 25u, 50u})
    expect_product<Kernel, Value, Out, AF, Transposed, BF>({70, 72, 190}, of);
  expect_product<Kernel, Value, Out, AF, Transposed, BF>({3, 72, 5000}, 1);
  expect_product<Kernel, Value, Out, AF, Transposed, BF>({5, 13, 6000}, 2, true);
}
TEST(CudaSpmm, ByDotProductsOnTensorCores) {
  expect_products_by_dot_products<half, half, IntCsr, false, DenseMatrix<>>();
  expect_products_by_dot_products<bfloat16, float, CSR<>, false, DenseMatrix<>>();
  expect_products_by_dot_products<float, float, IntCsr, true, DenseMatrix<ColumnMajor>>();
}

TEST(CudaSpmm, ByTheSparseOperandsRowsIntoColumns) {
  using Kernel = gpu::SpmmIntoColumns;
  expect_columns_of_shapes<Kernel, double, double, CSR<>, false, DenseMatrix<>, DenseMatrix<>>();
  expect_columns_of_shapes<Kernel, half, half, IntCsr, true, DenseMatrix<>, DenseMatrix<>>();
  expect_columns_of_shapes<Kernel, half, float, CSC<>, false, DenseMatrix<ColumnMajor>, DenseMatrix<>>();
  expect_columns_of_shapes<Kernel, float, float, IntCsr, false, DenseMatrix<ColumnMajor>,
                           DenseMatrix<ColumnMajor>>();
}
TEST(CudaSpmm, IntoColumnsFromRowsInSharedMemory) {
  using Kernel = gpu::SpmmFromSharedRows;
  expect_columns_of_shapes<Kernel, double, double, CSR<>, false, DenseMatrix<>, DenseMatrix<>>();
  expect_columns_of_shapes<Kernel, half, half, IntCsr, false, DenseMatrix<>, DenseMatrix<>>();
  expect_columns_of_shapes<Kernel, bfloat16, float, CSC<>, true, DenseMatrix<>, DenseMatrix<>>();
  expect_columns_of_shapes<Kernel, float, float, IntCsr, false, DenseMatrix<>, DenseMatrix<>>();
}
/// By the kernel without transposes where they would take most of the time and rows of X fit in shared
/// memory.
TEST(CudaSpmm, OfSmallLayersNeedNoTransposes) {
  const auto kernel = [](std::int64_t inner, unsigned of) {
    const auto W = convert<IntCsr>(thinned<half>({512, inner}, of, 1)).copy_to<Cuda>();
    const Tensor<half, DenseMatrix<>, Cuda> X({64, inner}), Y({64, 512});
    return std::string(plan(assign(Y(i, j), X(i, k) * W(j, k))).candidate());
  };
  EXPECT_EQ(kernel(512, 50), gpu::SpmmFromSharedRows::name);
  EXPECT_EQ(kernel(8192, 200), gpu::SpmmIntoColumns::name);
}

/// The epilogue sees each sum with its own row and column, whichever way the result is stored.
TEST(CudaSpmm, EpiloguesOfTransposedResults) {
  const auto host_A = convert<IntCsr>(thinned<double>({53, 71}, 4, 1));
  const auto host_B = random_dense<double, DenseMatrix<>>({71, 39}, 2);
  const auto host_X = random_dense<double, DenseMatrix<>>({39, 71}, 3);
  const auto host_D = random_dense<double, DenseMatrix<>>({53, 39}, 4);
  const auto host_E = random_dense<double, DenseMatrix<>>({39, 53}, 5);
  const Tensor<double, DenseMatrix<>> C({53, 39}), Y({39, 53});
  C(i, j) = 2.0 * host_A(i, k) * host_B(k, j) - host_D(i, j);
  Y(i, j) = 2.0 * host_X(i, k) * host_A(j, k) - host_E(i, j);
  const auto A = host_A.copy_to<Cuda>();
  const auto B = host_B.copy_to<Cuda>(), X = host_X.copy_to<Cuda>();
  const auto D = host_D.copy_to<Cuda>(), E = host_E.copy_to<Cuda>();
  const auto by_columns = poisoned<double, DenseMatrix<ColumnMajor>>({53, 39});
  const auto by_rows = poisoned<double, DenseMatrix<>>({39, 53});
  by_columns(i, j) = 2.0 * A(i, k) * B(k, j) - D(i, j);
  by_rows(i, j) = 2.0 * X(i, k) * A(j, k) - E(i, j);
  const auto made_C = convert<DenseMatrix<>>(by_columns.copy_to<Host>());
  const auto made_Y = by_rows.copy_to<Host>();
  for (std::int64_t at = 0; at < C.nnz(); ++at) {
    EXPECT_NEAR(made_C.values()(at), C.values()(at), 1e-12);
    EXPECT_NEAR(made_Y.values()(at), Y.values()(at), 1e-12);
  }
}

template <class Value>
void expect_same_as_host(const Entries<Value, 2>& entries, std::int64_t columns) {
  const auto A = assemble<IntCsr>(entries);
  const auto X = filled<Value, DenseMatrix<>>({A.extent(1), columns}, 13);
  const Tensor<Value, DenseMatrix<>> Y({A.extent(0), columns});
  Y(i, j) = A(i, k) * X(k, j);
  const auto device_A = A.template copy_to<Cuda>();
  const auto device_X = X.template copy_to<Cuda>();
  const auto device_Y = poisoned<Value, DenseMatrix<>>({A.extent(0), columns});
  const auto statement = assign(device_Y(i, j), device_A(i, k) * device_X(k, j));
  EXPECT_EQ(kernel_of(statement), "SpMM by groups of lanes");
  statement.run();
  expect_equal_tensors(Y, device_Y);
  Kokkos::deep_copy(device_Y.values(), Value(-77));
  auto product = plan(statement);
  for (int run = 0; run < 3; ++run) product.run();
  expect_equal_tensors(Y, device_Y);
}

TEST(CudaSpmm, LongAndEmptyRows) {
  for (const std::int64_t columns : {1, 3, 32, 128})
    expect_same_as_host(entries_with_a_long_row<double>({9001, 4001}, 7000, 4500, 3000, 12), columns);
  expect_same_as_host(entries_with_a_long_row<std::int64_t>({9, 40001}, 30, 8, 30000, 12), 24);
  expect_same_as_host(entries_with_a_long_row<std::int32_t>({1, 3'000'001}, 0, 0, 2'000'000, 12), 5);
  expect_same_as_host(entries_with_a_long_row<Kokkos::complex<double>>({70, 5001}, 900, 3, 4000, 12), 6);
  expect_same_as_host(entries_with_a_long_row<double>({1'000'000, 50}, 10, 999'999, 10, 12), 7);
}

/// Among short rows, long ones: in a small matrix those of more than 64 nonzeros are pieces of as many. In a
/// large one, rows of up to 128 are computed as the others are, those of up to 256 in one piece.
TEST(CudaSpmm, LongRowsOfOnePieceAndOfSeveral) {
  const std::vector<std::int64_t> lengths{62,  63,  64,  65,  66,  67,  68,  126,  127,  128,
                                          129, 130, 131, 132, 133, 252, 253, 255,  256,  257,
                                          258, 259, 260, 511, 512, 513, 700, 1025, 8192, 20'000};
  for (const std::size_t rows : {5000, 70'000}) {
    std::vector<std::int64_t> of_rows(rows);
    for (std::size_t row = 0; row < rows; ++row) of_rows[row] = static_cast<std::int64_t>(row % 9);
    for (std::size_t at = 0; at < lengths.size(); ++at) of_rows[(at * 1013 + 7) % rows] = lengths[at];
    const auto of_values = [&]<class Value>(Value) {
      const auto entries = with_lengths<Value>(of_rows, 30'011);
      for (const std::int64_t columns : {1, 3, 8, 24, 32, 64, 100, 128})
        expect_same_as_host(entries, columns);
    };
    of_values(float{});
    of_values(double{});
    of_values(std::int64_t{});
  }
}

/// A matrix most of whose rows are short, a few longer, and some empty.
Entries<double, 2> uneven_entries(std::int64_t rows, std::int64_t columns, std::int64_t average) {
  std::mt19937_64 draw(5);
  std::vector<std::int64_t> of_row, of_column;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto most = static_cast<std::uint64_t>(row % 7 == 0 ? 4 * average : average);
    const auto count = row % 11 == 0 ? 0 : static_cast<std::int64_t>(draw() % (most + 1));
    for (std::int64_t at = 0; at < count; ++at) {
      of_row.push_back(row);
      of_column.push_back(static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(columns)));
    }
  }
  Entries<double, 2> out({rows, columns}, static_cast<std::int64_t>(of_row.size()));
  for (std::size_t at = 0; at < of_row.size(); ++at)
    out.set(static_cast<std::int64_t>(at), {of_row[at], of_column[at]}, static_cast<double>(1 + at % 3));
  return out;
}

/// In several parts of a warp, and in two warps, or four, where they are few; panels of every width.
TEST(CudaSpmm, PlansTakeRowsByTheirLengths) {
  for (const auto& [rows, columns, average] : {Extents<3>{3001, 900, 9}, {700, 1100, 90}, {60, 4000, 900}})
    for (const std::int64_t wide : {1, 24, 32, 64, 70, 130, 256}) {
      SCOPED_TRACE(text(rows, " rows of ", average, ", ", wide, " columns"));
      const auto A = assemble<IntCsr>(uneven_entries(rows, columns, average));
      const auto X = filled<double, DenseMatrix<>>({columns, wide}, 13);
      const Tensor<double, DenseMatrix<>> Y({rows, wide}), twice({rows, wide});
      Y(i, j) = A(i, k) * X(k, j);
      twice(i, j) = 2.0 * Y(i, j);
      const auto device_A = A.copy_to<Cuda>();
      const auto device_X = X.copy_to<Cuda>();
      const auto device_Y = poisoned<double, DenseMatrix<>>({rows, wide});
      const auto statement = assign(device_Y(i, j), device_A(i, k) * device_X(k, j)).use<gpu::SpmmByGroups>();
      auto product = plan(statement);
      std::ostringstream out;
      product.explain(out);
      EXPECT_NE(out.str().find("the longest rows first"), std::string::npos) << out.str();
      product.run();
      expect_equal_tensors(Y, device_Y);
      plan(statement.accumulate()).run();
      expect_equal_tensors(twice, device_Y);
    }
}

/// Rows that are equally long keep their order, and so do those of products whose memory is bounded.
TEST(CudaSpmm, PlansOfEvenRowsKeepTheirOrder) {
  const auto explained = [](const auto& statement) {
    std::ostringstream out;
    plan(statement).explain(out);
    return out.str();
  };
  Entries<double, 2> band({5000, 5000}, 5000 * 4);
  for (std::int64_t row = 0; row < 5000; ++row)
    for (std::int64_t at = 0; at < 4; ++at) band.set(row * 4 + at, {row, (row + at) % 5000}, 1.0);
  const auto A = assemble<IntCsr>(band).copy_to<Cuda>();
  const auto uneven = assemble<IntCsr>(uneven_entries(5000, 5000, 9)).copy_to<Cuda>();
  const Tensor<double, DenseMatrix<>, Cuda> X({5000, 32}), Y({5000, 32});
  const std::string of_band = explained(assign(Y(i, j), A(i, k) * X(k, j)));
  EXPECT_EQ(of_band.find("the longest"), std::string::npos);
  for (const auto* const measured : {"rows of 4 nonzeros on average and 4 at most",
                                     "25 % of the elements of windows of 8 rows are nonzeros"})
    EXPECT_NE(of_band.find(measured), std::string::npos) << of_band;
  const auto statement = assign(Y(i, j), uneven(i, k) * X(k, j));
  EXPECT_NE(explained(statement).find("the longest rows first"), std::string::npos);
  const Resources<Cuda> bounded = Resources<Cuda>().within(std::int64_t{1} << 30);
  EXPECT_EQ(explained(statement.on(bounded)).find("the longest"), std::string::npos);
}

TEST(CudaSpmm, PlansReadNewValuesUnlessTheyAreConstant) { expect_new_values<gpu::SpmmOnTensorCores, half>(); }

/// Blocks that are full, in a matrix that is not.
TEST(CudaSpmm, ProductsOfFullTilesAreComputedOnTensorCores) {
  constexpr std::int64_t n = 8192, block = 64;
  Entries<half, 2> entries({n, n}, n * block);
  for (std::int64_t row = 0; row < n; ++row)
    for (std::int64_t at = 0; at < block; ++at)
      entries.set(row * block + at, {row, row / block * block + at}, half(1.0F));
  const auto A = assemble<IntCsr>(entries).copy_to<Cuda>();
  const Tensor<half, DenseMatrix<>, Cuda> B({n, 256}), C({n, 256});
  const auto product = plan(assign(C(i, j), A(i, k) * B(k, j)).with_constant_operands());
  EXPECT_EQ(product.candidate(), "SpMM by tiles on tensor cores");
}

TEST(CudaSpmm, ResultsAreTheSameFromRunToRun) {
  expect_same_from_run_to_run<gpu::SpmmByGroups>();
  expect_same_from_run_to_run<gpu::SpmmByDotProducts>();
}

/// Tiles are stored with their zeros where that is faster and takes at most 128 bytes a nonzero, in plans
/// whose operands do not change and whose memory is not bounded.
TEST(CudaSpmm, TilesOfPlansMayBeDense) {
  const std::int64_t n = 1024;
  const Tensor<half, DenseMatrix<>, Cuda> B({n, 128}), C({n, 128});
  const auto form_of = [](const auto& statement) {
    const auto product = plan(statement.template use<gpu::SpmmOnTensorCores>());
    std::ostringstream out;
    product.explain(out);
    return out.str().find("with their zeros") != std::string::npos;
  };
  const auto some = convert<IntCsr>(thinned<half>({n, n}, 8, 1)).copy_to<Cuda>();
  const auto few = convert<IntCsr>(thinned<half>({n, n}, 100, 2)).copy_to<Cuda>();
  const auto statement = assign(C(i, j), some(i, k) * B(k, j));
  EXPECT_TRUE(form_of(statement.with_constant_operands()));
  EXPECT_FALSE(form_of(statement));
  EXPECT_FALSE(form_of(assign(C(i, j), few(i, k) * B(k, j)).with_constant_operands()));
  const Resources<Cuda> bounded = Resources<Cuda>().within(std::int64_t{1} << 30);
  EXPECT_FALSE(form_of(statement.on(bounded).with_constant_operands()));
  auto product = plan(statement.use<gpu::SpmmOnTensorCores>().with_constant_operands());
  EXPECT_GE(product.bytes(), n * n * 2);
}

/// Most rows of tiles have one tile with nonzeros, every seventh has three: blocks pass over many tiles
/// between two with work for all of their threads.
TEST(CudaSpmm, ManyRowsOfFewTiles) {
  const std::int64_t rows = 128 * 1500, columns = 256;
  const auto tiles_of = [](std::int64_t row) { return row / 128 % 7 == 6 ? 3 : 1; };
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < rows; ++row) count += tiles_of(row);
  Entries<half, 2> entries({rows, 192}, count);
  for (std::int64_t row = 0, at = 0; row < rows; ++row)
    for (std::int64_t tile = 0; tile < tiles_of(row); ++tile, ++at)
      entries.set(at, {row, tile * 64 + row % 64}, static_cast<half>(static_cast<float>(1 + row % 5)));
  const Tensor<half, DenseMatrix<>> X({192, columns});
  for (std::int64_t at = 0; at < X.nnz(); ++at)
    X.values()(at) = static_cast<half>(static_cast<float>(at % 61));
  const auto A = assemble<IntCsr>(entries).copy_to<Cuda>();
  const auto device_X = X.copy_to<Cuda>();
  const auto device_Y = poisoned<half, DenseMatrix<>>({rows, columns});
  assign(device_Y(i, j), A(i, k) * device_X(k, j)).use<gpu::SpmmOnTensorCores>().run();
  const auto Y = device_Y.copy_to<Host>();
  std::int64_t wrong = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column) {
      float sum = 0;
      for (std::int64_t tile = 0; tile < tiles_of(row); ++tile)
        sum += static_cast<float>(1 + row % 5) *
               static_cast<float>(((tile * 64 + row % 64) * columns + column) % 61);
      wrong += static_cast<float>(Y.values()(row * columns + column)) != sum;
    }
  EXPECT_EQ(wrong, 0);
}

TEST(CudaSpmm, MillionsOfPanels) {
  const std::int64_t columns = 70'000 * 32 + 1;
  const Tensor<float, DenseMatrix<>> X({2, columns});
  for (std::int64_t column = 0; column < columns; ++column) {
    X.values()(column) = static_cast<float>(column % 97);
    X.values()(columns + column) = static_cast<float>(column % 89);
  }
  const Tensor<float, DenseMatrix<>> dense_A({1, 2});
  dense_A.values()(0) = 1.0f;
  dense_A.values()(1) = 2.0f;
  const auto A = convert<IntCsr>(dense_A).copy_to<Cuda>();
  const auto device_X = X.copy_to<Cuda>();
  const auto device_Y = poisoned<float, DenseMatrix<>>({1, columns});
  device_Y(i, j) = A(i, k) * device_X(k, j);
  const auto Y = device_Y.copy_to<Host>();
  std::int64_t wrong = 0;
  for (std::int64_t column = 0; column < columns; ++column)
    wrong += Y.values()(column) != static_cast<float>(column % 97 + 2 * (column % 89));
  EXPECT_EQ(wrong, 0);
}

TEST(CudaSpmm, EpiloguesAndAliases) {
  const auto host_A = convert<IntCsr>(thinned<double>({60, 60}, 4, 1));
  const auto host_B = random_dense<double, DenseMatrix<>>({60, 60}, 2);
  const auto host_s = random_dense<double, DenseMatrix<>>({1, 60}, 3);
  const Tensor<double, DenseVector> s({60});
  for (std::int64_t at = 0; at < 60; ++at) s.values()(at) = host_s.values()(at);
  const Tensor<double, DenseMatrix<>> C({60, 60});
  C(i, j) = s(i) * sum(k, host_A(i, k) * host_B(k, j)) - host_B(i, j);
  const auto A = host_A.copy_to<Cuda>();
  const auto B = host_B.copy_to<Cuda>();
  const auto device_s = s.copy_to<Cuda>();
  const auto statement = assign(B(i, j), device_s(i) * sum(k, A(i, k) * B(k, j)) - B(i, j));
  EXPECT_EQ(kernel_of(statement), "SpMM by groups of lanes");
  statement.run();
  const auto result = B.copy_to<Host>();
  for (std::int64_t at = 0; at < C.nnz(); ++at) EXPECT_NEAR(result.values()(at), C.values()(at), 1e-12);
}

TEST(CudaSpmm, InfinitiesReachWhatTheyAreMultipliedBy) {
  expect_infinities<gpu::SpmmByGroups, float>();
  expect_infinities<gpu::SpmmOnTensorCores, half>();
  expect_infinities<gpu::SpmmByDotProducts, half>();
}

}  // namespace
}  // namespace sporos::test
