// SPDX-License-Identifier: Apache-2.0
/// @file patterns.cpp
/// Patterns of statements: which factor of a product is what, whatever the variables are called.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/kernels/add/pattern.hpp>
#include <sporos/sporos.hpp>
#include <type_traits>

namespace {

using namespace sporos;
using namespace sporos::indices;

template <class Pattern, class S>
constexpr bool matches(const S&) {
  return Pattern::template matches<S>;
}

/// Any order of modes for dense factors, which no kernel of the host admits.
struct TurnedOperands : RealHostOperands {
  static constexpr bool turns_dense = true;
};

/// The same, and sparse factors by columns.
struct OperandsByColumns : TurnedOperands {
  template <class A>
  static constexpr bool is_csr = std::is_same_v<typename A::format, CSC<>>;
};

class Patterns : public testing::Test {
 protected:
  Tensor<double, CSR<>> A{{4, 5}}, B{{4, 5}}, C{{5, 4}}, S{{4, 4}};
  Tensor<double, DenseVector> x{{5}}, y{{4}};
  Tensor<double, DenseMatrix<>> D{{4, 3}}, E{{5, 3}}, F{{3, 4}}, G{{3, 5}};
};

TEST_F(Patterns, TakeVariablesByWhereTheyStandAndNotByName) {
  using Y = decltype(y(i));
  using Matrix = decltype(A(i, j));
  using Vector = decltype(x(j));
  EXPECT_TRUE((binds<Y, Matrix, Vector>("i", "ij", "j")));
  EXPECT_TRUE((binds<Y, Matrix, Vector>("k", "kl", "l")));
  EXPECT_FALSE((binds<Y, Matrix, Vector>("i", "ij", "i")));
  EXPECT_FALSE((binds<Y, Matrix, Vector>("i", "ij", "k")));
  EXPECT_FALSE((binds<Y, Matrix, Vector>("i", "ii", "i")));
  EXPECT_FALSE((binds<Y, Matrix, Vector>("i", "i", "j")));
  using Diagonal = decltype(A(i, i));
  EXPECT_FALSE((binds<Y, Diagonal, Y>("i", "ij", "j")));
}

TEST_F(Patterns, NameTheFactorsInAnyOrder) {
  using Spmv = SpmvByRows::Pattern;
  const auto product = assign(y(k), x(i) * A(k, i));
  ASSERT_TRUE(matches<Spmv>(product));
  EXPECT_EQ(Spmv::sparse(product).tensor().values().data(), A.values().data());
  EXPECT_EQ(Spmv::dense(product).tensor().values().data(), x.values().data());

  using Spmm = SpmmByRows::Pattern;
  const auto wide = assign(D(i, j), E(k, j) * A(i, k));
  ASSERT_TRUE(matches<Spmm>(wide));
  EXPECT_EQ(Spmm::dense(wide).tensor().values().data(), E.values().data());

  using Spgemm = SpgemmByRows::Pattern;
  const auto square = assign(S(i, j), C(k, j) * A(i, k));
  ASSERT_TRUE(matches<Spgemm>(square));
  EXPECT_EQ(Spgemm::left(square).tensor().extent(1), 5);
  EXPECT_EQ(Spgemm::right(square).tensor().extent(1), 4);

  using Sddmm = SddmmByRows::Pattern;
  const auto dots = assign(A(i, j), E(j, k) * B(i, j) * D(i, k));
  ASSERT_TRUE(matches<Sddmm>(dots));
  EXPECT_EQ(Sddmm::of_rows(dots).tensor().values().data(), D.values().data());
  EXPECT_EQ(Sddmm::of_columns(dots).tensor().values().data(), E.values().data());
}

TEST_F(Patterns, RefuseWhatIsNoSuchProduct) {
  EXPECT_FALSE(matches<SpmvByRows::Pattern>(assign(y(i), A(i, j) * x(j) * x(j))));
  EXPECT_FALSE(matches<SpmvByRows::Pattern>(assign(y(i), A(i, j) * x(j) + y(i))));
  EXPECT_FALSE(matches<SpmvByRows::Pattern>(assign(x(j), A(i, j) * y(i))));
  EXPECT_FALSE(matches<SpmmByRows::Pattern>(assign(D(i, j), A(i, k) * G(j, k))));
  EXPECT_FALSE(matches<SpgemmByRows::Pattern>(assign(S(i, j), A(i, k) * B(j, k))));
}

TEST_F(Patterns, AdmitForOneKernelWhatTheyRefuseForAnother) {
  const auto turned = assign(A(i, j), B(i, j) * F(k, i) * G(k, j));
  const auto half_turned = assign(A(i, j), G(k, j) * B(i, j) * D(i, k));
  EXPECT_FALSE(matches<SddmmByRows::Pattern>(turned));
  EXPECT_FALSE(matches<SddmmByRows::Pattern>(half_turned));
  using Turned = SddmmPattern<TurnedOperands>;
  ASSERT_TRUE(matches<Turned>(turned));
  ASSERT_TRUE(matches<Turned>(half_turned));
  EXPECT_EQ(Turned::of_rows(turned).tensor().values().data(), F.values().data());
  EXPECT_EQ(Turned::of_columns(half_turned).tensor().values().data(), G.values().data());
}

TEST_F(Patterns, OfMatricesByColumnsAreThoseOfTheTransposes) {
  const Tensor<double, CSC<>> P({4, 5}), Q({4, 5});
  const auto dots = assign(P(i, j), D(i, k) * Q(i, j) * G(k, j));
  using ByColumns = SddmmPattern<OperandsByColumns>;
  EXPECT_FALSE(matches<SddmmPattern<TurnedOperands>>(dots));
  ASSERT_TRUE(matches<ByColumns>(dots));
  EXPECT_EQ(ByColumns::sampled(dots).tensor().values().data(), Q.values().data());
  EXPECT_EQ(ByColumns::of_rows(dots).tensor().values().data(), G.values().data());
  EXPECT_EQ(ByColumns::of_columns(dots).tensor().values().data(), D.values().data());
  EXPECT_FALSE(matches<ByColumns>(assign(P(i, j), D(i, k) * Q(i, j) * F(k, i))));
}

TEST_F(Patterns, ReadTheCoefficientsOfASum) {
  using Add = AddPattern<HostOperands>;
  const auto sum = assign(A(i, j), -(2.0 * B(i, j)) + A(i, j) * 3.0);
  ASSERT_TRUE(matches<Add>(sum));
  EXPECT_EQ(Add::left(sum).tensor().values().data(), B.values().data());
  EXPECT_EQ(Add::left_coefficient<double>(sum), -2.0);
  EXPECT_EQ(Add::right_coefficient<double>(sum), 3.0);
  EXPECT_FALSE(matches<Add>(assign(A(i, j), A(i, j) + B(i, j) + A(i, j))));
  EXPECT_FALSE(matches<Add>(assign(S(i, j), S(i, j) + S(j, i))));
  EXPECT_FALSE(matches<Add>(assign(A(i, j), A(i, j) * B(i, j))));
}

}  // namespace
