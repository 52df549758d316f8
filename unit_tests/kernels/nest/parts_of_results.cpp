// SPDX-License-Identifier: Apache-2.0
/// @file parts_of_results.cpp
/// Rows, columns, blocks and diagonals of dense tensors as results: what is outside of them stays.
#include <cstdint>

#include "../typed.hpp"

namespace sporos::test {
namespace {

constexpr std::int64_t side = 7;

/// 10 r + c at (r, c).
template <class F>
auto numbered() {
  const Tensor<double, F> D({side, side});
  for (std::int64_t at = 0; at < side * side; ++at) {
    const std::int64_t slow = at / side, fast = at % side;
    const bool by_rows = F::mode_of_level[0] == 0;
    D.values()(static_cast<std::size_t>(at)) =
        static_cast<double>(by_rows ? 10 * slow + fast : 10 * fast + slow);
  }
  return D;
}

/// D against expected(r, c), which is given what was there.
template <class T, class Expected>
void expect_each(const T& D, const Expected& expected) {
  for (std::int64_t r = 0; r < side; ++r)
    for (std::int64_t c = 0; c < side; ++c)
      EXPECT_EQ(at(D, {r, c}), expected(r, c, static_cast<double>(10 * r + c))) << r << ' ' << c;
}

auto squares() {
  const Tensor<double, DenseVector> x({side});
  for (std::size_t c = 0; c < std::size_t{side}; ++c) x.values()(c) = static_cast<double>(1000 + c * c);
  return x;
}
double square_after_1000(std::int64_t c) { return static_cast<double>(1000 + c * c); }

template <class F>
class AWrittenPart : public testing::Test {};
using WrittenFormats = testing::Types<DenseMatrix<>, DenseMatrix<ColumnMajor>>;
TYPED_TEST_SUITE(AWrittenPart, WrittenFormats);

TYPED_TEST(AWrittenPart, IsARow) {
  const auto D = numbered<TypeParam>();
  const auto x = squares();
  D(2, j) = x(j);
  expect_each(D, [](auto r, auto c, auto old) { return r == 2 ? square_after_1000(c) : old; });
}

TYPED_TEST(AWrittenPart, IsAColumnThatIsAddedTo) {
  const auto D = numbered<TypeParam>();
  const auto x = squares();
  D(i, 3) += x(i);
  D(i, 4) -= 2.0 * x(i);
  expect_each(D, [](auto r, auto c, auto old) {
    return c == 3 ? old + square_after_1000(r) : c == 4 ? old - 2 * square_after_1000(r) : old;
  });
}

TYPED_TEST(AWrittenPart, IsTheDiagonal) {
  const auto D = numbered<TypeParam>();
  const auto x = squares();
  D(i, i) = x(i);
  D(i, i) *= 2;
  expect_each(D, [](auto r, auto c, auto old) { return r == c ? 2 * square_after_1000(r) : old; });
}

TYPED_TEST(AWrittenPart, IsABlock) {
  const auto D = numbered<TypeParam>();
  Tensor<double, CSR<>> A = assemble<CSR<>>(Entries<double, 2>({2, 3}, {{{0, 1}, 5.0}, {{1, 2}, 6.0}}));
  block(D, {4, 6}, {1, 4})(i, j) = A(i, j);  // what A does not store is zero
  expect_each(D, [&](auto r, auto c, auto old) {
    return r >= 4 && r < 6 && c >= 1 && c < 4 ? at(A, {r - 4, c - 1}) : old;
  });
}

TYPED_TEST(AWrittenPart, IsOneValue) {
  const auto D = numbered<TypeParam>();
  const auto x = squares();
  D(1, 2) = 7.0;
  D(0, 0) += sum(x(i));
  double total = 0;
  for (std::int64_t c = 0; c < side; ++c) total += square_after_1000(c);
  expect_each(D, [&](auto r, auto c, auto old) {
    return r == 1 && c == 2 ? 7 : r + c == 0 ? old + total : old;
  });
}

TYPED_TEST(AWrittenPart, MayBeReadByItsStatement) {
  const auto D = numbered<TypeParam>();
  D(0, j) = D(1, j) + D(0, j);
  rows(D, 3, 6)(i, j) = rows(D, 2, 5)(i, j);  // overlapping
  D(6, j) /= 2;
  expect_each(D, [](auto r, auto, auto old) {
    if (r == 0) return old + old + 10;
    if (r >= 3 && r < 6) return old - 10;
    return r == 6 ? old / 2 : old;
  });
}

TEST(AWrittenPart, OfATensorOfOrderThreeIsASlice) {
  const Tensor<float, DenseTensor<3>> T({2, 3, 4});
  const Tensor<float, DenseMatrix<>> D({2, 4});
  D(i, j) = 3.0;
  T(i, 1, k) = D(i, k);
  for (std::int64_t a = 0; a < 2; ++a)
    for (std::int64_t b = 0; b < 3; ++b)
      for (std::int64_t c = 0; c < 4; ++c) EXPECT_EQ(at(T, {a, b, c}), b == 1 ? 3 : 0);
}

TEST(AWrittenPart, ThatTheTensorDoesNotHaveIsRefused) {
  const auto D = numbered<DenseMatrix<>>();
  const auto x = squares();
  EXPECT_THROW(D(7, j) = x(j), ShapeError);
  EXPECT_THROW(D(i, -1) += x(i), ShapeError);
  EXPECT_THROW(rows(D, 0, 3)(i, j) = D(i, j), ShapeError);
  const Tensor<double, DenseMatrix<>> wide({side, side + 1});
  EXPECT_THROW(wide(i, i) = x(i), ShapeError);
  expect_each(D, [](auto, auto, auto old) { return old; });
}

}  // namespace
}  // namespace sporos::test
