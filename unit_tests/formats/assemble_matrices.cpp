// SPDX-License-Identifier: Apache-2.0
/// @file assemble_matrices.cpp
/// Matrices of every format from entries in every order, with duplicates of every policy.
#include <sporos/formats/assemble.hpp>

#include "matrix_formats.hpp"

namespace sporos::test {
namespace {

TEST(AssembleMatrices, SumsWhatStandsAtOneCoordinate) {
  for (const auto& entries : matrices()) {
    const auto expected = table(entries);
    for_each_matrix_format([&]<TensorFormat F>() {
      SCOPED_TRACE(format_name<F>() + ", " + to_string(entries.extents));
      const auto t = assemble<F>(entries);
      EXPECT_NO_THROW(validate(t));
      EXPECT_TRUE(same(table(t), expected));
    });
  }
}

TEST(AssembleMatrices, TakesTheLastOrTheLargestWhereAsked) {
  const auto entries = random_entries<double, 2>({9, 8}, 200, 3);
  for (const auto policy : {Duplicates::last, Duplicates::max, Duplicates::sum})
    for_each_matrix_format([&]<TensorFormat F>() {
      SCOPED_TRACE(format_name<F>());
      const auto t = assemble<F>(entries, policy);
      EXPECT_NO_THROW(validate(t));
      EXPECT_TRUE(same(table(t), table(entries, policy)));
    });
}

TEST(AssembleMatrices, TakesSortedEntriesAsTheyAre) {
  for (const auto& shuffled : matrices()) {
    const auto list = table(shuffled);
    Entries<double, 2> entries(shuffled.extents, static_cast<std::int64_t>(list.size()));
    for (std::size_t e = 0; e < list.size(); ++e)
      entries.set(static_cast<std::int64_t>(e), list[e].first, list[e].second);
    for_each_matrix_format(
        [&]<TensorFormat F>() { EXPECT_TRUE(same(table(assemble<F>(entries)), list)) << format_name<F>(); });
  }
}

TEST(AssembleMatrices, AcceptsEntriesThatStandAloneUnderTheErrorPolicy) {
  const auto entries = random_unique_entries<double, 2>({40, 50}, 300, 3);
  for_each_matrix_format([&]<TensorFormat F>() {
    EXPECT_TRUE(same(table(assemble<F>(entries, Duplicates::error)), table(entries))) << format_name<F>();
  });
}

TEST(AssembleMatrices, KeepsDuplicatesInTheOrderOfTheEntriesWhereTheFormatIsNotUnique) {
  const auto entries = random_entries<double, 2>({30, 20}, 20000, 5);
  const auto kept = assemble<RepeatedCoo>(entries);
  EXPECT_EQ(kept.nnz(), entries.size());
  EXPECT_NO_THROW(validate(kept));
  EXPECT_TRUE(same(table(kept, Duplicates::keep), table(entries, Duplicates::keep)));
  const auto summed = assemble<RepeatedCoo>(entries, Duplicates::sum);
  EXPECT_TRUE(same(table(summed, Duplicates::keep), table(entries)));
}

TEST(AssembleMatrices, KeepsZerosThatAreGiven) {
  const Entries<double, 2> entries({3, 3}, {{{2, 1}, 0.0}, {{0, 0}, 1.0}});
  EXPECT_EQ(assemble<CSR<>>(entries).nnz(), 2);
  EXPECT_EQ(assemble<COO<2>>(entries).nnz(), 2);
}

TEST(AssembleMatrices, LeavesTheEntriesAsTheyWere) {
  const auto entries = random_entries<double, 2>({30, 20}, 500, 5);
  const auto before = table(entries, Duplicates::keep);
  const auto t = assemble<CSC<>>(entries);
  t.values()(0) = -1;
  const auto sorted = sporos::entries(assemble<CSR<>>(entries));
  const auto u = assemble<CSR<>>(sorted);
  u.values()(0) = -1;
  EXPECT_TRUE(same(table(entries, Duplicates::keep), before));
  EXPECT_NE(sorted.values(0), -1);
}

TEST(AssembleMatrices, HandlesRowsOfVeryDifferentLength) {
  std::mt19937_64 random(8);
  Entries<double, 2> entries({50000, 300000}, 200000);
  for (std::int64_t e = 0; e < entries.size(); ++e) {
    const auto row = static_cast<std::int64_t>(random() % 2 ? 777 : random() % 50000);
    entries.set(e, {row, static_cast<std::int64_t>(random() % 300000)}, random_value<double>(random));
  }
  const auto expected = table(entries);
  EXPECT_TRUE(same(table(assemble<CSR<>>(entries)), expected));
  EXPECT_TRUE(same(table(assemble<CSC<>>(entries)), expected));
  EXPECT_TRUE(same(table(convert<CSC<>>(assemble<CSR<>>(entries))), expected));
  EXPECT_TRUE(same(table(convert<CSR<>>(assemble<CSC<>>(entries))), expected));
}

TEST(AssembleMatrices, HandlesOneCoordinateThatStandsVeryOften) {
  Entries<double, 2> entries({1000, 1000}, 100000);
  for (std::int64_t e = 0; e < entries.size(); ++e) entries.set(e, {e % 7 == 0 ? 3 : 500, 9}, 1.0);
  const auto t = assemble<DCSR<>>(entries);
  EXPECT_TRUE(same(table(t), table(entries)));
  EXPECT_EQ(t.nnz(), 2);
}

}  // namespace
}  // namespace sporos::test
