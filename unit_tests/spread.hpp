// SPDX-License-Identifier: Apache-2.0
/// @file spread.hpp
/// Matrices of small integers spread over their columns, whose products are exact in any order, values for
/// which they are not, and the comparison of tensors that were computed in different orders.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <sporos/sporos.hpp>

namespace sporos::test {

/// A matrix with `each` nonzeros in each row, of which some may have the same column.
template <class F>
auto spread(std::int64_t rows, std::int64_t columns, std::int64_t each, std::int64_t stride) {
  Entries<double, 2> out({rows, columns}, rows * each);
  for (std::int64_t e = 0; e < rows * each; ++e)
    out.set(e, {e / each, (e / each * stride + e % each * 17) % columns}, static_cast<double>(e % 13 - 6));
  return assemble<F>(out);
}

/// Gives a tensor values whose sums depend on the order in which they are added up.
template <class T>
void make_inexact(const T& tensor) {
  for (std::size_t at = 0; at < tensor.values().extent(0); ++at)
    tensor.values()(at) = 1.0 / static_cast<double>(at % 1009 + 3);
}

/// The tensor is valid, and stores the same coordinates and values.
template <class T>
void expect_same_entries(const T& made, const T& expected) {
  validate(made);
  ASSERT_EQ(made.nnz(), expected.nnz());
  const auto a = entries(made), b = entries(expected);
  ASSERT_EQ(a.size(), b.size());
  std::int64_t wrong = 0;
  for (std::int64_t e = 0; e < a.size(); ++e)
    wrong += a.coordinate(e) != b.coordinate(e) || a.values.data()[e] != b.values.data()[e];
  EXPECT_EQ(wrong, 0);
}

}  // namespace sporos::test
