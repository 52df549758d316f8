// SPDX-License-Identifier: Apache-2.0
/// @file matrix_statements.cpp
/// Statements over vectors and matrices of bitmap levels, as operands and as results.
#include "formats.hpp"

namespace sporos::test::bitmaps {
namespace {

struct MatrixVector : BitmapNotation<"i", "ij", "j"> {
  static auto write(const auto& y, const auto& A, const auto& x) { return assign(y(i), A(i, j) * x(j)); }
  static auto element(const Sizes& n, const auto& A, const auto& x, auto i) {
    return sum(n['j'], [&](auto j) { return A(i, j) * x(j); });
  }
};
TEST(BitmapStatements, MultiplyMatricesAndVectors) { check<MatrixVector, 8>(); }

struct Scaled : BitmapNotation<"ij", "ij", "j"> {
  static auto write(const auto& A, const auto& B, const auto& x) {
    return assign(A(i, j), 2 * B(i, j) * x(j));
  }
  static auto element(const Sizes&, const auto& B, const auto& x, auto i, auto j) {
    return 2 * B(i, j) * x(j);
  }
};
TEST(BitmapStatements, ScaleColumns) { check<Scaled, 8>(); }

struct RowSums : BitmapNotation<"i", "ij"> {
  static auto write(const auto& y, const auto& A) { return assign(y(i), sporos::sum(j, A(i, j))); }
  static auto element(const Sizes& n, const auto& A, auto i) {
    return sum(n['j'], [&](auto j) { return A(i, j); });
  }
};
TEST(BitmapStatements, SumRows) { check<RowSums, 6>(); }

}  // namespace
}  // namespace sporos::test::bitmaps
