// SPDX-License-Identifier: Apache-2.0
/// @file sum_of_nonzeros.hpp
/// Computes one element of a product from the nonzeros of its row alone. Kernels that also multiply zeros do
/// this again for results that are not finite, since a zero times an infinity is NaN.
#pragma once

#include <cstdint>

namespace sporos::gpu::detail {

/// The sum of a row of A, a CsrView, times of_b(column of A).
template <class Sum, class A, class OfB>
__device__ Sum sum_of_row(const A& a, std::int64_t row, const OfB& of_b) {
  Sum sum = 0;
  const auto end = static_cast<std::int64_t>(a.positions[row + 1]);
  for (auto q = static_cast<std::int64_t>(a.positions[row]); q < end; ++q)
    sum +=
        static_cast<Sum>(a.values[q]) * static_cast<Sum>(of_b(static_cast<std::int64_t>(a.coordinates[q])));
  return sum;
}

/// The sum at (row, column).
/// @tparam Product  has `a`, a CsrView, and `b`, whose rows are `stride` elements apart
template <class Sum, class Product>
__device__ Sum sum_of_nonzeros(const Product& product, std::int64_t row, std::int64_t column) {
  return sum_of_row<Sum>(product.a, row,
                         [&](std::int64_t inner) { return product.b[inner * product.stride + column]; });
}

}  // namespace sporos::gpu::detail
