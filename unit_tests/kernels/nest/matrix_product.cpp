// SPDX-License-Identifier: Apache-2.0
/// @file matrix_product.cpp
/// The product of two matrices, over combinations of formats, loop orders and spaces.
#include "../statements.hpp"

namespace sporos::test {
namespace {

struct MatrixProduct : Notation<"ij", "ik", "kj"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(i, k) * C(k, j));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C, auto i, auto j) {
    return sum(n['k'], [&](auto k) { return B(i, k) * C(k, j); });
  }
};
TEST(MatrixProduct, EqualsTheDenseOneInEveryFormatAndOrder) { check<MatrixProduct, 12>(); }

}  // namespace
}  // namespace sporos::test
