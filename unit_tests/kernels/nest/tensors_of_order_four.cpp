// SPDX-License-Identifier: Apache-2.0
/// @file tensors_of_order_four.cpp
/// Statements with tensors of order four, over combinations of formats, loop orders and spaces.
#include "../statements.hpp"

namespace sporos::test {
namespace {

struct MttkrpOfFourModes : Notation<"ij", "iklm", "kj", "lj", "mj"> {
  static auto write(const auto& A, const auto& B, const auto& C, const auto& D, const auto& E) {
    return assign(A(i, j), B(i, k, l, m) * C(k, j) * D(l, j) * E(m, j));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C, const auto& D, const auto& E, auto i,
                      auto j) {
    return sum(n['k'], [&](auto k) {
      return sum(n['l'], [&](auto l) {
        return sum(n['m'], [&](auto m) { return B(i, k, l, m) * C(k, j) * D(l, j) * E(m, j); });
      });
    });
  }
};
TEST(MttkrpOfFourModes, EqualsTheDenseOneInEveryFormatAndOrder) { check<MttkrpOfFourModes, 2>(); }

struct TensorSumOfFourModes : Notation<"ijkl", "ijkl", "ijkl"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j, k, l), B(i, j, k, l) + C(i, j, k, l));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j, auto k, auto l) {
    return B(i, j, k, l) + C(i, j, k, l);
  }
};
TEST(TensorSumOfFourModes, EqualsTheDenseOneInEveryFormatAndOrder) { check<TensorSumOfFourModes, 1>(); }

struct FourModesToTwo : Notation<"li", "ijkl"> {
  static auto write(const auto& A, const auto& B) { return assign(A(l, i), B(i, j, k, l)); }
  static auto element(const Sizes& n, const auto& B, auto l, auto i) {
    return sum(n['j'], [&](auto j) { return sum(n['k'], [&](auto k) { return B(i, j, k, l); }); });
  }
};
TEST(FourModesToTwo, EqualsTheDenseOneInEveryFormatAndOrder) { check<FourModesToTwo, 1>(); }

}  // namespace
}  // namespace sporos::test
