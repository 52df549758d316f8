// SPDX-License-Identifier: Apache-2.0
/// @file fiber_products.hpp
/// Products over compressed fibers of small integers, and the same computed by a loop over all entries.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <sporos/sporos.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../kernel_of.hpp"
#include "../same_bytes.hpp"

namespace sporos::test {

using namespace sporos::indices;

inline constexpr std::string_view outermost = MttkrpByFibers<true>::name;
inline constexpr std::string_view inner = MttkrpByFibers<false>::name;

/// Entries at random places with small integer values, so that sums are exact in any order.
template <class Value, int N>
Entries<Value, N> some_entries(const Extents<N>& extents, std::int64_t count, unsigned seed) {
  std::mt19937 draw(seed);
  std::map<Extents<N>, Value> at;
  for (std::int64_t e = 0; e < count; ++e) {
    Extents<N> coordinate{};
    for (std::size_t mode = 0; mode < coordinate.size(); ++mode)
      coordinate[mode] = static_cast<std::int64_t>(draw()) % extents[mode];
    at[coordinate] = static_cast<Value>(static_cast<int>(draw() % 9) - 4);
  }
  Entries<Value, N> out(extents, static_cast<std::int64_t>(at.size()));
  std::int64_t e = 0;
  for (const auto& [coordinate, value] : at) out.set(e++, coordinate, value);
  return out;
}

template <class Value, class Space>
Tensor<Value, DenseMatrix<>, Space> some_rows(std::int64_t rows, std::int64_t columns, unsigned seed) {
  std::mt19937 draw(seed);
  Tensor<Value, DenseMatrix<>, Space> out({rows, columns});
  for (std::size_t at = 0; at < out.values().extent(0); ++at)
    out.values()(at) = static_cast<Value>(static_cast<int>(draw() % 5) - 2);
  return out;
}

/// The statement of the product at level D.
template <int D, class M, class T, class U>
auto product_of(const M& to, const T& t, const U& u) {
  if constexpr (T::order == 3) {
    if constexpr (D == 0) return assign(to(i, r), t(i, k, l) * u[1](k, r) * u[2](l, r));
    if constexpr (D == 1) return assign(to(k, r), t(i, k, l) * u[0](i, r) * u[2](l, r));
    if constexpr (D == 2) return assign(to(l, r), t(i, k, l) * u[0](i, r) * u[1](k, r));
  } else if constexpr (T::order == 4) {
    if constexpr (D == 0) return assign(to(i, r), t(i, k, l, m) * u[1](k, r) * u[2](l, r) * u[3](m, r));
    if constexpr (D == 1) return assign(to(k, r), t(i, k, l, m) * u[0](i, r) * u[2](l, r) * u[3](m, r));
    if constexpr (D == 2) return assign(to(l, r), t(i, k, l, m) * u[0](i, r) * u[1](k, r) * u[3](m, r));
    if constexpr (D == 3) return assign(to(m, r), t(i, k, l, m) * u[0](i, r) * u[1](k, r) * u[2](l, r));
  } else {
    return assign(to(i, r), t(i, k, l, m, n) * u[1](k, r) * u[2](l, r) * u[3](m, r) * u[4](n, r));
  }
}

/// Every element as the sum over all entries.
template <class Value, int N, class U>
Tensor<Value, DenseMatrix<>> by_entries(const Entries<Value, N>& entries, const U& u, std::size_t d,
                                        std::int64_t columns) {
  Tensor<Value, DenseMatrix<>> out({entries.extents[d], columns});
  for (std::int64_t e = 0; e < entries.size(); ++e) {
    const auto coordinate = entries.coordinate(e);
    for (std::int64_t c = 0; c < columns; ++c) {
      Value term = entries.values(static_cast<std::size_t>(e));
      for (std::size_t mode = 0; mode < coordinate.size(); ++mode)
        if (mode != d) term *= u[mode].values()(static_cast<std::size_t>(coordinate[mode] * columns + c));
      out.values()(static_cast<std::size_t>(coordinate[d] * columns + c)) += term;
    }
  }
  return out;
}

/// Compares kernel and reference at level D, also when adding to old values; and the nest.
template <int D, class F, class Space, bool WithNest = false, class Value>
void compare(const Entries<Value, F::order>& entries, std::int64_t columns) {
  SCOPED_TRACE(text("level ", D, ", ", columns, " columns, extents ", to_string(entries.extents)));
  constexpr int N = F::order;
  const auto t = assemble<F, Space>(entries);
  std::array<Tensor<Value, DenseMatrix<>, Space>, static_cast<std::size_t>(N)> u;
  for (std::size_t mode = 0; mode < u.size(); ++mode)
    u[mode] = some_rows<Value, Space>(entries.extents[mode], columns, static_cast<unsigned>(mode + 1));
  const Tensor<Value, DenseMatrix<>, Space> made({entries.extents[D], columns});
  // Old values must be overwritten.
  Kokkos::deep_copy(made.values(), Value(7));
  const auto statement = product_of<D>(made, t, u);
  ASSERT_EQ(kernel_of(statement), D == 0 ? outermost : inner);
  statement.run();
  if constexpr (WithNest) {
    const Tensor<Value, DenseMatrix<>, Space> nest(made.extents());
    product_of<D>(nest, t, u).generic().run();
    EXPECT_TRUE(same_bytes(made, nest));
  }
  const auto expected = by_entries(entries, u, D, columns);
  for (std::size_t at = 0; at < expected.values().extent(0); ++at)
    ASSERT_EQ(made.values()(at), expected.values()(at)) << at;
  statement.accumulate().run();
  for (std::size_t at = 0; at < expected.values().extent(0); ++at)
    ASSERT_EQ(made.values()(at), 2 * expected.values()(at)) << at;
}

template <class F, class Space, bool WithNest, class Value, int... D>
void compare_levels(const Entries<Value, F::order>& entries, std::int64_t columns,
                    std::integer_sequence<int, D...>) {
  (compare<D, F, Space, WithNest>(entries, columns), ...);
}
template <class F, class Space, bool WithNest = false, class Value>
void compare_all(const Entries<Value, F::order>& entries, std::int64_t columns) {
  compare_levels<F, Space, WithNest>(entries, columns, std::make_integer_sequence<int, F::order>{});
}

}  // namespace sporos::test
