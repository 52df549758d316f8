// SPDX-License-Identifier: Apache-2.0
/// @file functions_of_several.cpp
/// Functions of several values, comparisons and selections, over combinations of formats, loop orders and
/// spaces; what they do at zero, NaN and infinities, and in bool and integers.
#include <cmath>
#include <limits>

#include "../statements.hpp"
#include "reference.hpp"

namespace sporos::test {
namespace {

/// f(a, b) where either is present.
template <class F>
Term<double> of_either(const F& f, const Term<double>& a, const Term<double>& b) {
  if (!a.present && !b.present) return {};
  return {static_cast<double>(f(a.value, b.value)), true};
}
double larger(double a, double b) { return a < b ? b : a; }

struct LargerElements : Notation<"ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), max(B(i, j), C(i, j)));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return of_either(larger, B(i, j), C(i, j));
  }
};
TEST(LargerElements, EqualTheDenseOnesInEveryFormatAndOrder) { check<LargerElements, 4>(); }

struct LargerElementsInASum : Notation<"ijk", "ijk", "ijk"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j, k), 2 * max(B(i, j, k), C(i, j, k)) + B(i, j, k));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j, auto k) {
    return 2 * of_either(larger, B(i, j, k), C(i, j, k)) + B(i, j, k);
  }
};
TEST(LargerElementsInASum, EqualTheDenseOnesInEveryFormatAndOrder) { check<LargerElementsInASum, 2>(); }

struct CountOfLesser : Notation<"i", "ij", "ij"> {
  static auto write(const auto& y, const auto& B, const auto& C) { return assign(y(i), B(i, j) < C(i, j)); }
  static auto element(const Sizes& n, const auto& B, const auto& C, auto i) {
    return sum(n['j'],
               [&](auto j) { return of_either([](double a, double b) { return a < b; }, B(i, j), C(i, j)); });
  }
};
TEST(CountOfLesser, EqualsTheDenseOneInEveryFormatAndOrder) { check<CountOfLesser, 2>(); }

struct SelectedElements : Notation<"ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), select(B(i, j) > C(i, j), 3 * C(i, j), B(i, j)));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return of_either([](double a, double b) { return a > b ? 3 * b : a; }, B(i, j), C(i, j));
  }
};
TEST(SelectedElements, EqualTheDenseOnesInEveryFormatAndOrder) { check<SelectedElements, 2>(); }

using MatrixEntries = Entries<double, 2>;

/// Operands with one coordinate of each kind: B alone, both, C alone, neither.
auto left_operand() { return assemble<CSR<>>(MatrixEntries({1, 4}, {{{0, 0}, -2.0}, {{0, 1}, 3.0}})); }
auto right_operand() { return assemble<CSR<>>(MatrixEntries({1, 4}, {{{0, 1}, 5.0}, {{0, 2}, -7.0}})); }
/// The row that an expression gives, and how many of its values are stored.
template <class E>
std::vector<double> row_of(const E& expression) {
  const Tensor<double, CSR<>> A({1, 4});
  A(i, j) = expression;
  std::vector<double> out;
  for (std::int64_t c = 0; c < 4; ++c) out.push_back(at(A, {0, c}));
  out.push_back(static_cast<double>(A.nnz()));
  return out;
}
using Row = std::vector<double>;

TEST(AFunctionOfTwoValues, IsAppliedWhereItsDeclarationSays) {
  const auto b = left_operand()(i, j);
  const auto c = right_operand()(i, j);
  const auto f = [](double x, double y) { return 10 * x + y + 1; };
  EXPECT_EQ(row_of(map([](double x, double y) { return 10 * x + y; }, b, c)), (Row{-20, 35, -7, 0, 3}));
  EXPECT_EQ(row_of(map(annihilated_by_zero(f), b, c)), (Row{0, 36, 0, 0, 1}));
  EXPECT_EQ(row_of(map(zero_is_identity(f), b, c)), (Row{-2, 36, -7, 0, 3}));
  EXPECT_EQ(row_of(map(everywhere(f), b, c)), (Row{-19, 36, -6, 1, 4}));
  EXPECT_EQ(row_of(map(where_stored(f), b, c)), (Row{-19, 36, -6, 0, 3}));
  EXPECT_EQ(row_of(map(where_stored(f, 100), b, c)), (Row{81, 36, 994, 0, 3}));
  EXPECT_EQ(row_of(map(where_all_stored(f), b, c)), (Row{0, 36, 0, 0, 1}));
}

TEST(AFunctionOfThreeValues, TakesItsOperandsInTheirOrder) {
  const auto b = left_operand()(i, j);
  const auto c = right_operand()(i, j);
  const auto f = [](double x, double y, double z) { return 100 * x + 10 * y + z; };
  EXPECT_EQ(row_of(map(f, b, c, b)), (Row{-202, 353, -70, 0, 3}));
  EXPECT_EQ(row_of(map(everywhere(f), 1, c, b)), (Row{98, 153, 30, 100, 4}));
  EXPECT_EQ(row_of(map(where_all_stored(f), b, 2, c)), (Row{0, 325, 0, 0, 1}));
}

TEST(AFunctionOfTwoValues, IsRefusedIfItMakesSomethingElseOfZeros) {
  const auto b = left_operand()(i, j);
  const auto c = right_operand()(i, j);
  const auto refusal = [](const auto& expression) {
    try {
      row_of(expression);
    } catch (const ExpressionError& error) {
      return std::string(error.what());
    }
    return std::string("ran");
  };
  EXPECT_TRUE(contains(refusal(map([](double x, double y) { return x + y + 1; }, b, c)),
                       "Write map(everywhere(f), ...)"));
  EXPECT_TRUE(contains(refusal(b < 0.5), "map(everywhere(LessThan{}), ...)"));
  EXPECT_TRUE(contains(refusal(max(b, 1)), "map(everywhere(MaximumOf{}), ...)"));
  EXPECT_EQ(refusal(b < -0.5), "ran");
  EXPECT_EQ(refusal(2 < 3 * (b == 3)), "ran");
}

TEST(NamedFunctions, AreAppliedAsTheirTableSays) {
  const auto b = left_operand()(i, j);
  const auto c = right_operand()(i, j);
  EXPECT_EQ(row_of(min(b, c)), (Row{-2, 3, -7, 0, 3}));
  EXPECT_EQ(row_of(max(b, c)), (Row{0, 5, 0, 0, 3}));
  EXPECT_EQ(row_of(abs(b)), (Row{2, 3, 0, 0, 2}));
  EXPECT_EQ(row_of(sqrt(b * b)), (Row{2, 3, 0, 0, 2}));
  EXPECT_EQ(row_of(max(b, 0)), (Row{0, 3, 0, 0, 2}));
  EXPECT_EQ(row_of(b < c), (Row{1, 1, 0, 0, 3}));
  EXPECT_EQ(row_of(b > c), (Row{0, 0, 1, 0, 3}));
  EXPECT_EQ(row_of(b != c), (Row{1, 1, 1, 0, 3}));
  EXPECT_EQ(row_of(b == c), (Row{0, 0, 0, 1, 4}));
  EXPECT_EQ(row_of(b <= c), (Row{1, 1, 0, 1, 4}));
  EXPECT_EQ(row_of(b >= c), (Row{0, 0, 1, 1, 4}));
  EXPECT_EQ(row_of(b && c), (Row{0, 1, 0, 0, 1}));
  EXPECT_EQ(row_of(b || c), (Row{1, 1, 1, 0, 3}));
  EXPECT_EQ(row_of(select(c, b, 0)), (Row{0, 3, 0, 0, 1}));
  EXPECT_EQ(row_of(select(c, 9, b)), (Row{-2, 9, 9, 0, 3}));
  EXPECT_EQ(row_of(select(c, 9, 0)), (Row{0, 9, 9, 0, 2}));
  EXPECT_EQ(row_of(map(everywhere(LessThan{}), b, 0.5)), (Row{1, 0, 1, 1, 4}));
}

TEST(NamedFunctions, TreatNaNAndInfinitiesAsTheyAreDocumented) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto B = assemble<CSR<>>(MatrixEntries({1, 4}, {{{0, 0}, nan}, {{0, 1}, 1.0}, {{0, 2}, -inf}}));
  const auto C = assemble<CSR<>>(MatrixEntries({1, 4}, {{{0, 1}, nan}, {{0, 2}, inf}, {{0, 3}, -inf}}));
  const auto larger = row_of(max(B(i, j), C(i, j)));
  EXPECT_TRUE(std::isnan(larger[0]) && std::isnan(larger[1]));
  EXPECT_EQ(larger[2], inf);
  EXPECT_EQ(larger[3], 0);
  const auto smaller = row_of(min(B(i, j), C(i, j)));
  EXPECT_TRUE(std::isnan(smaller[0]) && std::isnan(smaller[1]));
  EXPECT_EQ(smaller[2], -inf);
  EXPECT_EQ(smaller[3], -inf);
  EXPECT_EQ(row_of(B(i, j) < C(i, j)), (Row{0, 0, 1, 0, 4}));
  EXPECT_EQ(row_of(B(i, j) != C(i, j)), (Row{1, 1, 1, 1, 4}));
}

TEST(Comparisons, GiveBoolsOfIntegersAndBools) {
  const auto B = assemble<CSR<>>(Entries<std::int32_t, 2>({1, 3}, {{{0, 0}, -2}, {{0, 1}, 3}}));
  const auto C = assemble<DCSR<>>(Entries<std::int32_t, 2>({1, 3}, {{{0, 1}, 3}, {{0, 2}, 4}}));
  const Tensor<bool, DenseMatrix<>> less({1, 3}), same({1, 3});
  less(i, j) = B(i, j) < C(i, j);
  EXPECT_EQ((std::vector<bool>{less.values()(0), less.values()(1), less.values()(2)}),
            (std::vector<bool>{true, false, true}));
  same(i, j) = B(i, j) == C(i, j);
  EXPECT_EQ((std::vector<bool>{same.values()(0), same.values()(1), same.values()(2)}),
            (std::vector<bool>{false, true, false}));
  same(i, j) = less(i, j) || same(i, j);
  EXPECT_TRUE(same.values()(0) && same.values()(1) && same.values()(2));
}

TEST(NamedFunctions, AreWrittenAsTheyAreInTheNotation) {
  const auto b = left_operand()(i, j);
  const auto c = right_operand()(i, j);
  const Tensor<double, CSR<>> A({1, 4});
  EXPECT_EQ(assign(A(i, j), max(b, 2 * c)).str(), "A(i, j) = max(B(i, j), 2 * C(i, j))");
  EXPECT_EQ(assign(A(i, j), (b < c) * b).str(), "A(i, j) = (B(i, j) < C(i, j)) * B(i, j)");
  EXPECT_EQ(assign(A(i, j), select(b != c, b, 0)).str(), "A(i, j) = select(B(i, j) != C(i, j), B(i, j), 0)");
  EXPECT_EQ(assign(A(i, j), !pattern(b) * c).str(), "A(i, j) = !pattern(B(i, j)) * C(i, j)");
  EXPECT_TRUE(contains(explain(assign(A(i, j), max(b, c))), "for j in (B or C)"));
  EXPECT_TRUE(contains(explain(assign(A(i, j), !b * c)), "for j in (C and not B)"));
}

TEST(AnExplicitSum, OfAFunctionWhoseOperandsLackItsVariable) {
  const auto B = assemble<CSR<>>(MatrixEntries({2, 3}, {{{0, 0}, 4.0}, {{1, 1}, -5.0}}));
  const Tensor<double, DenseVector> x({2}), y({2});
  x(i) = 1;
  y(i) = sum(j, max(B(i, j), x(i)));
  EXPECT_EQ(at(y, {0}), 6);
  EXPECT_EQ(at(y, {1}), 3);
}

TEST(APlanOfAFunctionOfTwoValues, ComputesNewValues) {
  const auto B = left_operand().copy_to<Host>();
  const auto C = right_operand();
  const Tensor<double, CSR<>> A({1, 4});
  auto larger = plan(assign(A(i, j), max(B(i, j), C(i, j))));
  larger.run();
  B.values()(0) = 8;
  larger.run();
  EXPECT_EQ(at(A, {0, 0}), 8);
  EXPECT_EQ(at(A, {0, 1}), 5);
  EXPECT_EQ(A.nnz(), 3);
}

}  // namespace
}  // namespace sporos::test
