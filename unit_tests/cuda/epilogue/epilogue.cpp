// SPDX-License-Identifier: Apache-2.0
/// @file epilogue.cpp
/// Products with an epilogue on the GPU, in the kernel or in a second pass, bit by bit as on the host:
/// numbers are small integers, whose sums are exact in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sporos/sporos.hpp>
#include <type_traits>

#include "../inputs.hpp"
#include "kernels/kernel_of.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

struct Relu {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return x > 0 ? x : T(0);
  }
};
struct PlusOne {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return x + T(1);
  }
};

template <class Value, class F>
Tensor<Value, F> small_integers(const Extents<F::order>& extents, unsigned seed) {
  std::mt19937 draw(seed);
  std::uniform_int_distribution<int> number(-2, 2);
  Tensor<Value, F> out(extents);
  for (std::int64_t at = 0; at < out.nnz(); ++at)
    out.values()(at) = static_cast<Value>(static_cast<accumulate_t<Value>>(number(draw)));
  return out;
}

/// Operands for Y(i, j) = f(X(i, k) W(j, k)), on one side.
template <class Value, class Out, class Format, class Space>
struct Layer {
  Tensor<Value, DenseMatrix<>, Space> X;              // [m, k]
  Tensor<Value, Format, Space> W;                     // [n, k]
  Tensor<accumulate_t<Value>, DenseVector, Space> b;  // [n]
  Tensor<Value, DenseVector, Space> s;                // [m]
  Tensor<Out, DenseMatrix<ColumnMajor>, Space> D;     // [m, n]
  Tensor<Out, DenseMatrix<>, Space> Y;                // [m, n]

  template <class F>
  Layer<Value, Out, F, Cuda> on_gpu() const {
    return {X.template copy_to<Cuda>(), convert<F>(W).template copy_to<Cuda>(),
            b.template copy_to<Cuda>(), s.template copy_to<Cuda>(),
            D.template copy_to<Cuda>(), Y.template copy_to<Cuda>()};
  }
};

/// How many statements are compared: each takes a kernel of its own, which takes long to compile.
enum class Statements { all, two };

/// Runs statements on both sides and compares; on the GPU by the candidate that is named.
template <class Candidate, class Value, class Out, class Format, Statements Which>
void expect_layers(const Extents<3>& shape) {
  const auto [m, n, inner] = shape;
  SCOPED_TRACE(text(value_name<Value>(), ", ", format_name<Format>(), ", ", to_string(shape)));
  const auto weights = [&](const auto& dense) {
    if constexpr (std::is_same_v<Format, CSR<>>)
      return convert<CSR<>>(dense);
    else
      return convert<CSR<>>(prune<Format>(dense));
  };
  const Layer<Value, Out, CSR<>, Host> host{small_integers<Value, DenseMatrix<>>({m, inner}, 1),
                                            weights(small_integers<Value, DenseMatrix<>>({n, inner}, 2)),
                                            small_integers<accumulate_t<Value>, DenseVector>({n}, 3),
                                            small_integers<Value, DenseVector>({m}, 4),
                                            small_integers<Out, DenseMatrix<ColumnMajor>>({m, n}, 5),
                                            small_integers<Out, DenseMatrix<>>({m, n}, 6)};
  const auto gpu = host.template on_gpu<Format>();
  const auto by = [](const auto& statement) {
    if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(statement)>::space_type, Cuda>)
      return statement.template use<Candidate>();
    else
      return statement.generic();
  };
  const auto expect_same = [&](const char* what, const auto& run) {
    SCOPED_TRACE(what);
    run(host);
    run(gpu);
    expect_equal_tensors(host.Y, gpu.Y);
  };
  expect_same("activated",
              [&](const auto& l) { by(assign(l.Y(i, j), relu(l.X(i, k) * l.W(j, k) + l.b(j)))).run(); });
  expect_same("applied everywhere, and added", [&](const auto& l) {
    by(assign(l.Y(i, j), map(everywhere(PlusOne{}), sum(k, l.X(i, k) * l.W(j, k)))).accumulate()).run();
  });
  if constexpr (Which == Statements::all) {
    expect_same("next to the result", [&](const auto& l) {
      by(assign(l.Y(i, j), map(Relu{}, sum(k, l.X(i, k) * l.W(j, k))) * 0.5 + l.Y(i, j))).run();
    });
    expect_same("scaled, next to a matrix by columns", [&](const auto& l) {
      by(assign(l.Y(i, j), 2 * l.X(i, k) * l.W(j, k) * l.s(i) - l.D(i, j))).run();
    });
  }
}

/// Tails of tiles, tiles of several blocks, and products without terms.
template <class Candidate, class Value, class Out, class Format, Statements Which = Statements::two>
void expect_all_layers() {
  for (const auto& shape : {Extents<3>{1, 1, 1},
                            {130, 70, 300},
                            {64, 136, 128},
                            {40, 300, 2048},
                            {333, 417, 90},
                            {5, 7, 0},
                            {0, 5, 7}})
    expect_layers<Candidate, Value, Out, Format, Which>(shape);
}

TEST(CudaEpilogues, OfTwoFourProducts) {
  expect_all_layers<gpu::TwoFourOnTensorCores, half, half, TwoFour, Statements::all>();
  expect_all_layers<gpu::TwoFourOnTensorCores, bfloat16, float, TwoFour>();
}
TEST(CudaEpilogues, OfTwoFourProductsByWarps) {
  expect_all_layers<gpu::TwoFourByWarps, half, half, TwoFour, Statements::all>();
  expect_all_layers<gpu::TwoFourByWarps, bfloat16, float, TwoFour>();
}
TEST(CudaEpilogues, OfNmProductsOnTensorCores) {
  expect_all_layers<gpu::NmByGathering, half, half, NM<2, 8, 32, 1>, Statements::all>();
  expect_all_layers<gpu::NmByGathering, float, float, NM<2, 8, 32, 1>>();
  expect_all_layers<gpu::NmByGathering, half, half, NM<2, 8, 128, 1>>();
}
TEST(CudaEpilogues, OfNmProductsOnCudaCores) {
  expect_all_layers<gpu::NmByGathering, double, double, NM<2, 4, 4, 1>>();
  expect_all_layers<gpu::NmByGathering, half, float, NM<2, 4, 1, 1>>();
  expect_all_layers<gpu::NmByBlocks, float, float, NM<2, 8, 32, 1>>();
}
TEST(CudaEpilogues, OfOtherProducts) {
  expect_all_layers<SumsFirst, float, float, CSR<>>();
  expect_all_layers<gpu::SpmmIntoColumns, half, half, CSR<>>();
  expect_all_layers<gpu::SpmmFromSharedRows, half, half, CSR<>>();
}

/// Y = f(X W^T + Y^T), whose elements are read after others have been written.
template <class Candidate>
void expect_transposed_result() {
  SCOPED_TRACE(Candidate::name);
  constexpr std::int64_t n = 300;
  const auto X = small_integers<float, DenseMatrix<>>({n, 70}, 1);
  const auto W = convert<CSR<>>(small_integers<float, DenseMatrix<>>({n, 70}, 2));
  const auto Y = small_integers<float, DenseMatrix<>>({n, n}, 3);
  const auto device_X = X.copy_to<Cuda>();
  const auto device_W = W.copy_to<Cuda>();
  const auto device_Y = Y.copy_to<Cuda>();
  const auto added = Y.clone();
  Y(i, j) = relu(X(i, k) * W(j, k) + added(j, i));
  auto planned = plan(assign(device_Y(i, j), relu(device_X(i, k) * device_W(j, k) + device_Y(j, i)))
                          .template use<Candidate>());
  planned.run();
  expect_equal_tensors(Y, device_Y);
  const auto again = Y.clone();
  Y(i, j) = relu(X(i, k) * W(j, k) + again(j, i));
  planned.run();
  expect_equal_tensors(Y, device_Y);
}
TEST(CudaEpilogues, ReadTheResultAtOtherPlaces) {
  expect_transposed_result<SumsFirst>();
  expect_transposed_result<gpu::SpmmIntoColumns>();
}

/// D = f(W X), whose rows are those of the sparse factor.
TEST(CudaEpilogues, OfProductsFromTheLeft) {
  const auto W = prune<TwoFour>(small_integers<half, DenseMatrix<>>({200, 1100}, 1));
  const auto X = small_integers<half, DenseMatrix<>>({1100, 70}, 2);
  const auto b = small_integers<half, DenseVector>({200}, 3);
  const Tensor<half, DenseMatrix<>> Y({200, 70});
  const auto device_W = W.copy_to<Cuda>();
  const auto device_X = X.copy_to<Cuda>();
  const auto device_b = b.copy_to<Cuda>();
  const auto device_Y = poisoned<half, DenseMatrix<>>({200, 70});
  Y(i, j) = map(Relu{}, sum(k, W(i, k) * X(k, j)) - b(i));
  const auto statement =
      assign(device_Y(i, j), map(Relu{}, sum(k, device_W(i, k) * device_X(k, j)) - device_b(i)));
  statement.use<gpu::TwoFourOnTensorCores>().run();
  expect_equal_tensors(Y, device_Y);
  Kokkos::deep_copy(device_Y.values(), half(-77.0f));
  statement.use<gpu::TwoFourByWarps>().run();
  expect_equal_tensors(Y, device_Y);
}

/// With values between which gelu is curved; NaN where a sum is.
template <class Candidate, class Value, class Format>
void expect_gelu() {
  const Extents<2> of_x{70, 128}, of_w{96, 128}, of_y{70, 96};
  const auto W = prune<Format>(small_integers<Value, DenseMatrix<>>(of_w, 1));
  const auto X = small_integers<Value, DenseMatrix<>>(of_x, 2);
  for (std::int64_t at = 0; at < X.nnz(); ++at)
    X.values()(at) = static_cast<Value>(static_cast<float>(X.values()(at)) / 64);
  X.values()(5 * 128) = static_cast<Value>(std::numeric_limits<float>::quiet_NaN());
  const auto device_W = W.template copy_to<Cuda>();
  const auto device_X = X.template copy_to<Cuda>();
  const auto device_Y = poisoned<float, DenseMatrix<>>(of_y);
  assign(device_Y(i, j), gelu(device_X(i, k) * device_W(j, k))).template use<Candidate>().run();
  const Tensor<double, DenseMatrix<>> sums(of_y);
  const auto wide_X = convert<DenseMatrix<>, double>(X), wide_W = convert<DenseMatrix<>, double>(W);
  sums(i, j) = wide_X(i, k) * wide_W(j, k);
  const auto Y = device_Y.template copy_to<Host>();
  for (std::int64_t at = 0; at < Y.nnz(); ++at) {
    const double expected = GaussianErrorLinearUnit{}(sums.values()(at));
    if (at / 96 == 5 && std::isnan(expected))
      continue;  // whether a sum has a term with it depends on the kernel
    else
      EXPECT_NEAR(Y.values()(at), expected, 1e-5 * (1 + std::abs(expected))) << at;
  }
  EXPECT_TRUE(std::any_of(Y.values().data() + 5 * 96, Y.values().data() + 6 * 96,
                          [](float y) { return std::isnan(y); }));
}
TEST(CudaEpilogues, GeluOfSums) {
  expect_gelu<gpu::TwoFourOnTensorCores, half, TwoFour>();
  expect_gelu<gpu::TwoFourByWarps, half, TwoFour>();
  expect_gelu<gpu::NmByGathering, half, NM<4, 8, 32, 1>>();
  expect_gelu<gpu::NmByGathering, float, NM<4, 8, 32, 1>>();
  expect_gelu<gpu::NmByBlocks, float, NM<4, 8, 32, 1>>();
}

/// The kernel that applies the epilogue is chosen before the two passes.
TEST(CudaEpilogues, AreFusedWhereTheyCanBe) {
  const Tensor<half, TwoFour, Cuda> W({2048, 2048});
  const Tensor<half, DenseMatrix<>, Cuda> X({256, 2048}), Y({256, 2048});
  EXPECT_EQ(kernel_of(assign(Y(i, j), relu(X(i, k) * W(j, k)))), gpu::TwoFourOnTensorCores::name);
  const Tensor<half, NM<2, 8, 32, 1>, Cuda> V({2048, 2048});
  EXPECT_EQ(kernel_of(assign(Y(i, j), relu(X(i, k) * V(j, k)))), gpu::NmByGathering::name);
}

}  // namespace
}  // namespace sporos::test
