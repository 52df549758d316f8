// SPDX-License-Identifier: Apache-2.0
/// @file tf32.cpp
/// Products of floats that allow tf32 against sums in double on the host: N:M products on tensor cores, and
/// dense ones.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <sstream>
#include <vector>

#include "products.hpp"

namespace sporos::test::tf32 {
namespace {

using namespace sporos::indices;
inline constexpr Index<'b'> b{};

/// Two factors that are each off by 2^-11, rounded to 11 bits, and the product of both errors.
const double rounded_to_nearest = std::ldexp(1.0, -10) + std::ldexp(1.0, -22);
/// The same where bits are cut off, which a dense product may do.
const double cut_off = std::ldexp(1.0, -9) + std::ldexp(1.0, -20);

/// C = A B, or C += A B: no further from the sums in double than rounding the factors explains, and further
/// than sums of floats would be, unless they are too few.
template <class F, class Layout>
void expect_rounded_product(const Extents<3>& shape, bool accumulates = false) {
  constexpr int along = NmTraits<F>::along;
  const auto [m, n, inner] = shape;
  SCOPED_TRACE(text(format_name<F>(), ", ", to_string(shape)));
  const auto A = random_dense<float, DenseMatrix<Layout>>({m, inner}, 1);
  const auto B = prune<F>(
      random_dense<float, DenseMatrix<>>(along == 0 ? Extents<2>{inner, n} : Extents<2>{n, inner}, 2));
  const auto before = random_dense<float, DenseMatrix<>>({m, n}, 3);
  const auto device_A = A.template copy_to<Cuda>();
  const auto device_B = B.template copy_to<Cuda>();
  const auto C = before.template copy_to<Cuda>();
  if (!accumulates && C.nnz() > 0) Kokkos::deep_copy(C.values(), std::numeric_limits<float>::quiet_NaN());
  const auto run = [&](const auto& statement) {
    const auto by_kernel = statement.allow_tf32().template use<gpu::NmByGathering>();
    accumulates ? by_kernel.accumulate().run() : by_kernel.run();
  };
  if constexpr (along == 0)
    run(assign(C(i, j), device_A(i, k) * device_B(k, j)));
  else
    run(assign(C(i, j), device_B(j, k) * device_A(i, k)));
  const auto wrong = [&](double of_term) {
    return wrong_sums<float, float>(convert<DenseMatrix<>, double>(A), by_windows(B),
                                    accumulates ? &before : nullptr, C.template copy_to<Host>(), of_term);
  };
  EXPECT_EQ(wrong(rounded_to_nearest), 0);
  if (m * n > 1000 && inner > 16) EXPECT_GT(wrong(0), 0) << "floats are not rounded";
}

TEST(CudaTf32, NmProducts) {
  for (const auto& shape : nm_shapes) {
    expect_rounded_product<NM<16, 32, 32>, RowMajor>(shape);
    expect_rounded_product<NM<4, 32, 64, 1>, ColumnMajor>(shape);
  }
  expect_rounded_product<NM<2, 5, 96>, RowMajor>({200, 130, 301});
  expect_rounded_product<NM<8, 32, 8>, RowMajor>({200, 130, 301});
  expect_rounded_product<NM<16, 32, 128>, RowMajor>({200, 300, 301}, true);
}
TEST(CudaTf32, NmProductsThatFillTheGpu) {
  expect_rounded_product<NM<16, 32, 32>, RowMajor>({4400, 1500, 140});
  expect_rounded_product<NM<4, 32, 64>, ColumnMajor>({4400, 1500, 300}, true);
}

/// Results of a statement with these values of A, against sums in double of the floats as they are.
/// @param of_term  how far each product may be off
void expect_sums_of(const Tensor<float, DenseMatrix<>>& A, double of_term) {
  const auto B = prune<NM<16, 32, 32>>(random_dense<float, DenseMatrix<>>({A.extent(1), 130}, 2));
  const Tensor<float, DenseMatrix<>, Cuda> C({A.extent(0), 130});
  const auto device_A = A.copy_to<Cuda>();
  const auto device_B = B.copy_to<Cuda>();
  assign(C(i, j), device_A(i, k) * device_B(k, j)).allow_tf32().use<gpu::NmByGathering>().run();
  const Tensor<float, DenseMatrix<>>* const none = nullptr;
  EXPECT_EQ((wrong_sums<float, float>(convert<DenseMatrix<>, double>(A), convert<DenseMatrix<>, double>(B),
                                      none, C.copy_to<Host>(), of_term)),
            0);
}
/// Floats of any magnitude, and neighbours of which some are a millionth of the others: a half alone would
/// not hold them.
TEST(CudaTf32, NmProductsKeepTheRangeOfFloats) {
  for (const int magnitude : {-100, -30, 30, 100}) {
    const auto A = random_dense<float, DenseMatrix<>>({70, 128}, 5);
    for (std::int64_t at = 0; at < A.nnz(); ++at)
      A.values()(at) = std::ldexp(A.values()(at), magnitude - (at % 3 == 0 ? 20 : 0));
    const auto B = prune<NM<16, 32, 32>>(random_dense<float, DenseMatrix<>>({128, 64}, 6));
    const Tensor<float, DenseMatrix<>, Cuda> C({70, 64});
    const auto device_A = A.copy_to<Cuda>();
    const auto device_B = B.copy_to<Cuda>();
    assign(C(i, j), device_A(i, k) * device_B(k, j)).allow_tf32().use<gpu::NmByGathering>().run();
    const auto result = C.copy_to<Host>();
    const auto dense = convert<DenseMatrix<>, double>(B);
    for (std::int64_t row = 0; row < 70; ++row)
      for (std::int64_t column = 0; column < 64; ++column) {
        double sum = 0, size = 0;
        for (std::int64_t p = 0; p < 128; ++p) {
          const double term =
              static_cast<double>(A.values()(row * 128 + p)) * dense.values()(p * 64 + column);
          sum += term;
          size += std::abs(term);
        }
        ASSERT_NEAR(static_cast<double>(result.values()(row * 64 + column)), sum,
                    size * (rounded_to_nearest + 130 * std::ldexp(1.0, -23)))
            << magnitude << ", " << row << ", " << column;
      }
  }
}
/// What even the scale of a row does not hold is computed in float.
TEST(CudaTf32, NmProductsOfTooWideARangeAreNotRounded) {
  const auto A = random_dense<float, DenseMatrix<>>({200, 300}, 7);
  for (std::int64_t at = 0; at < A.nnz(); ++at)
    if (at % 7 != 0) A.values()(at) = std::ldexp(A.values()(at), -60);
  expect_sums_of(A, 0);
  const auto infinite = random_dense<float, DenseMatrix<>>({40, 64}, 8);
  infinite.values()(3 * 64 + 5) = std::numeric_limits<float>::infinity();
  const auto B = prune<NM<16, 32, 32>>(random_dense<float, DenseMatrix<>>({64, 64}, 9));
  const Tensor<float, DenseMatrix<>> expected({40, 64});
  assign(expected(i, j), infinite(i, k) * B(k, j)).run();
  const Tensor<float, DenseMatrix<>, Cuda> C({40, 64});
  assign(C(i, j), infinite.copy_to<Cuda>()(i, k) * B.copy_to<Cuda>()(k, j))
      .allow_tf32()
      .use<gpu::NmByGathering>()
      .run();
  const auto result = C.copy_to<Host>();
  for (std::int64_t column = 0; column < 64; ++column)
    EXPECT_EQ(std::isinf(result.values()(3 * 64 + column)), std::isinf(expected.values()(3 * 64 + column)));
}

/// Plans pack once, and batches are rows of one product.
TEST(CudaTf32, PlansAndBatchesOfNmProducts) {
  const auto A = random_dense<float, DenseTensor<3>>({3, 96, 40}, 1);
  const auto B = prune<NM<8, 32, 32>>(random_dense<float, DenseMatrix<>>({96, 200}, 2));
  const auto device_A = A.copy_to<Cuda>();
  const auto device_B = B.copy_to<Cuda>();
  const Tensor<float, DenseTensor<3>, Cuda> C({3, 40, 200});
  auto product = plan(assign(C(b, i, j), device_A(b, k, i) * device_B(k, j))
                          .with_constant_operands()
                          .allow_tf32()
                          .use<gpu::NmByGathering>());
  const auto dense = convert<DenseMatrix<>, double>(B);
  const Tensor<float, DenseMatrix<>>* const none = nullptr;
  for (int run = 0; run < 2; ++run) {
    Kokkos::deep_copy(C.values(), -1.0f);
    product.run();
    const auto result = C.copy_to<Host>();
    for (std::int64_t batch = 0; batch < 3; ++batch) {
      const Tensor<double, DenseMatrix<>> of_a({40, 96});
      const Tensor<float, DenseMatrix<>> of_c({40, 200});
      for (std::int64_t row = 0; row < 40; ++row) {
        for (std::int64_t p = 0; p < 96; ++p)
          of_a.values()(row * 96 + p) = static_cast<double>(A.values()((batch * 96 + p) * 40 + row));
        for (std::int64_t column = 0; column < 200; ++column)
          of_c.values()(row * 200 + column) = result.values()((batch * 40 + row) * 200 + column);
      }
      EXPECT_EQ((wrong_sums<float, float>(of_a, dense, none, of_c, rounded_to_nearest)), 0);
    }
  }
  std::ostringstream out;
  out << explain(
      assign(C(b, i, j), device_A(b, k, i) * device_B(k, j)).allow_tf32().use<gpu::NmByGathering>());
  EXPECT_NE(out.str().find("floats rounded to 11 bits, as of tf32"), std::string::npos) << out.str();
}

TEST(CudaTf32, DenseProducts) {
  const auto A = random_dense<float, DenseMatrix<>>({300, 500}, 1),
             B = random_dense<float, DenseMatrix<>>({500, 200}, 2);
  const auto device_A = A.copy_to<Cuda>();
  const auto device_B = B.copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> C({300, 200});
  const Tensor<float, DenseMatrix<>>* const none = nullptr;
  const auto wrong = [&](double of_term) {
    return wrong_sums<float, float>(convert<DenseMatrix<>, double>(A), convert<DenseMatrix<>, double>(B),
                                    none, C.copy_to<Host>(), of_term);
  };
  assign(C(i, j), device_A(i, k) * device_B(k, j)).allow_tf32().run();
  EXPECT_EQ(wrong(cut_off), 0);
  EXPECT_GT(wrong(0), 0) << "floats are not rounded";
  assign(C(i, j), device_A(i, k) * device_B(k, j)).run();
  EXPECT_EQ(wrong(0), 0);
}

}  // namespace
}  // namespace sporos::test::tf32
