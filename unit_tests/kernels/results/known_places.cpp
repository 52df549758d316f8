// SPDX-License-Identifier: Apache-2.0
/// @file known_places.cpp
/// Plans of scattered results: later runs add each value to the place that it had before.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/core/peak_memory.hpp>
#include <sporos/sporos.hpp>
#include <type_traits>

#include "spread.hpp"

namespace sporos::test::known_places {
namespace {

using namespace sporos::indices;

/// Other values in the same pattern.
template <class T>
void change_values(const T& t, int round) {
  for (std::int64_t e = 0; e < t.nnz(); ++e)
    t.values().data()[e] = static_cast<typename T::value_type>((e * (round + 3) + round) % 11 - 5);
}

/// Runs a plan of `statement` several times, with new values of B, and compares its result with that of
/// `again`, the same statement with another result.
/// @return the bytes that the plan holds
template <class K, class S, class Again, class B>
std::int64_t check_plan(const S& statement, const Again& again, const B& changed) {
  auto product = plan(statement.template use<K>());
  for (int round = 0; round < 4; ++round) {
    change_values(changed, round);
    product.run();
    again.template use<ListedNest>().run();
    expect_same_entries(statement.result().tensor(), again.result().tensor());
  }
  return product.bytes();
}

template <class F, class Space = OpenMP>
void check_products() {
  SCOPED_TRACE(F::str());
  const auto B = spread<CSC<>>(300, 200, 9, 7).template move_to<Space>();
  const auto C = spread<CSR<>>(200, 402, 7, 13).template move_to<Space>();
  const Tensor<double, F, Space> A({300, 402}), expected({300, 402});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).generic();
  const auto again = assign(expected(i, j), B(i, k) * C(k, j)).reorder(k, i, j).generic();
  const bool finds = !F::is_blocked;
  EXPECT_EQ(check_plan<ListedNest>(statement, again, B) > 0, finds);
  EXPECT_EQ(check_plan<DenseNest>(statement, again, B) > 0, finds);
  if constexpr (MergedNest::matches<std::remove_cvref_t<decltype(statement)>>) {
    EXPECT_GT(check_plan<MergedNest>(statement, again, B), 0);
  }
}
TEST(KnownPlaces, GiveWhatAnotherRunGivesInAnyFormat) {
  check_products<CSR<>>();
  check_products<CSR<>, Serial>();
  check_products<CSC<>>();
  check_products<CSC<>, Serial>();
  check_products<COO<2>>();
  check_products<DCSR<>>();
  check_products<BCSR<3, 2>>();
}

/// Sums whose order shows in the last bits.
TEST(KnownPlaces, AreNotUsedWhereEveryRunMustGiveTheSameBits) {
  Entries<double, 2> some({200, 300}, 6000);
  for (std::int64_t e = 0; e < some.size(); ++e)
    some.set(e, {e * 7919 % 200, e * 104729 % 300}, 1.0 / static_cast<double>(e % 97 + 1));
  const auto C = assemble<CSR<>>(some);
  const auto B = convert<CSC<>>(transpose(C));
  const auto check = [&]<class K>(K, const auto& statement) {
    auto product = plan(statement.template use<K>());
    product.run();
    const auto first = statement.result().tensor().clone();
    for (int round = 0; round < 2; ++round) {
      product.run();
      const auto& again = statement.result().tensor();
      ASSERT_EQ(again.nnz(), first.nnz());
      for (std::int64_t e = 0; e < first.nnz(); ++e)
        ASSERT_EQ(again.values().data()[e], first.values().data()[e]) << e;
    }
  };
  const Tensor<double, CSR<>> A({300, 300});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).generic().deterministic();
  check(ListedNest{}, statement);
  check(ListedNest{}, statement.workspace(hash_workspace));
  check(MergedNest{}, statement);
  check(DenseNest{}, statement.workspace(dense_workspace));
}

TEST(KnownPlaces, AreThoseOfTensorsOfHigherOrders) {
  Entries<double, 3> some({40, 30, 20}, 400);
  for (std::int64_t e = 0; e < 400; ++e)
    some.set(e, {e * 7 % 40, e * 11 % 30, e * 13 % 20}, static_cast<double>(e % 9 - 4));
  const auto T = assemble<CSF<3>>(some);
  const auto C = spread<CSR<>>(40, 25, 5, 3);
  const auto check = [&](const auto& R) {
    const std::remove_cvref_t<decltype(R)> expected(R.extents());
    const auto statement = assign(R(k, l, j), T(i, k, l) * C(i, j));
    const auto again = assign(expected(k, l, j), T(i, k, l) * C(i, j));
    EXPECT_GT(check_plan<ListedNest>(statement, again, C), 0);
    EXPECT_GT(check_plan<MergedNest>(statement, again, T), 0);
    EXPECT_GT(check_plan<DenseNest>(statement, again, C), 0);
  };
  check(Tensor<double, CSF<3>>({30, 20, 25}));
  check(Tensor<double, COO<3>>({30, 20, 25}));
  check(Tensor<double, Format<Map<Dim<0>, Dim<1>, Dim<2>>, Dense, Compressed<>, Compressed<>>>({30, 20, 25}));
}

template <class Value>
void check_values() {
  const auto B = convert<CSC<>, Value>(spread<CSC<>>(30, 40, 3, 7));
  const auto C = convert<CSR<>, Value>(spread<CSR<>>(40, 50, 4, 3));
  const Tensor<Value, CSR<>> A({30, 50}), expected({30, 50});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).generic();
  const auto again = assign(expected(i, j), B(i, k) * C(k, j)).reorder(k, i, j).generic();
  check_plan<ListedNest>(statement, again, C);
  check_plan<MergedNest>(statement, again, C);
  check_plan<DenseNest>(statement, again, C);
}
TEST(KnownPlaces, TakeValuesOfAnyType) {
  check_values<float>();
  check_values<std::int8_t>();
  check_values<std::int64_t>();
  check_values<Kokkos::complex<double>>();
}

TEST(KnownPlaces, StartFromTheZeroOfASemiring) {
  const auto B = spread<CSC<>>(30, 40, 3, 7);
  const auto C = spread<CSR<>>(40, 50, 4, 3);
  const Tensor<double, CSR<>> A({30, 50}), expected({30, 50});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).over(MinPlus{});
  const auto again = assign(expected(i, j), B(i, k) * C(k, j)).reorder(k, i, j).over(MinPlus{});
  EXPECT_GT(check_plan<ListedNest>(statement, again, B), 0);
}

TEST(KnownPlaces, TakeWhatSeveralTermsGiveInAnySchedule) {
  const auto B = spread<CSC<>>(60, 40, 3, 7), E = spread<CSC<>>(60, 40, 2, 5);
  const auto C = spread<CSR<>>(40, 50, 4, 3);
  const auto D = convert<CSR<>>(B);
  const Tensor<double, CSR<>> A({60, 50}), expected({60, 50});
  check_plan<ListedNest>(assign(A(i, j), B(i, k) * C(k, j) + E(i, k) * C(k, j)).reorder(k, i, j),
                         assign(expected(i, j), B(i, k) * C(k, j) + E(i, k) * C(k, j)).reorder(k, i, j), E);
  check_plan<ListedNest>(
      assign(A(i, j), D(i, k) * C(k, j)).reorder(i, k, j).fuse(i, k, p).pos(p, q, D(i, k)).split(q, r, s, 4),
      assign(expected(i, j), D(i, k) * C(k, j))
          .reorder(i, k, j)
          .fuse(i, k, p)
          .pos(p, q, D(i, k))
          .split(q, r, s, 4),
      D);
}

TEST(KnownPlaces, GiveTheSameBitsForAnyNumberOfThreads) {
  const auto B = spread<CSC<>>(3'000, 3'000, 20, 7919);
  const auto C = spread<CSR<>>(3'000, 3'000, 20, 104'729);
  make_inexact(B);
  const Tensor<double, CSR<>, OpenMP> many({3'000, 3'000});
  const Tensor<double, CSR<>, Serial> one({3'000, 3'000});
  auto by_many = plan(assign(many(i, j), B(i, k) * C(k, j)).reorder(k, i, j).use<MergedNest>());
  const auto B1 = B.move_to<Serial>();
  const auto C1 = C.move_to<Serial>();
  auto by_one = plan(assign(one(i, j), B1(i, k) * C1(k, j)).reorder(k, i, j).use<MergedNest>());
  for (int run = 0; run < 2; ++run) {
    by_many.run();
    by_one.run();
  }
  EXPECT_GT(by_many.bytes(), 0);
  expect_same_entries(many.move_to<Serial>(), one);
}

TEST(KnownPlaces, AreNotKeptBeyondTheMemoryLimit) {
  const auto B = spread<CSC<>>(300, 300, 60, 7).move_to<Serial>();
  const auto C = spread<CSR<>>(300, 300, 60, 13).move_to<Serial>();
  const Tensor<double, CSR<>, Serial> A({300, 300}), expected({300, 300});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).use<DenseNest>();
  constexpr std::int64_t inserts = 300 * 60 * 60;
  const auto limited = statement.on(Resources<Serial>().within(4 * inserts - 1));
  auto product = plan(limited);
  assign(expected(i, j), B(i, k) * C(k, j)).reorder(k, i, j).use<DenseNest>().run();
  for (int run = 0; run < 3; ++run) {
    product.run();
    EXPECT_EQ(product.bytes(), 0);
    expect_same_entries(A, expected);
  }
  auto unlimited = plan(statement);
  unlimited.run();
  EXPECT_EQ(unlimited.bytes(), 0) << "places are found in the second run";
  unlimited.run();
  EXPECT_GE(unlimited.bytes(), 4 * inserts);
}

TEST(KnownPlaces, KeepToTheMemoryLimitWhileTheyAreFound) {
  constexpr std::int64_t n = 100, m = 106, inserts = n * m * n;
  const auto B = convert<CSC<>>(spread<CSR<>>(n, m, m, 1)).move_to<Serial>();
  const auto C = spread<CSR<>>(m, n, n, 1).move_to<Serial>();
  const Tensor<double, CSR<>, Serial> A({n, n});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).workspace(dense_workspace);
  const auto check = [&](std::int64_t bound, std::int64_t held) {
    pool().release();
    const PeakMemory peak;
    auto product = plan(statement.on(Resources<Serial>().within(bound)));
    for (int run = 0; run < 3; ++run) product.run();
    EXPECT_LE(peak.bytes(), bound);
    EXPECT_EQ(product.bytes(), held);
  };
  check(5'000'000, 0);
  check(12'000'000, 4 * inserts);
}

TEST(KnownPlaces, OfNothing) {
  const Tensor<double, CSC<>> B({30, 40});
  const Tensor<double, CSR<>> C({40, 50});
  const Tensor<double, CSR<>> A({30, 50});
  auto product = plan(assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).use<MergedNest>());
  for (int run = 0; run < 3; ++run) product.run();
  EXPECT_EQ(A.nnz(), 0);
  validate(A);
}

}  // namespace
}  // namespace sporos::test::known_places
