// SPDX-License-Identifier: Apache-2.0
/// @file corners.cpp
/// Every kernel for products of sparse and dense matrices with patterns that are easily forgotten, the same
/// bits in every run, plans in CUDA graphs, and bounds on memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../kept_memory.hpp"
#include "products.hpp"

namespace sporos::test::spmm_corners {
namespace {

using namespace sporos::indices;

/// Calls work.template operator()<Kernel, Value, Out>() for each kernel with a result by rows.
template <class Work>
void with_each_kernel(const Work& work) {
  test::with_each_kernel(work, SpmmCase<gpu::SpmmByWindows, half, float>{},
                         SpmmCase<gpu::SpmmByCublas, double, double>{});
}

TEST(CudaSpmmCorners, MatricesWithoutNonzeros) {
  with_each_kernel([]<class Kernel, class Value, class Out>() {
    expect_right<Kernel, Value, Out>(Entries<Value, 2>({300, 200}, 0), 70);
    Entries<Value, 2> zeros({300, 200}, 500);  // stored, but zero
    for (std::int64_t entry = 0; entry < 500; ++entry)
      zeros.set(entry, {entry % 300, entry * 7 % 200}, Value{});
    expect_right<Kernel, Value, Out>(zeros, 70);
  });
}

TEST(CudaSpmmCorners, AMillionRowsOfWhichFewHaveNonzeros) {
  with_each_kernel([]<class Kernel, class Value, class Out>() {
    Entries<Value, 2> few({1'000'000, 50}, 40);
    for (std::int64_t entry = 0; entry < 40; ++entry)
      few.set(entry, {entry < 20 ? entry * 49'999 : 999'999, entry},
              static_cast<Value>(static_cast<float>(1 + entry % 3)));
    if constexpr (std::is_same_v<Kernel, gpu::SpmmOnTensorCores> ||
                  std::is_same_v<Kernel, gpu::SpmmBySplitTiles>)
      EXPECT_THROW((expect_right<Kernel, Value, Out>(few, 5)), ScheduleError) << "it has too few nonzeros";
    else
      expect_right<Kernel, Value, Out>(few, 5);
  });
}

TEST(CudaSpmmCorners, OneRowThatIsFull) {
  with_each_kernel([]<class Kernel, class Value, class Out>() {
    Entries<Value, 2> row({130, 60'000}, 60'003);
    for (std::int64_t entry = 0; entry < 60'000; ++entry)
      row.set(entry, {77, entry}, static_cast<Value>(static_cast<float>(1 + entry % 3)));
    for (std::int64_t entry = 0; entry < 3; ++entry)
      row.set(60'000 + entry, {entry * 60, 59'999 - entry}, static_cast<Value>(2.0F));
    expect_right<Kernel, Value, Out>(row, 33);
  });
}

/// Sums of inexact values, by a kernel for results by rows and by the two for results by columns.
TEST(CudaSpmmCorners, MakeTheSameBitsInEveryRun) {
  expect_same_from_run_to_run<gpu::SpmmOnTensorCores, half>();
  const auto W = convert<IntCsr>(thinned<float>({300, 500}, 4, 1)).copy_to<Cuda>();
  const auto X = random_dense<float, DenseMatrix<>>({60, 500}, 2).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> Y({60, 300});
  const auto check = [&]<class Kernel>() {
    SCOPED_TRACE(std::string(Kernel::name));
    const auto statement = assign(Y(i, j), X(i, k) * W(j, k)).template use<Kernel>();
    statement.run();
    const auto first = Y.copy_to<Host>();
    for (int again = 0; again < 5; ++again) {
      Kokkos::deep_copy(Y.values(), -1.0F);
      again % 2 == 0 ? statement.run() : plan(statement).run();
      expect_equal_tensors(first, Y);
    }
  };
  check.template operator()<gpu::SpmmIntoColumns>();
  check.template operator()<gpu::SpmmFromSharedRows>();
}

/// Gives operands other values.
template <class Value, class F>
void refill(const Tensor<Value, F, Cuda>& dense, unsigned seed) {
  Kokkos::deep_copy(dense.values(),
                    filled<Value, F>(dense.extents(), seed).template copy_to<Cuda>().values());
}

/// A plan is captured before it has run, and reads new values when the graph is launched, in memory of its
/// own.
template <class Layout>
void expect_plans_in_graphs() {
  with_each_kernel([&]<class Kernel, class Value, class Out>() {
    pool<Cuda>().release();
    const OwnStream stream;
    const auto A = convert<IntCsr>(thinned<Value>({260, 300}, 4, 1)).template copy_to<Cuda>();
    const auto B = filled<Value, DenseMatrix<Layout>>({300, 70}, 2).template copy_to<Cuda>();
    const auto wide_B = filled<Value, DenseMatrix<Layout>>({300, 701}, 3).template copy_to<Cuda>();
    Kokkos::deep_copy(A.values(), static_cast<Value>(2.0F));
    const Tensor<Out, DenseMatrix<>, Cuda> C({260, 70}), wide_C({260, 701}), expected({260, 70});
    auto product = plan(assign(C(i, j), A(i, k) * B(k, j)).template use<Kernel>().on(stream.resources()));
    const auto run = [&] { product.run(); };
    const auto run_larger = [&] {
      assign(wide_C(i, j), A(i, k) * wide_B(k, j)).template use<Kernel>().on(stream.resources()).run();
    };
    const auto change = [&] {
      Kokkos::deep_copy(A.values(), static_cast<Value>(3.0F));
      refill(B, 4);
      Kokkos::deep_copy(C.values(), Out(-1));
      assign(expected(i, j), A(i, k) * B(k, j)).template use<gpu::SpmmByGroups>().run();
    };
    const auto check = [&] { expect_equal_tensors(expected.template copy_to<Host>(), C); };
    // cuBLAS works in as much memory for any B.
    if constexpr (std::is_same_v<Layout, ColumnMajor> && !std::is_same_v<Kernel, gpu::SpmmByCublas>)
      expect_graph_keeps_shared_memory(stream, run, run_larger, change, check);
    else
      expect_graph_keeps_memory(stream, run, run_larger, change, check);
  });
}
TEST(CudaSpmmCorners, PlansFollowValuesInAGraph) { expect_plans_in_graphs<RowMajor>(); }
TEST(CudaSpmmCorners, PlansThatCopyFollowValuesInAGraph) { expect_plans_in_graphs<ColumnMajor>(); }

/// The sums have working memory, and so has the product that computes them.
TEST(CudaSpmmCorners, PlansOfLayersFollowValuesInAGraph) {
  const auto W = convert<IntCsr>(thinned<float>({300, 500}, 4, 1)).copy_to<Cuda>();
  const auto X = filled<float, DenseMatrix<>>({60, 500}, 2).copy_to<Cuda>();
  const auto wide_X = filled<float, DenseMatrix<>>({610, 500}, 3).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> Y({60, 300}), wide_Y({610, 300}), expected({60, 300});
  const auto expect = [&]<class Kernel>() {
    SCOPED_TRACE(std::string(Kernel::name));
    pool<Cuda>().release();
    const OwnStream stream;
    Kokkos::deep_copy(W.values(), 2.0F);
    auto product = plan(assign(Y(i, j), X(i, k) * W(j, k)).template use<Kernel>().on(stream.resources()));
    const auto run = [&] { product.run(); };
    const auto run_larger = [&] {
      assign(wide_Y(i, j), wide_X(i, k) * W(j, k)).template use<Kernel>().on(stream.resources()).run();
    };
    const auto change = [&] {
      Kokkos::deep_copy(W.values(), 3.0F);
      refill(X, 4);
      Kokkos::deep_copy(Y.values(), -1.0F);
      assign(expected(i, j), X(i, k) * W(j, k)).template use<gpu::SpmmIntoColumns>().run();
    };
    const auto check = [&] { expect_equal_tensors(expected.copy_to<Host>(), Y); };
    if constexpr (std::is_same_v<Kernel, gpu::SpmmIntoColumns>)
      expect_graph_keeps_shared_memory(stream, run, run_larger, change, check);
    else
      expect_graph_keeps_memory(stream, run, run_larger, change, check);
  };
  expect.template operator()<gpu::SpmmIntoColumns>();
  expect.template operator()<gpu::SpmmFromSharedRows>();
}

TEST(CudaSpmmCorners, PlansAllocateNothingInARun) {
  const auto expect = []<class Kernel, class Value, class Out, class Layout>() {
    const auto A = convert<IntCsr>(thinned<Value>({260, 300}, 4, 1)).template copy_to<Cuda>();
    const auto B = filled<Value, DenseMatrix<Layout>>({300, 70}, 2).template copy_to<Cuda>();
    const Tensor<Out, DenseMatrix<>, Cuda> C({260, 70});
    const Resources<Cuda> fresh{Cuda()};
    auto product = plan(assign(C(i, j), A(i, k) * B(k, j)).template use<Kernel>().on(fresh));
    for (int run = 0; run < 2; ++run) EXPECT_EQ(memory_of([&] { product.run(); }), 0);
  };
  with_each_kernel([&]<class Kernel, class Value, class Out>() {
    expect.template operator()<Kernel, Value, Out, RowMajor>();
    expect.template operator()<Kernel, Value, Out, ColumnMajor>();
  });
}

/// A statement that may not take what it needs says so, and changes nothing.
TEST(CudaSpmmCorners, KeepWithinMemoryBounds) {
  with_each_kernel([]<class Kernel, class Value, class Out>() {
    const auto A = convert<CSC<>>(thinned<Value>({260, 300}, 4, 1)).template copy_to<Cuda>();
    const auto B = filled<Value, DenseMatrix<ColumnMajor>>({300, 70}, 2).template copy_to<Cuda>();
    const auto before = filled<Out, DenseMatrix<>>({260, 70}, 3);
    const auto C = before.template copy_to<Cuda>();
    expect_kept_within(assign(C(i, j), A(i, k) * B(k, j)).template use<Kernel>(),
                       [&] { expect_equal_tensors(before, C); });
  });
}

}  // namespace
}  // namespace sporos::test::spmm_corners
