// SPDX-License-Identifier: Apache-2.0
/// @file dense_products.hpp
/// Random dense tensors, and products of matrices checked against sums in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sporos/sporos.hpp>
#include <type_traits>
#include <vector>

namespace sporos::test {

/// Values in [-1, 1) that no type represents by accident.
template <class Value, class F>
Tensor<Value, F> random_dense(const Extents<F::order>& extents, unsigned seed) {
  std::mt19937_64 draw(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  Tensor<Value, F> out(extents);
  for (std::int64_t at = 0; at < out.nnz(); ++at)
    out.values()(at) = static_cast<Value>(static_cast<accumulate_t<Value>>(number(draw)));
  return out;
}

/// Half the distance of neighbouring numbers, relative: the rounding error of a type.
template <class Value>
double rounding() {
  if constexpr (std::is_same_v<Value, half>)
    return std::ldexp(1.0, -11);
  else if constexpr (std::is_same_v<Value, bfloat16>)
    return std::ldexp(1.0, -8);
  else
    return std::numeric_limits<Value>::epsilon() / 2;
}

/// How many entries of a product A B, computed with values of type Value, are further from the sums in double
/// than rounding explains.
/// @param a       [m, k]
/// @param b       [k, n]
/// @param before  what the product was added to, if it was
/// @param result  [m, n]
/// @param of_term  how far each product of two values may be off, relative to it
template <class Value, class Out>
std::int64_t wrong_sums(const Tensor<double, DenseMatrix<>>& a, const Tensor<double, DenseMatrix<>>& b,
                        const Tensor<Out, DenseMatrix<>>* before, const Tensor<Out, DenseMatrix<>>& result,
                        double of_term = 0) {
  const std::int64_t m = a.extent(0), inner = a.extent(1), n = b.extent(1);
  using Sum = std::common_type_t<accumulate_t<Value>, accumulate_t<Out>>;
  const auto number = [](Out x) { return static_cast<double>(static_cast<accumulate_t<Out>>(x)); };
  std::int64_t wrong = 0;
  for (std::int64_t row = 0; row < m; ++row) {
    std::vector<double> sums(static_cast<std::size_t>(n)), sizes(static_cast<std::size_t>(n));
    for (std::int64_t p = 0; p < inner; ++p) {
      const double of_a = a.values()(row * inner + p);
      if (of_a == 0) continue;
      for (std::int64_t column = 0; column < n; ++column) {
        const double term = of_a * b.values()(p * n + column);
        sums[column] += term;
        sizes[column] += std::abs(term);
      }
    }
    for (std::int64_t column = 0; column < n; ++column) {
      const std::int64_t at = row * n + column;
      const double old = before != nullptr ? number(before->values()(at)) : 0;
      const double exact = sums[column] + old;
      const double bound =
          static_cast<double>(inner + 2) * 2 * rounding<Sum>() * (sizes[column] + std::abs(old)) +
          of_term * sizes[column] + rounding<Out>() * std::abs(exact) + 1e-7;
      wrong += !(std::abs(number(result.values()(at)) - exact) <= bound);
    }
  }
  return wrong;
}

}  // namespace sporos::test
