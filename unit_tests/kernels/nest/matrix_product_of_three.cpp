// SPDX-License-Identifier: Apache-2.0
/// @file matrix_product_of_three.cpp
/// Products of three matrices, and a product added to a matrix, over combinations of formats, loop orders and
/// spaces.
#include "../statements.hpp"

namespace sporos::test {
namespace {

struct ProductOfThree : Notation<"ij", "ik", "kl", "lj"> {
  static auto write(const auto& A, const auto& B, const auto& C, const auto& D) {
    return assign(A(i, j), B(i, k) * C(k, l) * D(l, j));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C, const auto& D, auto i, auto j) {
    return sum(n['k'],
               [&](auto k) { return sum(n['l'], [&](auto l) { return B(i, k) * C(k, l) * D(l, j); }); });
  }
};
TEST(ProductOfThree, EqualsTheDenseOneInEveryFormatAndOrder) { check<ProductOfThree, 2>(); }

struct ProductPlusMatrix : Notation<"ij", "ik", "kj", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C, const auto& D) {
    return assign(A(i, j), B(i, k) * C(k, j) + D(i, j));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C, const auto& D, auto i, auto j) {
    return sum(n['k'], [&](auto k) { return B(i, k) * C(k, j); }) + D(i, j);
  }
};
TEST(ProductPlusMatrix, EqualsTheDenseOneInEveryFormatAndOrder) { check<ProductPlusMatrix, 3>(); }

}  // namespace
}  // namespace sporos::test
