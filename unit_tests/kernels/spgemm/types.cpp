// SPDX-License-Identifier: Apache-2.0
/// @file types.cpp
/// The product of sparse matrices by rows in every kind of value and with indices of other widths, over the
/// patterns that it treats apart.
#include "sparse_products.hpp"

namespace sporos::test {
namespace {

/// Patterns that go through each way in which a row is made.
const std::vector<Factors>& kinds() {
  static const std::vector<Factors> all{
      {"one entry a row", [] { return scattered(60, 50, 1, 1); }, [] { return scattered(50, 90, 12, 2); }},
      {"few products", [] { return scattered(90, 80, 2, 3); }, [] { return scattered(80, 85, 3, 4); }},
      {"rows alike", [] { return repeated(80, 60, 6, 9, 5); }, [] { return repeated(60, 100, 5, 4, 6); }},
      {"rows of their own", [] { return scattered(60, 90, 6, 7); }, [] { return scattered(90, 100, 6, 8); }},
      {"diagonals", [] { return diagonals(100, 100, {-9, -1, 0, 1, 9}); },
       [] { return diagonals(100, 110, {-1, 0, 1, 30}); }},
      {"many products", [] { return diagonals(100, 100, {-20, -10, -5, -1, 0, 4, 12, 21}); },
       [] { return diagonals(100, 100, {-24, -13, -7, -2, 0, 3, 14, 22}); }}};
  return all;
}

/// Multiplies each kind with operands of these types, in Serial and in OpenMP.
template <class TensorA, class TensorB, class TensorC>
void expect_products() {
  using B = typename TensorB::value_type;
  using C = typename TensorC::value_type;
  for (const auto& kind : kinds()) {
    const auto left = matrix<B, typename TensorB::format_type>(kind.left(), small_value<B>, 1);
    const auto right = matrix<C, typename TensorC::format_type>(kind.right(), small_value<C>, 2);
    const TensorA result({left.extent(0), right.extent(1)});
    spgemm(result, left, right);
    EXPECT_EQ(wrong(result, left, right), "") << kind.name;
  }
}

template <class Value>
class ValuesOfProducts : public testing::Test {};
using Values =
    testing::Types<float, Kokkos::complex<double>, Kokkos::complex<float>, std::int32_t, std::int8_t, half>;
TYPED_TEST_SUITE(ValuesOfProducts, Values);

TYPED_TEST(ValuesOfProducts, AreExactWhereTheTypeHoldsThem) {
  using Matrix = Tensor<TypeParam, CSR<>, Serial>;
  expect_products<Matrix, Tensor<TypeParam, CSR<>>, Tensor<TypeParam, CSR<>>>();
}

TYPED_TEST(ValuesOfProducts, AreTheSameForAnyNumberOfThreads) {
  const auto rows = diagonals(600, 600, {-40, -7, -1, 0, 1, 2, 8, 39});
  const auto B = matrix<TypeParam>(rows, small_value<TypeParam>, 1);
  const auto C = matrix<TypeParam>(scattered(600, 600, 9, 3), small_value<TypeParam>, 2);
  const Tensor<TypeParam, CSR<>, Serial> serial(B.extents());
  const Tensor<TypeParam, CSR<>, OpenMP> parallel(B.extents());
  for (const auto& right : {B, C}) {
    spgemm(serial, B, right);
    spgemm(parallel, B, right);
    EXPECT_TRUE(same_bytes(serial, parallel));
  }
}

TEST(IndicesOfProducts, AreOfAnyWidth) {
  expect_products<Tensor<double, CSR<std::int64_t, std::int64_t>, Serial>,
                  Tensor<double, CSR<std::int64_t, std::int64_t>>,
                  Tensor<double, CSR<std::int64_t, std::int64_t>>>();
  expect_products<Tensor<double, CSR<std::int32_t, std::int32_t>, Serial>,
                  Tensor<double, CSR<std::int32_t, std::int32_t>>,
                  Tensor<double, CSR<std::int32_t, std::int32_t>>>();
  expect_products<Tensor<double, CSR<std::uint16_t, std::int16_t>, Serial>,
                  Tensor<double, CSR<std::uint16_t, std::uint8_t>>,
                  Tensor<double, CSR<std::uint16_t, std::uint8_t>>>();
}

TEST(IndicesOfProducts, MayDifferFromOperandToOperand) {
  expect_products<Tensor<double, CSR<std::int64_t, std::int32_t>, Serial>,
                  Tensor<double, CSR<std::int32_t, std::int16_t>>,
                  Tensor<double, CSR<std::int32_t, std::int64_t>>>();
}

TEST(ValuesOfMixedProducts, AreFormedInTheWidestType) {
  expect_products<Tensor<double, CSR<>, Serial>, Tensor<float, CSR<>>, Tensor<std::int32_t, CSR<>>>();
  expect_products<Tensor<Kokkos::complex<double>, CSR<>, Serial>, Tensor<Kokkos::complex<float>, CSR<>>,
                  Tensor<double, CSR<>>>();

  // A third is no half: the sum of 90 of them rounds once.
  const auto B = matrix<half>(pattern(1, 90,
                                      [](auto, auto& s) {
                                        for (std::int64_t k = 0; k < 90; ++k) s.insert(k);
                                      }),
                              [](auto&) { return 1.0F / 3; });
  const auto C = matrix<float>(pattern(90, 1, [](auto, auto& s) { s = {0}; }), [](auto&) { return 1.0F; });
  const Tensor<half, CSR<>> A({1, 1});
  spgemm(A, B, C);
  EXPECT_EQ(A.values()(0).bits, half(90 * static_cast<float>(half(1.0F / 3))).bits);
}

}  // namespace
}  // namespace sporos::test
