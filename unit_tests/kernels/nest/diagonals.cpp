// SPDX-License-Identifier: Apache-2.0
/// @file diagonals.cpp
/// Accesses in which an index variable stands twice, over combinations of formats, loop orders and spaces.
#include "../statements.hpp"

namespace sporos::test {
namespace {

struct Diagonal : Notation<"i", "ii"> {
  static auto write(const auto& y, const auto& B) { return assign(y(i), B(i, i)); }
  static auto element(const Sizes&, const auto& B, auto i) { return B(i, i); }
};
TEST(Diagonal, EqualsTheDenseOneInEveryFormatAndOrder) { check<Diagonal, 3>(); }

struct Trace : Notation<"", "ii"> {
  static auto write(const auto& a, const auto& B) { return assign(a(), B(i, i)); }
  static auto element(const Sizes& n, const auto& B) {
    return sum(n['i'], [&](auto i) { return B(i, i); });
  }
};
TEST(Trace, EqualsTheDenseOneInEveryFormatAndOrder) { check<Trace, 2>(); }

struct RowsTimesDiagonal : Notation<"ij", "ii", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(i, i) * C(i, j));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return B(i, i) * C(i, j);
  }
};
TEST(RowsTimesDiagonal, EqualsTheDenseOneInEveryFormatAndOrder) { check<RowsTimesDiagonal, 2>(); }

struct DiagonalPlusVector : Notation<"i", "ii", "i"> {
  static auto write(const auto& y, const auto& B, const auto& x) { return assign(y(i), B(i, i) + x(i)); }
  static auto element(const Sizes&, const auto& B, const auto& x, auto i) { return B(i, i) + x(i); }
};
TEST(DiagonalPlusVector, EqualsTheDenseOneInEveryFormatAndOrder) { check<DiagonalPlusVector, 2>(); }

struct DiagonalsOfSlices : Notation<"ij", "iji"> {
  static auto write(const auto& A, const auto& B) { return assign(A(i, j), B(i, j, i)); }
  static auto element(const Sizes&, const auto& B, auto i, auto j) { return B(i, j, i); }
};
TEST(DiagonalsOfSlices, EqualsTheDenseOneInEveryFormatAndOrder) { check<DiagonalsOfSlices, 2>(); }

}  // namespace
}  // namespace sporos::test
