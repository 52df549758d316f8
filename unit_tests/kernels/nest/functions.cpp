// SPDX-License-Identifier: Apache-2.0
/// @file functions.cpp
/// Division and functions of elements, over combinations of formats, loop orders and spaces.
#include <cmath>
#include <stdexcept>

#include "../statements.hpp"
#include "reference.hpp"

namespace sporos::test {
namespace {

struct DividedByADenseMatrix : Notation<"ij", "ij", "ij"> {
  template <int Place, class F>
  static constexpr bool admits = Place == 0 || F::is_dense;
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(i, j) / (C(i, j) * C(i, j) + 1));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return B(i, j) / (C(i, j) * C(i, j) + 1);
  }
};
TEST(DividedByADenseMatrix, EqualsTheDenseOneInEveryFormatAndOrder) { check<DividedByADenseMatrix, 2>(); }

struct DividedByAVector : Notation<"ij", "ij", "i"> {
  template <int Place, class F>
  static constexpr bool admits = Place == 0 || F::is_dense;
  static auto write(const auto& A, const auto& B, const auto& x) {
    return assign(A(i, j), B(i, j) / (x(i) * x(i) + 1));
  }
  static auto element(const Sizes&, const auto& B, const auto& x, auto i, auto j) {
    return B(i, j) / (x(i) * x(i) + 1);
  }
};
TEST(DividedByAVector, EqualsTheDenseOneInEveryFormatAndOrder) { check<DividedByAVector, 1>(); }

struct QuarteredMatrixTimesVector : Notation<"i", "ij", "j"> {
  static auto write(const auto& y, const auto& A, const auto& x) { return assign(y(i), A(i, j) / 4 * x(j)); }
  static auto element(const Sizes& n, const auto& A, const auto& x, auto i) {
    return sum(n['j'], [&](auto j) { return A(i, j) / 4 * x(j); });
  }
};
TEST(QuarteredMatrixTimesVector, EqualsTheDenseOneInEveryFormatAndOrder) {
  check<QuarteredMatrixTimesVector, 1>();
}

/// x times its magnitude: odd, so that signs matter, and zero at zero.
struct SignedSquare {
  double operator()(double x) const { return x < 0 ? -x * x : x * x; }
};

struct FunctionOfAMatrix : Notation<"ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), map(SignedSquare{}, B(i, j)) + C(i, j));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return map(SignedSquare{}, B(i, j)) + C(i, j);
  }
};
TEST(FunctionOfAMatrix, EqualsTheDenseOneInEveryFormatAndOrder) { check<FunctionOfAMatrix, 2>(); }

struct FunctionOfASum : Notation<"ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), map(SignedSquare{}, B(i, j) - C(i, j)));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return map(SignedSquare{}, B(i, j) - C(i, j));
  }
};
TEST(FunctionOfASum, EqualsTheDenseOneInEveryFormatAndOrder) { check<FunctionOfASum, 1>(); }

struct FunctionTimesVector : Notation<"i", "ij", "j"> {
  static auto write(const auto& y, const auto& A, const auto& x) {
    return assign(y(i), map(SignedSquare{}, A(i, j)) * x(j));
  }
  static auto element(const Sizes& n, const auto& A, const auto& x, auto i) {
    return sum(n['j'], [&](auto j) { return map(SignedSquare{}, A(i, j)) * x(j); });
  }
};
TEST(FunctionTimesVector, EqualsTheDenseOneInEveryFormatAndOrder) { check<FunctionTimesVector, 2>(); }

struct FunctionOfEveryElement : Notation<"ij", "ij", "ij"> {
  static constexpr auto next = [](double x) { return x + 1; };
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), map(everywhere(next), B(i, j)) * C(i, j));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return map(next, B(i, j) + 0) * C(i, j);
  }
};
TEST(FunctionOfEveryElement, EqualsTheDenseOneInEveryFormatAndOrder) { check<FunctionOfEveryElement, 4>(); }

struct SumOfAFunctionOfEveryElement : Notation<"i", "ij", "j"> {
  static constexpr auto square_of_next = [](double x) { return (x + 1) * (x + 1); };
  static auto write(const auto& y, const auto& A, const auto& x) {
    return assign(y(i), map(everywhere(square_of_next), A(i, j)) * x(j));
  }
  static auto element(const Sizes& n, const auto& A, const auto& x, auto i) {
    return sum(n['j'], [&](auto j) { return map(square_of_next, A(i, j) + 0) * x(j); });
  }
};
TEST(SumOfAFunctionOfEveryElement, EqualsTheDenseOneInEveryFormatAndOrder) {
  check<SumOfAFunctionOfEveryElement, 4>();
}

TEST(AFunctionOfEverySum, IsAppliedWhereTheSumHasNoTerms) {
  const auto next = everywhere([](double x) { return x + 1; });
  const auto A = assemble<CSR<>>(Entries<double, 2>({3, 2}, {{{0, 1}, 5.0}, {{2, 0}, 3.0}}));
  const Tensor<double, DenseVector> y({3});
  y(i) = map(next, sum(j, A(i, j)));
  EXPECT_EQ(at(y, {0}), 6);
  EXPECT_EQ(at(y, {1}), 1);
  y(i) = map(next, sum(j, map(next, A(i, j))));
  EXPECT_EQ(at(y, {0}), 8);
  EXPECT_EQ(at(y, {1}), 3);
}

TEST(AFunctionThatDoesNotKeepZero, IsRefusedWhereValuesMayBeMissing) {
  const auto next = [](double x) { return x + 1; };
  const auto B = assemble<CSR<>>(Entries<double, 2>({2, 2}, {{{0, 1}, 1.0}, {{1, 0}, 3.0}}));
  const Tensor<double, CSR<>> A({2, 2});
  const Tensor<double, DenseVector> y({2}), x({2});
  const auto refusal = [](const auto& statement) {
    try {
      statement.run();
    } catch (const ExpressionError& error) {
      return std::string(error.what());
    }
    return std::string("ran");
  };
  EXPECT_TRUE(contains(refusal(assign(A(i, j), map(next, B(i, j)))), "Write map(everywhere(f), ...)"));
  EXPECT_NE(refusal(assign(y(i), map(next, sum(j, B(i, j))))), "ran");
  EXPECT_NE(refusal(assign(y(i), 2 * x(i) + map(next, B(i, j) * x(j)) * x(i))), "ran");
  EXPECT_NE(refusal(assign(A(i, j), map([](double) { return std::nan(""); }, B(i, j)))), "ran");
  EXPECT_THROW(plan(assign(A(i, j), map(next, B(i, j)))), ExpressionError);
  EXPECT_EQ(A.nnz(), 0);
  EXPECT_EQ(refusal(assign(y(i), map(next, x(i)))), "ran") << "a dense vector has a value everywhere";
  EXPECT_EQ(at(y, {0}), 1);
  EXPECT_EQ(refusal(assign(y(i), map(next, B(i, j) + x(i) * x(j)))), "ran");
}

TEST(AFunctionThatDoesNotKeepZero, IsAppliedToWhatIsStoredWhereItSaysSo) {
  const auto B = assemble<CSR<>>(Entries<double, 2>({2, 2}, {{{0, 1}, 5.0}, {{1, 0}, 3.0}}));
  const Tensor<double, CSR<>> A({2, 2});
  A(i, j) = map(where_stored([](double) { return 1.0; }), B(i, j));
  EXPECT_EQ(A.nnz(), 2);
  EXPECT_EQ(at(A, {0, 1}), 1);
}

/// A functor that declares what it does at zero.
struct NextEverywhere {
  static constexpr AtZero at_zero = AtZero::applied;
  double operator()(double x) const { return x + 1; }
};

TEST(AFunctionThatDoesNotKeepZero, MayDeclareThatItIsAppliedEverywhere) {
  const auto B = assemble<CSR<>>(Entries<double, 2>({2, 2}, {{{0, 1}, 5.0}}));
  const Tensor<double, DenseMatrix<>> A({2, 2});
  A(i, j) = map(NextEverywhere{}, B(i, j));
  EXPECT_EQ(at(A, {0, 0}), 1);
  EXPECT_EQ(at(A, {0, 1}), 6);
  EXPECT_EQ(assign(A(i, j), map(NextEverywhere{}, B(i, j))).str(), "A(i, j) = map(f, B(i, j) + 0)");
  EXPECT_TRUE(contains(explain(assign(A(i, j), map(NextEverywhere{}, B(i, j)))), "for j in 0..2"));
}

TEST(AFunctionThatThrows, IsHeardOutsideForEveryKindOfResult) {
  const auto refuse = [](double value) {
    if (value > 2) throw std::domain_error("too large");
    return value;
  };
  const auto B = assemble<CSR<>>(Entries<double, 2>({2, 2}, {{{0, 1}, 1.0}, {{1, 0}, 3.0}}));
  const auto expect_heard = [&](const auto& y) {
    EXPECT_THROW((y(i) = map(refuse, B(i, j))), std::domain_error);
    EXPECT_THROW((y(j) = map(refuse, B(i, j))), std::domain_error);
  };
  expect_heard(Tensor<double, DenseVector>({2}));
  expect_heard(Tensor<double, SparseVector<>>({2}));
  const auto on_serial = B.move_to<Serial>();
  const Tensor<double, DenseVector, Serial> y({2});
  EXPECT_THROW((y(i) = map(refuse, on_serial(i, j))), std::domain_error);
}

}  // namespace
}  // namespace sporos::test
