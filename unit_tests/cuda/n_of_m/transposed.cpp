// SPDX-License-Identifier: Apache-2.0
/// @file transposed.cpp
/// Products with an N:M matrix on the left, and results by columns, by the kernels for the transpose: against
/// sums in double on the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>

#include "../dense_products.hpp"
#include "../estimates.hpp"
#include "../inputs.hpp"
#include "kernels/kernel_of.hpp"

namespace sporos::test::n_of_m_transposed {
namespace {

using namespace sporos::indices;

/// C = W X or C += W X, W in F.
/// @param shape  m, n, k
template <class Value, class Out, class F, class LayoutOfX, class LayoutOfC>
void expect_left(const Extents<3>& shape, bool accumulates = false) {
  constexpr bool is_along_rows = NmTraits<F>::along == 0;
  const auto [m, n, inner] = shape;
  SCOPED_TRACE(text(value_name<Value>(), ", ", format_name<F>(), ", ", to_string(shape)));
  const auto W = prune<F>(
      random_dense<Value, DenseMatrix<>>(is_along_rows ? Extents<2>{inner, m} : Extents<2>{m, inner}, 1));
  const auto X = random_dense<Value, DenseMatrix<LayoutOfX>>({inner, n}, 2);
  const auto before = random_dense<Out, DenseMatrix<LayoutOfC>>({m, n}, 3);
  const auto C = before.template copy_to<Cuda>();
  if (!accumulates && C.nnz() > 0)
    Kokkos::deep_copy(C.values(), static_cast<Out>(std::numeric_limits<float>::quiet_NaN()));
  const auto device_W = W.template copy_to<Cuda>();
  const auto device_X = X.template copy_to<Cuda>();
  const auto run = [&](const auto& statement) {
    EXPECT_EQ(kernel_of(statement), gpu::NmTransposed::name);
    accumulates ? statement.accumulate().run() : statement.run();
  };
  auto wide_W = convert<DenseMatrix<>, double>(W);
  if constexpr (is_along_rows) {
    run(assign(C(i, j), device_W(k, i) * device_X(k, j)));
    wide_W = transpose(wide_W);
  } else {
    run(assign(C(i, j), device_W(i, k) * device_X(k, j)));
  }
  const auto by_rows = convert<DenseMatrix<>>(before),
             result = convert<DenseMatrix<>>(C.template copy_to<Host>());
  EXPECT_EQ((wrong_sums<Value, Out>(wide_W, convert<DenseMatrix<>, double>(X),
                                    accumulates ? &by_rows : nullptr, result)),
            0);
}

template <class Value, class Out, class F>
void expect_all() {
  for (const auto& shape :
       {Extents<3>{1, 1, 1}, {333, 417, 517}, {260, 70, 300}, {0, 5, 7}, {5, 0, 7}, {5, 7, 0}}) {
    expect_left<Value, Out, F, RowMajor, RowMajor>(shape);
    expect_left<Value, Out, F, RowMajor, ColumnMajor>(shape);
    expect_left<Value, Out, F, ColumnMajor, RowMajor>(shape);
    expect_left<Value, Out, F, ColumnMajor, ColumnMajor>(shape);
  }
  expect_left<Value, Out, F, RowMajor, RowMajor>({130, 270, 300}, true);
  expect_left<Value, Out, F, RowMajor, ColumnMajor>({130, 270, 300}, true);
}
TEST(CudaNofMTransposed, Half) { expect_all<half, half, NM<16, 32, 32, 1>>(); }
TEST(CudaNofMTransposed, WindowsAlongRows) { expect_all<bfloat16, float, NM<2, 4, 32>>(); }
TEST(CudaNofMTransposed, Floats) { expect_all<float, float, NM<8, 32, 32, 1>>(); }
TEST(CudaNofMTransposed, DoublesInUnitsOfFour) { expect_all<double, double, NM<3, 8, 4, 1>>(); }
TEST(CudaNofMTransposed, ElementsOneByOne) { expect_all<float, float, NM<2, 4, 1, 1>>(); }

/// With the sparse matrix on the right, and the result by columns.
TEST(CudaNofMTransposed, ResultsByColumns) {
  const auto A = random_dense<float, DenseMatrix<>>({70, 300}, 1);
  const auto B = prune<NM<16, 32, 32>>(random_dense<float, DenseMatrix<>>({300, 130}, 2));
  const Tensor<float, DenseMatrix<ColumnMajor>, Cuda> C({70, 130});
  const auto statement = assign(C(i, j), A.copy_to<Cuda>()(i, k) * B.copy_to<Cuda>()(k, j));
  EXPECT_EQ(kernel_of(statement), gpu::NmTransposed::name);
  statement.run();
  const Tensor<float, DenseMatrix<>>* const none = nullptr;
  EXPECT_EQ((wrong_sums<float, float>(convert<DenseMatrix<>, double>(A), convert<DenseMatrix<>, double>(B),
                                      none, convert<DenseMatrix<>>(C.copy_to<Host>()))),
            0);
}

/// Small integers, so that sums are exact; a bias for each row of W.
TEST(CudaNofMTransposed, EpiloguesAreFused) {
  const auto integers = []<class F>(const Extents<F::order>& extents, int shift) {
    const Tensor<half, F> out(extents);
    for (std::int64_t at = 0; at < out.nnz(); ++at)
      out.values()(at) = half(static_cast<float>((at * 7 + 3) % 11 - shift));
    return out;
  };
  const auto W = prune<NM<2, 8, 32, 1>>(integers.operator()<DenseMatrix<>>({200, 90}, 5));
  const auto X = integers.operator()<DenseMatrix<>>({90, 70}, 4);
  const auto b = integers.operator()<DenseVector>({200}, 6);
  const Tensor<half, DenseMatrix<>> Y({200, 70});
  Y(i, j) = relu(sum(k, W(i, k) * X(k, j)) - b(i));
  const auto expect = [&](const auto& to) {
    assign(to(i, j), relu(W.copy_to<Cuda>()(i, k) * X.copy_to<Cuda>()(k, j) - b.copy_to<Cuda>()(i))).run();
    expect_equal_tensors(Y, convert<DenseMatrix<>>(to.template copy_to<Host>()));
  };
  expect(Tensor<half, DenseMatrix<>, Cuda>({200, 70}));
  expect(Tensor<half, DenseMatrix<ColumnMajor>, Cuda>({200, 70}));
}

TEST(CudaNofMTransposed, TheResultMayBeAnOperand) {
  const auto W = prune<NM<8, 32, 32, 1>>(random_dense<float, DenseMatrix<>>({128, 128}, 1)).copy_to<Cuda>();
  const auto expect = [&](const auto& X) {
    const auto C = X.clone();
    C(i, j) = W(i, k) * X(k, j);
    X(i, j) = W(i, k) * X(k, j);
    expect_equal_tensors(C.template copy_to<Host>(), X.template copy_to<Host>());
  };
  expect(random_dense<float, DenseMatrix<>>({128, 128}, 2).copy_to<Cuda>());
  expect(random_dense<float, DenseMatrix<ColumnMajor>>({128, 128}, 2).copy_to<Cuda>());
}

TEST(CudaNofMTransposed, PlansReadNewValuesAndSayWhatTheyDo) {
  const auto W = prune<NM<16, 32, 32, 1>>(random_dense<half, DenseMatrix<>>({64, 96}, 5).copy_to<Cuda>());
  const auto X = random_dense<half, DenseMatrix<>>({96, 40}, 6).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> C({64, 40});
  const Tensor<float, DenseMatrix<ColumnMajor>, Cuda> by_columns({64, 40});
  auto product = plan(assign(C(i, j), W(i, k) * X(k, j)).with_constant_operands());
  auto in_place = plan(assign(by_columns(i, j), W(i, k) * X(k, j)).with_constant_operands());
  EXPECT_GT(product.bytes(), 0) << "W is packed";
  product.run();
  Kokkos::deep_copy(X.values(), half(0.0f));
  product.run();
  in_place.run();
  EXPECT_EQ(C.copy_to<Host>().values()(7), 0.0f);
  EXPECT_EQ(by_columns.copy_to<Host>().values()(7), 0.0f);
  EXPECT_THAT(text(explain(assign(C(i, j), W(i, k) * X(k, j)))),
              testing::HasSubstr("result: transposed from that"));
  EXPECT_THAT(text(explain(assign(by_columns(i, j), W(i, k) * X(k, j)))),
              testing::HasSubstr("the transpose: A(j, i) = B(i, k) * C(k, j), by N:M product by gathering"));
}

TEST(CudaNofMTransposed, TakesNoMoreMemoryThanEstimated) {
  const auto W = prune<NM<16, 32, 32, 1>>(random_dense<float, DenseMatrix<>>({700, 1001}, 5).copy_to<Cuda>());
  const auto X = random_dense<float, DenseMatrix<>>({1001, 401}, 6).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> C({700, 401});
  const Tensor<float, DenseMatrix<ColumnMajor>, Cuda> by_columns({700, 401});
  expect_bounded(assign(C(i, j), W(i, k) * X(k, j)));
  expect_bounded(assign(by_columns(i, j), W(i, k) * X(k, j)));
}

}  // namespace
}  // namespace sporos::test::n_of_m_transposed
