// SPDX-License-Identifier: Apache-2.0
/// @file matrix_product_transposed.cpp
/// Products of transposed matrices, and of a matrix with itself, over combinations of formats, loop orders
/// and spaces.
#include "../statements.hpp"

namespace sporos::test {
namespace {

struct TransposedMatrixProduct : Notation<"ij", "ki", "kj"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(k, i) * C(k, j));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C, auto i, auto j) {
    return sum(n['k'], [&](auto k) { return B(k, i) * C(k, j); });
  }
};
TEST(TransposedMatrixProduct, EqualsTheDenseOneInEveryFormatAndOrder) { check<TransposedMatrixProduct, 3>(); }

struct ProductWithATranspose : Notation<"ij", "ik", "jk"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(i, k) * C(j, k));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C, auto i, auto j) {
    return sum(n['k'], [&](auto k) { return B(i, k) * C(j, k); });
  }
};
TEST(ProductWithATranspose, EqualsTheDenseOneInEveryFormatAndOrder) { check<ProductWithATranspose, 2>(); }

struct GramMatrix : Notation<"ij", "ki,kj"> {
  static auto write(const auto& A, const auto& B) { return assign(A(i, j), B(k, i) * B(k, j)); }
  static auto element(const Sizes& n, const auto& B, auto i, auto j) {
    return sum(n['k'], [&](auto k) { return B(k, i) * B(k, j); });
  }
};
TEST(GramMatrix, EqualsTheDenseOneInEveryFormatAndOrder) { check<GramMatrix, 2>(); }

struct Square : Notation<"ij", "ik,kj"> {
  static auto write(const auto& A, const auto& B) { return assign(A(i, j), B(i, k) * B(k, j)); }
  static auto element(const Sizes& n, const auto& B, auto i, auto j) {
    return sum(n['k'], [&](auto k) { return B(i, k) * B(k, j); });
  }
};
TEST(Square, EqualsTheDenseOneInEveryFormatAndOrder) { check<Square, 1>(); }

}  // namespace
}  // namespace sporos::test
