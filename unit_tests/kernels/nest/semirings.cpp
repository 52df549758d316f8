// SPDX-License-Identifier: Apache-2.0
/// @file semirings.cpp
/// Statements over semirings against loops that say what they mean.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "../typed.hpp"
#include "reference.hpp"

namespace sporos::test {
namespace {

const Sizes semiring_sizes("ijk", 23);
constexpr std::int64_t semiring_extent = 23;

/// The matrix as a dense one that holds `absent` where nothing is stored.
template <class T>
std::vector<typename T::value_type> filled(const T& t, typename T::value_type absent) {
  std::vector<typename T::value_type> out(static_cast<std::size_t>(semiring_extent * semiring_extent),
                                          absent);
  if constexpr (T::format_type::is_dense)
    for (std::int64_t row = 0; row < semiring_extent; ++row)
      for (std::int64_t column = 0; column < semiring_extent; ++column)
        out[static_cast<std::size_t>(row * semiring_extent + column)] = at(t, {row, column});
  else
    for (const auto& [coordinate, value] : table(t))
      out[static_cast<std::size_t>(coordinate[0] * semiring_extent + coordinate[1])] = value;
  return out;
}

/// The product over a semiring, by three loops.
template <class T, class Add, class Multiply>
std::vector<T> product(const std::vector<T>& b, const std::vector<T>& c, T zero, const Add& add,
                       const Multiply& multiply) {
  std::vector<T> out(b.size(), zero);
  for (std::int64_t row = 0; row < semiring_extent; ++row)
    for (std::int64_t at = 0; at < semiring_extent; ++at)
      for (std::int64_t column = 0; column < semiring_extent; ++column) {
        T& sum = out[static_cast<std::size_t>(row * semiring_extent + column)];
        sum = add(sum, multiply(b[static_cast<std::size_t>(row * semiring_extent + at)],
                                c[static_cast<std::size_t>(at * semiring_extent + column)]));
      }
  return out;
}

constexpr double infinite = std::numeric_limits<double>::infinity();

template <class ResultFormat, class Space>
void check_shortest_ways() {
  const auto B = small_tensor<double, CSR<>>(semiring_sizes, "ik", 0.2, 1);
  const auto C = small_tensor<double, CSR<>>(semiring_sizes, "kj", 0.2, 2);
  const auto expected = product(
      filled(B, infinite), filled(C, infinite), infinite, [](double a, double b) { return std::min(a, b); },
      std::plus<double>{});
  const Tensor<double, ResultFormat, Space> A({semiring_extent, semiring_extent});
  assign(A(i, j), B.template move_to<Space>()(i, k) * C.template move_to<Space>()(k, j))
      .over(MinPlus{})
      .run();
  EXPECT_EQ(filled(A.template move_to<Host>(), infinite), expected);
  const auto stored = std::count_if(expected.begin(), expected.end(), [](double x) { return x < infinite; });
  EXPECT_EQ(A.nnz(), ResultFormat::is_dense ? semiring_extent * semiring_extent : stored);
}

TEST(MinPlus, FindsShortestWays) {
  check_shortest_ways<CSR<>, Serial>();
  check_shortest_ways<CSR<>, OpenMP>();
  check_shortest_ways<DCSR<>, OpenMP>();
  check_shortest_ways<CSC<>, OpenMP>();  // through a list of coordinates
  check_shortest_ways<DenseMatrix<>, Serial>();
  check_shortest_ways<DenseMatrix<>, OpenMP>();
}

TEST(MinPlus, TakesTheSmallerOfASum) {
  const auto B = small_tensor<double, CSR<>>(semiring_sizes, "ij", 0.3, 1);
  const auto C = small_tensor<double, CSR<>>(semiring_sizes, "ij", 0.3, 2);
  const Tensor<double, CSR<>> A({semiring_extent, semiring_extent});
  assign(A(i, j), B(i, j) + C(i, j)).over(MinPlus{}).run();
  const auto b = filled(B, infinite), c = filled(C, infinite), a = filled(A, infinite);
  for (std::size_t at = 0; at < a.size(); ++at) EXPECT_EQ(a[at], std::min(b[at], c[at]));
}

TEST(MinPlus, MultipliesByAScalarAsItAdds) {
  const auto B = small_tensor<double, CSR<>>(semiring_sizes, "ij", 0.3, 1);
  const Tensor<double, CSR<>> A({semiring_extent, semiring_extent});
  assign(A(i, j), 2.5 * B(i, j)).over(MinPlus{}).run();
  const auto b = filled(B, infinite), a = filled(A, infinite);
  for (std::size_t at = 0; at < a.size(); ++at) EXPECT_EQ(a[at], b[at] + 2.5);
}

TEST(MinPlus, TakesPartInWhatADenseResultHolds) {
  const auto B = small_tensor<double, CSR<>>(semiring_sizes, "ij", 0.3, 1);
  const Tensor<double, DenseVector> nearest({semiring_extent});
  for (std::size_t at = 0; at < static_cast<std::size_t>(semiring_extent); ++at) nearest.values()(at) = 3;
  assign(nearest(i), B(i, j)).over(MinPlus{}).accumulate().run();
  const auto b = filled(B, infinite);
  for (std::int64_t row = 0; row < semiring_extent; ++row) {
    double expected = 3;
    for (std::int64_t column = 0; column < semiring_extent; ++column)
      expected = std::min(expected, b[static_cast<std::size_t>(row * semiring_extent + column)]);
    EXPECT_EQ(at(nearest, {row}), expected);
  }
}

template <class F, class Space>
void check_columns_added_to_a_dense_vector() {
  const auto B = small_tensor<double, F>(semiring_sizes, "ij", 0.3, 1);
  const auto b = filled(B, infinite);
  const Tensor<double, DenseVector, Space> x({semiring_extent}), y({semiring_extent});
  for (std::size_t at = 0; at < static_cast<std::size_t>(semiring_extent); ++at)
    x.values()(at) = static_cast<double>(at) + 1;
  const auto on_space = B.template move_to<Space>();
  const auto check = [&](const auto& statement, bool transposed) {
    statement.run();
    for (std::int64_t row = 0; row < semiring_extent; ++row) {
      double expected = infinite;
      for (std::int64_t at = 0; at < semiring_extent; ++at)
        expected = std::min(expected, b[static_cast<std::size_t>(transposed ? at * semiring_extent + row
                                                                            : row * semiring_extent + at)] +
                                          static_cast<double>(at) + 1);
      EXPECT_EQ(y.values()(static_cast<std::size_t>(row)), expected) << statement.str();
    }
  };
  check(assign(y(i), on_space(i, j) * x(j)).over(MinPlus{}), false);
  check(assign(y(j), on_space(i, j) * x(i)).over(MinPlus{}), true);
  check(assign(y(i), on_space(i, j) * x(j)).over(MinPlus{}).deterministic(), false);
  check(assign(y(j), on_space(i, j) * x(i)).over(MinPlus{}).deterministic(), true);
}

TEST(MinPlus, StartsFromItsZeroInEveryOrderOfLoops) {
  check_columns_added_to_a_dense_vector<CSR<>, Serial>();
  check_columns_added_to_a_dense_vector<CSC<>, Serial>();
  check_columns_added_to_a_dense_vector<CSR<>, OpenMP>();
  check_columns_added_to_a_dense_vector<CSC<>, OpenMP>();
}

TEST(MaxTimes, FindsMostReliableWays) {
  const auto B = small_tensor<float, CSR<>>(semiring_sizes, "ik", 0.2, 1);
  const auto C = small_tensor<float, CSC<>>(semiring_sizes, "kj", 0.2, 2);
  const float least = -std::numeric_limits<float>::infinity();
  const Tensor<float, COO<2>> A({semiring_extent, semiring_extent});
  assign(A(i, j), B(i, k) * C(k, j)).over(MaxTimes{}).run();
  const auto b = filled(B, least), c = filled(C, least), a = filled(A, least);
  for (std::int64_t row = 0; row < semiring_extent; ++row)
    for (std::int64_t column = 0; column < semiring_extent; ++column) {
      float expected = least;
      for (std::int64_t at = 0; at < semiring_extent; ++at) {
        const float x = b[static_cast<std::size_t>(row * semiring_extent + at)],
                    y = c[static_cast<std::size_t>(at * semiring_extent + column)];
        if (x > least && y > least) expected = std::max(expected, x * y);
      }
      EXPECT_EQ(a[static_cast<std::size_t>(row * semiring_extent + column)], expected);
    }
}

TEST(OrAnd, FindsWhatCanBeReached) {
  const auto B = small_tensor<std::int32_t, CSR<>>(semiring_sizes, "ik", 0.1, 1);
  const auto C = small_tensor<std::int32_t, CSR<>>(semiring_sizes, "kj", 0.1, 2);
  const auto expected = product(
      filled(B, 0), filled(C, 0), 0, [](int a, int b) { return int(a || b); },
      [](int a, int b) { return int(a && b); });
  const Tensor<std::int32_t, CSR<>> A({semiring_extent, semiring_extent});
  assign(A(i, j), B(i, k) * C(k, j)).over(OrAnd{}).run();
  EXPECT_EQ(filled(A, 0), expected);
}

TEST(ASemiring, MayNameAnyTwoOperations) {
  const auto B = small_tensor<double, CSR<>>(semiring_sizes, "ik", 0.3, 1);
  const auto C = small_tensor<double, DenseMatrix<>>(semiring_sizes, "kj", 1, 2);
  const Tensor<double, DenseMatrix<>> A({semiring_extent, semiring_extent});
  assign(A(i, j), B(i, k) * C(k, j)).over(Semiring<Max, Min>{}).run();  // the widest bottleneck
  const auto b = filled(B, -infinite), c = filled(C, -infinite), a = filled(A, -infinite);
  EXPECT_EQ(a, product(
                   b, c, -infinite, [](double x, double y) { return std::max(x, y); },
                   [](double x, double y) { return std::min(x, y); }));
}

TEST(ASemiring, FillsTheBlocksOfAResultWithItsZero) {
  const auto B = small_tensor<double, CSR<>>(semiring_sizes, "ij", 0.1, 1);
  const Tensor<double, BCSR<2, 3>> A({semiring_extent, semiring_extent});
  assign(A(i, j), B(i, j)).over(MinPlus{}).run();
  const auto b = filled(B, infinite), a = filled(A, infinite);
  EXPECT_EQ(a, b);
}

TEST(ASemiring, TakesThePaddingOfBlocksForItsZero) {
  const auto B = small_tensor<double, CSR<>>(semiring_sizes, "ik", 0.1, 1);
  const auto C = small_tensor<double, CSR<>>(semiring_sizes, "kj", 0.1, 2);
  const auto expected = product(
      filled(B, infinite), filled(C, infinite), infinite, [](double a, double b) { return std::min(a, b); },
      std::plus<double>{});
  const auto blocks = convert<BCSR<2, 3>>(B);
  const auto other_blocks = convert<BCSR<3, 2>>(C);
  const Tensor<double, DenseMatrix<>> A({semiring_extent, semiring_extent});
  assign(A(i, j), blocks(i, k) * other_blocks(k, j)).over(MinPlus{}).run();
  EXPECT_EQ(filled(A, infinite), expected);
  const Tensor<double, CSR<>> copy({semiring_extent, semiring_extent});
  assign(copy(i, j), blocks(i, j)).over(MinPlus{}).run();
  EXPECT_EQ(filled(copy, infinite), filled(B, infinite));
}

template <class F>
void check_windows_over_min_plus(std::uint64_t seed) {
  SCOPED_TRACE(format_name<F>());
  const auto pruned = prune<F>(small_tensor<double, CSR<>>(semiring_sizes, "ik", 0.2, seed));
  const auto rows = convert<CSR<>>(pruned);
  const auto C = small_tensor<double, CSR<>>(semiring_sizes, "kj", 0.2, 2);
  const Tensor<double, DenseVector> x({semiring_extent}), y({semiring_extent});
  for (std::size_t at = 0; at < static_cast<std::size_t>(semiring_extent); ++at)
    x.values()(at) = static_cast<double>(at) + 1;
  const auto b = filled(rows, infinite);
  const auto expected = product(
      b, filled(C, infinite), infinite, [](double a, double c) { return std::min(a, c); },
      std::plus<double>{});
  ASSERT_LT(std::count(expected.begin(), expected.end(), infinite), std::ssize(expected) * 3 / 4);
  ASSERT_GT(std::count(expected.begin(), expected.end(), infinite), 0);
  const Tensor<double, DenseMatrix<>> A({semiring_extent, semiring_extent});
  assign(A(i, j), pruned(i, k) * C(k, j)).over(MinPlus{}).run();
  EXPECT_EQ(filled(A, infinite), expected);
  const Tensor<double, CSR<>> sparse({semiring_extent, semiring_extent});
  assign(sparse(i, j), pruned(i, k) * C(k, j)).over(MinPlus{}).run();
  EXPECT_EQ(filled(sparse, infinite), expected);
  assign(sparse(i, j), pruned(i, j)).over(MinPlus{}).run();
  EXPECT_EQ(filled(sparse, infinite), b);
  assign(y(i), pruned(i, j) * x(j)).over(MinPlus{}).run();
  for (std::int64_t row = 0; row < semiring_extent; ++row) {
    double nearest = infinite;
    for (std::int64_t column = 0; column < semiring_extent; ++column)
      nearest = std::min(nearest, b[static_cast<std::size_t>(row * semiring_extent + column)] +
                                      static_cast<double>(column) + 1);
    EXPECT_EQ(at(y, {row}), nearest) << row;
  }
}

TEST(ASemiring, TakesThePaddingOfWindowsForItsZero) {
  check_windows_over_min_plus<NM<2, 4>>(1);  // 23 is no multiple of 4: the last window is cut
  check_windows_over_min_plus<NM<2, 4, 1, 1>>(3);
  check_windows_over_min_plus<NM<1, 3, 5>>(4);  // units of five elements, some of which are zeros
  check_windows_over_min_plus<NM<7, 16, 4, 1>>(5);
  check_windows_over_min_plus<TwoFour>(6);
}

/// The sum of lengths, where `none` is no way at all.
template <class T>
struct AddLengths {
  T none;
  T operator()(T a, T b) const { return a == none || b == none ? none : static_cast<T>(a + b); }
};

template <class T>
void check_integer_ways() {
  constexpr T none = std::numeric_limits<T>::max();
  const auto B = small_tensor<T, CSR<>>(semiring_sizes, "ik", 0.2, 1);
  const auto C = small_tensor<T, CSR<>>(semiring_sizes, "kj", 0.1, 2);
  const auto b = filled(B, none), c = filled(C, none);
  const Tensor<T, DenseMatrix<>> D({semiring_extent, semiring_extent}), A(D.extents());
  assign(D(k, j), C(k, j)).over(MinPlus{}).run();
  EXPECT_EQ(filled(D, none), c) << "what is not stored is the largest number";
  assign(A(i, j), B(i, k) * D(k, j)).over(MinPlus{}).run();
  EXPECT_EQ(filled(A, none),
            product(b, c, none, [](T x, T y) { return std::min(x, y); }, AddLengths<T>{none}));
}

TEST(ASemiring, AbsorbsItsZeroInIntegersToo) {
  check_integer_ways<std::int8_t>();
  check_integer_ways<std::int32_t>();
  check_integer_ways<std::int64_t>();
}

TEST(ASemiring, AbsorbsItsZeroWhereTheOperationDoesNot) {
  const Tensor<double, DenseVector> x({4}), y({4});
  const double values[] = {infinite, -infinite, 0, 2};
  for (std::size_t at = 0; at < 4; ++at) x.values()(at) = values[at];
  assign(y(i), x(i) * -infinite).over(MinPlus{}).run();
  EXPECT_EQ(at(y, {0}), infinite) << "infinity minus infinity is not a number";
  EXPECT_EQ(at(y, {2}), -infinite);
  assign(y(i), x(i) * 0.0).over(MaxTimes{}).run();
  EXPECT_EQ(at(y, {1}), -infinite) << "infinity times zero is not a number";
  EXPECT_EQ(at(y, {3}), 0);
}

TEST(ASemiring, KeepsItsZeroInOtherTypes) {
  constexpr int none = std::numeric_limits<int>::max();
  const Tensor<int, DenseVector> x({2});
  x.values()(0) = none;
  x.values()(1) = 3;
  const Tensor<std::int64_t, DenseVector> wide({2});
  assign(wide(i), x(i) * 1).over(MinPlus{}).run();
  EXPECT_EQ(at(wide, {0}), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(at(wide, {1}), 4);
  const Tensor<double, DenseVector> real({2});
  assign(real(i), wide(i)).over(MinPlus{}).run();
  EXPECT_EQ(at(real, {0}), infinite);
  const Tensor<int, DenseVector> back({2});
  assign(back(i), real(i) * x(i)).over(MinPlus{}).run();
  EXPECT_EQ(at(back, {0}), none);
  EXPECT_EQ(at(back, {1}), 7);
}

TEST(ASemiring, GivesAFunctionTheNumberItself) {
  const auto B = small_tensor<double, CSR<>>(semiring_sizes, "ij", 0.3, 1);
  const Tensor<double, CSR<>> A({semiring_extent, semiring_extent});
  assign(A(i, j), map([](double x) { return 10 * x; }, B(i, j))).over(MinPlus{}).run();
  const auto b = filled(B, infinite), a = filled(A, infinite);
  for (std::size_t at = 0; at < a.size(); ++at) EXPECT_EQ(a[at], 10 * b[at]);
}

TEST(ASemiring, IsNamedByExplain) {
  const Tensor<double, CSR<>> A({semiring_extent, semiring_extent}), B({semiring_extent, semiring_extent});
  EXPECT_TRUE(
      contains(explain(assign(A(i, j), B(i, k) * B(k, j)).over(MinPlus{})), "computes in double, min-plus"));
}

}  // namespace
}  // namespace sporos::test
