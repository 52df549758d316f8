// SPDX-License-Identifier: Apache-2.0
/// @file format.cpp
/// Formats as types: what they know of themselves, and coordinates there and back.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/core/format.hpp>
#include <sporos/core/index.hpp>
#include <sporos/formats/named.hpp>

namespace {

using namespace sporos;

TEST(AFormat, KnowsItsOrderAndProperties) {
  static_assert(CSR<>::order == 2 && CSR<>::levels == 2 && CSR<>::is_ordered && CSR<>::is_unique);
  static_assert(!CSR<>::is_dense && !CSR<>::is_blocked);
  static_assert(DenseMatrix<>::is_dense && Scalar::is_dense && Scalar::order == 0 && Scalar::levels == 0);
  static_assert(BCSR<2, 3>::order == 2 && BCSR<2, 3>::levels == 4 && BCSR<2, 3>::is_blocked);
  static_assert(COO<3>::is_unique && COO<3>::is_ordered);
  static_assert(!COO<2, ModeOrder<0, 1>, std::int64_t, std::int32_t, false>::is_unique);
  EXPECT_EQ(CSC<>::mode_of_level[0], 1);
  EXPECT_EQ(CSC<>::mode_of_level[1], 0);
  EXPECT_EQ(CSC<>::str(), "Dense(d1), Compressed(d0)");
}

TEST(ABlockedFormat, SplitsCoordinatesAndPutsThemTogether) {
  using F = BCSR<2, 3>;
  EXPECT_EQ(F::level_extents({5, 7}), (Extents<4>{3, 3, 2, 3}));
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = 0; j < 7; ++j) {
      const auto at = F::level_coordinates({i, j});
      EXPECT_EQ(at, (Extents<4>{i / 2, j / 3, i % 2, j % 3}));
      EXPECT_EQ(F::coordinate(at), (Extents<2>{i, j}));
    }
}

TEST(AModeOrder, PermutesTheLevels) {
  using F = CSF<3, ModeOrder<2, 0, 1>>;
  EXPECT_EQ(F::level_extents({10, 20, 30}), (Extents<3>{30, 10, 20}));
  EXPECT_EQ(F::level_coordinates({1, 2, 3}), (Extents<3>{3, 1, 2}));
  EXPECT_EQ(F::coordinate({3, 1, 2}), (Extents<3>{1, 2, 3}));
}

TEST(ANameList, KeepsItsOrder) {
  constexpr NameList names = NameList::of('i', 'k', 'j');
  static_assert(names.size == 3 && names[1] == 'k' && names.find('j') == 2 && !names.contains('l'));
  EXPECT_EQ(names.str(), "i, k, j");
  NameList more = names;
  more.push_new('k');
  EXPECT_EQ(more, names);
  more.push_new('l');
  EXPECT_EQ(more.str(), "i, k, j, l");
  EXPECT_EQ(NameList{}.str(), "");
}

}  // namespace
