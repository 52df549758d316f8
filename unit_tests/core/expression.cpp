// SPDX-License-Identifier: Apache-2.0
/// @file expression.cpp
/// Expressions as trees: nodes of another library are walked, written and rebuilt as the nodes of this one.
#include <gtest/gtest.h>

#include <sporos/core/expression.hpp>
#include <sporos/core/statement.hpp>
#include <sporos/formats/named.hpp>
#include <string>
#include <type_traits>

namespace elsewhere {

/// 2 * E
template <class E>
struct Twice : sporos::ExpressionBase {
  static constexpr int factors = 1;
  E operand;

  explicit Twice(E e) : operand(e) {}
  template <class A>
  static auto with(const A& e) {
    return Twice<A>(e);
  }
};

/// The larger of L and R: not linear in either.
template <class L, class R>
struct Larger : sporos::ExpressionBase {
  L left;
  R right;

  Larger(L l, R r) : left(l), right(r) {}
  template <class A, class B>
  static Larger<A, B> with(const A& l, const B& r) {
    return {l, r};
  }
};

/// L - R, written as such.
template <class L, class R>
struct Difference : sporos::ExpressionBase {
  static constexpr bool is_sum = true;
  static constexpr sporos::Binding binding = sporos::Binding::sum;
  L left;
  R right;

  Difference(L l, R r) : left(l), right(r) {}
  template <class A, class B>
  static Difference<A, B> with(const A& l, const B& r) {
    return {l, r};
  }
  static std::string notation(const sporos::Phrase* children) {
    return children[0].text + " - " + children[1].within(sporos::Binding::product);
  }
};

}  // namespace elsewhere

namespace {

using namespace sporos;
using namespace sporos::indices;
using elsewhere::Difference;
using elsewhere::Larger;
using elsewhere::Twice;

struct Expressions : testing::Test {
  const Tensor<double, CSR<>> A{{3, 4}};
  const Tensor<double, DenseVector> x{{3}}, y{{3}}, z{{4}};
};
struct ANodeFromElsewhere : Expressions {};

template <class E>
std::string written(const E& e) {
  TensorLetters letters;
  return Notation(letters).of(e);
}

TEST_F(Expressions, AreWrittenWithTheParenthesesThatTheyNeed) {
  EXPECT_EQ(written((A(i, j) + x(i)) * z(j)), "(A(i, j) + B(i)) * C(j)");
  EXPECT_EQ(written(A(i, j) * (x(i) * z(j))), "A(i, j) * B(i) * C(j)");
  EXPECT_EQ(written(A(i, j) / (x(i) * z(j))), "A(i, j) / (B(i) * C(j))");
  EXPECT_EQ(written(A(i, j) / (x(i) * z(j) + 1)), "A(i, j) / (B(i) * C(j) + 1)");
  EXPECT_EQ(written(x(i) - (y(i) - x(i))), "A(i) - (B(i) - A(i))");
  EXPECT_EQ(written(-(-x(i)) / -y(i)), "--A(i) / (-B(i))");
}

TEST_F(ANodeFromElsewhere, IsWalkedFromTheLeft) {
  std::string found;
  for_each_access(Larger(Twice(A(i, j) * z(j)), Twice(x(i)) + 1.0),
                  [&](const auto& access) { found += access.names.str() + "; "; });
  EXPECT_EQ(found, "i, j; j; i; ");
}

TEST_F(ANodeFromElsewhere, HasTheAccessesAndScalarsOfItsChildren) {
  const auto inside = A(i, j) * 2.0f + x(i) / 3;
  const auto around = Larger(Twice(inside), inside);
  using Inside = std::remove_const_t<decltype(inside)>;
  using Around = std::remove_const_t<decltype(around)>;
  EXPECT_TRUE((std::is_same_v<scalars_of<Inside>, TypeList<float, int>>));
  EXPECT_TRUE((std::is_same_v<scalars_of<Around>, TypeList<float, int, float, int>>));
  EXPECT_TRUE((std::is_same_v<accesses_of<Around>, decltype(accesses_of<Inside>{} + accesses_of<Inside>{})>));
  EXPECT_EQ(accesses_of<Inside>::size, 2);
}

TEST_F(ANodeFromElsewhere, IsWrittenAsAFunctionOfItsChildrenUnlessItSaysHow) {
  EXPECT_EQ(written(Twice(A(i, j) + x(i)) * z(j)), "f(A(i, j) + B(i)) * C(j)");
  EXPECT_EQ(written(Larger(x(i), Twice(y(i)))), "f(A(i), f(B(i)))");
  EXPECT_EQ(written(Difference(x(i), Difference(y(i), x(i))) * 2), "(A(i) - (B(i) - A(i))) * 2");
}

template <class E>
auto without_loop_sums(const E& e) {
  return detail::without_loop_sums<detail::SumPlace::term>(e);
}
template <class E>
std::string summed_in(const E&) {
  return detail::summed_names<E>().str();
}

TEST_F(ANodeFromElsewhere, GivesUpTheSumsOverWhatItIsLinearIn) {
  const auto linear = without_loop_sums(Twice(sum(j, A(i, j))));
  EXPECT_EQ(written(linear), "f(A(i, j))");
  EXPECT_EQ(summed_in(linear), "");
  const auto product = without_loop_sums(x(i) * Twice(sum(j, A(i, j))));
  EXPECT_EQ(written(product), "A(i) * f(B(i, j))");
}

TEST_F(ANodeFromElsewhere, KeepsTheSumsOverWhatItIsNotLinearIn) {
  const auto larger = without_loop_sums(Larger(x(i), sum(j, A(i, j))));
  EXPECT_EQ(written(larger), "f(A(i), sum(j, B(i, j)))");
  EXPECT_EQ(summed_in(larger), "j");
  // One term has j and the other has not, so the sum cannot be taken through the difference.
  const auto difference = without_loop_sums(Twice(sum(j, Twice(Difference(A(i, j), x(i)))) * y(i)));
  EXPECT_EQ(written(difference), "f(sum(j, f(A(i, j) - B(i))) * C(i))");
  EXPECT_EQ(summed_in(difference), "j");
}

TEST_F(ANodeFromElsewhere, OwnsTheVariablesOfItsSums) {
  const auto owned = Larger(x(i), sum(j, A(i, j)));
  const auto shared = Larger(z(j), sum(j, A(i, j)));
  EXPECT_TRUE(detail::sums_own_their_variables<std::remove_const_t<decltype(owned)>>());
  EXPECT_FALSE(detail::sums_own_their_variables<std::remove_const_t<decltype(shared)>>());
}

}  // namespace
