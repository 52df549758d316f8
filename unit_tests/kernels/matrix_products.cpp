// SPDX-License-Identifier: Apache-2.0
/// @file matrix_products.cpp
/// Products of matrices and vectors, over combinations of formats, loop orders and spaces.
#include "statements.hpp"

namespace {

using namespace sporos;
using namespace sporos::test;

struct MatrixVector : Notation<"i", "ij", "j"> {
  static auto write(const auto& y, const auto& A, const auto& x) { return assign(y(i), A(i, j) * x(j)); }
  static auto element(const Sizes& n, const auto& A, const auto& x, auto i) {
    return sum(n['j'], [&](auto j) { return A(i, j) * x(j); });
  }
};
TEST(MatrixVector, EqualsTheDenseOneInEveryFormatAndOrder) { check<MatrixVector, 20>(); }

struct MatrixProduct : Notation<"ij", "ik", "kj"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(i, k) * C(k, j));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C, auto i, auto j) {
    return sum(n['k'], [&](auto k) { return B(i, k) * C(k, j); });
  }
};
TEST(MatrixProduct, EqualsTheDenseOneInEveryFormatAndOrder) { check<MatrixProduct, 60>(); }

}  // namespace
