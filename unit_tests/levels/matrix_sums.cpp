// SPDX-License-Identifier: Apache-2.0
/// @file matrix_sums.cpp
/// Sums and elementwise products of matrices of bitmap levels.
#include "formats.hpp"

namespace sporos::test::bitmaps {
namespace {

struct MatrixSum : BitmapNotation<"ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(i, j) + C(i, j));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return B(i, j) + C(i, j);
  }
};
TEST(BitmapStatements, AddMatrices) { check<MatrixSum, 8>(); }

struct Elementwise : BitmapNotation<"ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(i, j) * C(i, j));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return B(i, j) * C(i, j);
  }
};
TEST(BitmapStatements, MultiplyElementwise) { check<Elementwise, 8>(); }

}  // namespace
}  // namespace sporos::test::bitmaps
