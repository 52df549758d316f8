// SPDX-License-Identifier: Apache-2.0
/// @file transpose.cpp
/// Modes in another order: relabelled without a copy, and in the same format.
#include <sporos/formats/transpose.hpp>

#include "tensor_formats.hpp"

namespace sporos::test {
namespace {

template <int... Modes>
Entries<double, sizeof...(Modes)> permuted(const Entries<double, sizeof...(Modes)>& entries) {
  Entries<double, sizeof...(Modes)> out = entries;
  out.extents = {entries.extents[Modes]...};
  out.coordinates = {entries.coordinates[Modes]...};
  return out;
}

TEST(Transpose, ExchangesRowsAndColumns) {
  const auto entries = random_entries<double, 2>({40, 30}, 200, 1);
  const auto check = [&](const auto& t) {
    const auto transposed = transpose(t);
    static_assert(std::is_same_v<decltype(transposed), std::decay_t<decltype(t)> const>);
    EXPECT_NO_THROW(validate(transposed));
    EXPECT_EQ(transposed.extents(), (Extents<2>{30, 40}));
    EXPECT_TRUE(same(table(transposed), table(permuted<1, 0>(entries))));
    EXPECT_TRUE(same(table(transpose(transposed)), table(entries)));
  };
  check(assemble<CSR<>>(entries));
  check(assemble<DCSC<>>(entries));
  check(assemble<COO<2>>(entries));
  check(assemble<BCSR<2, 3>>(entries));
  check(assemble<DenseMatrix<>>(entries));
}

TEST(Permute, BringsModesIntoTheOrderAskedFor) {
  const auto entries = random_entries<double, 3>({6, 5, 4}, 60, 2);
  const auto t = assemble<CSF<3>>(entries);
  const auto u = permute<2, 0, 1>(t);
  EXPECT_EQ(u.extents(), (Extents<3>{4, 6, 5}));
  EXPECT_NO_THROW(validate(u));
  EXPECT_TRUE(same(table(u), table(permuted<2, 0, 1>(entries))));
  EXPECT_TRUE(same(table(permute<1, 2, 0>(u)), table(entries)));
  EXPECT_TRUE(same(table(permute<0, 1, 2>(t)), table(entries)));
  EXPECT_TRUE(
      same(table(permute<1, 2, 0>(assemble<CooOfFibers>(entries))), table(permuted<1, 2, 0>(entries))));
}

TEST(Relabel, SeesACsrMatrixAsItsTransposeInCsc) {
  const auto t = assemble<CSR<>>(random_entries<double, 2>({40, 30}, 200, 1));
  const auto u = relabel<1, 0>(t);
  static_assert(std::is_same_v<decltype(u)::format_type, CSC<>>);
  EXPECT_EQ(u.values().data(), t.values().data());
  EXPECT_EQ(u.level<1>().coordinates.data(), t.level<1>().coordinates.data());
  EXPECT_NO_THROW(validate(u));
  EXPECT_TRUE(same(table(u), table(transpose(t))));
}

TEST(Relabel, RenamesTheModesOfAnyFormat) {
  static_assert(std::is_same_v<RelabelledFormat<CSF<3>, 2, 0, 1>, CSF<3, ModeOrder<1, 2, 0>>>);
  static_assert(std::is_same_v<RelabelledFormat<BCSR<2, 3>, 1, 0>,
                               Format<Map<Quotient<1, 2>, Quotient<0, 3>, Remainder<1, 2>, Remainder<0, 3>>,
                                      Dense, Compressed<>, Dense, Dense>>);
  const auto entries = random_entries<double, 3>({6, 5, 4}, 60, 2);
  const auto u = relabel<2, 0, 1>(assemble<Blocks3>(entries));
  EXPECT_NO_THROW(validate(u));
  EXPECT_TRUE(same(table(u), table(permuted<2, 0, 1>(entries))));
}

}  // namespace
}  // namespace sporos::test
