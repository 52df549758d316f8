// SPDX-License-Identifier: Apache-2.0
/// @file tensor_contractions.cpp
/// Contractions of a tensor of order three with a matrix or a vector, over combinations of formats, loop
/// orders and spaces.
#include "../statements.hpp"

namespace sporos::test {
namespace {

struct TensorTimesMatrix : Notation<"ijl", "ijk", "kl"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j, l), B(i, j, k) * C(k, l));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C, auto i, auto j, auto l) {
    return sum(n['k'], [&](auto k) { return B(i, j, k) * C(k, l); });
  }
};
TEST(TensorTimesMatrix, EqualsTheDenseOneInEveryFormatAndOrder) { check<TensorTimesMatrix, 3>(); }

struct TensorTimesVector : Notation<"ij", "ijk", "k"> {
  static auto write(const auto& A, const auto& B, const auto& x) {
    return assign(A(i, j), B(i, j, k) * x(k));
  }
  static auto element(const Sizes& n, const auto& B, const auto& x, auto i, auto j) {
    return sum(n['k'], [&](auto k) { return B(i, j, k) * x(k); });
  }
};
TEST(TensorTimesVector, EqualsTheDenseOneInEveryFormatAndOrder) { check<TensorTimesVector, 2>(); }

struct TensorTimesVectorInTheFirstMode : Notation<"kj", "ijk", "i"> {
  static auto write(const auto& A, const auto& B, const auto& x) {
    return assign(A(k, j), B(i, j, k) * x(i));
  }
  static auto element(const Sizes& n, const auto& B, const auto& x, auto k, auto j) {
    return sum(n['i'], [&](auto i) { return B(i, j, k) * x(i); });
  }
};
TEST(TensorTimesVectorInTheFirstMode, EqualsTheDenseOneInEveryFormatAndOrder) {
  check<TensorTimesVectorInTheFirstMode, 1>();
}

}  // namespace
}  // namespace sporos::test
