// SPDX-License-Identifier: Apache-2.0
/// @file corners.cpp
/// Every kernel for products of sparse and dense matrices with patterns that are easily forgotten, the same
/// bits in every run, and plans in CUDA graphs.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "../streams.hpp"
#include "products.hpp"

namespace sporos::test::spmm_corners {
namespace {

using namespace sporos::indices;

/// Calls work.template operator()<Kernel, Value, Out>() for each kernel with a result by rows.
template <class Work>
void with_each_kernel(const Work& work) {
  const auto one = [&]<class Kernel, class Value, class Out>() {
    SCOPED_TRACE(std::string(Kernel::name));
    work.template operator()<Kernel, Value, Out>();
  };
  one.template operator()<gpu::SpmmByGroups, float, float>();
  one.template operator()<gpu::SpmmByDotProducts, half, float>();
  one.template operator()<gpu::SpmmOnTensorCores, half, float>();
  one.template operator()<gpu::SpmmBySplitTiles, float, float>();
  one.template operator()<gpu::SpmmByWindows, double, double>();
}

/// C = A B into what was not a number, and C += A B, as statements and as plans of constant operands. Sums of
/// small integers are exact in every kernel.
template <class Kernel, class Value, class Out>
void expect_right(const Entries<Value, 2>& entries, std::int64_t columns) {
  const auto A = assemble<IntCsr>(entries);
  const auto B = filled<Value, DenseMatrix<>>({A.extent(1), columns}, 2);
  const Tensor<Out, DenseMatrix<>> expected({A.extent(0), columns}), twice({A.extent(0), columns});
  for (std::int64_t entry = 0; entry < entries.size(); ++entry)
    for (std::int64_t column = 0; column < columns; ++column)
      expected.values()(entries.coordinates[0](entry) * columns + column) +=
          static_cast<Out>(static_cast<float>(entries.values(static_cast<std::size_t>(entry))) *
                           static_cast<float>(B.values()(entries.coordinates[1](entry) * columns + column)));
  for (std::int64_t at = 0; at < expected.nnz(); ++at) twice.values()(at) = 2 * expected.values()(at);
  const auto a = A.template copy_to<Cuda>();
  const auto b = B.template copy_to<Cuda>();
  const auto c = expected.template copy_to<Cuda>();
  const auto statement = assign(c(i, j), a(i, k) * b(k, j)).template use<Kernel>();
  const auto check = [&](const auto& run) {
    Kokkos::deep_copy(c.values(), std::numeric_limits<Out>::quiet_NaN());
    run(statement);
    expect_equal_tensors(expected, c);
    run(statement.accumulate());
    expect_equal_tensors(twice, c);
  };
  check([](const auto& one) { one.run(); });
  check([](const auto& one) { plan(one.with_constant_operands()).run(); });
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
    if constexpr (std::is_same_v<Kernel, gpu::SpmmOnTensorCores> ||
                  std::is_same_v<Kernel, gpu::SpmmBySplitTiles>)
      return;  // they take no matrices so empty
    Entries<Value, 2> few({1'000'000, 50}, 40);
    for (std::int64_t entry = 0; entry < 40; ++entry)
      few.set(entry, {entry < 20 ? entry * 49'999 : 999'999, entry},
              static_cast<Value>(static_cast<float>(1 + entry % 3)));
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

/// A plan that has run once is captured, and reads new values when the graph is launched.
TEST(CudaSpmmCorners, PlansFollowValuesInAGraph) {
  const OwnStream stream;
  with_each_kernel([&]<class Kernel, class Value, class Out>() {
    const auto A = convert<IntCsr>(thinned<Value>({260, 300}, 4, 1)).template copy_to<Cuda>();
    const auto B = filled<Value, DenseMatrix<>>({300, 70}, 2).template copy_to<Cuda>();
    Kokkos::deep_copy(A.values(), static_cast<Value>(2.0F));
    const Tensor<Out, DenseMatrix<>, Cuda> C({260, 70}), expected({260, 70});
    const auto statement = assign(C(i, j), A(i, k) * B(k, j)).template use<Kernel>();
    Kokkos::fence();
    auto product = plan(statement.on(stream.resources()));
    product.run();
    product.run();
    const Graph graph(stream, [&] { product.run(); }, cudaStreamCaptureModeRelaxed);
    Kokkos::deep_copy(A.values(), static_cast<Value>(3.0F));
    Kokkos::deep_copy(C.values(), Out(-1));
    assign(expected(i, j), A(i, k) * B(k, j)).template use<gpu::SpmmByGroups>().run();
    graph.launch();
    expect_equal_tensors(expected.template copy_to<Host>(), C);
  });
}

}  // namespace
}  // namespace sporos::test::spmm_corners
