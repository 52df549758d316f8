// SPDX-License-Identifier: Apache-2.0
/// @file pattern.cpp
/// A pattern is told by every array of every level, and by the extents.
#include <sporos/formats/pattern.hpp>

#include "matrix_formats.hpp"

namespace sporos::test {
namespace {

TEST(APattern, IsThatOfItsCopiesAndOfNoOther) {
  const auto entries = random_unique_entries<double, 2>({9, 12}, 20, 1);
  auto moved = random_unique_entries<double, 2>({9, 12}, 20, 2);
  for_each_matrix_format([&]<TensorFormat F>() {
    SCOPED_TRACE(format_name<F>());
    const auto t = assemble<F>(entries);
    const detail::Pattern pattern(t);
    EXPECT_TRUE(pattern.is_of(t));
    EXPECT_TRUE(pattern.is_of(t.clone()));
    EXPECT_EQ(pattern.is_of(assemble<F>(moved)), F::is_dense);
    EXPECT_FALSE(pattern.is_of(Tensor<double, F>({9, 13})));
    EXPECT_EQ(pattern.is_of(Tensor<double, F>({9, 12})), F::is_dense);
  });
}

TEST(APattern, DoesNotDependOnValues) {
  const auto t = assemble<CSR<>>(random_entries<double, 2>({9, 12}, 20, 1));
  const detail::Pattern pattern(t);
  Kokkos::deep_copy(t.values(), 3.0);
  EXPECT_TRUE(pattern.is_of(t));
}

TEST(APattern, IsHeldAsItWas) {
  const auto t = assemble<DCSR<>>(random_entries<double, 2>({9, 12}, 20, 1));
  const detail::Pattern pattern(t);
  const auto other = t.clone();
  other.level<0>().coordinates(0) = 8;
  EXPECT_FALSE(pattern.is_of(other));
  t.replace(other.extents(), other.levels(), other.values());
  EXPECT_FALSE(pattern.is_of(t));
}

}  // namespace
}  // namespace sporos::test
