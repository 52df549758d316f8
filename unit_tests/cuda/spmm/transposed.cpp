// SPDX-License-Identifier: Apache-2.0
/// @file transposed.cpp
/// Backward passes, C(i, j) = A(k, i) * B(k, j) with A in CSR: plans find the transpose's pattern once, and
/// each run reads A's values as they are then.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>

#include "../kept_memory.hpp"
#include "products.hpp"

namespace sporos::test::spmm_transposed {
namespace {

using namespace sporos::indices;

/// Small integers, so that sums are exact in every kernel; rows and columns without any among them.
template <class Value>
Tensor<Value, DenseMatrix<>> small_integers(const Extents<2>& extents, unsigned seed) {
  const auto out = filled<Value, DenseMatrix<>>(extents, seed);
  for (std::int64_t row = 0; row < extents[0]; ++row)
    for (std::int64_t column = 0; column < extents[1]; ++column)
      if ((row * 7 + column * 3) % 5 != 0 || row % 9 == 4 || column % 11 == 6)
        out.values()(row * extents[1] + column) = Value{};
  return out;
}

template <class Out, class A, class B>
Tensor<Out, DenseMatrix<>> product_on_host(const A& dense_a, const B& b) {
  const std::int64_t inner = dense_a.extent(0), m = dense_a.extent(1), n = b.extent(1);
  const Tensor<Out, DenseMatrix<>> out({m, n});
  for (std::int64_t k = 0; k < inner; ++k)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        out.values()(i * n + j) += static_cast<Out>(static_cast<float>(dense_a.values()(k * m + i)) *
                                                    static_cast<float>(b.values()(k * n + j)));
  return out;
}

TEST(CudaSpmmTransposed, PlansReadNewValuesAndOtherArrays) {
  with_each_kernel([]<class Kernel, class Value, class Out>() {
    const auto dense_A = small_integers<Value>({300, 270}, 1);
    const auto host_A = convert<IntCsr>(dense_A);
    const auto A = host_A.template copy_to<Cuda>();
    const auto B = filled<Value, DenseMatrix<>>({300, 70}, 2);
    const auto device_B = B.template copy_to<Cuda>();
    const auto C = poisoned<Out, DenseMatrix<>>({270, 70});
    const auto statement = assign(C(i, j), A(k, i) * device_B(k, j)).template use<Kernel>();
    const auto expected = product_on_host<Out>(dense_A, B);
    statement.run();
    expect_equal_tensors(expected, C);
    auto product = plan(statement);
    auto constant = plan(statement.with_constant_operands());
    const auto expect = [&](auto& by, const Tensor<Out, DenseMatrix<>>& result) {
      Kokkos::deep_copy(C.values(), Out(-1));
      by.run();
      expect_equal_tensors(result, C);
    };
    expect(product, expected);
    expect(product, expected);
    expect(constant, expected);
    for (std::int64_t at = 0; at < dense_A.nnz(); ++at)
      if (static_cast<float>(dense_A.values()(at)) != 0)
        dense_A.values()(at) = static_cast<Value>(static_cast<float>(1 + at % 4));
    const auto changed = product_on_host<Out>(dense_A, B);
    A.replace(A.extents(), A.levels(), convert<IntCsr>(dense_A).template copy_to<Cuda>().values());
    expect(product, changed);
    expect(constant, expected);
  });
}

TEST(CudaSpmmTransposed, PlansFollowValuesInAGraph) {
  with_each_kernel([]<class Kernel, class Value, class Out>() {
    pool<Cuda>().release();
    const OwnStream stream;
    const auto dense_A = small_integers<Value>({300, 260}, 1);
    const auto A = convert<IntCsr>(dense_A).template copy_to<Cuda>();
    const auto B = filled<Value, DenseMatrix<>>({300, 70}, 2);
    const auto wide_B = filled<Value, DenseMatrix<>>({300, 701}, 3).template copy_to<Cuda>();
    const auto device_B = B.template copy_to<Cuda>();
    const Tensor<Out, DenseMatrix<>, Cuda> C({260, 70}), wide_C({260, 701});
    auto product =
        plan(assign(C(i, j), A(k, i) * device_B(k, j)).template use<Kernel>().on(stream.resources()));
    Tensor<Out, DenseMatrix<>> expected({260, 70});
    expect_graph_keeps_memory(
        stream, [&] { product.run(); },
        [&] {
          assign(wide_C(i, j), A(k, i) * wide_B(k, j)).template use<Kernel>().on(stream.resources()).run();
        },
        [&] {
          for (std::int64_t at = 0; at < dense_A.nnz(); ++at)
            if (static_cast<float>(dense_A.values()(at)) != 0)
              dense_A.values()(at) = static_cast<Value>(static_cast<float>(1 + at % 4));
          Kokkos::deep_copy(A.values(), convert<IntCsr>(dense_A).template copy_to<Cuda>().values());
          Kokkos::deep_copy(C.values(), Out(-1));
          expected = product_on_host<Out>(dense_A, B);
        },
        [&] { expect_equal_tensors(expected, C); });
  });
}

/// Sums of inexact values, whose order the copy decides.
TEST(CudaSpmmTransposed, TheSameBitsInEveryRun) {
  const auto A = convert<IntCsr>(thinned<float>({4000, 60}, 3, 1)).copy_to<Cuda>();
  const auto B = random_dense<float, DenseMatrix<>>({4000, 33}, 2).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> C({60, 33});
  const auto statement = assign(C(i, j), A(k, i) * B(k, j)).use<gpu::SpmmByGroups>();
  auto product = plan(statement);
  product.run();
  const auto first = C.copy_to<Host>();
  for (int again = 0; again < 5; ++again) {
    Kokkos::deep_copy(C.values(), -1.0F);
    again % 2 == 0 ? product.run() : plan(statement).run();
    expect_equal_tensors(first, C);
  }
}

TEST(CudaSpmmTransposed, PlansSayWhatTheyCopyAndWhatTheyHold) {
  const auto A = convert<IntCsr>(thinned<float>({900, 700}, 3, 1)).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> B({900, 32}), C({700, 32});
  const auto statement = assign(C(i, j), A(k, i) * B(k, j)).use<gpu::SpmmByGroups>();
  const auto explained = [](const auto& of) {
    std::ostringstream out;
    of.explain(out);
    return out.str();
  };
  const auto product = plan(statement);
  EXPECT_NE(explained(product).find("copied by rows once, its values again in each run"), std::string::npos)
      << explained(product);
  const auto constant = plan(statement.with_constant_operands());
  EXPECT_NE(explained(constant).find("copied by rows once\n"), std::string::npos) << explained(constant);
  // Of each nonzero a column, a value and its number, with room to grow, and the rows' positions and lengths.
  EXPECT_GE(product.bytes(), A.nnz() * 12);
  EXPECT_LE(product.bytes(), A.nnz() * 14 + 700 * 32 + 4096);
  expect_all_bounded(statement);
}

}  // namespace
}  // namespace sporos::test::spmm_transposed
