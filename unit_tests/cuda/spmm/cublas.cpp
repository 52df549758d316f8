// SPDX-License-Identifier: Apache-2.0
/// @file cublas.cpp
/// Products of sparse and dense matrices by cuBLAS, the sparse ones with their zeros: against sums in double.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>

#include "kernels/kernel_of.hpp"
#include "products.hpp"

namespace sporos::test::spmm_by_cublas {
namespace {

using namespace sporos::indices;
using Kernel = gpu::SpmmByCublas;

TEST(CudaSpmmByCublas, OfEachValueAndLayout) {
  expect_products<Kernel, half, half, IntCsr, false, DenseMatrix<>>();
  expect_products<Kernel, bfloat16, float, CSR<>, true, DenseMatrix<>>();
  expect_products<Kernel, float, float, IntCsr, false, DenseMatrix<ColumnMajor>>();
  expect_products<Kernel, double, double, CSC<>, false, DenseMatrix<ColumnMajor>>();
}

TEST(CudaSpmmByCublas, LayersAndResultsByColumns) {
  expect_columns_of_shapes<Kernel, half, half, IntCsr, false, DenseMatrix<>, DenseMatrix<>>();
  expect_columns_of_shapes<Kernel, float, float, IntCsr, true, DenseMatrix<ColumnMajor>, DenseMatrix<>>();
  expect_columns_of_shapes<Kernel, double, double, CSC<>, false, DenseMatrix<>, DenseMatrix<ColumnMajor>>();
}

TEST(CudaSpmmByCublas, KeepInfinitiesToWhatTheyAreMultipliedBy) {
  expect_infinities<Kernel, half>();
  expect_infinities<Kernel, bfloat16, bfloat16>();
  expect_infinities<Kernel, float>();
  expect_infinities<Kernel, double, double>();
}

/// Of so many rows that a block looks at one of several, and more columns than it has threads. Two columns of
/// B hold a value that is not finite, each met by a single row in seventy.
template <class Value, class F, class CF>
void expect_replaced_sums() {
  SCOPED_TRACE(text(value_name<Value>(), ", ", format_name<F>(), ", ", format_name<CF>()));
  constexpr std::int64_t m = 1400, inner = 70, n = 300;
  const Tensor<Value, DenseMatrix<>> dense({m, inner}), B({inner, n});
  for (std::int64_t row = 0; row < m; ++row)
    dense.values()(row * inner + row % inner) = static_cast<Value>(1.0F);
  B.values()(2 * n + 299) = static_cast<Value>(std::numeric_limits<float>::infinity());
  B.values()(5 * n + 10) = static_cast<Value>(std::numeric_limits<float>::quiet_NaN());
  const auto A = convert<F>(dense).template copy_to<Cuda>();
  const auto device_B = B.template copy_to<Cuda>();
  const Tensor<Value, CF, Cuda> C({m, n});
  plan(assign(C(i, j), A(i, k) * device_B(k, j)).with_constant_operands().template use<Kernel>()).run();
  const auto result = convert<DenseMatrix<>>(C.template copy_to<Host>());
  for (std::int64_t row = 0; row < m; ++row)
    for (std::int64_t column = 0; column < n; ++column) {
      const auto got = static_cast<float>(result.values()(row * n + column));
      if (column == 299 && row % inner == 2)
        EXPECT_EQ(got, std::numeric_limits<float>::infinity()) << row;
      else if (column == 10 && row % inner == 5)
        EXPECT_TRUE(std::isnan(got)) << row << ": " << got;
      else
        EXPECT_EQ(got, 0) << row << ", " << column;
    }
}
TEST(CudaSpmmByCublas, AllRowsOfColumnsThatAreNotFinite) {
  expect_replaced_sums<float, IntCsr, DenseMatrix<>>();
  expect_replaced_sums<half, IntCsr, DenseMatrix<ColumnMajor>>();
  expect_replaced_sums<bfloat16, CSC<>, DenseMatrix<>>();
  expect_replaced_sums<double, CSC<>, DenseMatrix<ColumnMajor>>();
}
/// A matrix without zeros: what is not finite in B is in all sums.
TEST(CudaSpmmByCublas, NothingIsComputedAgainWithoutZeros) {
  const auto A = convert<IntCsr>(filled<float, DenseMatrix<>>({40, 24}, 1)).copy_to<Cuda>();
  const auto B = filled<float, DenseMatrix<>>({24, 9}, 2);
  B.values()(5 * 9 + 3) = std::numeric_limits<float>::quiet_NaN();
  const auto device_B = B.copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> C({40, 9});
  auto product = plan(assign(C(i, j), A(i, k) * device_B(k, j)).use<Kernel>());
  std::ostringstream out;
  product.explain(out);
  EXPECT_EQ(out.str().find("computed again"), std::string::npos) << out.str();
  product.run();
  const auto result = C.copy_to<Host>();
  for (std::int64_t at = 0; at < result.nnz(); ++at)
    EXPECT_EQ(std::isnan(result.values()(at)), at % 9 == 3) << at;
}

/// Calls make(c, a, b, bias), a statement that is added to, on the host and on the GPU, where half of the
/// rows of A meet an infinity and half a NaN.
template <class F, bool Transposed, class BF, class CF, class Make>
void expect_sums_of_nonzeros(const Make& make) {
  SCOPED_TRACE(text(format_name<F>(), ", ", Transposed, ", ", format_name<BF>(), ", ", format_name<CF>()));
  constexpr std::int64_t m = 37, inner = 40, n = 23;
  const Tensor<float, DenseMatrix<>> dense(Transposed ? Extents<2>{inner, m} : Extents<2>{m, inner});
  for (std::int64_t row = 0; row < m; ++row)
    for (std::int64_t column = row % 2; column < inner; column += 2)
      dense.values()(Transposed ? column * m + row : row * inner + column) =
          static_cast<float>(1 + (row + column) % 3);
  const auto rows_of_B = filled<float, DenseMatrix<>>({inner, n}, 2);
  for (std::int64_t column = 0; column < n; ++column) {
    if (column % 3 == 0) rows_of_B.values()(4 * n + column) = std::numeric_limits<float>::infinity();
    if (column % 3 == 1) rows_of_B.values()(7 * n + column) = std::numeric_limits<float>::quiet_NaN();
  }
  const auto A = convert<F>(dense);
  const auto B = convert<BF>(rows_of_B);
  const auto bias = filled<float, DenseVector>({m}, 3);
  const auto before = convert<CF>(filled<float, DenseMatrix<>>({m, n}, 4));
  const auto expected = before.template copy_to<Host>();
  make(expected, A, B, bias).generic().run();
  const auto device_A = A.template copy_to<Cuda>();
  const auto device_B = B.template copy_to<Cuda>();
  const auto device_bias = bias.template copy_to<Cuda>();
  for (const bool is_planned : {false, true}) {
    const auto C = before.template copy_to<Cuda>();
    const auto statement = make(C, device_A, device_B, device_bias).template use<Kernel>();
    is_planned ? plan(statement.with_constant_operands()).run() : statement.run();
    const auto result = C.template copy_to<Host>();
    int not_numbers = 0;
    for (std::int64_t at = 0; at < result.nnz(); ++at) {
      const float wanted = expected.values()(at), got = result.values()(at);
      EXPECT_TRUE(std::isnan(wanted) ? std::isnan(got) : wanted == got)
          << at << ": " << got << " instead of " << wanted;
      not_numbers += std::isnan(wanted) ? 1 : 0;
    }
    EXPECT_EQ(not_numbers, 18 * 8);  // the odd rows, in each third column
  }
}
TEST(CudaSpmmByCublas, EpiloguesSeeSumsOfNonzerosAlone) {
  const auto make = [](const auto& c, const auto& a, const auto& b, const auto& of_rows) {
    return assign(c(i, j), 2.0F * sum(k, a(i, k) * b(k, j)) + of_rows(i)).accumulate();
  };
  expect_sums_of_nonzeros<IntCsr, false, DenseMatrix<ColumnMajor>, DenseMatrix<>>(make);
  expect_sums_of_nonzeros<CSC<>, false, DenseMatrix<>, DenseMatrix<ColumnMajor>>(make);
}
TEST(CudaSpmmByCublas, TransposesAreNotCopied) {
  expect_sums_of_nonzeros<IntCsr, true, DenseMatrix<>, DenseMatrix<>>(
      [](const auto& c, const auto& a, const auto& b, const auto& of_rows) {
        return assign(c(i, j), 2.0F * sum(k, a(k, i) * b(k, j)) + of_rows(i)).accumulate();
      });
}

/// Long sums of integers, which cuBLAS may cut into parts, are exact in float: each is rounded once.
template <class Value>
void expect_sums_rounded_once(std::int64_t m, std::int64_t n, std::int64_t inner) {
  SCOPED_TRACE(text(value_name<Value>(), ", ", m, " x ", n, " x ", inner));
  const auto A = thinned<Value>({m, inner}, 4, 1);
  const Tensor<Value, DenseMatrix<>> B({inner, n});
  const auto round_to_integers = [](const auto& matrix) {
    for (std::int64_t at = 0; at < matrix.nnz(); ++at) {
      const auto value = static_cast<float>(matrix.values()(at));
      if (value != 0) matrix.values()(at) = static_cast<Value>(static_cast<float>(at % 7) - 3.0F);
    }
  };
  Kokkos::deep_copy(B.values(), static_cast<Value>(1.0F));
  round_to_integers(A);
  round_to_integers(B);
  const Tensor<double, DenseMatrix<>> expected({m, n});
  assign(expected(i, j), convert<IntCsr, double>(A)(i, k) * convert<DenseMatrix<>, double>(B)(k, j)).run();
  const auto device_A = convert<IntCsr>(A).template copy_to<Cuda>();
  const auto device_B = B.template copy_to<Cuda>();
  const auto C = poisoned<Value, DenseMatrix<>>({m, n});
  assign(C(i, j), device_A(i, k) * device_B(k, j)).template use<Kernel>().run();
  const auto result = C.template copy_to<Host>();
  std::int64_t wrong = 0;
  for (std::int64_t at = 0; at < m * n; ++at)
    wrong += static_cast<float>(result.values()(at)) !=
             static_cast<float>(static_cast<Value>(static_cast<float>(expected.values()(at))));
  EXPECT_EQ(wrong, 0);
}
TEST(CudaSpmmByCublas, PartsOfSumsAreAddedInFloat) {
  expect_sums_rounded_once<bfloat16>(600, 100, 3000);
  expect_sums_rounded_once<bfloat16>(70, 130, 5000);
  expect_sums_rounded_once<half>(70, 130, 20000);
}

TEST(CudaSpmmByCublas, TakeNoMoreMemoryThanEstimated) {
  expect_within_estimates<Kernel, half>();
  expect_within_estimates<Kernel, double>();
}
TEST(CudaSpmmByCublas, PlansReadNewValuesUnlessTheyAreConstant) {
  expect_new_values<Kernel, half>();
  expect_new_values<Kernel, float>();
}
/// Whose zeros need not be kept apart from what is not finite.
TEST(CudaSpmmByCublas, NothingIsComputedAgainForFiniteOperands) {
  const auto A = convert<IntCsr>(thinned<float>({40, 24}, 3, 1)).copy_to<Cuda>();
  const auto B = filled<float, DenseMatrix<>>({24, 9}, 2).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> C({40, 9}), expected({40, 9});
  const auto statement = assign(C(i, j), A(i, k) * B(k, j)).use<Kernel>();
  const auto words_of = [](const auto& product) {
    std::ostringstream out;
    product.explain(out);
    return out.str();
  };
  auto product = plan(statement.with_finite_operands());
  EXPECT_EQ(words_of(product).find("computed again"), std::string::npos);
  EXPECT_NE(words_of(plan(statement)).find("computed again"), std::string::npos);
  assign(expected(i, j), A(i, k) * B(k, j)).use<Kernel>().run();
  product.run();
  expect_equal_tensors(expected.copy_to<Host>(), C);
}
TEST(CudaSpmmByCublas, TheSameFromRunToRun) {
  expect_same_from_run_to_run<Kernel, float>();
  expect_same_from_run_to_run<Kernel, half>();
}

/// Plans of matrices a half of which is stored, unless that would take much more memory than the nonzeros do.
TEST(CudaSpmmByCublas, IsChosenForNearlyDenseMatrices) {
  const auto half_full = convert<IntCsr>(thinned<half>({1024, 1024}, 2, 1)).copy_to<Cuda>();
  const auto sparse = convert<IntCsr>(thinned<half>({1024, 1024}, 300, 1)).copy_to<Cuda>();
  const Tensor<half, DenseMatrix<>, Cuda> B({1024, 256}), C({1024, 256});
  const auto product = plan(assign(C(i, j), half_full(i, k) * B(k, j)).with_constant_operands());
  EXPECT_EQ(product.candidate(), Kernel::name);
  EXPECT_GE(product.bytes(), 1024 * 1024 * 2);
  std::ostringstream out;
  product.explain(out);
  EXPECT_NE(out.str().find("written with its zeros, 2097152 bytes, once"), std::string::npos) << out.str();
  const auto changing = plan(assign(C(i, j), half_full(i, k) * B(k, j)).use<Kernel>());
  EXPECT_EQ(changing.bytes(), 0);
  const auto other = plan(assign(C(i, j), sparse(i, k) * B(k, j)).with_constant_operands());
  EXPECT_NE(other.candidate(), Kernel::name);
}

}  // namespace
}  // namespace sporos::test::spmm_by_cublas
