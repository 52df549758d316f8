// SPDX-License-Identifier: Apache-2.0
/// @file convert_n_of_m.cpp
/// Conversions of N:M and 2:4 matrices: to every format, and back from each.
#include <sporos/formats/prune.hpp>

#include "matrix_formats.hpp"

namespace sporos::test {
namespace {

/// What an N:M format stores besides the entries of a matrix are zeros, which may become entries of a sparse
/// format: only what is not zero is compared.
template <TensorFormat Windowed>
void expect_conversions_there_and_back() {
  for (const auto& entries : matrices()) {
    const auto pruned = prune<Windowed>(assemble<CSR<>>(entries));
    const auto expected = table(pruned);
    for_each_matrix_format([&]<TensorFormat Other>() {
      SCOPED_TRACE(format_name<Windowed>() + " to " + format_name<Other>() + ", " +
                   to_string(entries.extents));
      const auto there = convert<Other>(pruned);
      EXPECT_NO_THROW(validate(there));
      EXPECT_EQ(there.extents(), entries.extents);
      EXPECT_TRUE(same(table(there), expected));
      const auto back = convert<Windowed>(there);
      EXPECT_NO_THROW(validate(back));
      EXPECT_TRUE(same(table(back), expected));
    });
  }
}

TEST(ConvertMatrices, FromTwoFourToEveryFormatAndBack) { expect_conversions_there_and_back<TwoFour>(); }
TEST(ConvertMatrices, FromUnitsToEveryFormatAndBack) { expect_conversions_there_and_back<NM<2, 4, 3>>(); }
TEST(ConvertMatrices, FromWindowsAlongRowsToEveryFormatAndBack) {
  expect_conversions_there_and_back<NM<3, 5, 2, 1>>();
}
TEST(ConvertMatrices, FromElementsToEveryFormatAndBack) { expect_conversions_there_and_back<NM<1, 8>>(); }

}  // namespace
}  // namespace sporos::test
