// SPDX-License-Identifier: Apache-2.0
/// @file matrix_formats.hpp
/// The formats of matrices whose product the tests of conversions run over, and the matrices that they run
/// on.
#pragma once

#include <cstdint>
#include <sporos/formats/convert.hpp>
#include <sporos/formats/format_name.hpp>
#include <sporos/formats/named.hpp>
#include <vector>

#include "compiled_once.hpp"
#include "reference.hpp"

/// The formats.
#define SPOROS_TEST_MATRIX_FORMATS(Each)                                                           \
  Each(DenseMatrix<RowMajor>) Each(DenseMatrix<ColumnMajor>) Each(CSR<>) Each(CSC<>) Each(DCSR<>)  \
      Each(DCSC<>) Each(COO<2>) Each(COO<2, ColumnMajor>) Each(test::RepeatedCoo) Each(BCSR<2, 3>) \
          Each(test::NarrowCsr) Each(test::DenseColumns) Each(test::RowPairs)

namespace sporos::test {

using NarrowCsr = CSR<std::int32_t, std::int32_t>;
using RepeatedCoo = COO<2, RowMajor, std::int64_t, std::int32_t, false>;
/// Columns that hold something, each dense.
using DenseColumns = Format<Map<Dim<1>, Dim<0>>, Compressed<>, Dense>;
/// Pairs of rows, the columns stored of each, and dense within.
using RowPairs = Format<Map<Quotient<0, 2>, Dim<1>, Remainder<0, 2>>, Compressed<>, Compressed<>, Dense>;

/// Calls visit.operator()<F>() for each of them.
template <class Visit>
void for_each_matrix_format(const Visit& visit) {
#define SPOROS_TEST_VISIT(...) visit.template operator()<__VA_ARGS__>();
  SPOROS_TEST_MATRIX_FORMATS(SPOROS_TEST_VISIT)
#undef SPOROS_TEST_VISIT
}

/// Matrices of all kinds: none and one, rows and columns alone, empty rows, and one that keeps several
/// threads busy.
inline std::vector<Entries<double, 2>> matrices() {
  return {random_entries<double, 2>({7, 5}, 30, 1),        random_entries<double, 2>({0, 0}, 0, 2),
          random_entries<double, 2>({0, 5}, 0, 3),         random_entries<double, 2>({4, 0}, 0, 4),
          random_entries<double, 2>({6, 3}, 0, 5),         random_entries<double, 2>({1, 1}, 1, 6),
          random_entries<double, 2>({1, 40}, 15, 7),       random_entries<double, 2>({40, 1}, 15, 8),
          random_entries<double, 2>({101, 73}, 90, 9),     random_entries<double, 2>({64, 66}, 2500, 10),
          random_entries<double, 2>({700, 300}, 40000, 11)};
}

/// Converts every matrix from `From` to every format, and compares.
template <TensorFormat From>
void expect_conversions_to_every_format() {
  for (const auto& entries : matrices()) {
    const auto from = assemble<From>(entries);
    const auto expected = table(entries);
    for_each_matrix_format([&]<TensorFormat To>() {
      SCOPED_TRACE(format_name<From>() + " to " + format_name<To>() + ", " + to_string(entries.extents));
      const auto to = convert<To>(from);
      EXPECT_NO_THROW(validate(to));
      EXPECT_EQ(to.extents(), entries.extents);
      EXPECT_TRUE(same(table(to), expected));
    });
  }
}

}  // namespace sporos::test

namespace sporos {
#ifndef SPOROS_TEST_COMPILES_HERE
SPOROS_TEST_MATRIX_FORMATS(SPOROS_TEST_COMPILED_ELSEWHERE)
#endif
}  // namespace sporos
