// SPDX-License-Identifier: Apache-2.0
/// @file transposed.cpp
/// Products with an N:M matrix on the left, and results by columns, by the kernels for the transpose: against
/// sums in double on the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <string>

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
  const auto halfs =
      prune<NM<8, 32, 32, 1>>(random_dense<half, DenseMatrix<>>({128, 128}, 1)).copy_to<Cuda>();
  const auto X = random_dense<half, DenseMatrix<>>({128, 128}, 2).copy_to<Cuda>();
  const auto C = X.clone();
  C(i, j) = halfs(i, k) * X(k, j);
  X(i, j) = halfs(i, k) * X(k, j);
  expect_equal_tensors(C.copy_to<Host>(), X.copy_to<Host>());
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
  const std::string of_rows = text(explain(assign(C(i, j), W(i, k) * X(k, j))));
  EXPECT_THAT(of_rows, testing::HasSubstr("result: stored by columns"));
  EXPECT_THAT(of_rows, testing::Not(testing::HasSubstr("transposed from that")));
  const auto floats =
      prune<NM<16, 32, 32, 1>>(random_dense<float, DenseMatrix<>>({64, 96}, 5)).copy_to<Cuda>();
  const auto of_floats = random_dense<float, DenseMatrix<>>({96, 40}, 6).copy_to<Cuda>();
  EXPECT_THAT(text(explain(assign(C(i, j), floats(i, k) * of_floats(k, j)))),
              testing::HasSubstr("result: transposed from that"));
  EXPECT_THAT(text(explain(assign(by_columns(i, j), W(i, k) * X(k, j)))),
              testing::HasSubstr("the transpose: A(j, i) = B(i, k) * C(k, j), by N:M product by gathering"));
}

/// C = A B or C += A B by columns, with the sparse matrix on the right, in memory that begins `shift`
/// elements after an aligned address.
template <class Value, class Out, class F>
void expect_by_columns(const Extents<3>& shape, bool accumulates, std::int64_t shift = 0) {
  const auto [m, n, inner] = shape;
  SCOPED_TRACE(
      text(value_name<Value>(), " to ", value_name<Out>(), ", ", format_name<F>(), ", ", to_string(shape)));
  const auto A = random_dense<Value, DenseMatrix<>>({m, inner}, 1);
  const auto B = prune<F>(random_dense<Value, DenseMatrix<>>({inner, n}, 2));
  const auto before = random_dense<Out, DenseMatrix<ColumnMajor>>({m, n}, 3);
  const Array<Out, Kokkos::CudaSpace> memory("memory", static_cast<std::size_t>(m * n + shift + 1));
  Kokkos::deep_copy(memory, static_cast<Out>(std::numeric_limits<float>::quiet_NaN()));
  const Array<Out, Kokkos::CudaSpace> values(memory.data() + shift, static_cast<std::size_t>(m * n));
  const auto C = wrap<DenseMatrix<ColumnMajor>, Cuda>({m, n}, values);
  if (accumulates) Kokkos::deep_copy(C.values(), before.template copy_to<Cuda>().values());
  const auto statement = assign(C(i, j), A.template copy_to<Cuda>()(i, k) * B.template copy_to<Cuda>()(k, j));
  EXPECT_EQ(kernel_of(statement), gpu::NmByGathering::name);
  accumulates ? statement.accumulate().run() : statement.run();
  const auto by_rows = convert<DenseMatrix<>>(before);
  EXPECT_EQ((wrong_sums<Value, Out>(convert<DenseMatrix<>, double>(A), convert<DenseMatrix<>, double>(B),
                                    accumulates ? &by_rows : nullptr,
                                    convert<DenseMatrix<>>(C.template copy_to<Host>()))),
            0);
  const auto all = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), memory);
  for (std::int64_t at = 0; at < shift; ++at) EXPECT_NE(all(at), all(at)) << "written before the result";
  EXPECT_NE(all(shift + m * n), all(shift + m * n)) << "written behind the result";
}
TEST(CudaNofMTransposed, ResultsByColumnsOfUnitsOfAnyWidth) {
  for (const bool accumulates : {false, true})
    for (const auto& shape :
         {Extents<3>{1, 1, 1}, {333, 417, 217}, {256, 256, 512}, {72, 530, 90}, {700, 40, 33}})
      for (const std::int64_t shift : {0, 1}) {
        expect_by_columns<half, half, NM<16, 32, 32>>(shape, accumulates, shift);
        expect_by_columns<half, half, NM<4, 32, 16>>(shape, accumulates, shift);
        expect_by_columns<bfloat16, bfloat16, NM<2, 5, 8>>(shape, accumulates, shift);
        expect_by_columns<half, float, NM<3, 8, 32>>(shape, accumulates, shift);
        expect_by_columns<half, half, NM<8, 32, 128>>(shape, accumulates, shift);
        expect_by_columns<bfloat16, float, NM<8, 32, 24>>(shape, accumulates, shift);
      }
  for (const auto& shape : {Extents<3>{0, 5, 7}, {5, 0, 7}, {5, 7, 0}}) {
    expect_by_columns<half, half, NM<16, 32, 32>>(shape, false);
    expect_by_columns<half, half, NM<8, 32, 128>>(shape, true);
  }
  expect_by_columns<half, half, NM<8, 32, 32>>({4400, 1500, 300}, false);
  expect_by_columns<half, half, NM<8, 32, 128>>({4400, 1500, 300}, true);
}

/// Sums are added to doubles as doubles.
TEST(CudaNofMTransposed, DoublesKeepTheirDigitsWhereProductsAreAdded) {
  const Tensor<half, DenseMatrix<>, Cuda> zeros({40, 64});
  Kokkos::deep_copy(zeros.values(), half(0.0F));
  const auto B = prune<NM<16, 32, 32>>(random_dense<half, DenseMatrix<>>({64, 70}, 2)).copy_to<Cuda>();
  const Tensor<double, DenseMatrix<ColumnMajor>, Cuda> C({40, 70});
  constexpr double large = 1'073'741'825;  // 2^30 + 1
  Kokkos::deep_copy(C.values(), large);
  assign(C(i, j), zeros(i, k) * B(k, j)).accumulate().run();
  const auto result = C.copy_to<Host>();
  for (std::int64_t at = 0; at < result.nnz(); ++at) ASSERT_EQ(result.values()(at), large);
}

/// Layers one after another: the result of the first is what the second reads, without a copy in between.
TEST(CudaNofMTransposed, ResultsByColumnsAreReadInPlace) {
  const auto X = random_dense<half, DenseMatrix<>>({80, 128}, 1).copy_to<Cuda>();
  const auto first = prune<NM<8, 32, 32>>(random_dense<half, DenseMatrix<>>({128, 256}, 2)).copy_to<Cuda>();
  const auto second = prune<NM<8, 32, 32>>(random_dense<half, DenseMatrix<>>({256, 96}, 3)).copy_to<Cuda>();
  const Tensor<half, DenseMatrix<ColumnMajor>, Cuda> hidden({80, 256}), Y({80, 96});
  const Tensor<half, DenseMatrix<>, Cuda> by_rows({80, 256}), expected({80, 96});
  const auto layer = assign(Y(i, j), hidden(i, k) * second(k, j));
  EXPECT_THAT(text(explain(layer)), testing::Not(testing::HasSubstr("copied k-major")));
  assign(hidden(i, j), relu(X(i, k) * first(k, j))).run();
  layer.run();
  assign(by_rows(i, j), relu(X(i, k) * first(k, j))).run();
  assign(expected(i, j), by_rows(i, k) * second(k, j)).run();
  expect_equal_tensors(convert<DenseMatrix<>>(hidden.copy_to<Host>()), by_rows.copy_to<Host>());
  expect_equal_tensors(convert<DenseMatrix<>>(Y.copy_to<Host>()), expected.copy_to<Host>());
}

/// Each element gets its own terms, also where tiles are transposed.
TEST(CudaNofMTransposed, EpiloguesOfResultsByColumns) {
  const auto expect = [](const auto& B, std::int64_t n) {
    const auto A = random_dense<half, DenseMatrix<>>({70, 90}, 1);
    const auto rows = random_dense<half, DenseVector>({70}, 3),
               columns = random_dense<half, DenseVector>({n}, 4);
    const Tensor<half, DenseMatrix<>, Cuda> expected({70, n});
    const Tensor<half, DenseMatrix<ColumnMajor>, Cuda> C({70, n});
    const auto run = [&](const auto& to) {
      const auto statement = assign(to(i, j), relu(2.0f * (A.copy_to<Cuda>()(i, k) * B(k, j)) +
                                                   rows.copy_to<Cuda>()(i) - columns.copy_to<Cuda>()(j)));
      statement.run();
      statement.accumulate().run();
    };
    run(expected);
    run(C);
    expect_equal_tensors(expected.copy_to<Host>(), convert<DenseMatrix<>>(C.copy_to<Host>()));
  };
  expect(prune<NM<2, 8, 32>>(random_dense<half, DenseMatrix<>>({90, 200}, 2)).copy_to<Cuda>(), 200);
  expect(prune<NM<2, 8, 128>>(random_dense<half, DenseMatrix<>>({90, 300}, 2)).copy_to<Cuda>(), 300);
}

TEST(CudaNofMTransposed, TakesNoMoreMemoryThanEstimated) {
  const auto W = prune<NM<16, 32, 32, 1>>(random_dense<float, DenseMatrix<>>({700, 1001}, 5).copy_to<Cuda>());
  const auto X = random_dense<float, DenseMatrix<>>({1001, 401}, 6).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> C({700, 401});
  const Tensor<float, DenseMatrix<ColumnMajor>, Cuda> by_columns({700, 401});
  expect_bounded(assign(C(i, j), W(i, k) * X(k, j)));
  expect_bounded(assign(by_columns(i, j), W(i, k) * X(k, j)));
  const auto halfs =
      prune<NM<16, 32, 32, 1>>(random_dense<half, DenseMatrix<>>({700, 1001}, 5)).copy_to<Cuda>();
  const auto of_halfs = random_dense<half, DenseMatrix<>>({1001, 401}, 6).copy_to<Cuda>();
  expect_bounded(assign(C(i, j), halfs(i, k) * of_halfs(k, j)));
}

}  // namespace
}  // namespace sporos::test::n_of_m_transposed
