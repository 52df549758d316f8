// SPDX-License-Identifier: Apache-2.0
/// @file types.cpp
/// The product over compressed fibers in other types and indices.
#include "fiber_products.hpp"

namespace sporos::test {
namespace {

TEST(MttkrpOverFibers, IsTheSumOverEntriesOfFloats) {
  const auto entries = some_entries<float, 3>({11, 13, 17}, 300, 2);
  for (const std::int64_t columns : {1, 16, 63, 256}) compare_all<CSF<3>, OpenMP>(entries, columns);
}
TEST(MttkrpOverFibers, IsTheSumOverEntriesOfOtherIndices) {
  using Narrow = CSF<3, ModeOrder<0, 1, 2>, std::int32_t, std::int16_t>;
  using Wide = CSF<3, ModeOrder<0, 1, 2>, std::int64_t, std::int64_t>;
  const auto entries = some_entries<double, 3>({11, 13, 17}, 300, 3);
  compare_all<Narrow, OpenMP>(entries, 9);
  compare<1, Wide, OpenMP>(entries, 9);
}
TEST(MttkrpOverFibers, IsTheSumOverEntriesBelowADenseMode) {
  using F = Format<Map<Dim<0>, Dim<1>, Dim<2>>, Dense, Compressed<>, Compressed<>>;
  compare_all<F, OpenMP>(some_entries<double, 3>({40, 5, 6}, 50, 7), 17);
}

}  // namespace
}  // namespace sporos::test
