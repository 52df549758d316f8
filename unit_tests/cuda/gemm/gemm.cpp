// SPDX-License-Identifier: Apache-2.0
/// @file gemm.cpp
/// Products of dense matrices by cuBLAS against sums in double on the host: values, layouts, shapes, batches,
/// epilogues, plans in CUDA graphs.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <vector>

#include "../dense_products.hpp"
#include "../estimates.hpp"
#include "../inputs.hpp"
#include "../kept_memory.hpp"
#include "kernels/kernel_of.hpp"

namespace sporos::test {
namespace {

using sporos::indices::i;
using sporos::indices::j;
using sporos::indices::k;
using sporos::indices::l;

using ByRows = DenseMatrix<>;
using ByColumns = DenseMatrix<ColumnMajor>;

struct Relu {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return x > 0 ? x : T(0);
  }
};

/// C = A B or C += A B.
/// @tparam FA, FB, FC  how the operands and the result are stored
/// @tparam Turned      whether the factors are A(k, i) and B(j, k)
/// @param shape        m, n, k
template <class Value, class Out, class FA, class FB, class FC, bool Turned = false>
void expect_product(const Extents<3>& shape, bool accumulates = false) {
  const auto [m, n, inner] = shape;
  SCOPED_TRACE(text(value_name<Value>(), ", ", format_name<FA>(), ", ", format_name<FB>(), ", ",
                    format_name<FC>(), ", ", Turned, ", ", to_string(shape)));
  const auto A = random_dense<Value, FA>(Turned ? Extents<2>{inner, m} : Extents<2>{m, inner}, 1);
  const auto B = random_dense<Value, FB>(Turned ? Extents<2>{n, inner} : Extents<2>{inner, n}, 2);
  const auto before = random_dense<Out, FC>({m, n}, 3);
  const auto device_A = A.template copy_to<Cuda>();
  const auto device_B = B.template copy_to<Cuda>();
  const auto C = before.template copy_to<Cuda>();
  if (!accumulates && C.nnz() > 0)
    Kokkos::deep_copy(C.values(), static_cast<Out>(std::numeric_limits<float>::quiet_NaN()));
  const auto run = [&](const auto& statement) {
    const auto by_kernel = statement.template use<gpu::GemmByCublas>();
    accumulates ? by_kernel.accumulate().run() : by_kernel.run();
  };
  auto wide_A = convert<ByRows, double>(A);
  auto wide_B = convert<ByRows, double>(B);
  if constexpr (Turned) {
    run(assign(C(i, j), device_A(k, i) * device_B(j, k)));
    wide_A = transpose(wide_A);
    wide_B = transpose(wide_B);
  } else {
    run(assign(C(i, j), device_B(k, j) * device_A(i, k)));
  }
  const auto start = convert<ByRows>(before);
  EXPECT_EQ((wrong_sums<Value, Out>(wide_A, wide_B, accumulates ? &start : nullptr,
                                    convert<ByRows>(C.template copy_to<Host>()))),
            0);
}

const std::vector<Extents<3>> shapes = {{1, 1, 1},    {128, 64, 128}, {130, 71, 33}, {1, 300, 129},
                                        {300, 1, 70}, {0, 5, 7},      {5, 0, 7},     {5, 7, 0}};

template <class Value, class Out, class FA, class FB, class FC, bool Turned = false>
void expect_products() {
  for (const auto& shape : shapes) expect_product<Value, Out, FA, FB, FC, Turned>(shape);
  expect_product<Value, Out, FA, FB, FC, Turned>({65, 130, 90}, true);
}

TEST(CudaGemm, OperandsAndResultsOfAnyLayout) {
  expect_products<float, float, ByRows, ByRows, ByRows>();
  expect_products<float, float, ByColumns, ByRows, ByRows>();
  expect_products<double, double, ByRows, ByColumns, ByRows, true>();
  expect_products<double, double, ByColumns, ByColumns, ByColumns>();
}

TEST(CudaGemm, NarrowFloats) {
  expect_products<half, half, ByRows, ByRows, ByRows>();
  expect_products<half, float, ByColumns, ByRows, ByRows>();
  expect_products<bfloat16, bfloat16, ByRows, ByRows, ByColumns>();
}

TEST(CudaGemm, Batches) {
  const auto A = random_dense<float, DenseTensor<3>>({5, 33, 20}, 1);
  const auto B = random_dense<float, DenseTensor<3>>({5, 20, 17}, 2);
  const auto W = random_dense<float, ByRows>({17, 20}, 3);
  const auto device_A = A.copy_to<Cuda>(), device_B = B.copy_to<Cuda>();
  const auto device_W = W.copy_to<Cuda>();
  const Tensor<float, DenseTensor<3>, Cuda> C({5, 33, 17}), D({5, 33, 17});
  assign(C(l, i, j), device_A(l, i, k) * device_B(l, k, j)).use<gpu::GemmByCublas>().run();
  assign(D(l, i, j), device_A(l, i, k) * device_W(j, k)).use<gpu::GemmByCublas>().run();
  Tensor<float, DenseTensor<3>> expected_C({5, 33, 17}), expected_D({5, 33, 17});
  expected_C(l, i, j) = A(l, i, k) * B(l, k, j);
  expected_D(l, i, j) = A(l, i, k) * W(j, k);
  const auto host_C = C.copy_to<Host>(), host_D = D.copy_to<Host>();
  for (std::int64_t at = 0; at < host_C.nnz(); ++at) {
    ASSERT_NEAR(host_C.values()(at), expected_C.values()(at), 1e-5) << at;
    ASSERT_NEAR(host_D.values()(at), expected_D.values()(at), 1e-5) << at;
  }
}

TEST(CudaGemm, Epilogues) {
  const auto A = random_dense<half, ByRows>({70, 40}, 1), B = random_dense<half, ByRows>({40, 50}, 2);
  const auto bias = random_dense<float, DenseVector>({50}, 3);
  Tensor<float, ByRows> expected({70, 50});
  expected(i, j) = map(Relu{}, sum(k, A(i, k) * B(k, j)) + bias(j));
  const auto device_A = A.copy_to<Cuda>(), device_B = B.copy_to<Cuda>();
  const auto device_bias = bias.copy_to<Cuda>();
  const Tensor<float, ByRows, Cuda> C({70, 50});
  const auto statement =
      assign(C(i, j), map(Relu{}, sum(k, device_A(i, k) * device_B(k, j)) + device_bias(j)));
  EXPECT_EQ(kernel_of(statement), gpu::GemmByCublas::name);
  statement.run();
  const auto result = C.copy_to<Host>();
  for (std::int64_t at = 0; at < result.nnz(); ++at)
    ASSERT_NEAR(result.values()(at), expected.values()(at), 1e-5) << at;
}

TEST(CudaGemm, AResultThatIsAFactor) {
  const auto A = random_dense<double, ByRows>({40, 40}, 1), B = random_dense<double, ByRows>({40, 40}, 2);
  const auto C = A.copy_to<Cuda>();
  const auto device_B = B.copy_to<Cuda>();
  assign(C(i, j), C(i, k) * device_B(k, j)).use<gpu::GemmByCublas>().run();
  EXPECT_EQ((wrong_sums<double, double>(A, B, nullptr, C.copy_to<Host>())), 0);
}

/// The sums are in the stream's memory until the epilogue is applied to them. The first run is not captured:
/// cuBLAS loads its kernels in it.
TEST(CudaGemm, PlansFollowValuesInAGraph) {
  pool<Cuda>().release();
  const OwnStream stream;
  const auto statement = [](const auto& c, const auto& a, const auto& b, const auto& bias) {
    return assign(c(i, j), 2.0F * sum(k, a(i, k) * b(k, j)) + bias(j)).template use<gpu::GemmByCublas>();
  };
  const auto A = filled<float, ByRows>({70, 40}, 1).copy_to<Cuda>();
  const auto B = filled<float, ByRows>({40, 50}, 2).copy_to<Cuda>();
  const auto wide_B = filled<float, ByRows>({40, 900}, 3).copy_to<Cuda>();
  const auto bias = filled<float, DenseVector>({50}, 4).copy_to<Cuda>();
  const auto wide_bias = filled<float, DenseVector>({900}, 5).copy_to<Cuda>();
  const Tensor<float, ByRows, Cuda> C({70, 50}), wide_C({70, 900}), expected({70, 50});
  auto product = plan(statement(C, A, B, bias).on(stream.resources()));
  EXPECT_EQ(memory_of([&] { product.run(); }), 0);
  expect_graph_keeps_shared_memory(
      stream, [&] { product.run(); },
      [&] { statement(wide_C, A, wide_B, wide_bias).on(stream.resources()).run(); },
      [&] {
        Kokkos::deep_copy(A.values(), 3.0F);
        Kokkos::deep_copy(C.values(), -1.0F);
        statement(expected, A, B, bias).run();
      },
      [&] { expect_equal_tensors(expected.copy_to<Host>(), C); });
}

TEST(CudaGemm, TheSameSumsInEveryRun) {
  const auto A = random_dense<half, ByRows>({200, 3000}, 1).copy_to<Cuda>();
  const auto B = random_dense<half, ByRows>({3000, 100}, 2).copy_to<Cuda>();
  const Tensor<float, ByRows, Cuda> C({200, 100}), again({200, 100});
  C(i, j) = A(i, k) * B(k, j);
  for (int run = 0; run < 10; ++run) {
    again(i, j) = A(i, k) * B(k, j);
    const auto first = C.copy_to<Host>(), second = again.copy_to<Host>();
    for (std::int64_t at = 0; at < first.nnz(); ++at) ASSERT_EQ(first.values()(at), second.values()(at));
  }
}

}  // namespace
}  // namespace sporos::test
