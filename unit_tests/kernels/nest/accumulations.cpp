// SPDX-License-Identifier: Apache-2.0
/// @file accumulations.cpp
/// Statements that add to their result or subtract from it, over combinations of formats, loop orders and
/// spaces.
#include "../statements.hpp"

namespace sporos::test {
namespace {

/// What += makes of a result: a dense one is added to in place, a sparse one is a term of the sum.
template <class Result, class Right>
auto plus_assign(const Result& result, const Right& right) {
  if constexpr (Result::format::is_dense)
    return assign(result, right).accumulate();
  else
    return assign(result, result + right);
}

struct AddedMatrix : Notation<"ij", "ij", "ij"> {
  static constexpr bool adds_to_first = true;
  static auto write(const auto& A, const auto&, const auto& B) { return plus_assign(A(i, j), 2 * B(i, j)); }
  static auto element(const Sizes&, const auto& A, const auto& B, auto i, auto j) {
    return A(i, j) + 2 * B(i, j);
  }
};
TEST(AddedMatrix, EqualsTheDenseOneInEveryFormatAndOrder) { check<AddedMatrix, 2>(); }

struct SubtractedMatrix : Notation<"ij", "ij", "ij"> {
  static constexpr bool adds_to_first = true;
  static auto write(const auto& A, const auto&, const auto& B) { return plus_assign(A(i, j), -B(i, j)); }
  static auto element(const Sizes&, const auto& A, const auto& B, auto i, auto j) {
    return A(i, j) - B(i, j);
  }
};
TEST(SubtractedMatrix, EqualsTheDenseOneInEveryFormatAndOrder) { check<SubtractedMatrix, 1>(); }

struct AddedMatrixProduct : Notation<"ij", "ij", "ik", "kj"> {
  static constexpr bool adds_to_first = true;
  static auto write(const auto& A, const auto&, const auto& B, const auto& C) {
    return plus_assign(A(i, j), B(i, k) * C(k, j));
  }
  static auto element(const Sizes& n, const auto& A, const auto& B, const auto& C, auto i, auto j) {
    return A(i, j) + sum(n['k'], [&](auto k) { return B(i, k) * C(k, j); });
  }
};
TEST(AddedMatrixProduct, EqualsTheDenseOneInEveryFormatAndOrder) { check<AddedMatrixProduct, 4>(); }

struct SubtractedMatrixVector : Notation<"i", "i", "ij", "j"> {
  static constexpr bool adds_to_first = true;
  static auto write(const auto& y, const auto&, const auto& A, const auto& x) {
    return plus_assign(y(i), -(A(i, j) * x(j)));
  }
  static auto element(const Sizes& n, const auto& y, const auto& A, const auto& x, auto i) {
    return y(i) - sum(n['j'], [&](auto j) { return A(i, j) * x(j); });
  }
};
TEST(SubtractedMatrixVector, EqualsTheDenseOneInEveryFormatAndOrder) { check<SubtractedMatrixVector, 2>(); }

struct AddedDotProduct : Notation<"", "", "i", "i"> {
  static constexpr bool adds_to_first = true;
  static auto write(const auto& a, const auto&, const auto& x, const auto& y) {
    return plus_assign(a(), x(i) * y(i));
  }
  static auto element(const Sizes& n, const auto& a, const auto& x, const auto& y) {
    return a() + sum(n['i'], [&](auto i) { return x(i) * y(i); });
  }
};
TEST(AddedDotProduct, EqualsTheDenseOneInEveryFormatAndOrder) { check<AddedDotProduct, 1>(); }

}  // namespace
}  // namespace sporos::test
