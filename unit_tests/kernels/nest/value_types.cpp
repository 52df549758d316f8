// SPDX-License-Identifier: Apache-2.0
/// @file value_types.cpp
/// Products and sums of every value type equal the dense ones exactly, on numbers that each type holds
/// exactly.
#include "../typed.hpp"

namespace sporos::test {
namespace {

template <class Value>
class ValueType : public testing::Test {
 public:
  using T = oracle_value<Value>;
  static inline const Sizes sizes = [] {
    Sizes out("ijk", 9);
    out['j'] = 11;
    return out;
  }();

  template <class F>
  static auto operand(std::string_view modes, std::uint64_t seed) {
    return small_tensor<Value, F>(sizes, modes, 0.4, seed);
  }
  template <class F>
  static auto result(std::string_view modes) {
    return Tensor<Value, F>(sizes.extents<F::order>(modes));
  }
  template <class TensorType>
  static std::string wrong(const TensorType& found, const Oracle<T>& expected) {
    constexpr bool exact = stores_nonzeros_alone<typename TensorType::format_type>;
    return difference(read(found), expected, exact, found.nnz());
  }
  template <class Left, class Right>
  static Oracle<T> product(const Left& B, const Right& C) {
    Oracle<T> out({sizes['i'], sizes['j']});
    for (std::int64_t i = 0; i < sizes['i']; ++i)
      for (std::int64_t j = 0; j < sizes['j']; ++j)
        out.terms[out.offset({i, j})] = sum(sizes['k'], [&](auto k) { return B(i, k) * C(k, j); });
    return out;
  }
};

using Values = testing::Types<float, std::int64_t, Kokkos::complex<double>, bool, half>;
TYPED_TEST_SUITE(ValueType, Values);

TYPED_TEST(ValueType, MultipliesMatricesAndVectors) {
  using Test = ValueType<TypeParam>;
  const auto A = Test::template operand<CSR<>>("ij", 1);
  const auto x = Test::template operand<DenseVector>("j", 2);
  const auto y = Test::template result<DenseVector>("i");
  const auto matrix = read(A).terms;
  const auto vector = read(x).terms;
  Oracle<typename Test::T> expected({Test::sizes['i']});
  for (std::int64_t i = 0; i < Test::sizes['i']; ++i)
    expected.terms[expected.offset({i})] =
        sum(Test::sizes['j'], [&](auto j) { return matrix(i, j) * vector(j); });
  y(i) = A(i, j) * x(j);
  EXPECT_EQ(Test::wrong(y, expected), "");

  const auto columns = Test::template operand<CSC<>>("ij", 1);
  const auto by_columns = read(columns).terms;
  for (std::int64_t i = 0; i < Test::sizes['i']; ++i)
    expected.terms[expected.offset({i})] =
        sum(Test::sizes['j'], [&](auto j) { return by_columns(i, j) * vector(j); });
  y(i) = columns(i, j) * x(j);
  EXPECT_EQ(Test::wrong(y, expected), "");
}

TYPED_TEST(ValueType, MultipliesSparseMatricesByRowsAndByReduction) {
  using Test = ValueType<TypeParam>;
  const auto B = Test::template operand<CSR<>>("ik", 3);
  const auto C = Test::template operand<CSR<>>("kj", 4);
  const auto A = Test::template result<CSR<>>("ij");
  A(i, j) = B(i, k) * C(k, j);
  EXPECT_EQ(Test::wrong(A, Test::product(read(B).terms, read(C).terms)), "");

  const auto E = Test::template operand<DCSC<>>("ik", 6);
  const auto F = Test::template result<DCSR<>>("ij");
  assign(F(i, j), E(i, k) * C(k, j)).reorder(k, i, j).run();
  EXPECT_EQ(Test::wrong(F, Test::product(read(E).terms, read(C).terms)), "");
}

TYPED_TEST(ValueType, AddsMatricesOfTwoFormats) {
  using Test = ValueType<TypeParam>;
  const auto B = Test::template operand<CSR<>>("ij", 7);
  const auto C = Test::template operand<COO<2>>("ij", 8);
  auto expected = read(B).terms;
  const auto added = read(C).terms;
  for (std::size_t at = 0; at < expected.terms.size(); ++at)
    expected.terms[at] = expected.terms[at] + added.terms[at];
  const auto A = Test::template result<DCSR<>>("ij");
  const auto D = Test::template result<RowMajorMatrix>("ij");
  A(i, j) = B(i, j) + C(i, j);
  D(i, j) = C(i, j) + B(i, j);
  EXPECT_EQ(Test::wrong(A, expected), "");
  EXPECT_EQ(Test::wrong(D, expected), "");
}

}  // namespace
}  // namespace sporos::test
