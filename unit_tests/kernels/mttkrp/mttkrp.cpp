// SPDX-License-Identifier: Apache-2.0
/// @file mttkrp.cpp
/// Matricised tensor times Khatri-Rao product, three-way, over combinations of formats, loop orders and
/// spaces.
#include "../statements.hpp"

namespace sporos::test {
namespace {

struct Mttkrp : Notation<"ij", "ikl", "kj", "lj"> {
  static auto write(const auto& A, const auto& B, const auto& C, const auto& D) {
    return assign(A(i, j), B(i, k, l) * C(k, j) * D(l, j));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C, const auto& D, auto i, auto j) {
    return sum(n['k'],
               [&](auto k) { return sum(n['l'], [&](auto l) { return B(i, k, l) * C(k, j) * D(l, j); }); });
  }
};
TEST(Mttkrp, EqualsTheDenseOneInEveryFormatAndOrder) { check<Mttkrp, 4>(); }

struct MttkrpOfTheMiddleMode : Notation<"kj", "ikl", "ij", "lj"> {
  static auto write(const auto& A, const auto& B, const auto& C, const auto& D) {
    return assign(A(k, j), B(i, k, l) * C(i, j) * D(l, j));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C, const auto& D, auto k, auto j) {
    return sum(n['i'],
               [&](auto i) { return sum(n['l'], [&](auto l) { return B(i, k, l) * C(i, j) * D(l, j); }); });
  }
};
TEST(MttkrpOfTheMiddleMode, EqualsTheDenseOneInEveryFormatAndOrder) { check<MttkrpOfTheMiddleMode, 1>(); }

}  // namespace
}  // namespace sporos::test
