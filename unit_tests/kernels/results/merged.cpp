// SPDX-License-Identifier: Apache-2.0
/// @file merged.cpp
/// Results that scatter over several variables and come in runs: inserted, sorted and merged.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/core/peak_memory.hpp>
#include <sporos/sporos.hpp>
#include <string>
#include <type_traits>

#include "../kernel_of.hpp"
#include "spread.hpp"

namespace sporos::test::merged_results {
namespace {

using namespace sporos::indices;

/// Enough values for several accumulation arrays, of which few or many have the same coordinates.
template <class F>
void check_large_products(std::int64_t rows, std::int64_t each, std::int64_t stride) {
  const auto B = spread<CSC<>>(rows, rows, each, stride);
  const auto C = spread<CSR<>>(rows, rows, each, stride + 2);
  const auto by_rows = convert<CSR<>>(B);
  const Tensor<double, F> A({rows, rows}), expected({rows, rows});
  const auto outer = assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).template use<MergedNest>();
  outer.run();
  assign(expected(i, j), by_rows(i, k) * C(k, j)).reorder(i, k, j).generic().run();
  expect_same_entries(A, expected);
  outer.run();
  expect_same_entries(A, expected);
}
TEST(MergedResults, AreThoseOfTheRowsWhereTheArrayFillsUpSeveralTimes) {
  check_large_products<CSR<>>(20'000, 6, 7919);  // most coordinates occur once
  check_large_products<DCSR<>>(20'000, 6, 7919);
  check_large_products<CSR<>>(1'500, 24, 1);  // each occurs many times
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
  const auto B = spread<CSC<>>(3'000, 3'000, 20, 7919);
  const auto C = spread<CSR<>>(3'000, 3'000, 20, 104'729);
  for (std::int64_t e = 0; e < B.nnz(); ++e) B.values().data()[e] = 1.0 / static_cast<double>(e + 3);
  const Tensor<double, CSR<>, OpenMP> many({3'000, 3'000});
  const Tensor<double, CSR<>, Serial> one({3'000, 3'000});
  assign(many(i, j), B(i, k) * C(k, j)).reorder(k, i, j).use<MergedNest>().run();
  const auto B1 = B.move_to<Serial>();
  const auto C1 = C.move_to<Serial>();
  assign(one(i, j), B1(i, k) * C1(k, j)).reorder(k, i, j).use<MergedNest>().run();
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

/// Computes a product of which most elements are inserted many times.
void expect_twice_the_result(std::int64_t each) {
  SCOPED_TRACE(std::to_string(each) + " in a row");
  constexpr std::int64_t rows = 400;
  const auto B = spread<CSC<>>(rows, rows, each, 7919);
  const auto C = spread<CSR<>>(rows, rows, each, 7907);
  const Tensor<double, CSR<>> A({rows, rows});
  std::int64_t peak_bytes = 0;
  {
    const PeakMemory peak;
    assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).template use<MergedNest>().run();
    peak_bytes = peak.bytes();
  }
  // Before it is known that the elements repeat: 2^19 values, a quarter as many runs at most, and what comes
  // of their merge.
  constexpr std::int64_t of_value = sizeof(double) + sizeof(std::int32_t);
  constexpr std::int64_t bound = (std::int64_t{1} << 19) * (2 * of_value + sizeof(sporos::detail::Run) / 4);
  const std::int64_t result = storage_bound<CSR<>, double>(A.extents(), A.nnz()).bytes;
  EXPECT_LE(peak_bytes, bound + 2 * result);
  if (each == 200) {
    EXPECT_GT(rows * each * each * of_value, 4 * (bound + 2 * result)) << "too little is inserted";
  }
}
TEST(MergedResults, TakeTwiceTheirMemoryHoweverMuchIsInserted) {
  for (const std::int64_t each : {20, 60, 200}) expect_twice_the_result(each);
}

}  // namespace
}  // namespace sporos::test::merged_results
