// SPDX-License-Identifier: Apache-2.0
/// @file parts.cpp
/// Statements with parts of dense tensors as results as objects: their plans, where their values are
/// computed, over semirings, with functions and masks.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>

#include "../typed.hpp"
#include "reference.hpp"

namespace sporos::test::parts {
namespace {

constexpr std::int64_t side = 6;
using Matrix = Tensor<double, DenseMatrix<>>;

/// 10 r + c at (r, c).
template <class F = DenseMatrix<>>
Tensor<double, F> numbered_matrix() {
  const Tensor<double, F> D({side, side});
  for (std::int64_t at = 0; at < side * side; ++at)
    D.values()(static_cast<std::size_t>(at)) = static_cast<double>(
        F::mode_of_level[0] == 0 ? 10 * (at / side) + at % side : 10 * (at % side) + at / side);
  return D;
}

Tensor<double, DenseVector> numbers_from(double first) {
  const Tensor<double, DenseVector> x({side});
  for (std::size_t c = 0; c < std::size_t{side}; ++c) x.values()(c) = first + static_cast<double>(c * c);
  return x;
}
double number_from(double first, std::int64_t c) { return first + static_cast<double>(c * c); }

template <class T, class Expected>
void expect_values(const T& D, const Expected& expected) {
  for (std::int64_t r = 0; r < side; ++r)
    for (std::int64_t c = 0; c < side; ++c)
      EXPECT_EQ(at(D, {r, c}), expected(r, c, static_cast<double>(10 * r + c))) << r << ' ' << c;
}

/// (0, 1): 5, (2, 0): -3, (2, 4): 7, (5, 4): 1
Tensor<double, CSR<>> four_values() {
  return assemble<CSR<>>(
      Entries<double, 2>({side, side}, {{{0, 1}, 5.0}, {{2, 0}, -3.0}, {{2, 4}, 7.0}, {{5, 4}, 1.0}}));
}

template <class F>
class APartAsAStatement : public testing::Test {};
using Orders = testing::Types<DenseMatrix<>, DenseMatrix<ColumnMajor>>;
TYPED_TEST_SUITE(APartAsAStatement, Orders);

TYPED_TEST(APartAsAStatement, IsPlannedOnceAndRunOften) {
  const auto D = numbered_matrix<TypeParam>();
  const auto x = numbers_from(100);
  auto row = plan(assign(D(2, j), 2.0 * x(j)));
  auto column = plan(assign(D(i, 4), x(i)).accumulate());
  expect_values(D, [](auto, auto, auto old) { return old; });
  EXPECT_EQ(row.candidate(), "part of a dense tensor");
  row.run();
  column.run();
  Kokkos::deep_copy(x.values(), 1);
  column.run();
  row.run();
  expect_values(D, [](auto r, auto c, auto old) {
    if (r == 2) return 2.0;
    return c == 4 ? old + number_from(100, r) + 1 : old;
  });
}

TYPED_TEST(APartAsAStatement, MayReadWhatItWritesEachTime) {
  const auto D = numbered_matrix<TypeParam>();
  auto row = plan(assign(D(0, j), D(1, j) + D(0, j)));
  auto column = plan(assign(D(i, 0), D(i, 0) + D(i, 1)));
  row.run();
  row.run();
  expect_values(D, [](auto r, auto c, auto old) { return r == 0 ? old + 2 * (old + 10) : old + 0.0 * c; });
  column.run();
  EXPECT_EQ(at(D, {3, 0}), 61);
}

TYPED_TEST(APartAsAStatement, IsADiagonalOrABlock) {
  const auto D = numbered_matrix<TypeParam>();
  const auto A = four_values();
  assign(block(D, {3, 6}, {0, 2})(i, j), block(A, {0, 3}, {0, 2})(i, j)).run();
  assign(D(i, i), 0.5 * D(i, i)).run();
  expect_values(D, [&](auto r, auto c, auto old) {
    if (r == c) return old / 2;
    return r >= 3 && c < 2 ? at(A, {r - 3, c}) : old;
  });
}

TEST(APartAsAStatement, IsWrittenInPlaceWhereItsValuesLieSideBySide) {
  const auto D = numbered_matrix();
  const auto x = numbers_from(1);
  const auto row = assign(D(2, j), x(j));
  const auto column = assign(D(j, 2), x(j));
  EXPECT_TRUE(contains(explain(row), "the part is written in place"));
  EXPECT_TRUE(contains(explain(row), "A(2, j) = B(j)"));
  EXPECT_TRUE(contains(explain(column), "into a tensor of its own, 48 B, and copied to its places"));
  const auto narrow = assign(block(D, {1, 4}, {2, 4})(i, j), block(D, {0, 3}, {0, 2})(i, j));
  EXPECT_TRUE(contains(explain(assign(rows(D, 0, 6)(i, j), x(i) * x(j))), "the part is written in place"));
  EXPECT_TRUE(contains(explain(narrow), "into a tensor of its own, 48 B, and copied to its places"));
  EXPECT_EQ(estimate(row).workspace, 0);
  EXPECT_EQ(estimate(column).workspace, side * std::int64_t{sizeof(double)});
  const auto none = Resources<Host>().within(8);
  EXPECT_NO_THROW(row.on(none).run());
  EXPECT_THROW(column.on(none).run(), MemoryError);
  expect_values(D, [](auto r, auto c, auto old) { return r == 2 ? number_from(1, c) : old; });
}

TEST(APartAsAStatement, IsComputedByAnyKernel) {
  const auto D = numbered_matrix();
  const auto A = four_values();
  const auto X = numbered_matrix();
  const Tensor<double, CSR<>> upper = assemble<CSR<>>(Entries<double, 2>({2, side}, {{{1, 3}, 2.0}}));
  const auto product = assign(rows(D, 1, 3)(i, j), upper(i, k) * X(k, j));
  EXPECT_TRUE(contains(explain(product), std::string(SpmmByRows::name)));
  product.run();
  expect_values(D, [](auto r, auto c, auto old) {
    if (r == 1) return 0.0;
    return r == 2 ? 2.0 * static_cast<double>(30 + c) : old;
  });
}

TEST(APartAsAStatement, IsComputedOverASemiring) {
  const auto A = four_values();
  const auto x = numbers_from(1);
  const double infinity = std::numeric_limits<double>::infinity();
  const auto shortest = [&](std::int64_t c) {
    double least = infinity;
    for (const auto& [coordinate, value] : table(entries(A)))
      if (coordinate[1] == c) least = std::min(least, number_from(1, coordinate[0]) + value);
    return least;
  };
  const auto D = numbered_matrix<DenseMatrix<ColumnMajor>>();
  assign(D(3, j), x(k) * A(k, j)).over(MinPlus{}).run();
  assign(D(i, 0), x(k) * A(k, i)).over(MinPlus{}).accumulate().run();
  expect_values(D, [&](auto r, auto c, auto old) {
    const double before = r == 3 ? shortest(c) : old;
    return c == 0 ? std::min(before, shortest(r)) : before;
  });
}

TEST(APartAsAStatement, TakesFunctionsAndMasks) {
  const auto A = four_values();
  const auto x = numbers_from(1);
  const auto D = numbered_matrix();
  D(i, 1) = map(where_stored([](double) { return 8.0; }), A(i, 4));
  D(i, 2) = min(A(i, 0), x(i));
  D(3, j) = !A(2, j) * x(j);
  expect_values(D, [&](auto r, auto c, auto old) {
    if (r == 3) return c == 0 || c == 4 ? 0.0 : number_from(1, c);
    if (c == 1) return r == 2 || r == 5 ? 8.0 : 0.0;
    return c == 2 ? std::min(at(A, {r, 0}), number_from(1, r)) : old;
  });
}

TEST(APartAsAStatement, OfOrderThreeKeepsWhatLiesOutside) {
  const Tensor<float, DenseTensor<3, ModeOrder<2, 0, 1>>> T({2, 3, 4});
  const Tensor<float, DenseMatrix<>> M({2, 4}), N({2, 3});
  M(i, j) = 3.0;
  N(i, j) = 5.0;
  assign(T(i, 1, k), M(i, k)).run();
  auto slice = plan(assign(T(i, j, 2), N(i, j)));
  slice.run();
  assign(T(1, 2, 3), sum(N(i, j))).run();
  for (std::int64_t a = 0; a < 2; ++a)
    for (std::int64_t b = 0; b < 3; ++b)
      for (std::int64_t c = 0; c < 4; ++c)
        EXPECT_EQ(at(T, {a, b, c}), a == 1 && b == 2 && c == 3 ? 30 : c == 2 ? 5 : b == 1 ? 3 : 0);
}

TEST(Notation, IsPrinted) {
  const auto A = four_values();
  const auto x = numbers_from(1);
  std::ostringstream out;
  out << A(i, k) * x(k) + 2.0 * x(i) << '\n' << assign(x(i), A(i, k) * x(k)) << '\n' << sum(A(i, j));
  EXPECT_EQ(out.str(), "A(i, k) * B(k) + 2 * B(i)\nA(i) = B(i, k) * A(k)\n10");
}

}  // namespace
}  // namespace sporos::test::parts
