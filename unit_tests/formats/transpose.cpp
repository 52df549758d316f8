// SPDX-License-Identifier: Apache-2.0
/// @file transpose.cpp
/// Modes in another order: relabelled without a copy, and in the same format.
#include <cstddef>
#include <cstdint>
#include <sporos/formats/transpose.hpp>
#include <vector>

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

/// Row r of the transpose is column r: its coordinates ascend, and it has the values of the column.
template <class F>
void expect_transposed(const Tensor<double, F>& t) {
  const auto out = transpose(t);
  validate(out);
  ASSERT_EQ(out.nnz(), t.nnz());
  const auto of_t = t.template level<1>(), of_out = out.template level<1>();
  std::vector<std::int64_t> next(static_cast<std::size_t>(t.extent(1)), 0);
  std::int64_t wrong = 0;
  for (std::int64_t row = 0; row < t.extent(0); ++row)
    for (auto q = of_t.positions.data()[row]; q < of_t.positions.data()[row + 1]; ++q) {
      const auto column = of_t.coordinates.data()[q];
      const auto place = of_out.positions.data()[column] + next[static_cast<std::size_t>(column)]++;
      wrong += of_out.coordinates.data()[place] != row || out.values().data()[place] != t.values().data()[q];
    }
  EXPECT_EQ(wrong, 0);
}

/// @param stride  of the columns from row to row: rows are near each other where it is 1
template <class F>
auto large_matrix(std::int64_t rows, std::int64_t columns, std::int64_t each, std::int64_t stride) {
  Entries<double, 2> out({rows, columns}, rows * each);
  for (std::int64_t e = 0; e < rows * each; ++e)
    out.set(e, {e / each, (e / each * stride + e % each * 3) % columns}, static_cast<double>(e % 1013));
  return assemble<F>(out);
}

TEST(Transpose, OfLargeMatricesOnAllThreads) {
  expect_transposed(large_matrix<CSR<>>(30'000, 20'000, 5, 7919));
  expect_transposed(large_matrix<CSR<>>(150'000, 150'000, 4, 1));     // more than the caches hold, near
  expect_transposed(large_matrix<CSR<>>(150'000, 140'000, 4, 7919));  // and not near
  expect_transposed(large_matrix<CSR<std::int32_t, std::int64_t>>(40'000, 7, 3, 1));
  expect_transposed(large_matrix<CSR<>>(40'000, 1'000'000, 2, 7919));  // more columns than nonzeros
  expect_transposed(large_matrix<CSR<>>(3, 100'000, 90'000, 1));       // fewer rows than chunks
}

TEST(Transpose, OfUnorderedRows) {
  using Shuffled = Format<Map<Dim<0>, Dim<1>>, Dense, Compressed<std::int64_t, std::int32_t, false, true>>;
  const auto entries = random_entries<double, 2>({40, 30}, 200, 1);
  const auto by_columns = convert<CSC<>>(assemble<Shuffled>(entries));
  EXPECT_NO_THROW(validate(by_columns));
  EXPECT_TRUE(same(table(by_columns), table(entries)));
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
