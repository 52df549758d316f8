// SPDX-License-Identifier: Apache-2.0
/// @file scaling.cpp
/// `A(i, j) *= s` and `/= s`: values change, and nothing else.
#include <cstdint>
#include <vector>

#include <sporos/formats/pattern.hpp>

#include "../typed.hpp"

namespace sporos::test {
namespace {

const Sizes scaled_sizes("ijk", 12);

/// Entries in any number for a coordinate.
using Repeating = COO<2, ModeOrder<0, 1>, std::int64_t, std::int32_t, false>;

template <class T>
auto values_of(const T& tensor) {
  std::vector<typename T::value_type> out;
  for (std::int64_t at = 0; at < tensor.nnz(); ++at)
    out.push_back(tensor.values()(static_cast<std::size_t>(at)));
  return out;
}

/// Scales a tensor of small integers, whose products with 2 are exact in any type, and back.
template <class Access, class T>
void expect_scaled(const Access& access, const T& tensor) {
  using Value = typename T::value_type;
  const sporos::detail::Pattern<T> before(tensor);
  const auto old = values_of(tensor);
  const auto* const data = tensor.values().data();
  ASSERT_FALSE(old.empty());
  access *= 2;
  const auto twice = values_of(tensor);
  for (std::size_t at = 0; at < old.size(); ++at) EXPECT_EQ(twice[at], old[at] * Value(2));
  access /= 2;
  EXPECT_EQ(values_of(tensor), old);
  EXPECT_EQ(tensor.values().data(), data);
  EXPECT_TRUE(before.is_of(tensor));
}

template <class F, class Value = double>
auto scaled(std::string_view modes, double density) {
  return small_tensor<Value, F>(scaled_sizes, modes, density, 7);
}

TEST(Scaling, ChangesTheValuesOfEveryFormatInPlace) {
  const auto check = [](const auto& A) { expect_scaled(A(i, j), A); };
  check(scaled<CSR<>>("ij", 0.3));
  check(scaled<CSC<>>("ij", 0.3));
  check(scaled<BCSR<2, 3>>("ij", 0.3));
  check(scaled<DenseMatrix<>>("ij", 1));
  check(prune<NM<1, 2, 3>>(scaled<DenseMatrix<>>("ij", 1)));
  check(assemble<Repeating>(Entries<double, 2>({3, 3}, {{{1, 2}, 3.0}, {{1, 2}, 4.0}}), Duplicates::keep));
  const auto T = scaled<CSF<3>>("ijk", 0.1);
  expect_scaled(T(i, j, k), T);
}

TEST(Scaling, IsComputedInTheTypeOfTheStatement) {
  const auto of_type = []<class Value>(Value) {
    const auto A = scaled<CSR<>, Value>("ij", 0.3);
    expect_scaled(A(i, j), A);
  };
  of_type(float{});
  of_type(std::int8_t{});
  Tensor<Kokkos::complex<double>, DenseVector> z({2});
  z(i) = Kokkos::complex<double>(1, 2);
  z(i) *= Kokkos::complex<double>(0, 1);
  EXPECT_EQ(at(z, {1}), Kokkos::complex<double>(-2, 1));
  Tensor<sporos::half, DenseVector> h({1});
  h(i) = 3.0;
  h(i) *= 0.5;
  EXPECT_EQ(static_cast<float>(at(h, {0})), 1.5f);
}

TEST(Scaling, TakesNumbersAndExpressionsThatKeepThePattern) {
  const auto A = scaled<CSR<>>("ij", 0.3);
  const auto x = scaled<DenseVector>("i", 1);
  const auto before = A.clone();
  const double squares = sum(x(i) * x(i));
  A(i, j) *= sum(x(i) * x(i));
  for (std::size_t at = 0; at < A.values().extent(0); ++at)
    EXPECT_EQ(A.values()(at), before.values()(at) * squares);
  A(i, j) /= sum(x(i) * x(i));
  A(i, j) *= x(j);
  ASSERT_EQ(A.nnz(), before.nnz());
  for (std::int64_t r = 0; r < 12; ++r)
    for (std::int64_t c = 0; c < 12; ++c) EXPECT_DOUBLE_EQ(at(A, {r, c}), at(before, {r, c}) * at(x, {c}));
  A(i, j) /= x(j);
  for (std::int64_t r = 0; r < 12; ++r)
    for (std::int64_t c = 0; c < 12; ++c) EXPECT_DOUBLE_EQ(at(A, {r, c}), at(before, {r, c}));

  // A dense result takes a sparse factor: it is zero where the factor is.
  const auto y = x.clone();
  const auto s = scaled<SparseVector<>>("i", 0.4);
  y(i) *= s(i);
  for (std::int64_t r = 0; r < 12; ++r) EXPECT_EQ(at(y, {r}), at(x, {r}) * at(s, {r}));
}

TEST(Scaling, RefusesToDivideIntegersByZero) {
  const auto A = scaled<CSR<>, int>("ij", 0.3);
  EXPECT_THROW(A(i, j) /= 0, ExpressionError);
}

TEST(UnaryPlus, IsTheExpression) {
  const auto x = scaled<DenseVector>("i", 1);
  const Tensor<double, DenseVector> y({12});
  y(i) = +x(i);
  EXPECT_EQ(values_of(y), values_of(x));
}

}  // namespace
}  // namespace sporos::test
