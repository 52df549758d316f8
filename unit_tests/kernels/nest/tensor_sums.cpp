// SPDX-License-Identifier: Apache-2.0
/// @file tensor_sums.cpp
/// Sums, elementwise products, permutations and reductions of tensors of order three, over combinations of
/// formats, loop orders and spaces.
#include "../statements.hpp"

namespace sporos::test {
namespace {

struct TensorSum : Notation<"ijk", "ijk", "ijk"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j, k), B(i, j, k) + C(i, j, k));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j, auto k) {
    return B(i, j, k) + C(i, j, k);
  }
};
TEST(TensorSum, EqualsTheDenseOneInEveryFormatAndOrder) { check<TensorSum, 3>(); }

struct TensorProduct : Notation<"ijk", "ijk", "ijk"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j, k), B(i, j, k) * C(i, j, k));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j, auto k) {
    return B(i, j, k) * C(i, j, k);
  }
};
TEST(TensorProduct, EqualsTheDenseOneInEveryFormatAndOrder) { check<TensorProduct, 1>(); }

struct PermutedTensorDifference : Notation<"ijk", "kij", "jki"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j, k), B(k, i, j) - C(j, k, i));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j, auto k) {
    return B(k, i, j) - C(j, k, i);
  }
};
TEST(PermutedTensorDifference, EqualsTheDenseOneInEveryFormatAndOrder) {
  check<PermutedTensorDifference, 1>();
}

struct PermutedTensor : Notation<"ijk", "kij"> {
  static auto write(const auto& A, const auto& B) { return assign(A(i, j, k), B(k, i, j)); }
  static auto element(const Sizes&, const auto& B, auto i, auto j, auto k) { return B(k, i, j); }
};
TEST(PermutedTensor, EqualsTheDenseOneInEveryFormatAndOrder) { check<PermutedTensor, 1>(); }

struct SliceSums : Notation<"j", "ijk"> {
  static auto write(const auto& y, const auto& B) { return assign(y(j), B(i, j, k)); }
  static auto element(const Sizes& n, const auto& B, auto j) {
    return sum(n['i'], [&](auto i) { return sum(n['k'], [&](auto k) { return B(i, j, k); }); });
  }
};
TEST(SliceSums, EqualsTheDenseOneInEveryFormatAndOrder) { check<SliceSums, 1>(); }

struct InnerProductOfTensors : Notation<"", "ijk", "ijk"> {
  static auto write(const auto& a, const auto& B, const auto& C) {
    return assign(a(), B(i, j, k) * C(i, j, k));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C) {
    return sum(n['i'], [&](auto i) {
      return sum(n['j'],
                 [&](auto j) { return sum(n['k'], [&](auto k) { return B(i, j, k) * C(i, j, k); }); });
    });
  }
};
TEST(InnerProductOfTensors, EqualsTheDenseOneInEveryFormatAndOrder) { check<InnerProductOfTensors, 1>(); }

}  // namespace
}  // namespace sporos::test
