// SPDX-License-Identifier: Apache-2.0
/// @file bitmap.cpp
/// A level made outside the library is assembled, converted, wrapped, validated, printed and listed.
#include "bitmap.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <sporos/formats/pattern.hpp>
#include <sporos/formats/storage_bound.hpp>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "formats.hpp"
#define SPOROS_TEST_COMPILES_HERE  // what test_formats shares between its sources
#include "formats/matrix_formats.hpp"

namespace sporos::test {
namespace {

/// The columns of the level's printed tree.
Entries<double, 2> of_tree() { return {{3, 3}, {{{0, 1}, 5.0}, {{2, 0}, 7.0}, {{2, 2}, 9.0}}}; }

template <class Change>
std::string fault(const Change& change) {
  const auto t = assemble<BitmapRows>(of_tree());
  auto levels = t.levels();
  change(std::get<1>(levels));
  return message_of<FormatError>(
      [&] { validate(Tensor<double, BitmapRows>(t.extents(), levels, t.values())); });
}

TEST(ABitmap, IsTheTreeOfItsComment) {
  const auto t = assemble<BitmapRows>(of_tree());
  const auto& level = t.level<1>();
  EXPECT_EQ(level.bits(0), 0b010u);
  EXPECT_EQ(level.bits(1), 0b000u);
  EXPECT_EQ(level.bits(2), 0b101u);
  const std::vector<std::int64_t> ranks{0, 1, 1, 3};
  for (std::size_t at = 0; at < 4; ++at) EXPECT_EQ(level.ranks(at), ranks[at]);
  std::ostringstream out;
  print(out, t);
  EXPECT_EQ(out.str(),
            text("Tensor<double, Dense(d0), Bitmap(d1)> 3 x 3, 3 nonzeros, 80 B\n", "Dense(d0), Bitmap(d1)\n",
                 "root\n├─ 0\n│  └─ 1: 5\n├─ 1\n└─ 2\n", "   ├─ 0: 7\n   └─ 2: 9\n"));
}

TEST(ABitmap, LocatesWhatItStores) {
  const auto entries = random_entries<double, 2>({40, 200}, 1600, 1);
  const auto t = assemble<BitmapRows>(entries);
  const auto expected = assemble<CSR<>>(entries);
  const auto level = t.level<1>().view();
  for (std::int64_t p = 0; p < 40; ++p) {
    const Bounds segment = level.pos_bounds(p);
    EXPECT_EQ(segment, expected.level<1>().view().pos_bounds(p));
    std::int64_t next = segment.begin;
    for (std::int64_t i = 0; i < 200; ++i) {
      const Located q = level.locate(p, i);
      EXPECT_EQ(q.position, next);
      if (q.found) {
        EXPECT_EQ(level.coord_at(next++), i);
      }
      EXPECT_EQ(at(t, {p, i}), at(expected, {p, i}));
    }
    EXPECT_EQ(next, segment.end);
  }
}

template <TensorFormat F>
void expect_round_trip(const Entries<double, F::order>& entries) {
  SCOPED_TRACE(format_name<F>() + ", " + to_string(entries.extents));
  const auto expected = table(entries);
  const auto t = assemble<F>(entries);
  EXPECT_NO_THROW(validate(t));
  EXPECT_TRUE(same(table(t), expected));
  EXPECT_TRUE(same(table(assemble<F, Serial>(entries)), expected));
  const auto rows = convert<CSR<>>(t);
  EXPECT_TRUE(same(table(rows), expected));
  const auto back = convert<F>(rows);
  EXPECT_NO_THROW(validate(back));
  EXPECT_TRUE(same(table(back), expected));
  EXPECT_TRUE(same(table(convert<F>(convert<DenseMatrix<ColumnMajor>>(t))), expected));
  EXPECT_TRUE(same(table(t.clone()), expected));
  EXPECT_TRUE(same(table(assemble<F>(sporos::entries(t))), expected));
}

TEST(ABitmap, IsAssembledAndConvertedThereAndBack) {
  for (const auto& entries : matrices()) {
    expect_round_trip<BitmapRows>(entries);
    expect_round_trip<BitmapTree>(entries);
    expect_round_trip<BitmapBelowSparse>(entries);
    expect_round_trip<SparseBelowBitmap>(entries);
    expect_round_trip<BitmapBlocks>(entries);
  }
}

TEST(ABitmap, RefusesAnExtentThatItsCoordinatesCannotHold) {
  using Narrow = Format<Map<Dim<0>>, Bitmap<std::int64_t, std::int8_t>>;
  EXPECT_NO_THROW((Tensor<double, Narrow>({128})));
  EXPECT_THROW((Tensor<double, Narrow>({129})), RangeError);
  EXPECT_THROW(assemble<Narrow>(Entries<double, 1>({129}, {{{1}, 1.0}})), RangeError);
}

TEST(ABitmap, IsWrappedWithoutACopy) {
  std::vector<std::uint64_t> bits{0b010, 0b000, 0b101};
  std::vector<std::int64_t> ranks{0, 1, 1, 3};
  std::vector<double> values{5, 7, 9};
  const auto t = wrap<BitmapRows>({3, 3}, 3, bits.data(), ranks.data(), values.data());
  EXPECT_TRUE(same(table(t), table(of_tree())));
  EXPECT_EQ(t.level<1>().bits.data(), bits.data());
  EXPECT_THROW((wrap<BitmapRows>({3, 3}, 4, bits.data(), ranks.data(), values.data())), FormatError);
  const auto other = assemble<BitmapTree>(of_tree());
  const auto views = wrap<BitmapTree>({3, 3}, other.level<0>().bits, other.level<0>().ranks,
                                      other.level<1>().bits, other.level<1>().ranks, other.values());
  EXPECT_TRUE(same(table(views), table(of_tree())));
  ranks[1] = 2;
  EXPECT_THROW((wrap<BitmapRows>({3, 3}, 3, bits.data(), ranks.data(), values.data())), FormatError);
  EXPECT_NO_THROW((wrap<BitmapRows>(trusted, {3, 3}, 3, bits.data(), ranks.data(), values.data())));
}

TEST(ABitmap, ThatIsCorruptedIsFound) {
  EXPECT_NO_THROW(validate(assemble<BitmapRows>(of_tree())));
  EXPECT_TRUE(contains(fault([](auto& level) { level.ranks(1) = 2; }),
                       "level 1 (Bitmap, d1): word 0 has 1 bits set, but its ranks go from 0 to 2"));
  EXPECT_TRUE(contains(fault([](auto& level) { level.ranks(0) = 1; }), "ranks[0] is 1"));
  EXPECT_TRUE(contains(fault([](auto& level) { level.bits(2) = 0b1001; }),
                       "below parent 2 a bit is set that is not less than the extent 3"));
  EXPECT_TRUE(contains(fault([](auto& level) { level.bits = zeroed_array<std::uint64_t>("short", 2); }),
                       "it has 2 words, but 3 parents of extent 3 take 3"));
  EXPECT_TRUE(contains(fault([](auto& level) { level.ranks = zeroed_array<std::int64_t>("short", 3); }),
                       "it has 3 ranks, but 3 words"));
  EXPECT_TRUE(contains(fault([](auto& level) { level.stored = 2; }), "3 bits set, but 2 positions"));
}

TEST(ABitmap, HasComponentsOfMetadata) {
  const auto t = assemble<BitmapRows>(of_tree());
  const auto parts = components(t);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].name, "level 1 bits");
  EXPECT_EQ(parts[0].role, Role::metadata);
  EXPECT_EQ(parts[0].type, "uint64");
  EXPECT_EQ(parts[0].data, t.level<1>().bits.data());
  EXPECT_EQ(parts[1].name, "level 1 ranks");
  EXPECT_EQ(parts[1].role, Role::metadata);
  EXPECT_EQ(parts[1].count, 4);
  EXPECT_EQ(parts[2].role, Role::values);
  EXPECT_EQ(t.bytes(), 3 * 8 + 4 * 8 + 3 * 8);
  EXPECT_EQ((component<Role::metadata, std::uint64_t>(t)), parts[0].data);
  EXPECT_EQ((component<Role::metadata, std::int64_t>(t)), parts[1].data);
  EXPECT_THROW((void)(component<Role::metadata, std::int64_t>(t, 1)), FormatError);
}

TEST(ABitmap, IsDrawnAndTransposed) {
  const auto t = assemble<BitmapRows>(of_tree());
  EXPECT_TRUE(same(table(transpose(transpose(t))), table(t)));
  EXPECT_TRUE(same(table(transpose(t)), table(transpose(assemble<CSR<>>(of_tree())))));
  EXPECT_GT(spy_image(t).width(), 0);
}

TEST(ABitmap, BoundsItsBytes) {
  const auto t = assemble<BitmapTree>(random_entries<double, 2>({70, 200}, 1400, 1));
  const StorageBound bound = storage_bound<BitmapTree, double>(t.extents(), t.nnz());
  EXPECT_EQ(bound.values, t.nnz());
  EXPECT_LE(t.bytes(), bound.bytes);
}

TEST(ABitmap, HasAPatternOfItsOwn) {
  const auto t = assemble<BitmapRows>(of_tree());
  const sporos::detail::Pattern pattern(t);
  EXPECT_TRUE(pattern.is_of(t));
  EXPECT_TRUE(pattern.is_of(t.clone()));
  EXPECT_FALSE(pattern.is_of(
      assemble<BitmapRows>(Entries<double, 2>({3, 3}, {{{0, 2}, 5.0}, {{2, 0}, 7.0}, {{2, 2}, 9.0}}))));
}

}  // namespace
}  // namespace sporos::test
