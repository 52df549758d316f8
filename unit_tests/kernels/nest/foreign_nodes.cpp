// SPDX-License-Identifier: Apache-2.0
/// @file foreign_nodes.cpp
/// Nodes of another library run by the operations that it overloads operation_of for.
#include "../statements.hpp"

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
struct Doubled {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& x) const {
    return x + x;
  }
};
template <class E>
sporos::stream::Function<Doubled> operation_of(const Twice<E>&) {
  return {};
}

/// The larger of L and R: where both are, or of those that are.
template <bool Either, class L, class R>
struct LargerWhere : sporos::ExpressionBase {
  static constexpr bool is_sum = Either;
  L left;
  R right;

  LargerWhere(L l, R r) : left(l), right(r) {}
  template <class A, class B>
  static LargerWhere<Either, A, B> with(const A& l, const B& r) {
    return {l, r};
  }
};
template <bool Either>
struct Maximum {
  static constexpr bool is_sum = Either;
  template <class T>
  SPOROS_INLINE static T of(const T& a, const T& b) {
    return a < b ? b : a;
  }
};
template <bool Either, class L, class R>
Maximum<Either> operation_of(const LargerWhere<Either, L, R>&) {
  return {};
}

template <class L, class R>
auto larger(const L& l, const R& r) {
  return LargerWhere<false, L, R>(l, r);
}
template <class L, class R>
auto larger_of_either(const L& l, const R& r) {
  return LargerWhere<true, L, R>(l, r);
}

}  // namespace elsewhere

namespace sporos::test::foreign_nodes {
namespace {

using elsewhere::larger;
using elsewhere::larger_of_either;
using elsewhere::Twice;

TEST(ANodeFromElsewhere, RunsByTheOperationThatItNames) {
  const auto A = assemble<CSR<>>(Entries<double, 2>({2, 3}, {{{0, 0}, 1.0}, {{0, 2}, 2.0}, {{1, 1}, 3.0}}));
  const auto B = assemble<CSR<>>(Entries<double, 2>({2, 3}, {{{0, 1}, 9.0}, {{0, 2}, 5.0}, {{1, 1}, 1.0}}));
  const Tensor<double, DenseVector> y({2});
  const auto values = [&] { return std::vector<double>{y.values()(0), y.values()(1)}; };
  y(i) = Twice(sum(j, A(i, j)));
  EXPECT_EQ(values(), (std::vector<double>{6, 6}));
  y(i) = Twice(larger(A(i, j), B(i, j)));
  EXPECT_EQ(values(), (std::vector<double>{10, 6}));
  y(i) = larger(sum(j, A(i, j)), sum(k, B(i, k)));
  EXPECT_EQ(values(), (std::vector<double>{14, 3}));
  const Tensor<double, CSR<>> C({2, 3});
  C(i, j) = larger(A(i, j), Twice(B(i, j)));
  ASSERT_EQ(C.nnz(), 2);
  EXPECT_EQ(C.values()(0), 10.0);
  EXPECT_EQ(C.values()(1), 3.0);
  C(i, j) = larger_of_either(A(i, j), B(i, j));
  ASSERT_EQ(C.nnz(), 4);
  const std::vector<double> expected{1, 9, 5, 3};
  for (std::size_t q = 0; q < 4; ++q) EXPECT_EQ(C.values()(q), expected[q]);
}

}  // namespace
}  // namespace sporos::test::foreign_nodes
