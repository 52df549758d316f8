// SPDX-License-Identifier: Apache-2.0
/// @file merged.cpp
/// Results that scatter over several variables and come in runs: inserted, sorted and merged.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/core/peak_memory.hpp>
#include <sporos/sporos.hpp>
#include <string>
#include <type_traits>
#include <utility>

#include "../kernel_of.hpp"
#include "spread.hpp"

namespace sporos::test::merged_results {
namespace {

using namespace sporos::indices;

/// Accumulation arrays that small operands fill several times, while it exists.
class SmallAccumulationArrays {
 public:
  explicit SmallAccumulationArrays(std::int64_t most)
      : before_(std::exchange(sporos::detail::most_accumulated, most)) {}
  SmallAccumulationArrays(const SmallAccumulationArrays&) = delete;
  SmallAccumulationArrays& operator=(const SmallAccumulationArrays&) = delete;
  ~SmallAccumulationArrays() { sporos::detail::most_accumulated = before_; }

 private:
  std::int64_t before_;
};

/// A vector of ones. A product with it over the innermost variable is computed value by value: its runs are
/// no multiples of a fiber.
Tensor<double, DenseVector> ones(std::int64_t extent) {
  const Tensor<double, DenseVector> out({extent});
  Kokkos::deep_copy(out.values(), 1.0);
  return out;
}

/// The statement's result by insertion of runs, twice, is what is expected.
template <class Statement, class T>
void expect_merged(const Statement& statement, const T& expected) {
  const auto merged = statement.template use<MergedNest>();
  merged.run();
  expect_same_entries(statement.result().tensor(), expected);
  merged.run();
  expect_same_entries(statement.result().tensor(), expected);
}

/// Enough values for several accumulation arrays, of which few or many have the same coordinates.
template <class F>
void check_large_products(std::int64_t rows, std::int64_t each, std::int64_t stride) {
  const auto B = spread<CSC<>>(rows, rows, each, stride);
  const auto C = spread<CSR<>>(rows, rows, each, stride + 2);
  const auto by_rows = convert<CSR<>>(B);
  const auto x = ones(rows);
  const Tensor<double, F> A({rows, rows}), expected({rows, rows});
  assign(expected(i, j), by_rows(i, k) * C(k, j)).reorder(i, k, j).generic().run();
  expect_merged(assign(A(i, j), B(i, k) * C(k, j) * x(j)).reorder(k, i, j), expected);
  expect_merged(assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j), expected);
}
TEST(MergedResults, AreThoseOfTheRowsWhereTheArrayFillsUpSeveralTimes) {
  const SmallAccumulationArrays small(1 << 16);
  check_large_products<CSR<>>(3'000, 6, 7919);  // most coordinates occur once
  check_large_products<DCSR<>>(3'000, 6, 7919);
  check_large_products<CSR<>>(200, 24, 1);  // each occurs many times
}

TEST(MergedResults, TakeTensorsOfHigherOrders) {
  Entries<double, 3> some({40, 30, 20}, 400);
  for (std::int64_t e = 0; e < 400; ++e)
    some.set(e, {e * 7 % 40, e * 11 % 30, e * 13 % 20}, static_cast<double>(e % 9 - 4));
  const auto T = assemble<CSF<3>>(some);
  const auto C = spread<CSR<>>(40, 25, 5, 3);
  const auto D = spread<CSR<>>(30, 25, 5, 4);
  // SpMTTKRP whose result has the innermost mode of T: the loops over the others are outside.
  const Tensor<double, CSR<>> M({20, 25}), expected({20, 25});
  assign(M(l, j), T(i, k, l) * C(i, j) * D(k, j)).reorder(i, k, l, j).use<MergedNest>().run();
  assign(expected(l, j), T(i, k, l) * C(i, j) * D(k, j)).reorder(i, k, l, j).use<ListedNest>().run();
  expect_same_entries(M, expected);
  // SpTTM over the outermost mode, into formats of several levels.
  const auto check = [&](const auto& R) {
    assign(R(k, l, j), T(i, k, l) * C(i, j)).template use<MergedNest>().run();
    const auto same = std::remove_cvref_t<decltype(R)>(R.extents());
    assign(same(k, l, j), T(i, k, l) * C(i, j)).template use<ListedNest>().run();
    expect_same_entries(R, same);
  };
  check(Tensor<double, CSF<3>>({30, 20, 25}));
  check(Tensor<double, COO<3>>({30, 20, 25}));
  check(Tensor<double, Format<Map<Dim<0>, Dim<1>, Dim<2>>, Dense, Compressed<>, Compressed<>>>({30, 20, 25}));
}

/// Whether the runs of a statement are inserted as multiples of fibers.
template <class Statement>
constexpr bool takes_fibers(const Statement&) {
  return MergedNest::takes_fibers<Statement>;
}

TEST(MergedResults, AreMultiplesOfFibersWhereAllElseIsANumber) {
  const auto B = spread<CSC<>>(40, 50, 4, 3);
  const auto C = spread<CSR<std::int32_t, std::int64_t>>(50, 60, 5, 7);
  const auto by_rows = convert<CSR<>>(B);
  const auto x = ones(60);
  const Tensor<double, CSR<>> A({40, 60}), expected({40, 60});
  const auto check = [&](const auto& statement, double factor) {
    EXPECT_TRUE(takes_fibers(statement));
    assign(expected(i, j), factor * by_rows(i, k) * C(k, j)).reorder(i, k, j).generic().run();
    expect_merged(statement, expected);
  };
  check(assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j), 1);
  check(assign(A(i, j), C(k, j) * B(i, k)).reorder(k, i, j), 1);
  check(assign(A(i, j), 2.0 * (B(i, k) * -C(k, j)) * 3.0).reorder(k, i, j), -6);
  check(assign(A(i, j), -(-C(k, j) * B(i, k))).reorder(k, i, j), 1);
  EXPECT_FALSE(takes_fibers(assign(A(i, j), B(i, k) * C(k, j) * x(j)).reorder(k, i, j)));
  EXPECT_FALSE(takes_fibers(assign(A(i, j), B(i, k) * C(k, j) / 3.0).reorder(k, i, j)));
  EXPECT_FALSE(takes_fibers(assign(A(i, j), B(i, k) * C(k, j) + B(i, k) * C(k, j)).reorder(k, i, j)));
}

TEST(MergedResults, OfFibersThatComeInAnyOrderAndAgain) {
  // Row i gets the fibers k of all l, of which none ascend and many are the same.
  const auto P = spread<CSR<>>(30, 20, 6, 7), Q = spread<CSR<>>(30, 50, 9, 31);
  const auto C = spread<CSR<>>(50, 60, 5, 7);
  const Tensor<double, CSR<>> A({20, 60}), expected({20, 60});
  const auto statement = assign(A(i, j), P(l, i) * Q(l, k) * C(k, j)).reorder(l, i, k, j);
  EXPECT_TRUE(takes_fibers(statement));
  assign(expected(i, j), P(l, i) * Q(l, k) * C(k, j)).reorder(l, i, k, j).use<ListedNest>().run();
  expect_merged(statement, expected);
}

TEST(MergedResults, OfTheOnlyFiberOfAVector) {
  const auto B = spread<CSR<>>(30, 20, 4, 7);
  const auto x = assemble<SparseVector<>>(Entries<double, 1>({60}, {{{3}, 2.0}, {{40}, -1.0}, {{59}, 5.0}}));
  const Tensor<double, DCSR<>> A({20, 60}), expected({20, 60});
  const auto statement = assign(A(i, j), B(k, i) * x(j)).reorder(k, i, j);
  EXPECT_TRUE(takes_fibers(statement));
  assign(expected(i, j), B(k, i) * x(j)).reorder(k, i, j).use<ListedNest>().run();
  expect_merged(statement, expected);
}

TEST(MergedResults, OfFibersOfManyRowsThatAreCounted) {
  constexpr std::int64_t rows = 3'000;
  const auto B = spread<CSC<>>(rows, rows, 30, 7919);
  const auto C = spread<CSR<>>(rows, 40, 2, 3);
  const Tensor<double, CSR<>> A({rows, 40}), expected({rows, 40});
  assign(expected(i, j), convert<CSR<>>(B)(i, k) * C(k, j)).reorder(i, k, j).generic().run();
  expect_merged(assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j), expected);
}

TEST(MergedResults, OfMoreFibersThanTheArrayHolds) {
  const SmallAccumulationArrays small(1 << 17);
  // 30 * 100 * 100 runs of few nonzeros.
  const auto P = spread<CSR<>>(30, 100, 100, 1), Q = spread<CSR<>>(30, 100, 100, 1);
  const auto C = spread<CSR<>>(100, 8, 1, 3);
  ASSERT_EQ(P.nnz(), 30 * 100);
  const Tensor<double, CSR<>> A({100, 8}), expected({100, 8});
  const Tensor<double, DenseMatrix<>> W({100, 100});
  W(i, k) = P(l, i) * Q(l, k);
  assign(expected(i, j), W(i, k) * C(k, j)).generic().run();
  assign(A(i, j), P(l, i) * Q(l, k) * C(k, j)).reorder(l, i, k, j).use<MergedNest>().run();
  expect_same_entries(A, expected);
}

TEST(MergedResults, TakeWhatDoesNotAscend) {
  // Unordered columns, and two terms whose runs meet.
  using Shuffled = Format<Map<Dim<0>, Dim<1>>, Dense, Compressed<std::int64_t, std::int32_t, false, true>>;
  const auto C = assemble<Shuffled>(entries(spread<CSR<>>(50, 60, 5, 7)));
  const auto B = spread<CSC<>>(40, 50, 4, 3);
  const Tensor<double, CSR<>> A({40, 60}), expected({40, 60});
  A(i, j) = B(i, k) * C(k, j);
  assign(expected(i, j), convert<CSR<>>(B)(i, k) * convert<CSR<>>(C)(k, j)).generic().run();
  expect_same_entries(A, expected);
}

TEST(MergedResults, AreTheSameBitByBitForAnyNumberOfThreads) {
  const SmallAccumulationArrays small(1 << 17);
  const auto B = spread<CSC<>>(1'000, 1'000, 20, 7919);
  const auto C = spread<CSR<>>(1'000, 1'000, 20, 104'729);
  make_inexact(B);
  const auto x = ones(1'000);
  const Tensor<double, CSR<>, OpenMP> many({1'000, 1'000});
  const Tensor<double, CSR<>, Serial> one({1'000, 1'000});
  const auto B1 = B.move_to<Serial>();
  const auto C1 = C.move_to<Serial>();
  const auto x1 = x.move_to<Serial>();
  assign(many(i, j), B(i, k) * C(k, j)).reorder(k, i, j).use<MergedNest>().run();
  assign(one(i, j), B1(i, k) * C1(k, j)).reorder(k, i, j).use<MergedNest>().run();
  expect_same_entries(many.move_to<Serial>(), one);
  assign(many(i, j), B(i, k) * C(k, j) * x(j)).reorder(k, i, j).use<MergedNest>().run();
  assign(one(i, j), B1(i, k) * C1(k, j) * x1(j)).reorder(k, i, j).use<MergedNest>().run();
  expect_same_entries(many.move_to<Serial>(), one);
}

TEST(MergedResults, OfOtherValues) {
  const auto check = []<class T>(T) {
    const auto B = convert<CSC<>, T>(spread<CSC<>>(30, 40, 3, 7));
    const auto C = convert<CSR<>, T>(spread<CSR<>>(40, 50, 4, 3));
    const Tensor<T, DCSR<>> A({30, 50}), expected({30, 50});
    assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).template use<MergedNest>().run();
    assign(expected(i, j), B(i, k) * C(k, j)).reorder(k, i, j).template use<ListedNest>().run();
    expect_same_entries(A, expected);
  };
  check(float{});
  check(std::int32_t{});
  check(std::int64_t{});
  check(Kokkos::complex<double>{});
}

TEST(MergedResults, OfNothing) {
  const Tensor<double, CSC<>> B({30, 40});
  const Tensor<double, CSR<>> C({40, 50});
  const Tensor<double, CSR<>> A({30, 50});
  assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).use<MergedNest>().run();
  EXPECT_EQ(A.nnz(), 0);
  validate(A);
  const Tensor<double, CSC<>> none({0, 0});
  const Tensor<double, CSR<>> nothing({0, 0}), result({0, 0});
  assign(result(i, j), none(i, k) * nothing(k, j)).reorder(k, i, j).use<MergedNest>().run();
  EXPECT_EQ(result.nnz(), 0);
}

TEST(MergedResults, DeclineRowsThatAreTooLongForADenseAccumulator) {
  constexpr std::int64_t n = std::int64_t{1} << 40;
  using Wide = DCSR<std::int64_t, std::int64_t>;
  const auto B =
      assemble<DCSC<std::int64_t, std::int64_t>>(Entries<double, 2>({n, n}, {{{7, 5}, 2}, {{3, 5}, 4}}));
  const auto C = assemble<Wide>(Entries<double, 2>({n, n}, {{{5, n - 1}, 3}}));
  const Tensor<double, Wide> A({n, n});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j);
  EXPECT_EQ(candidate_of(statement), "loop nest, listed");
  statement.run();
  EXPECT_EQ(at(A, {7, n - 1}), 6);
  EXPECT_EQ(A.nnz(), 2);
}

/// A matrix whose columns are spread over a large extent, a multiple of 2^12 apart.
template <class F>
auto with_wide_columns(const Tensor<double, CSR<>>& matrix, std::int64_t columns) {
  const auto from = entries(matrix);
  Entries<double, 2> out({matrix.extent(0), columns}, from.size());
  for (std::int64_t e = 0; e < from.size(); ++e)
    out.set(e, {from.coordinate(e)[0], from.coordinate(e)[1] * 4096 + 7},
            from.values(static_cast<std::size_t>(e)));
  return assemble<F>(out);
}
TEST(MergedResults, TakeTheColumnsThatOccurWhereRowsAreLong) {
  const auto B = spread<CSC<>>(300, 200, 20, 7919);
  const auto narrow = spread<CSR<>>(200, 5'000, 30, 31);
  const auto check = [&]<class F, class Operand>(std::type_identity<F>, std::type_identity<Operand>,
                                                 std::int64_t columns) {
    SCOPED_TRACE(F::str() + " with " + std::to_string(columns) + " columns");
    const auto C = with_wide_columns<Operand>(narrow, columns);
    const Tensor<double, F> A({300, columns}), expected({300, columns});
    const auto statement = assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j);
    EXPECT_TRUE(takes_fibers(statement));
    assign(expected(i, j), B(i, k) * C(k, j)).reorder(k, i, j).template use<ListedNest>().run();
    ASSERT_GT(expected.nnz(), 1000);
    expect_merged(statement, expected);
    const SmallAccumulationArrays small(1 << 9);  // merged several times
    expect_merged(statement, expected);
    // A plan adds to its places, or merges again.
    auto planned = plan(statement.template use<MergedNest>());
    for (int time = 0; time < 3; ++time) planned.run();
    expect_same_entries(A, expected);
    // An accumulator over the extent is not part of it.
    EXPECT_LT(estimate(statement.template use<MergedNest>()).workspace, std::int64_t{1} << 26);
    EXPECT_EQ(candidate_of(statement.generic()), "loop nest, merged");
  };
  using Long = std::int64_t;
  check(std::type_identity<CSR<>>{}, std::type_identity<CSR<>>{}, 1 << 30);
  check(std::type_identity<DCSR<Long, Long>>{}, std::type_identity<CSR<Long, Long>>{}, Long{1} << 40);
  check(std::type_identity<COO<2, RowMajor, Long, Long>>{}, std::type_identity<CSR<>>{}, 1 << 25);
}

/// Computes a product of which most elements are inserted many times.
/// @param by_value  whether values are inserted, not multiples of fibers
/// @param most      values of an accumulation array
template <bool by_value>
void expect_twice_the_result(std::int64_t each, std::int64_t most) {
  SCOPED_TRACE(std::to_string(each) + " in a row, by value: " + std::to_string(by_value));
  constexpr std::int64_t rows = 140;
  const auto B = spread<CSC<>>(rows, rows, each, 7919);
  const auto C = spread<CSR<>>(rows, rows, each, 7907);
  const Tensor<double, CSR<>> A({rows, rows});
  std::int64_t peak_bytes = 0;
  {
    const auto x = ones(rows);
    const PeakMemory peak;
    if constexpr (by_value)
      assign(A(i, j), B(i, k) * C(k, j) * x(j)).reorder(k, i, j).template use<MergedNest>().run();
    else
      assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).template use<MergedNest>().run();
    peak_bytes = peak.bytes();
  }
  // Before it is known that the elements repeat: an eighth of the most values, a quarter as many runs at
  // most, and what comes of their merge.
  constexpr std::int64_t of_value = sizeof(double) + sizeof(std::int32_t);
  const std::int64_t bound = most / 8 * (2 * of_value + sizeof(sporos::detail::Run) / 4);
  const std::int64_t result = storage_bound<CSR<>, double>(A.extents(), A.nnz()).bytes;
  EXPECT_LE(peak_bytes, bound + 2 * result);
  if (each == 100) {
    EXPECT_GT(rows * each * each * of_value, 4 * (bound + 2 * result)) << "too little is inserted";
  }
}
TEST(MergedResults, TakeTwiceTheirMemoryHoweverMuchIsInserted) {
  constexpr std::int64_t most = 1 << 19;
  const SmallAccumulationArrays small(most);
  for (const std::int64_t each : {10, 30, 100}) {
    expect_twice_the_result<true>(each, most);
    expect_twice_the_result<false>(each, most);
  }
}

}  // namespace
}  // namespace sporos::test::merged_results
