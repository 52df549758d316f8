// SPDX-License-Identifier: Apache-2.0
/// @file tensor_statements.cpp
/// Statements over tensors of order three of bitmap levels.
#include "formats.hpp"

namespace sporos::test::bitmaps {
namespace {

struct TensorVector : BitmapNotation<"ij", "ijk", "k"> {
  static auto write(const auto& A, const auto& T, const auto& x) {
    return assign(A(i, j), T(i, j, k) * x(k));
  }
  static auto element(const Sizes& n, const auto& T, const auto& x, auto i, auto j) {
    return sum(n['k'], [&](auto k) { return T(i, j, k) * x(k); });
  }
};
TEST(BitmapStatements, ContractTensors) { check<TensorVector, 4>(); }

struct TensorSum : BitmapNotation<"ijk", "ijk", "ijk"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j, k), B(i, j, k) + C(i, j, k));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j, auto k) {
    return B(i, j, k) + C(i, j, k);
  }
};
TEST(BitmapStatements, AddTensors) { check<TensorSum, 4>(); }

struct Mttkrp : BitmapNotation<"ir", "ikl", "kr", "lr"> {
  static auto write(const auto& M, const auto& T, const auto& B, const auto& C) {
    return assign(M(i, r), T(i, k, l) * B(k, r) * C(l, r));
  }
  static auto element(const Sizes& n, const auto& T, const auto& B, const auto& C, auto i, auto r) {
    return sum(n['k'],
               [&](auto k) { return sum(n['l'], [&](auto l) { return T(i, k, l) * B(k, r) * C(l, r); }); });
  }
};
TEST(BitmapStatements, MultiplyTensorsByMatrices) { check<Mttkrp, 3>(); }

}  // namespace
}  // namespace sporos::test::bitmaps
