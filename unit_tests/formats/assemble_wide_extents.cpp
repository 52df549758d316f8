// SPDX-License-Identifier: Apache-2.0
/// @file assemble_wide_extents.cpp
/// Tensors whose coordinates need 64 bits, and more than 64 together.
#include <limits>
#include <sporos/formats/assemble.hpp>
#include <sporos/formats/at.hpp>
#include <sporos/formats/named.hpp>

#include "round_trip.hpp"

namespace sporos::test {
namespace {

constexpr std::int64_t huge = std::int64_t{1} << 40;

TEST(WideExtents, ADcsrOfTwoToTheFortySquared) {
  const auto entries = random_entries<double, 2>({huge, huge}, 50000, 1);
  expect_round_trip<DCSR<std::int64_t, std::int64_t>, DCSC<std::int64_t, std::int64_t>>(entries);
  const auto t = assemble<DCSR<std::int64_t, std::int64_t>>(entries);
  EXPECT_LT(t.bytes(), 10'000'000);
}

TEST(WideExtents, DuplicatesAndNeighboursAtTheFarCorner) {
  const Entries<double, 2> entries({huge, huge}, {{{huge - 1, huge - 1}, 1.0},
                                                  {{0, huge - 1}, 2.0},
                                                  {{huge - 1, huge - 2}, 3.0},
                                                  {{huge - 1, huge - 1}, 4.0},
                                                  {{huge - 2, huge - 1}, 5.0},
                                                  {{0, 0}, 6.0}});
  using F = DCSR<std::int64_t, std::int64_t>;
  const auto t = assemble<F>(entries);
  EXPECT_TRUE(same(table(t), table(entries)));
  EXPECT_EQ(at(t, {huge - 1, huge - 1}), 5.0);
  EXPECT_TRUE(same(table(assemble<F>(entries, Duplicates::last)), table(entries, Duplicates::last)));
  EXPECT_TRUE(contains(message_of<FormatError>([&] { assemble<F>(entries, Duplicates::error); }),
                       "(1099511627775, 1099511627775) stands 2 times"));
}

TEST(WideExtents, TensorsWhoseCoordinatesNeedMoreThanTwoWords) {
  const auto entries = random_entries<double, 4>({huge, huge / 3, huge, 5}, 3000, 2);
  expect_round_trip<CSF<4, ModeOrder<3, 2, 0, 1>, std::int64_t, std::int64_t>,
                    COO<4, ModeOrder<0, 1, 2, 3>, std::int64_t, std::int64_t>>(entries);
}

TEST(WideExtents, BlocksOfHugeMatrices) {
  using F =
      Format<Map<Quotient<0, 2>, Quotient<1, 3>, Remainder<0, 2>, Remainder<1, 3>>,
             Compressed<std::int64_t, std::int64_t>, Compressed<std::int64_t, std::int64_t>, Dense, Dense>;
  expect_round_trip<F, COO<2, RowMajor, std::int64_t, std::int64_t>>(
      random_entries<double, 2>({huge, huge}, 2000, 3));
}

TEST(WideExtents, TheLargestExtentOfAll) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const Entries<double, 2> entries({most, most},
                                   {{{most - 1, 0}, 1.0}, {{0, most - 1}, 2.0}, {{most - 1, 0}, 3.0}});
  using F = DCSR<std::int64_t, std::int64_t>;
  const auto t = assemble<F>(entries);
  EXPECT_TRUE(same(table(t), table(entries)));
  EXPECT_TRUE(same(table(convert<DCSC<std::int64_t, std::int64_t>>(t)), table(entries)));
}

TEST(WideExtents, LongRowsAreSortedByTheirColumns) {
  auto entries = random_entries<double, 2>({3, huge}, 60000, 5);
  for (std::int64_t e = 0; e < entries.size(); ++e)
    entries.coordinates[0].data()[e] *= huge / 4;  // three rows, far apart
  entries.extents = {huge, huge};
  expect_round_trip<DCSR<std::int64_t, std::int64_t>, DCSC<std::int64_t, std::int64_t>>(entries);
  using Wide = std::int64_t;
  expect_round_trip<CSF<3, ModeOrder<0, 1, 2>, Wide, Wide>, CSF<3, ModeOrder<1, 0, 2>, Wide, Wide>>([&] {
    auto out = random_entries<double, 3>({2, huge, huge}, 40000, 6);
    for (std::int64_t e = 0; e < out.size(); ++e) out.coordinates[1].data()[e] = (e % 5) * (huge / 5);
    return out;
  }());
}

TEST(WideExtents, RepeatedEntriesKeepTheirOrder) {
  using F = COO<2, RowMajor, std::int64_t, std::int64_t, false>;
  const std::int64_t count = 30000;
  Entries<double, 2> entries({huge, huge}, count);
  for (std::int64_t e = 0; e < count; ++e)
    entries.set(e, {e % 7 * (huge / 7), e % 3 * (huge / 3)}, static_cast<double>(e));
  const auto kept = assemble<F>(entries, Duplicates::keep);
  ASSERT_EQ(kept.nnz(), count);
  for (std::int64_t q = 1; q < count; ++q) {
    const auto before = static_cast<std::size_t>(q - 1), at = static_cast<std::size_t>(q);
    if (kept.level<0>().coordinates(before) == kept.level<0>().coordinates(at) &&
        kept.level<1>().coordinates(before) == kept.level<1>().coordinates(at)) {
      ASSERT_LT(kept.values()(before), kept.values()(at)) << q;
    }
  }
  EXPECT_TRUE(same(table(assemble<F>(entries, Duplicates::last)), table(entries, Duplicates::last)));
}

TEST(WideExtents, SmallCoordinatesOfHugeExtentsFitOneWord) {
  auto entries = random_entries<double, 2>({1000, 1000}, 5000, 4);
  entries.extents = {huge, huge};
  expect_round_trip<DCSR<std::int64_t, std::int64_t>, COO<2, ColumnMajor, std::int64_t, std::int64_t>>(
      entries);
}

}  // namespace
}  // namespace sporos::test
