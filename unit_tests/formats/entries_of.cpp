// SPDX-License-Identifier: Apache-2.0
/// @file entries_of.cpp
/// Entries taken out of tensors, and walks over parts of them.
#include <sporos/formats/assemble.hpp>
#include <sporos/formats/entries_of.hpp>

#include "matrix_formats.hpp"

namespace sporos::test {
namespace {

TEST(EntriesOf, EveryFormatGivesBackWhatItWasAssembledOf) {
  for (const auto& given : matrices()) {
    const auto expected = table(given);
    for_each_matrix_format([&]<TensorFormat F>() {
      const auto back = entries(assemble<F>(given));
      EXPECT_EQ(back.extents, given.extents);
      EXPECT_TRUE(same(table(back), expected)) << format_name<F>() << ", " << to_string(given.extents);
    });
  }
}

TEST(EntriesOf, StandInStorageOrder) {
  const auto given = random_entries<double, 2>({200, 300}, 40000, 2);
  const auto by_rows = entries(assemble<CSR<>>(given));
  const auto by_columns = entries(assemble<CSC<>>(given));
  for (std::int64_t e = 1; e < by_rows.size(); ++e) {
    ASSERT_LT(by_rows.coordinate(e - 1), by_rows.coordinate(e));
    const auto a = by_columns.coordinate(e - 1);
    const auto b = by_columns.coordinate(e);
    ASSERT_LT(std::pair(a[1], a[0]), std::pair(b[1], b[0]));
  }
}

TEST(EntriesOf, ZerosOfDenseLevelsAreLeftOutUnlessAskedFor) {
  const Entries<double, 2> given({3, 4}, {{{2, 1}, 5.0}, {{0, 3}, 7.0}});
  const auto dense = assemble<DenseMatrix<>>(given);
  EXPECT_EQ(entries(dense).size(), 2);
  EXPECT_EQ(entries(dense, Zeros::keep).size(), 12);
  const auto blocks = assemble<BCSR<2, 3>>(given);
  EXPECT_EQ(blocks.nnz(), 12);
  EXPECT_EQ(entries(blocks).size(), 2);
  // Two blocks of six values: (0, 3) to (1, 3), and (2, 0) to (2, 2); the others lie outside of 3 x 4.
  EXPECT_EQ(entries(blocks, Zeros::keep).size(), 5);
}

TEST(EntriesOf, ZerosOfSparseFormatsStayUnlessDropped) {
  const Entries<double, 2> given({3, 4}, {{{2, 1}, 0.0}, {{0, 3}, 7.0}});
  EXPECT_EQ(entries(assemble<CSR<>>(given)).size(), 2);
  EXPECT_EQ(entries(assemble<CSR<>>(given), Zeros::drop).size(), 1);
}

TEST(Walk, AnyPartVisitsJustItsPositions) {
  const auto given = random_entries<double, 2>({9, 11}, 25, 4);
  for_each_matrix_format([&]<TensorFormat F>() {
    const auto t = assemble<F>(given);
    const detail::Walk walk(t);
    std::vector<Extents<F::levels>> all;
    walk.visit_levels(0, t.nnz(), [&](const auto& at, std::int64_t q) {
      EXPECT_EQ(q, static_cast<std::int64_t>(all.size()));
      all.push_back(at);
    });
    ASSERT_EQ(static_cast<std::int64_t>(all.size()), t.nnz());
    for (std::int64_t begin = 0; begin <= t.nnz(); ++begin)
      for (std::int64_t end = begin; end <= t.nnz(); ++end) {
        std::int64_t next = begin;
        walk.visit_levels(begin, end, [&](const auto& at, std::int64_t q) {
          ASSERT_EQ(q, next);
          ASSERT_EQ(at, all[static_cast<std::size_t>(next)]);
          ++next;
        });
        ASSERT_EQ(next, end) << format_name<F>();
      }
  });
}

}  // namespace
}  // namespace sporos::test
