// SPDX-License-Identifier: Apache-2.0
/// @file sums_of_product.cpp
/// Plans of products in two passes on the GPU: the part that computes the sums, which have no memory when the
/// plan is made, measures, packs and cuts its operands then, not in the runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>
#include <sstream>
#include <type_traits>

#include "../estimates.hpp"
#include "../inputs.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

/// A plan by K holds the same after a run as before the first, more than the sums, and computes what the
/// statement does, whose sums may be another kernel's.
/// @param sums  bytes of sums that the plan holds
template <class K, class S>
void expect_prepared(const S& statement, std::int64_t sums) {
  SCOPED_TRACE(text(K::name, ", ", statement.str()));
  const auto& result = statement.result().tensor();
  const auto before = result.clone();
  const auto restore = [&] { Kokkos::deep_copy(result.values(), before.values()); };
  statement.template use<K>().run();
  const auto expected = result.template copy_to<Host>();
  restore();
  auto product = plan(statement.template use<K>());
  const std::int64_t held = product.bytes();
  EXPECT_GT(held, sums) << text(explain(statement.template use<K>()));
  product.run();
  expect_equal_tensors(expected, result);
  EXPECT_EQ(product.bytes(), held);
  restore();
  product.run();
  expect_equal_tensors(expected, result);
  EXPECT_EQ(product.bytes(), held);
  restore();
  expect_bounded_by<K>(statement);
}

template <class Value>
std::int64_t bytes_of_sums(std::int64_t rows, std::int64_t columns) {
  return rows * columns * static_cast<std::int64_t>(sizeof(Value));
}

/// So full that tensor cores take it.
template <class Value>
auto full_matrix(const Extents<2>& extents) {
  return convert<CSR<>>(filled<Value, DenseMatrix<>>(extents, 1)).template copy_to<Cuda>();
}

TEST(CudaSumsOfProducts, PackTheSparseFactorInAdvance) {
  const auto W = full_matrix<float>({1024, 1024});
  const auto X = filled<float, DenseMatrix<>>({256, 1024}, 2).copy_to<Cuda>();
  const auto Z = filled<float, DenseMatrix<>>({1024, 256}, 3).copy_to<Cuda>();
  const auto b = filled<float, DenseVector>({256}, 4).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> Y({256, 1024}), C({1024, 256});
  expect_prepared<gpu::SpmmIntoColumns>(assign(Y(i, j), X(i, k) * W(j, k)).with_constant_operands(), 0);
  expect_prepared<SumsFirst>(
      assign(C(i, j), relu(sum(k, W(i, k) * Z(k, j)) + b(j))).accumulate().with_constant_operands(),
      bytes_of_sums<float>(1024, 256));
  const auto V = full_matrix<half>({1024, 1024});
  const auto U = filled<half, DenseMatrix<>>({1024, 256}, 5).copy_to<Cuda>();
  const Tensor<half, DenseMatrix<>, Cuda> D({1024, 256});
  expect_prepared<SumsFirst>(assign(D(i, j), relu(sum(k, V(i, k) * U(k, j)) + b(j))).with_constant_operands(),
                             bytes_of_sums<float>(1024, 256));
}

/// What a plan says of the rows of a product of integers, which no tensor core takes.
TEST(CudaSumsOfProducts, CutLongRowsInAdvance) {
  using Integer = std::int64_t;
  const auto A =
      assemble<CSR<>>(entries_with_a_long_row<Integer>({9, 40001}, 30, 8, 30000, 12)).copy_to<Cuda>();
  const auto B = filled<Integer, DenseMatrix<>>({40001, 24}, 2).copy_to<Cuda>();
  const auto X = filled<Integer, DenseMatrix<>>({24, 40001}, 3).copy_to<Cuda>();
  const Tensor<Integer, DenseMatrix<>, Cuda> C({9, 24}), Y({24, 9});
  const auto expect_cut = [](const auto& statement) {
    std::ostringstream words;
    plan(statement).explain(words);
    EXPECT_THAT(words.str(), testing::HasSubstr("nonzeros are cut"));
  };
  const auto sums_first = assign(C(i, j), relu(sum(k, A(i, k) * B(k, j)))).accumulate();
  expect_cut(sums_first.use<SumsFirst>());
  expect_prepared<SumsFirst>(sums_first, bytes_of_sums<Integer>(9, 24));
  const auto into_columns = assign(Y(i, j), X(i, k) * A(j, k));
  expect_cut(into_columns.use<gpu::SpmmIntoColumns>());
  expect_prepared<gpu::SpmmIntoColumns>(into_columns, 0);
}

/// Matrices in N:M and 2:4 formats, on either side; of the 2:4 ones, with rows that have to be copied.
TEST(CudaSumsOfProducts, PackStructuredFactorsInAdvance) {
  const auto b = filled<float, DenseVector>({160}, 1).copy_to<Cuda>();
  const auto X = filled<half, DenseMatrix<>>({70, 300}, 2).copy_to<Cuda>();
  const auto Z = filled<half, DenseMatrix<>>({300, 70}, 3).copy_to<Cuda>();
  const auto dense = filled<half, DenseMatrix<>>({160, 300}, 4);
  const Tensor<float, DenseMatrix<>, Cuda> Y({70, 160}), C({160, 70});
  const auto expect = [&](const auto& W) {
    expect_prepared<SumsFirst>(
        assign(Y(i, j), relu(sum(k, X(i, k) * W(j, k)) - b(j))).accumulate().with_constant_operands(),
        bytes_of_sums<float>(70, 160));
    expect_prepared<SumsFirst>(
        assign(C(i, j), relu(sum(k, W(i, k) * Z(k, j)) - b(i))).accumulate().with_constant_operands(),
        bytes_of_sums<float>(160, 70));
  };
  expect(prune<NM<2, 8, 32, 1>>(dense).copy_to<Cuda>());
  expect(prune<TwoFour>(dense).copy_to<Cuda>());
}

/// Results without elements, and sums without terms.
TEST(CudaSumsOfProducts, MayBeEmpty) {
  const auto expect_ones = []<class S>(const S& statement) {
    using Value = typename S::result_type::value_type;
    const auto& result = statement.result().tensor();
    auto product = plan(statement);
    for (int run = 0; run < 2; ++run) {
      if (result.nnz() > 0) Kokkos::deep_copy(result.values(), static_cast<Value>(1.0F));
      product.run();
      const auto sums = result.template copy_to<Host>();
      for (std::int64_t at = 0; at < sums.nnz(); ++at) ASSERT_EQ(static_cast<float>(sums.values()(at)), 1.0F);
    }
  };
  for (const auto& shape : {Extents<3>{0, 5, 7}, {5, 0, 7}, {5, 7, 0}, {5, 7, 9}}) {
    SCOPED_TRACE(to_string(shape));
    const std::int64_t m = shape[0], n = shape[1], inner = shape[2];
    const auto of_values = [&]<class Value>(Value) {
      const Tensor<Value, CSR<>, Cuda> A({m, inner}), W({n, inner});
      const Tensor<Value, DenseMatrix<>, Cuda> B({inner, n}), X({m, inner}), C({m, n});
      expect_ones(assign(C(i, j), relu(sum(k, A(i, k) * B(k, j)))).accumulate().template use<SumsFirst>());
      expect_ones(assign(C(i, j), X(i, k) * W(j, k)).accumulate().template use<gpu::SpmmIntoColumns>());
    };
    of_values(double{});
    of_values(float{});
    of_values(half{});
    const auto of_pruned = [&]<class F>(std::type_identity<F>) {
      const Tensor<half, F, Cuda> V({n, inner}), W({m, inner});
      const Tensor<half, DenseMatrix<>, Cuda> X({m, inner}), Z({inner, n});
      const Tensor<float, DenseMatrix<>, Cuda> C({m, n});
      expect_ones(assign(C(i, j), relu(sum(k, X(i, k) * V(j, k)))).accumulate().template use<SumsFirst>());
      expect_ones(assign(C(i, j), relu(sum(k, W(i, k) * Z(k, j)))).accumulate().template use<SumsFirst>());
    };
    of_pruned(std::type_identity<NM<2, 8, 32, 1>>{});
    of_pruned(std::type_identity<TwoFour>{});
  }
}

}  // namespace
}  // namespace sporos::test
