// SPDX-License-Identifier: Apache-2.0
/// @file matrix_sums.cpp
/// Sums of two matrices, over combinations of formats, loop orders and spaces.
#include "../statements.hpp"

namespace sporos::test {
namespace {

struct MatrixSum : Notation<"ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(i, j) + C(i, j));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return B(i, j) + C(i, j);
  }
};
TEST(MatrixSum, EqualsTheDenseOneInEveryFormatAndOrder) { check<MatrixSum, 4>(); }

struct MatrixDifference : Notation<"ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(i, j) - C(i, j));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return B(i, j) - C(i, j);
  }
};
TEST(MatrixDifference, EqualsTheDenseOneInEveryFormatAndOrder) { check<MatrixDifference, 2>(); }

struct WeightedSum : Notation<"ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), 2 * B(i, j) + C(i, j) * 3);
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return 2 * B(i, j) + 3 * C(i, j);
  }
};
TEST(WeightedSum, EqualsTheDenseOneInEveryFormatAndOrder) { check<WeightedSum, 1>(); }

struct SumWithATranspose : Notation<"ij", "ij", "ji"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(i, j) + C(j, i));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return B(i, j) + C(j, i);
  }
};
TEST(SumWithATranspose, EqualsTheDenseOneInEveryFormatAndOrder) { check<SumWithATranspose, 1>(); }

}  // namespace
}  // namespace sporos::test
