// SPDX-License-Identifier: Apache-2.0
/// @file reductions.cpp
/// Reductions, over combinations of formats, loop orders and spaces.
#include "../statements.hpp"

namespace sporos::test {
namespace {

struct SumOfAllElements : Notation<"", "ij"> {
  static auto write(const auto& a, const auto& B) { return assign(a(), B(i, j)); }
  static auto element(const Sizes& n, const auto& B) {
    return sum(n['i'], [&](auto i) { return sum(n['j'], [&](auto j) { return B(i, j); }); });
  }
};
TEST(SumOfAllElements, EqualsTheDenseOneInEveryFormatAndOrder) { check<SumOfAllElements, 1>(); }

struct FrobeniusProduct : Notation<"", "ij", "ij"> {
  static auto write(const auto& a, const auto& B, const auto& C) { return assign(a(), B(i, j) * C(i, j)); }
  static auto element(const Sizes& n, const auto& B, const auto& C) {
    return sum(n['i'], [&](auto i) { return sum(n['j'], [&](auto j) { return B(i, j) * C(i, j); }); });
  }
};
TEST(FrobeniusProduct, EqualsTheDenseOneInEveryFormatAndOrder) { check<FrobeniusProduct, 2>(); }

struct FrobeniusProductWithATranspose : Notation<"", "ij", "ji"> {
  static auto write(const auto& a, const auto& B, const auto& C) { return assign(a(), B(i, j) * C(j, i)); }
  static auto element(const Sizes& n, const auto& B, const auto& C) {
    return sum(n['i'], [&](auto i) { return sum(n['j'], [&](auto j) { return B(i, j) * C(j, i); }); });
  }
};
TEST(FrobeniusProductWithATranspose, EqualsTheDenseOneInEveryFormatAndOrder) {
  check<FrobeniusProductWithATranspose, 1>();
}

struct SumOfTwoReductions : Notation<"", "ij", "jk"> {
  static auto write(const auto& a, const auto& B, const auto& C) { return assign(a(), B(i, j) - C(j, k)); }
  static auto element(const Sizes& n, const auto& B, const auto& C) {
    return sum(n['i'], [&](auto i) { return sum(n['j'], [&](auto j) { return B(i, j); }); }) -
           sum(n['j'], [&](auto j) { return sum(n['k'], [&](auto k) { return C(j, k); }); });
  }
};
TEST(SumOfTwoReductions, EqualsTheDenseOneInEveryFormatAndOrder) { check<SumOfTwoReductions, 1>(); }

struct ColumnSums : Notation<"j", "ij"> {
  static auto write(const auto& y, const auto& B) { return assign(y(j), B(i, j)); }
  static auto element(const Sizes& n, const auto& B, auto j) {
    return sum(n['i'], [&](auto i) { return B(i, j); });
  }
};
TEST(ColumnSums, EqualsTheDenseOneInEveryFormatAndOrder) { check<ColumnSums, 2>(); }

struct QuadraticForm : Notation<"", "i", "ij", "j"> {
  static auto write(const auto& a, const auto& x, const auto& A, const auto& y) {
    return assign(a(), x(i) * A(i, j) * y(j));
  }
  static auto element(const Sizes& n, const auto& x, const auto& A, const auto& y) {
    return sum(n['i'], [&](auto i) { return sum(n['j'], [&](auto j) { return x(i) * A(i, j) * y(j); }); });
  }
};
TEST(QuadraticForm, EqualsTheDenseOneInEveryFormatAndOrder) { check<QuadraticForm, 1>(); }

}  // namespace
}  // namespace sporos::test
