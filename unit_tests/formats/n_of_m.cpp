// SPDX-License-Identifier: Apache-2.0
/// @file n_of_m.cpp
/// N:M sparsity: the level, the formats made of it, and which units pruning keeps.
#include <cmath>
#include <limits>
#include <sporos/core/components.hpp>
#include <sporos/core/semiring.hpp>
#include <sporos/formats/at.hpp>
#include <sporos/formats/print.hpp>
#include <sporos/formats/prune.hpp>
#include <sporos/formats/storage_bound.hpp>
#include <sporos/formats/validate.hpp>
#include <sporos/formats/wrap.hpp>
#include <sstream>

#include "reference.hpp"

namespace sporos::test {
namespace {

using RowMajorMatrix = DenseMatrix<>;

/// N:M formats along both modes, with and without units, and with indices of every width.
template <class Visit>
void for_each_windowed_format(const Visit& visit) {
  visit.template operator()<NM<2, 4>>();
  visit.template operator()<NM<2, 4, 3>>();
  visit.template operator()<NM<1, 2, 1, 1>>();
  visit.template operator()<NM<3, 5, 2, 1>>();
  visit.template operator()<NM<4, 4, 2>>();
  visit.template operator()<NM<1, 1, 4>>();
  visit.template operator()<NM<7, 16, 5>>();
  visit.template operator()<NM<200, 256>>();
  visit.template operator()<TwoFour>();
  visit.template
  operator()<Format<Map<Quotient<1, 9>, Dim<0>, Remainder<1, 9>>, Dense, Dense, NofM<4, 9, 4>>>();
}

/// Whole windows, windows and units that reach beyond the matrix, less than a window, and nothing.
const std::vector<Extents<2>> shapes = {{8, 12}, {16, 15}, {7, 5}, {1, 1}, {3, 70},
                                        {70, 3}, {0, 4},   {4, 0}, {0, 0}, {513, 34}};

Tensor<double, RowMajorMatrix> random_dense(const Extents<2>& extents, std::uint64_t seed) {
  return convert<RowMajorMatrix>(
      assemble<CSR<>>(random_entries<double, 2>(extents, extents[0] * extents[1], seed)));
}

/// Which window and unit of a format a coordinate is in, by the definition of N:M sparsity.
template <TensorFormat F>
std::pair<Extents<2>, std::int64_t> window_of(const Extents<2>& coordinate) {
  constexpr auto place = static_cast<std::size_t>(detail::place_of_windows<F>);
  const auto at = F::level_coordinates(coordinate);
  Extents<2> window{};
  for (std::size_t k = 0; k < place; ++k) window[k] = at[k];
  return {window, at[place]};
}

/// What pruning must keep: the units of largest magnitude, chosen by sorting.
template <TensorFormat F>
Table<double, 2> pruned_by_sorting(const Tensor<double, RowMajorMatrix>& dense, Magnitude by) {
  using Level = typename F::template level<detail::place_of_windows<F>>;
  std::map<Extents<2>, std::map<std::int64_t, double>> windows;
  for (const auto& [coordinate, value] : table(dense)) {
    const auto [window, unit] = window_of<F>(coordinate);
    windows[window][unit] += by == Magnitude::l1 ? std::abs(value) : value * value;
  }
  std::map<Extents<2>, std::map<std::int64_t, bool>> kept;
  for (const auto& [window, units] : windows) {
    std::vector<std::pair<double, std::int64_t>> order;
    for (const auto& [unit, size] : units) order.emplace_back(-size, unit);
    std::sort(order.begin(), order.end());
    for (std::size_t at = 0; at < order.size() && at < Level::kept; ++at)
      kept[window][order[at].second] = true;
  }
  Table<double, 2> out;
  for (const auto& [coordinate, value] : table(dense)) {
    const auto [window, unit] = window_of<F>(coordinate);
    if (kept[window].count(unit)) out.emplace_back(coordinate, value);
  }
  return out;
}

TEST(NofMLevels, PruningKeepsTheLargestUnitsOfEachWindow) {
  for (const auto& extents : shapes)
    for (const Magnitude by : {Magnitude::l1, Magnitude::l2})
      for_each_windowed_format([&]<TensorFormat F>() {
        SCOPED_TRACE(format_name<F>() + ", " + to_string(extents));
        const auto dense = random_dense(extents, 7);
        const auto pruned = prune<F>(dense, {.by = by});
        EXPECT_NO_THROW(validate(pruned));
        EXPECT_TRUE(same(table(pruned), pruned_by_sorting<F>(dense, by)));
        EXPECT_TRUE(same(table(prune<F>(convert<CSC<>>(dense), {.by = by})), table(pruned)));
      });
}

/// Values whose squares are zero or infinite.
TEST(NofMLevels, PruningByL2ComparesVerySmallAndVeryLargeDoubles) {
  for (const double size : {1e-200, 1.0, 1e200}) {
    SCOPED_TRACE(size);
    const Tensor<double, DenseMatrix<>> dense({4, 2});
    const double of_rows[4][2] = {{1, 2}, {3, 1}, {2, 3}, {-1, 0}};
    for (std::int64_t at = 0; at < 8; ++at) dense.values()(at) = size * of_rows[at / 2][at % 2];
    const Table<double, 2> expected{{{2, 0}, 2 * size}, {{2, 1}, 3 * size}};
    EXPECT_TRUE(same(table(prune<NM<1, 4, 2>>(dense, {.by = Magnitude::l2})), expected));
  }
}

TEST(NofMLevels, ConversionsGoThereAndBack) {
  for (const auto& extents : shapes)
    for_each_windowed_format([&]<TensorFormat F>() {
      SCOPED_TRACE(format_name<F>() + ", " + to_string(extents));
      const auto pruned = prune<F>(random_dense(extents, 3));
      const auto expected = table(pruned);
      const auto expect_same = [&](const auto& there) {
        EXPECT_NO_THROW(validate(there));
        EXPECT_TRUE(same(table(there), expected));
        const auto back = convert<F>(there);
        EXPECT_NO_THROW(validate(back));
        EXPECT_TRUE(same(table(back), expected));
      };
      expect_same(convert<CSR<>>(pruned));
      expect_same(convert<BCSR<2, 3>>(pruned));
      expect_same(convert<RowMajorMatrix>(pruned));
      expect_same(convert<NM<4, 4>>(pruned));
      expect_same(pruned.clone());
      for (const auto& [coordinate, value] : expected) EXPECT_EQ(at(pruned, coordinate), value);
    });
}

TEST(NofMLevels, AnEmptyTensorHasWholeWindows) {
  for (const auto& extents : shapes)
    for_each_windowed_format([&]<TensorFormat F>() {
      const Tensor<double, F> empty(extents);
      EXPECT_NO_THROW(validate(empty));
      EXPECT_TRUE(table(empty).empty());
      const StorageBound bound = storage_bound<F, double>(extents, 1);
      EXPECT_EQ(bound.bytes, empty.bytes());
      EXPECT_EQ(bound.values, empty.nnz());
    });
}

TEST(NofMLevels, ValuesAndIndicesHaveTheSizesOfTheFormat) {
  const auto pruned = prune<NM<2, 4, 3>>(random_dense({8, 6}, 1));
  EXPECT_EQ(pruned.nnz(), 8 * 2 / 4 * 6);
  EXPECT_EQ(pruned.level<2>().indices.extent(0), 8u * 2 / 4 * (6 / 3));
  const auto two_four = prune<TwoFour>(random_dense({8, 16}, 1));
  EXPECT_EQ(two_four.nnz(), 8 * 16 / 2);
  EXPECT_EQ(two_four.level<2>().indices.extent(0), 8u * 16 / 2 * 2 / 8);
}

TEST(NofMLevels, ComponentsHaveRoles) {
  const auto expect = [](const auto& t, std::string_view type_of_indices, std::int64_t bytes_of_indices) {
    const std::vector<Component> parts = components(t);
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts[0].role, Role::metadata);
    EXPECT_EQ(parts[0].level, 2);
    EXPECT_EQ(parts[0].name, "level 2 indices");
    EXPECT_EQ(parts[0].type, type_of_indices);
    EXPECT_EQ(parts[0].bytes, bytes_of_indices);
    EXPECT_EQ(parts[0].data, t.template level<2>().indices.data());
    EXPECT_EQ(parts[1].role, Role::values);
    EXPECT_EQ(parts[1].level, -1);
    EXPECT_EQ(parts[1].count, t.nnz());
    EXPECT_EQ(parts[1].data, t.values().data());
    EXPECT_EQ((component<Role::metadata, std::uint8_t>(t)), parts[0].data);
    EXPECT_EQ((component<Role::values, double>(t)), parts[1].data);
    EXPECT_EQ(parts[0].bytes + parts[1].bytes, t.bytes());
  };
  // Values [k N / M, n] and a byte for each kept unit; 2 bits for each kept value of 2:4.
  expect(prune<NM<2, 4, 3>>(random_dense({8, 6}, 1)), "uint8", 8 * 2 / 4 * 6 / 3);
  expect(prune<NM<3, 5, 2, 1>>(random_dense({4, 10}, 1)), "uint8", 10 * 3 / 5 * 4 / 2);
  expect(prune<TwoFour>(random_dense({8, 16}, 1)), "uint8", 8 * 16 / 2 * 2 / 8);
  const auto of_dense = components(random_dense({8, 6}, 1));
  ASSERT_EQ(of_dense.size(), 1u);
  EXPECT_EQ(of_dense[0].role, Role::dense);
  const auto message =
      message_of<FormatError>([] { (void)component<Role::metadata, std::uint8_t>(random_dense({8, 6}, 1)); });
  EXPECT_TRUE(contains(message, "Dense(d0), Dense(d1)"));
  EXPECT_TRUE(contains(message, "uint8 whose role is metadata"));
}

TEST(NofMLevels, TooManyEntriesOfAWindowAreRefusedByItsNumber) {
  const auto full = random_dense({8, 12}, 5);
  const auto message = message_of<FormatError>([&] { (void)convert<NM<2, 4>>(full); });
  EXPECT_TRUE(contains(message, "window 0"));
  EXPECT_TRUE(contains(message, "more than 2 of 4"));
  EXPECT_TRUE(contains(message, "prune"));
  const Entries<double, 2> entries({4, 3}, {{{0, 1}, 1.0}, {{1, 1}, 1.0}, {{3, 1}, 1.0}});
  EXPECT_TRUE(contains(message_of<FormatError>([&] { (void)assemble<NM<2, 4>>(entries); }), "window 1"));
}

TEST(NofMLevels, APrintedTreeShowsPadding) {
  const Entries<double, 2> entries({2, 8}, {{{0, 1}, 5.0}, {{0, 6}, 6.0}, {{0, 7}, 7.0}, {{1, 0}, 8.0}});
  std::ostringstream out;
  print(out, assemble<TwoFour>(entries));
  EXPECT_EQ(out.str(),
            "Tensor<double, TwoFour> 2 x 8, 8 stored values, 66 B\n"
            "Dense(d0), Dense(d1 / 4), 2 of 4 in 2 bits(d1 % 4)\n"
            "root\n"
            "├─ 0\n"
            "│  ├─ 0\n"
            "│  │  ├─ 0: 0\n"
            "│  │  └─ 1: 5\n"
            "│  └─ 1\n"
            "│     ├─ 2: 6\n"
            "│     └─ 3: 7\n"
            "└─ 1\n"
            "   ├─ 0\n"
            "   │  ├─ 0: 8\n"
            "   │  └─ 1: 0\n"
            "   └─ 1\n"
            "      ├─ 0: 0\n"
            "      └─ 1: 0\n");
}

TEST(NofMLevels, FormatsAreNamed) {
  EXPECT_EQ((format_name<NM<2, 4>>()), "NM<2, 4>");
  EXPECT_EQ((format_name<NM<2, 4, 32>>()), "NM<2, 4, 32>");
  EXPECT_EQ((format_name<NM<1, 2, 1, 1>>()), "NM<1, 2, 1, 1>");
  EXPECT_EQ((format_name<NM<3, 5, 2, 1>>()), "NM<3, 5, 2, 1>");
  EXPECT_EQ(format_name<TwoFour>(), "TwoFour");
}

TEST(NofMLevels, IllegalIndicesAreFound) {
  const auto fault = [](std::size_t at, std::uint8_t index) {
    const auto t = prune<NM<2, 4>>(random_dense({8, 3}, 9));
    t.level<2>().indices(at) = index;
    return message_of<FormatError>([&] { validate(t); });
  };
  const auto t = prune<NM<2, 4>>(random_dense({8, 3}, 9));
  const auto& indices = t.level<2>().indices;
  EXPECT_TRUE(contains(fault(1, indices(0)), "stands twice below parent 0"));
  EXPECT_TRUE(contains(fault(5, 4), "position 5 is 4"));
  EXPECT_TRUE(contains(fault(7, 255), "position 7 is 255"));
  EXPECT_TRUE(contains(fault(2, 3), indices(3) == 3 ? "stands twice" : "follows 3"));
  auto levels = t.levels();
  std::get<2>(levels).indices = zeroed_array<std::uint8_t>("short", 3);
  EXPECT_TRUE(contains(
      message_of<FormatError>([&] { validate(Tensor<double, NM<2, 4>>({8, 3}, levels, t.values())); }),
      "3 bytes of indices, but 6 windows take 12"));
}

TEST(NofMLevels, ValuesBeyondTheMatrixAreFound) {
  // Rows 4 to 7 of a window that ends at row 5.
  const auto t = prune<NM<3, 4>>(random_dense({6, 1}, 9));
  EXPECT_EQ(t.level<2>().indices(5), 2);
  t.values()(5) = 1;
  EXPECT_TRUE(contains(message_of<FormatError>([&] { validate(t); }), "outside of 6 x 1"));
}

TEST(NofMLevels, AMaskDecidesWhatIsKept) {
  const auto dense = random_dense({8, 6}, 4);
  const Entries<double, 2> entries({8, 6}, {{{1, 0}, 1.0}, {{3, 2}, 1.0}, {{3, 1}, 1.0}, {{6, 5}, 1.0}});
  const auto mask = assemble<CSR<>>(entries);
  const auto pruned = prune<NM<2, 4, 3>>(dense, mask);
  EXPECT_NO_THROW(validate(pruned));
  Table<double, 2> expected;
  for (const auto& [coordinate, one] : table(mask))
    if (const double value = at(dense, coordinate); value != 0) expected.emplace_back(coordinate, value);
  EXPECT_TRUE(same(table(pruned), expected));
  // Both units of the mask stand in the pattern of the first window, zeros among their values.
  EXPECT_EQ(pruned.level<2>().indices(0), 1);
  EXPECT_EQ(pruned.level<2>().indices(1), 3);
  EXPECT_TRUE(contains(message_of<FormatError>([&] { (void)prune<NM<1, 4, 3>>(dense, mask); }),
                       "window 0 of the mask keeps more than 1 of 4"));
  const auto narrow = assemble<CSR<>>(Entries<double, 2>({8, 5}, {}));
  EXPECT_TRUE(contains(message_of<ShapeError>([&] { (void)prune<NM<2, 4>>(dense, narrow); }), "8 x 5"));
}

TEST(NofMLevels, WhatIsKeptCanBeScaled) {
  const auto dense = random_dense({12, 5}, 4);
  const auto plain = prune<NM<2, 3>>(dense), scaled = prune<NM<2, 3>>(dense, {.scale = true});
  for (std::size_t at = 0; at < plain.values().extent(0); ++at)
    EXPECT_EQ(scaled.values()(at), plain.values()(at) * 1.5);
}

TEST(NofMLevels, UnitsWithANaNAreKept) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Entries<double, 2> entries({4, 1}, {{{0, 0}, 1e300}, {{1, 0}, nan}, {{2, 0}, 5.0}, {{3, 0}, -7.0}});
  const auto pruned = prune<NM<2, 4>>(assemble<CSR<>>(entries));
  EXPECT_EQ(pruned.level<2>().indices(0), 0);
  EXPECT_EQ(pruned.level<2>().indices(1), 1);
  EXPECT_TRUE(std::isnan(pruned.values()(1)));
}

TEST(NofMLevels, HoldValuesOfEveryType) {
  const auto dense = random_dense({9, 7}, 6);
  const auto expect = [&]<class Value>(Value) {
    const auto pruned = prune<NM<2, 4, 2>>(convert<CSR<>, Value>(dense));
    const auto expected = table(convert<CSR<>, Value>(prune<NM<2, 4, 2>>(dense)));
    EXPECT_TRUE(same(table(pruned), expected)) << value_name<Value>();
  };
  expect(float{});
  expect(half{});
  expect(bfloat16{});
  expect(std::int8_t{});
  expect(std::uint64_t{});
  expect(Kokkos::complex<float>{});
}

}  // namespace
}  // namespace sporos::test
