// SPDX-License-Identifier: Apache-2.0
/// @file matrix_sums_of_three.cpp
/// Sums and products of three matrices, over combinations of formats, loop orders and spaces.
#include "../statements.hpp"

namespace sporos::test {
namespace {

struct SumOfThree : Notation<"ij", "ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C, const auto& D) {
    return assign(A(i, j), B(i, j) + C(i, j) - D(i, j));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, const auto& D, auto i, auto j) {
    return B(i, j) + C(i, j) - D(i, j);
  }
};
TEST(SumOfThree, EqualsTheDenseOneInEveryFormatAndOrder) { check<SumOfThree, 2>(); }

struct SumTimesMatrix : Notation<"ij", "ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C, const auto& D) {
    return assign(A(i, j), (B(i, j) + C(i, j)) * D(i, j));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, const auto& D, auto i, auto j) {
    return (B(i, j) + C(i, j)) * D(i, j);
  }
};
TEST(SumTimesMatrix, EqualsTheDenseOneInEveryFormatAndOrder) { check<SumTimesMatrix, 2>(); }

struct SumOfProducts : Notation<"ij", "ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C, const auto& D) {
    return assign(A(i, j), B(i, j) * C(i, j) + B(i, j) * D(i, j));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, const auto& D, auto i, auto j) {
    return B(i, j) * C(i, j) + B(i, j) * D(i, j);
  }
};
TEST(SumOfProducts, EqualsTheDenseOneInEveryFormatAndOrder) { check<SumOfProducts, 2>(); }

struct NegatedSum : Notation<"ij", "ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C, const auto& D) {
    return assign(A(i, j), -(B(i, j) - C(i, j) * D(i, j)));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, const auto& D, auto i, auto j) {
    return -(B(i, j) - C(i, j) * D(i, j));
  }
};
TEST(NegatedSum, EqualsTheDenseOneInEveryFormatAndOrder) { check<NegatedSum, 1>(); }

}  // namespace
}  // namespace sporos::test
