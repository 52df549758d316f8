// SPDX-License-Identifier: Apache-2.0
/// @file drop.cpp
/// Sparse tensors without their small entries: which ones, in every format and type of value.
#include <sporos/formats/drop.hpp>

#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <random>

#include "matrix_formats.hpp"

namespace sporos::test {
namespace {

/// Entries with values from -2 to 2 in steps of a quarter, zeros among them.
Entries<double, 2> entries_of_all_sizes(const Extents<2>& extents, std::int64_t count, std::uint64_t seed) {
  auto list = random_entries<double, 2>(extents, count, seed);
  std::mt19937_64 random(seed);
  for (std::int64_t e = 0; e < list.size(); ++e)
    list.values(static_cast<std::size_t>(e)) = (static_cast<double>(random() % 17) - 8) / 4;
  return list;
}

template <class List>
List without_small(List list, double tolerance) {
  std::erase_if(list, [&](const auto& entry) { return std::abs(entry.second) <= tolerance; });
  return list;
}

TEST(Drop, LeavesOutSmallEntriesInEveryFormat) {
  for (const auto& list : {entries_of_all_sizes({7, 5}, 30, 1), entries_of_all_sizes({64, 66}, 2500, 2),
                           entries_of_all_sizes({700, 300}, 40000, 3), entries_of_all_sizes({5, 4}, 0, 4)}) {
    // What is expected depends on a format only in what becomes of duplicates.
    std::map<Duplicates, std::map<double, Table<double, 2>>> expected;
    for (const Duplicates duplicates : {Duplicates::sum, Duplicates::keep})
      for (const double tolerance : {0.0, 0.5, 0.6, 2.0, std::numeric_limits<double>::infinity()})
        expected[duplicates][tolerance] = without_small(table(list, duplicates), tolerance);
    for_each_matrix_format([&]<class F>() {
      if constexpr (!F::is_dense) {
        SCOPED_TRACE(format_name<F>());
        const auto t = assemble<F>(list);
        const auto of_each_value = default_duplicates<F>;
        for (const auto& [tolerance, left] : expected.at(of_each_value)) {
          const auto dropped = drop(t, tolerance);
          validate(dropped);
          EXPECT_EQ(dropped.extents(), t.extents());
          EXPECT_TRUE(same(table(dropped, of_each_value), left));
        }
        EXPECT_TRUE(same(table(drop(t), of_each_value), table(drop(t, 0), of_each_value)));
        EXPECT_TRUE(same(table(t, of_each_value), table(assemble<F>(list), of_each_value)));  // unchanged
      }
    });
  }
}

TEST(Drop, LeavesOutBlocksOfWhichNothingIsLeft) {
  const auto t = assemble<BCSR<2, 3>>(
      Entries<double, 2>({4, 6}, {{{0, 0}, 0.1}, {{1, 2}, -0.1}, {{2, 3}, 5.0}, {{3, 5}, 0.1}}));
  const auto dropped = drop(t, 0.1);
  EXPECT_EQ(t.nnz(), 12);
  EXPECT_EQ(dropped.nnz(), 6);
  EXPECT_TRUE(same(table(dropped), Table<double, 2>{{{2, 3}, 5.0}}));
}

TEST(Drop, KeepsNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto t = assemble<CSR<>>(
      Entries<double, 2>({2, 4}, {{{0, 0}, -0.0}, {{0, 1}, nan}, {{1, 2}, -infinity}, {{1, 3}, 1e-320}}));
  EXPECT_EQ(drop(t).nnz(), 3);
  const auto large = drop(t, infinity);
  ASSERT_EQ(large.nnz(), 1);
  EXPECT_TRUE(std::isnan(large.values()(0)));
}

template <class Value>
std::vector<Value> left_of(const std::vector<Value>& values, double tolerance) {
  Entries<Value, 1> list({100}, static_cast<std::int64_t>(values.size()));
  for (std::size_t e = 0; e < values.size(); ++e)
    list.set(static_cast<std::int64_t>(e), {static_cast<std::int64_t>(e)}, values[e]);
  const auto dropped = drop(assemble<SparseVector<>>(list), tolerance);
  return std::vector<Value>(dropped.values().data(), dropped.values().data() + dropped.nnz());
}

TEST(Drop, ComparesIntegersExactly) {
  using Signed = std::vector<std::int64_t>;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max(), two_53 = std::int64_t{1} << 53;
  EXPECT_EQ(left_of(Signed{-3, 2, 3, -2}, 2.9), (Signed{-3, 3}));
  EXPECT_EQ(left_of(Signed{two_53, two_53 + 1, -two_53 - 1}, static_cast<double>(two_53)),
            (Signed{two_53 + 1, -two_53 - 1}));
  EXPECT_EQ(left_of(Signed{most, -most - 1, 0}, std::ldexp(1.0, 62)), (Signed{most, -most - 1}));
  EXPECT_EQ(left_of(Signed{most, -most - 1}, std::ldexp(1.0, 63)), (Signed{}));
  EXPECT_EQ(left_of(std::vector<std::uint64_t>{~std::uint64_t{0}}, 1e30), (std::vector<std::uint64_t>{}));
  EXPECT_EQ(left_of(std::vector<std::int8_t>{-128, 127}, 127), (std::vector<std::int8_t>{-128}));
  EXPECT_EQ(left_of(std::vector<bool>{false, true}, 0.5), (std::vector<bool>{true}));
  EXPECT_EQ(left_of(std::vector<bool>{false, true}, 1), (std::vector<bool>{}));
}

TEST(Drop, ComparesTheModulusOfComplexNumbers) {
  using Complex = Kokkos::complex<double>;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(left_of(std::vector<Complex>{{3, -4}, {3, 4.5}}, 5), (std::vector<Complex>{{3, 4.5}}));
  EXPECT_EQ(left_of(std::vector<Complex>{{1e-200, 1e-200}}, 0).size(), 1u);  // whose square is 0
  EXPECT_EQ(left_of(std::vector<Complex>{{nan, 0}, {0, 0}}, 1).size(), 1u);
  EXPECT_EQ(left_of(std::vector<std::complex<float>>{{0, 2}, {0, 3}}, 2).size(), 1u);
}

TEST(Drop, ComparesNarrowFloatsWithoutRoundingTheTolerance) {
  EXPECT_EQ(left_of(std::vector<float>{0.1f, -0.2f}, 0.1).size(), 2u);  // 0.1f is more than 0.1
  EXPECT_EQ(left_of(std::vector<half>{half(0.5f), half(-0.25f)}, 0.25).size(), 1u);
  EXPECT_EQ(left_of(std::vector<bfloat16>{bfloat16(0.5f), bfloat16(-0.25f)}, 0.25).size(), 1u);
}

TEST(Drop, TakesExtentsWhoseCoordinatesDoNotFitInAKey) {
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  const auto t = assemble<DCSR<std::int64_t, std::int64_t>>(
      Entries<double, 2>({huge, huge}, {{{huge - 1, 5}, 1.0}, {{3, huge - 2}, 0.5}, {{huge - 1, 6}, -2.0}}));
  EXPECT_TRUE(same(table(drop(t, 0.5)), Table<double, 2>{{{huge - 1, 5}, 1.0}, {{huge - 1, 6}, -2.0}}));
}

TEST(Drop, RefusesWhatIsNoTolerance) {
  const auto t = assemble<CSR<>>(entries_of_all_sizes({3, 3}, 4, 1));
  EXPECT_TRUE(contains(message_of<RangeError>([&] { drop(t, -1); }), "-1: it must be at least 0"));
  EXPECT_THROW(drop(t, std::nan("")), RangeError);
}

TEST(Drop, RefusesToLeaveASingletonWithoutItsCoordinate) {
  using OneInARow = Format<Map<Dim<0>, Dim<1>>, Dense, Singleton<>>;
  const auto t = assemble<OneInARow>(Entries<double, 2>({2, 3}, {{{0, 2}, 1.0}, {{1, 0}, 0.5}}));
  EXPECT_EQ(drop(t, 0.1).nnz(), 2);
  EXPECT_TRUE(contains(message_of<FormatError>([&] { drop(t, 0.5); }), "exactly one coordinate below each"));
}

}  // namespace
}  // namespace sporos::test
