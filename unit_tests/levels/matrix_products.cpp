// SPDX-License-Identifier: Apache-2.0
/// @file matrix_products.cpp
/// Products of matrices of bitmap levels, whose results are appended, gathered by rows or listed.
#include "formats.hpp"

namespace sporos::test::bitmaps {
namespace {

struct MatrixProduct : BitmapNotation<"ij", "ik", "kj"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(i, k) * C(k, j));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C, auto i, auto j) {
    return sum(n['k'], [&](auto k) { return B(i, k) * C(k, j); });
  }
};
TEST(BitmapStatements, MultiplyMatrices) { check<MatrixProduct, 10>(); }

struct Transposed : BitmapNotation<"ij", "ki", "kj"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(k, i) * C(k, j));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C, auto i, auto j) {
    return sum(n['k'], [&](auto k) { return B(k, i) * C(k, j); });
  }
};
TEST(BitmapStatements, MultiplyTransposedMatrices) { check<Transposed, 6>(); }

}  // namespace
}  // namespace sporos::test::bitmaps
