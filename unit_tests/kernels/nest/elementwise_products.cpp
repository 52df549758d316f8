// SPDX-License-Identifier: Apache-2.0
/// @file elementwise_products.cpp
/// Elementwise products of matrices, and sampled products, over combinations of formats, loop orders and
/// spaces.
#include "../statements.hpp"

namespace sporos::test {
namespace {

struct SampledProduct : Notation<"ij", "ij", "ik", "jk"> {
  static auto write(const auto& A, const auto& S, const auto& B, const auto& C) {
    return assign(A(i, j), S(i, j) * B(i, k) * C(j, k));
  }
  static auto element(const Sizes& n, const auto& S, const auto& B, const auto& C, auto i, auto j) {
    return S(i, j) * sum(n['k'], [&](auto k) { return B(i, k) * C(j, k); });
  }
};
TEST(SampledProduct, EqualsTheDenseOneInEveryFormatAndOrder) { check<SampledProduct, 3>(); }

struct ProductOfThreeElementwise : Notation<"ij", "ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C, const auto& D) {
    return assign(A(i, j), B(i, j) * C(i, j) * D(i, j));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, const auto& D, auto i, auto j) {
    return B(i, j) * C(i, j) * D(i, j);
  }
};
TEST(ProductOfThreeElementwise, EqualsTheDenseOneInEveryFormatAndOrder) {
  check<ProductOfThreeElementwise, 1>();
}

struct ElementwiseProduct : Notation<"ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(i, j) * C(i, j));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return B(i, j) * C(i, j);
  }
};
TEST(ElementwiseProduct, EqualsTheDenseOneInEveryFormatAndOrder) { check<ElementwiseProduct, 3>(); }

struct ElementwiseProductWithATranspose : Notation<"ij", "ij", "ji"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(i, j) * C(j, i));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return B(i, j) * C(j, i);
  }
};
TEST(ElementwiseProductWithATranspose, EqualsTheDenseOneInEveryFormatAndOrder) {
  check<ElementwiseProductWithATranspose, 1>();
}

}  // namespace
}  // namespace sporos::test
