// SPDX-License-Identifier: Apache-2.0
/// @file matrix_vector.cpp
/// Products of a matrix and a vector, and sums with them, over combinations of formats, loop orders and
/// spaces.
#include "../statements.hpp"

namespace sporos::test {
namespace {

struct MatrixVector : Notation<"i", "ij", "j"> {
  static auto write(const auto& y, const auto& A, const auto& x) { return assign(y(i), A(i, j) * x(j)); }
  static auto element(const Sizes& n, const auto& A, const auto& x, auto i) {
    return sum(n['j'], [&](auto j) { return A(i, j) * x(j); });
  }
};
TEST(MatrixVector, EqualsTheDenseOneInEveryFormatAndOrder) { check<MatrixVector, 4>(); }

struct TransposedMatrixVector : Notation<"i", "ji", "j"> {
  static auto write(const auto& y, const auto& A, const auto& x) { return assign(y(i), A(j, i) * x(j)); }
  static auto element(const Sizes& n, const auto& A, const auto& x, auto i) {
    return sum(n['j'], [&](auto j) { return A(j, i) * x(j); });
  }
};
TEST(TransposedMatrixVector, EqualsTheDenseOneInEveryFormatAndOrder) { check<TransposedMatrixVector, 1>(); }

struct Residual : Notation<"i", "i", "ij", "j"> {
  static auto write(const auto& y, const auto& b, const auto& A, const auto& x) {
    return assign(y(i), b(i) - A(i, j) * x(j));
  }
  static auto element(const Sizes& n, const auto& b, const auto& A, const auto& x, auto i) {
    return b(i) - sum(n['j'], [&](auto j) { return A(i, j) * x(j); });
  }
};
TEST(Residual, EqualsTheDenseOneInEveryFormatAndOrder) { check<Residual, 3>(); }

struct RowSumPlusVector : Notation<"i", "i", "ij"> {
  static auto write(const auto& y, const auto& b, const auto& A) { return assign(y(i), b(i) + A(i, j)); }
  static auto element(const Sizes& n, const auto& b, const auto& A, auto i) {
    return b(i) + sum(n['j'], [&](auto j) { return A(i, j); });
  }
};
TEST(RowSumPlusVector, EqualsTheDenseOneInEveryFormatAndOrder) { check<RowSumPlusVector, 1>(); }

struct SumOfMatricesTimesVector : Notation<"i", "ij", "ij", "j"> {
  static auto write(const auto& y, const auto& A, const auto& B, const auto& x) {
    return assign(y(i), (A(i, j) + B(i, j)) * x(j));
  }
  static auto element(const Sizes& n, const auto& A, const auto& B, const auto& x, auto i) {
    return sum(n['j'], [&](auto j) { return (A(i, j) + B(i, j)) * x(j); });
  }
};
TEST(SumOfMatricesTimesVector, EqualsTheDenseOneInEveryFormatAndOrder) {
  check<SumOfMatricesTimesVector, 1>();
}

}  // namespace
}  // namespace sporos::test
