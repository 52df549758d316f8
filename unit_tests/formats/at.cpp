// SPDX-License-Identifier: Apache-2.0
/// @file at.cpp
/// Single values by their coordinate.
#include <map>
#include <sporos/formats/at.hpp>

#include "matrix_formats.hpp"

namespace sporos::test {
namespace {

TEST(At, FindsEveryValueAndZeroElsewhere) {
  const auto entries = random_entries<double, 2>({13, 17}, 60, 1);
  std::map<Extents<2>, double> expected;
  for (const auto& [coordinate, value] : table(entries)) expected[coordinate] = value;
  for_each_matrix_format([&]<TensorFormat F>() {
    const auto t = assemble<F>(entries);
    for (std::int64_t i = 0; i < 13; ++i)
      for (std::int64_t j = 0; j < 17; ++j)
        ASSERT_EQ(at(t, {i, j}), (expected[{i, j}])) << format_name<F>() << " (" << i << ", " << j << ")";
  });
}

TEST(At, SumsWhatStandsSeveralTimes) {
  const Entries<double, 2> entries({4, 4}, {{{1, 2}, 1.0}, {{3, 3}, 2.0}, {{1, 2}, 4.0}, {{1, 1}, 8.0}});
  EXPECT_EQ(at(assemble<RepeatedCoo>(entries), {1, 2}), 5.0);
}

TEST(At, SearchesLevelsWithoutOrder) {
  using Unordered = Format<Map<Dim<0>, Dim<1>>, Dense, Compressed<std::int64_t, std::int32_t, false, true>>;
  auto t = assemble<Unordered>(Entries<double, 2>({2, 5}, {{{1, 0}, 1.0}, {{1, 2}, 2.0}, {{1, 4}, 3.0}}));
  std::swap(t.level<1>().coordinates(0), t.level<1>().coordinates(2));
  EXPECT_EQ(at(t, {1, 4}), 1.0);
  EXPECT_EQ(at(t, {1, 2}), 2.0);
  EXPECT_EQ(at(t, {1, 1}), 0.0);

  using UnorderedCoo = Format<Map<Dim<0>, Dim<1>>, Compressed<std::int64_t, std::int32_t, false, false>,
                              Singleton<std::int32_t, false, true>>;
  auto u = assemble<UnorderedCoo>(Entries<double, 2>({9, 9}, {{{1, 0}, 1.0}, {{1, 2}, 2.0}, {{7, 4}, 3.0}}));
  std::swap(u.level<0>().coordinates(0), u.level<0>().coordinates(2));
  std::swap(u.level<1>().coordinates(0), u.level<1>().coordinates(2));
  EXPECT_EQ(at(u, {7, 4}), 1.0);
  EXPECT_EQ(at(u, {1, 2}), 2.0);
  EXPECT_EQ(at(u, {1, 0}), 3.0);
  EXPECT_EQ(at(u, {7, 0}), 0.0);
}

TEST(At, CoordinatesOutsideAreRefused) {
  const Tensor<double, CSR<>> t({3, 4});
  EXPECT_TRUE(contains(message_of<ShapeError>([&] { at(t, {3, 0}); }), "(3, 0) lies outside of 3 x 4"));
  EXPECT_THROW(at(t, {0, -1}), ShapeError);
}

}  // namespace
}  // namespace sporos::test
