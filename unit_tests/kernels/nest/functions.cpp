// SPDX-License-Identifier: Apache-2.0
/// @file functions.cpp
/// Division and functions of elements, over combinations of formats, loop orders and spaces.
#include <stdexcept>

#include "../statements.hpp"

namespace sporos::test {
namespace {

struct DividedByADenseMatrix : Notation<"ij", "ij", "ij"> {
  template <int Place, class F>
  static constexpr bool admits = Place == 0 || F::is_dense;
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(i, j) / (C(i, j) * C(i, j) + 1));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return B(i, j) / (C(i, j) * C(i, j) + 1);
  }
};
TEST(DividedByADenseMatrix, EqualsTheDenseOneInEveryFormatAndOrder) { check<DividedByADenseMatrix, 2>(); }

struct DividedByAVector : Notation<"ij", "ij", "i"> {
  template <int Place, class F>
  static constexpr bool admits = Place == 0 || F::is_dense;
  static auto write(const auto& A, const auto& B, const auto& x) {
    return assign(A(i, j), B(i, j) / (x(i) * x(i) + 1));
  }
  static auto element(const Sizes&, const auto& B, const auto& x, auto i, auto j) {
    return B(i, j) / (x(i) * x(i) + 1);
  }
};
TEST(DividedByAVector, EqualsTheDenseOneInEveryFormatAndOrder) { check<DividedByAVector, 1>(); }

struct QuarteredMatrixTimesVector : Notation<"i", "ij", "j"> {
  static auto write(const auto& y, const auto& A, const auto& x) { return assign(y(i), A(i, j) / 4 * x(j)); }
  static auto element(const Sizes& n, const auto& A, const auto& x, auto i) {
    return sum(n['j'], [&](auto j) { return A(i, j) / 4 * x(j); });
  }
};
TEST(QuarteredMatrixTimesVector, EqualsTheDenseOneInEveryFormatAndOrder) {
  check<QuarteredMatrixTimesVector, 1>();
}

/// x times its magnitude: odd, so that signs matter, and zero at zero.
struct SignedSquare {
  double operator()(double x) const { return x < 0 ? -x * x : x * x; }
};

struct FunctionOfAMatrix : Notation<"ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), map(SignedSquare{}, B(i, j)) + C(i, j));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return map(SignedSquare{}, B(i, j)) + C(i, j);
  }
};
TEST(FunctionOfAMatrix, EqualsTheDenseOneInEveryFormatAndOrder) { check<FunctionOfAMatrix, 2>(); }

struct FunctionOfASum : Notation<"ij", "ij", "ij"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), map(SignedSquare{}, B(i, j) - C(i, j)));
  }
  static auto element(const Sizes&, const auto& B, const auto& C, auto i, auto j) {
    return map(SignedSquare{}, B(i, j) - C(i, j));
  }
};
TEST(FunctionOfASum, EqualsTheDenseOneInEveryFormatAndOrder) { check<FunctionOfASum, 1>(); }

struct FunctionTimesVector : Notation<"i", "ij", "j"> {
  static auto write(const auto& y, const auto& A, const auto& x) {
    return assign(y(i), map(SignedSquare{}, A(i, j)) * x(j));
  }
  static auto element(const Sizes& n, const auto& A, const auto& x, auto i) {
    return sum(n['j'], [&](auto j) { return map(SignedSquare{}, A(i, j)) * x(j); });
  }
};
TEST(FunctionTimesVector, EqualsTheDenseOneInEveryFormatAndOrder) { check<FunctionTimesVector, 2>(); }

TEST(AFunctionThatThrows, IsHeardOutsideForEveryKindOfResult) {
  const auto refuse = [](double value) {
    if (value > 2) throw std::domain_error("too large");
    return value;
  };
  const auto B = assemble<CSR<>>(Entries<double, 2>({2, 2}, {{{0, 1}, 1.0}, {{1, 0}, 3.0}}));
  const auto expect_heard = [&](const auto& y) {
    EXPECT_THROW((y(i) = map(refuse, B(i, j))), std::domain_error);
    EXPECT_THROW((y(j) = map(refuse, B(i, j))), std::domain_error);
  };
  expect_heard(Tensor<double, DenseVector>({2}));
  expect_heard(Tensor<double, SparseVector<>>({2}));
  const auto on_serial = B.move_to<Serial>();
  const Tensor<double, DenseVector, Serial> y({2});
  EXPECT_THROW((y(i) = map(refuse, on_serial(i, j))), std::domain_error);
}

}  // namespace
}  // namespace sporos::test
