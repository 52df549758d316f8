// SPDX-License-Identifier: Apache-2.0
/// @file windows.cpp
/// Products of doubles on tensor cores, by windows of rows: against sums in double.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <sporos/sporos.hpp>
#include <string>
#include <type_traits>

#include "products.hpp"

namespace sporos::test {
namespace {

using sporos::indices::i;
using sporos::indices::j;
using sporos::indices::k;

TEST(CudaSpmm, OfWindowsOfDoubles) {
  expect_products_by_tiles<gpu::SpmmByWindows, double, double, IntCsr, false, DenseMatrix<>>();
  expect_products_by_tiles<gpu::SpmmByWindows, double, double, CSC<>, false, DenseMatrix<ColumnMajor>>();
  expect_products_by_tiles<gpu::SpmmByWindows, double, double, CSR<>, true, DenseMatrix<>>();
}

/// Windows of each height in panels of each width, by every number of warps.
TEST(CudaSpmm, WindowsOfEveryShape) {
  const std::int64_t m = 203, n = 90, inner = 700;
  const auto dense_A = thinned<double>({m, inner}, 30, 1);
  for (std::int64_t row = 64; row < 96; ++row)  // an empty window of each height
    for (std::int64_t column = 0; column < inner; ++column) dense_A.values()(row * inner + column) = 0;
  const auto A = convert<IntCsr>(dense_A).copy_to<Cuda>();
  const auto B = random_dense<double, DenseMatrix<>>({inner, n}, 2);
  const auto device_B = B.copy_to<Cuda>();
  const Kokkos::Cuda space;
  const auto& columns = A.level<1>();
  using View = gpu::CsrView<const double, const std::int32_t, const std::int32_t>;
  const View view{m, inner, A.nnz(), columns.positions.data(), columns.coordinates.data(), A.values().data()};
  const Array<gpu::ValueWindowCounts, gpu::Memory> of_counts("counts", 1);
  const auto counts = gpu::count_window_steps(space, view, of_counts.data());
  for (const int rows : gpu::ValueWindows::heights) {
    const int steps = counts.steps[gpu::ValueWindowCounts::of(rows)];
    EXPECT_GE(static_cast<std::int64_t>(steps) * rows * gpu::ValueWindows::columns, A.nnz());
    gpu::ValueWindows windows = gpu::ValueWindows::of(rows, m);
    const auto size = [](std::int64_t count) { return static_cast<std::size_t>(count); };
    const Array<double, gpu::Memory> values("values", size(std::int64_t{steps} * rows * 8));
    const Array<std::int32_t, gpu::Memory> of_steps("columns", size(std::int64_t{steps} * 8)),
        first("first", size(windows.windows + 1));
    const Array<gpu::RowPlace, gpu::Memory> places("places", size(windows.windows));
    gpu::Layout layout;
    gpu::WindowPacking::lay_out(space, layout, windows.windows);
    const Array<char, gpu::Memory> memory("packing", size(layout.bytes()));
    gpu::Layout of_packing(memory.data());
    windows.values = values.data();
    windows.column = of_steps.data();
    windows.first = first.data();
    windows.places = places.data();
    gpu::pack_windows(space, view, windows, gpu::WindowPacking::lay_out(space, of_packing, windows.windows));
    for (const int wide : {16, 32, 64})
      for (const int parts : {1, 2, 4, 8}) {
        if (!gpu::WindowsChoice::is_there(rows, wide)) continue;
        SCOPED_TRACE(text(rows, " rows, ", wide, " columns, ", parts, " parts"));
        const auto C = poisoned<double, DenseMatrix<>>({m, n});
        const auto epilogue = epilogue_of(assign(C(i, j), A(i, k) * device_B(k, j)));
        const gpu::WindowsProduct<std::remove_const_t<decltype(epilogue)>, View> product{
            {m, n, inner, C.values().data(), false, epilogue},
            windows,
            view,
            device_B.values().data(),
            n,
            true};
        gpu::WindowsChoice{rows, wide, parts}.visit_config([&]<class Config>(std::type_identity<Config>) {
          gpu::spmm_windows<Config>(space, product, parts);
        });
        EXPECT_EQ((wrong_sums<double, double>(dense_A, B, nullptr, C.copy_to<Host>())), 0);
      }
  }
}

/// Where rows share columns, and where packed windows may take memory.
TEST(CudaSpmm, ProductsOfDoublesThatShareColumnsAreComputedOnTensorCores) {
  const auto kernel = [](const auto& statement) {
    return std::string(plan(statement.with_constant_operands()).candidate());
  };
  const auto some = convert<IntCsr>(thinned<double>({512, 2048}, 4, 1)).copy_to<Cuda>();
  const auto few = convert<IntCsr>(thinned<double>({4096, 4096}, 100, 1)).copy_to<Cuda>();
  const Tensor<double, DenseMatrix<>, Cuda> B({2048, 64}), C({512, 64}), larger_B({4096, 256}),
      larger_C({4096, 256});
  const auto statement = assign(C(i, j), some(i, k) * B(k, j));
  EXPECT_EQ(kernel(statement), gpu::SpmmByWindows::name);
  EXPECT_EQ(kernel(assign(larger_C(i, j), few(i, k) * larger_B(k, j))), gpu::SpmmByGroups::name);
  const Resources<Cuda> bounded = Resources<Cuda>().within(std::int64_t{1} << 30);
  EXPECT_NE(kernel(statement.on(bounded)), gpu::SpmmByWindows::name);
}

TEST(CudaSpmm, WindowsTakeNoMoreMemoryThanEstimated) {
  expect_within_estimates<gpu::SpmmByWindows, double>();
}

TEST(CudaSpmm, WindowsOfPlansReadNewValuesUnlessTheyAreConstant) {
  expect_new_values<gpu::SpmmByWindows, double, double>();
}
TEST(CudaSpmm, WindowsMakeTheSameFromRunToRun) { expect_same_from_run_to_run<gpu::SpmmByWindows, double>(); }
TEST(CudaSpmm, WindowsKeepInfinitiesToWhatTheyAreMultipliedBy) {
  expect_infinities<gpu::SpmmByWindows, double, double>();
}

}  // namespace
}  // namespace sporos::test
