// SPDX-License-Identifier: Apache-2.0
/// @file of_sparse_matrices.cpp
/// Batches of sparse matrices on the GPU: N:M and 2:4 ones, which are multiplied one after another or as the
/// rows of one matrix.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>

#include "../inputs.hpp"
#include "../kept_memory.hpp"
#include "kernels/batches/products.hpp"
#include "kernels/kernel_of.hpp"

namespace sporos::test::batches_of_sparse_matrices {
namespace {

using namespace sporos::indices;
using test::batches::b;
using test::batches::expect_product;
using test::batches::expect_products_of_batches;
using test::batches::expect_same_values;
using test::batches::numbers;

template <class Value, TensorFormat F>
void expect_products_with() {
  for (const std::int64_t batches : {0, 1, 3})
    expect_products_of_batches<Cuda, Value, F>({batches, 33, 64, 96});
  expect_products_of_batches<Cuda, Value, F>({2, 5, 6, 0});
  expect_products_of_batches<Cuda, Value, F>({2, 0, 6, 8});
}
TEST(CudaBatchesOfSparseMatrices, OfNmMatrices) { expect_products_with<double, Batches<NM<2, 4>>>(); }

/// Weights A(b, i, k) B(b, k, j) and B(b, j, k), as kernels for tensor cores and for blocks take them.
template <class Value, TensorFormat F>
void expect_weights() {
  for (const auto& [batches, rows, columns, inner] :
       {std::array<std::int64_t, 4>{3, 64, 128, 128}, {5, 33, 96, 64}, {1, 7, 32, 32}}) {
    if constexpr (NmTraits<typename BatchTraits<F>::matrix>::along == 0) {
      expect_product<Cuda, Value, F, 3>({batches, rows, columns}, {batches, rows, inner},
                                        {batches, inner, columns}, test::batches::dense_ik,
                                        test::batches::dense_kj);
      expect_product<Cuda, Value, F, 3>({batches, rows, columns}, {batches, inner, rows},
                                        {batches, inner, columns}, test::batches::dense_ki,
                                        test::batches::dense_kj);
    } else {
      expect_product<Cuda, Value, F, 3>({batches, rows, columns}, {batches, rows, inner},
                                        {batches, columns, inner}, test::batches::dense_ik,
                                        test::batches::dense_jk);
    }
  }
}
TEST(CudaBatchesOfSparseMatrices, OfNmMatricesInUnits) {
  expect_weights<half, Batches<NM<2, 4, 32>>>();
  expect_weights<half, Batches<NM<2, 8, 8, 1>>>();
  expect_weights<float, Batches<NM<16, 32, 32>>>();
}
TEST(CudaBatchesOfSparseMatrices, OfTwoFourMatrices) {
  expect_weights<half, Batches<TwoFour>>();
  // The rows of all matrices, times one.
  for (const auto& [batches, rows, columns, inner] :
       {std::array<std::int64_t, 4>{3, 64, 136, 128}, {5, 33, 21, 44}, {3, 7, 9, 20}})
    expect_product<Cuda, half, Batches<TwoFour>, 2>({batches, rows, columns}, {inner, columns},
                                                    {batches, rows, inner}, test::batches::one_kj,
                                                    test::batches::dense_ik);
}
/// Matrices whose metadata begins inside a byte, which the loop nest reads.
TEST(CudaBatchesOfSparseMatrices, OfOddNumbersOfWindows) {
  expect_product<Cuda, half, Batches<TwoFour>, 3>({3, 6, 7}, {3, 6, 20}, {3, 7, 20}, test::batches::dense_ik,
                                                  test::batches::dense_jk);
}

template <class S>
std::string explained(const S& statement) {
  std::ostringstream out;
  out << explain(statement);
  return out.str();
}

TEST(CudaBatchesOfSparseMatrices, RunByTheKernelsForMatrices) {
  const Tensor<half, DenseTensor<3>, Cuda> A({4, 256, 512}), C({4, 256, 1024});
  const Tensor<half, Batches<TwoFour>, Cuda> W({4, 1024, 512});
  const Tensor<half, Batches<NM<16, 32, 32>>, Cuda> N({4, 512, 1024});
  const Tensor<half, DenseMatrix<>, Cuda> X({512, 64});
  const Tensor<half, DenseTensor<3>, Cuda> Y({4, 1024, 64});
  const std::string two_four = explained(assign(C(b, i, j), A(b, i, k) * W(b, j, k)));
  EXPECT_NE(two_four.find("batches: 4, one behind the other, by 2:4 product on sparse tensor cores"),
            std::string::npos)
      << two_four;
  const std::string n_of_m = explained(assign(C(b, i, j), A(b, i, k) * N(b, k, j)));
  EXPECT_NE(n_of_m.find(text("batches: 4, one behind the other, by ", gpu::NmByGathering::name)),
            std::string::npos)
      << n_of_m;
  const std::string rows = explained(assign(Y(b, i, j), W(b, i, k) * X(k, j)));
  EXPECT_NE(rows.find("batches: 4, as the rows of one product, by 2:4 product on sparse tensor cores"),
            std::string::npos)
      << rows;
}

/// The sums, then the epilogue.
TEST(CudaBatchesOfSparseMatrices, WithAnEpilogue) {
  const auto A = numbers<half, DenseTensor<3>>({3, 33, 64}, 1);
  const auto B = prune<Batches<NM<2, 4, 32>>>(numbers<half, DenseTensor<3>>({3, 64, 96}, 2));
  const auto bias = numbers<float, DenseVector>({96}, 3);
  const auto wide_A = convert<DenseTensor<3>, double>(A), wide_B = convert<DenseTensor<3>, double>(B);
  const Tensor<double, DenseTensor<3>> expected({3, 33, 96});
  assign(expected(b, i, j), relu(wide_A(b, i, k) * wide_B(b, k, j) + convert<DenseVector, double>(bias)(j)))
      .generic()
      .run();
  const auto a = A.copy_to<Cuda>();
  const auto w = B.copy_to<Cuda>();
  const auto p = bias.copy_to<Cuda>();
  const auto C = poisoned<float, DenseTensor<3>>({3, 33, 96});
  auto product = plan(assign(C(b, i, j), relu(a(b, i, k) * w(b, k, j) + p(j))));
  for (int run = 0; run < 2; ++run) {
    Kokkos::deep_copy(C.values(), -1.0F);
    product.run();
    expect_same_values(C.copy_to<Host>(), expected);
  }
}

/// A plan of constant operands packs each matrix once; others read new values. All run in a graph, and give
/// the same bits each time.
template <bool AreConstant, class F>
void expect_plans_in_graphs(const Extents<3>& sparse, bool is_transposed) {
  SCOPED_TRACE(text(format_name<F>(), AreConstant ? ", constant" : ""));
  const OwnStream stream;
  const std::int64_t batches = sparse[0], inner = sparse[is_transposed ? 2 : 1],
                     columns = sparse[is_transposed ? 1 : 2], rows = 40;
  const auto A = numbers<half, DenseTensor<3>>({batches, rows, inner}, 1).template copy_to<Cuda>();
  const auto B = prune<F>(numbers<half, DenseTensor<3>>(sparse, 2)).template copy_to<Cuda>();
  const auto large_A = numbers<half, DenseTensor<3>>({batches, 7 * rows, inner}, 3).template copy_to<Cuda>();
  const auto C = poisoned<half, DenseTensor<3>>({batches, rows, columns});
  const auto expected = poisoned<half, DenseTensor<3>>({batches, rows, columns});
  const auto large_C = poisoned<half, DenseTensor<3>>({batches, 7 * rows, columns});
  const auto on_stream = [&](const auto& c, const auto& a) {
    if constexpr (NmTraits<typename BatchTraits<F>::matrix>::along == 0)
      return assign(c(b, i, j), a(b, i, k) * B(b, k, j)).on(stream.resources());
    else
      return assign(c(b, i, j), a(b, i, k) * B(b, j, k)).on(stream.resources());
  };
  const auto prepared = [&] {
    if constexpr (AreConstant)
      return plan(on_stream(C, A).with_constant_operands());
    else
      return plan(on_stream(C, A));
  };
  auto product = prepared();
  product.run();
  EXPECT_GE(product.estimate().workspace, product.bytes());
  const auto run = [&] { product.run(); };
  const auto run_larger = [&] { on_stream(large_C, large_A).run(); };
  const auto change = [&] {
    if (!AreConstant) Kokkos::deep_copy(B.values(), half(2.0F));
    Kokkos::deep_copy(A.values(), half(3.0F));
    Kokkos::deep_copy(C.values(), half(-1.0F));
    Kokkos::fence();
    on_stream(expected, A).run();
    stream.wait();
  };
  const auto check = [&] { expect_equal_tensors(expected.template copy_to<Host>(), C); };
  expect_graph_keeps_memory(stream, run, run_larger, change, check);
}
TEST(CudaBatchesOfSparseMatrices, PlansRunInGraphs) {
  expect_plans_in_graphs<false, Batches<NM<2, 4, 32>>>({3, 64, 96}, false);
  expect_plans_in_graphs<true, Batches<NM<2, 4, 32>>>({3, 64, 96}, false);
  expect_plans_in_graphs<false, Batches<TwoFour>>({3, 48, 44}, true);
  expect_plans_in_graphs<true, Batches<TwoFour>>({3, 48, 44}, true);
}

TEST(CudaBatchesOfSparseMatrices, HaveMatricesOnTheGpu) {
  const auto batches = prune<Batches<TwoFour>>(numbers<half, DenseTensor<3>>({3, 8, 16}, 2));
  const auto device = batches.copy_to<Cuda>();
  for (std::int64_t at = 0; at < 3; ++at) expect_equal_tensors(slice(batches, at), slice(device, at));
}

}  // namespace
}  // namespace sporos::test::batches_of_sparse_matrices
