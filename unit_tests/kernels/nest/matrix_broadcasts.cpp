// SPDX-License-Identifier: Apache-2.0
/// @file matrix_broadcasts.cpp
/// Copies, transposes and broadcasts of matrices, over combinations of formats, loop orders and spaces.
#include "../statements.hpp"

namespace sporos::test {
namespace {

struct Copy : Notation<"ij", "ij"> {
  static auto write(const auto& A, const auto& B) { return assign(A(i, j), B(i, j)); }
  static auto element(const Sizes&, const auto& B, auto i, auto j) { return B(i, j); }
};
TEST(Copy, EqualsTheDenseOneInEveryFormatAndOrder) { check<Copy, 3>(); }

struct Transpose : Notation<"ij", "ji"> {
  static auto write(const auto& A, const auto& B) { return assign(A(i, j), B(j, i)); }
  static auto element(const Sizes&, const auto& B, auto i, auto j) { return B(j, i); }
};
TEST(Transpose, EqualsTheDenseOneInEveryFormatAndOrder) { check<Transpose, 3>(); }

struct NegatedMatrix : Notation<"ij", "ij"> {
  static auto write(const auto& A, const auto& B) { return assign(A(i, j), -B(i, j)); }
  static auto element(const Sizes&, const auto& B, auto i, auto j) { return -B(i, j); }
};
TEST(NegatedMatrix, EqualsTheDenseOneInEveryFormatAndOrder) { check<NegatedMatrix, 1>(); }

/// Into a sparse result, which it would fill, a number is not added without saying so.
struct PlusAScalar : Notation<"ij", "ij"> {
  static auto write(const auto& A, const auto& B) {
    if constexpr (std::remove_cvref_t<decltype(A)>::format_type::is_dense)
      return assign(A(i, j), B(i, j) + 1);
    else
      return assign(A(i, j), map(everywhere([](const auto& b) { return b + 1; }), B(i, j)));
  }
  static auto element(const Sizes&, const auto& B, auto i, auto j) { return B(i, j) + 1; }
};
TEST(PlusAScalar, EqualsTheDenseOneInEveryFormatAndOrder) { check<PlusAScalar, 1>(); }

struct TimesATensorOfOrderZero : Notation<"ij", "ij", ""> {
  static auto write(const auto& A, const auto& B, const auto& s) { return assign(A(i, j), B(i, j) * s()); }
  static auto element(const Sizes&, const auto& B, const auto& s, auto i, auto j) { return B(i, j) * s(); }
};
TEST(TimesATensorOfOrderZero, EqualsTheDenseOneInEveryFormatAndOrder) { check<TimesATensorOfOrderZero, 1>(); }

struct ScaledColumns : Notation<"ij", "ij", "j"> {
  static auto write(const auto& A, const auto& B, const auto& x) { return assign(A(i, j), B(i, j) * x(j)); }
  static auto element(const Sizes&, const auto& B, const auto& x, auto i, auto j) { return B(i, j) * x(j); }
};
TEST(ScaledColumns, EqualsTheDenseOneInEveryFormatAndOrder) { check<ScaledColumns, 2>(); }

struct ScaledRows : Notation<"ij", "ij", "i"> {
  static auto write(const auto& A, const auto& B, const auto& x) { return assign(A(i, j), x(i) * B(i, j)); }
  static auto element(const Sizes&, const auto& B, const auto& x, auto i, auto j) { return x(i) * B(i, j); }
};
TEST(ScaledRows, EqualsTheDenseOneInEveryFormatAndOrder) { check<ScaledRows, 1>(); }

struct MatrixPlusVector : Notation<"ij", "ij", "i"> {
  static auto write(const auto& A, const auto& B, const auto& x) { return assign(A(i, j), B(i, j) + x(i)); }
  static auto element(const Sizes&, const auto& B, const auto& x, auto i, auto j) { return B(i, j) + x(i); }
};
TEST(MatrixPlusVector, EqualsTheDenseOneInEveryFormatAndOrder) { check<MatrixPlusVector, 2>(); }

}  // namespace
}  // namespace sporos::test
