// SPDX-License-Identifier: Apache-2.0
/// @file inputs.hpp
/// Tensors for the tests on the GPU: small integers as values, so that sums are exact in any order.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <sporos/sporos.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sporos::test {

/// `count` entries with repeated coordinates, empty rows and small integers as values, whose sums are exact.
template <class Value, int Order>
Entries<Value, Order> random_entries(const Extents<Order>& extents, std::int64_t count, unsigned seed) {
  std::mt19937_64 draw(seed);
  Entries<Value, Order> out(extents, count);
  for (std::int64_t at = 0; at < count; ++at) {
    Extents<Order> coordinate{};
    for (std::size_t mode = 0; mode < coordinate.size(); ++mode)
      coordinate[mode] = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(extents[mode]));
    if (draw() % 4) coordinate[0] -= coordinate[0] % 3;  // two rows of three get few entries
    out.set(at, coordinate, static_cast<Value>(static_cast<int>(1 + draw() % 7)));
  }
  return out;
}

/// The same with row `heavy` having `in_row` entries more.
template <class Value>
Entries<Value, 2> entries_with_a_long_row(const Extents<2>& extents, std::int64_t count, std::int64_t heavy,
                                          std::int64_t in_row, unsigned seed) {
  const auto base = random_entries<Value, 2>(extents, count, seed);
  std::mt19937_64 draw(seed + 1);
  Entries<Value, 2> out(extents, count + in_row);
  for (std::int64_t at = 0; at < count; ++at)
    out.set(at, {base.coordinates[0](at), base.coordinates[1](at)}, base.values(at));
  for (std::int64_t at = 0; at < in_row; ++at)
    out.set(count + at, {heavy, static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(extents[1]))},
            static_cast<Value>(static_cast<int>(1 + draw() % 3)));
  return out;
}

template <class Value, class F>
Tensor<Value, F> filled(const Extents<F::order>& extents, unsigned seed) {
  std::mt19937_64 draw(seed);
  Tensor<Value, F> out(extents);
  for (std::int64_t at = 0; at < out.nnz(); ++at)
    out.values()(at) = static_cast<Value>(static_cast<int>(1 + draw() % 5));
  return out;
}

template <class T, class U>
void expect_equal_arrays(const T& host, const U& device, const char* what) {
  ASSERT_EQ(host.extent(0), device.extent(0)) << what;
  for (std::size_t at = 0; at < host.extent(0); ++at) ASSERT_EQ(host(at), device(at)) << what << " at " << at;
}

/// The arrays of a level in host memory, whatever it has, under their names.
template <class Level>
std::vector<std::pair<std::string, std::vector<std::int64_t>>> arrays_of(const Level& level) {
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> out;
  level.for_each_array([&](Role, const char* name, const auto& array) {
    auto& [of, elements] = out.emplace_back(name, array.extent(0));
    for (std::size_t at = 0; at < array.extent(0); ++at)
      elements[at] = static_cast<std::int64_t>(array.data()[at]);
  });
  return out;
}

/// Levels and values are equal, bit by bit.
template <class T, class U>
void expect_equal_tensors(const T& host, const U& device) {
  const auto back = device.template copy_to<Host>();
  ASSERT_EQ(host.extents(), back.extents());
  host.for_each_level([&](auto number, const auto& level) {
    const auto arrays = arrays_of(level), others = arrays_of(back.template level<decltype(number)::value>());
    ASSERT_EQ(arrays.size(), others.size());
    for (std::size_t array = 0; array < arrays.size(); ++array) {
      ASSERT_EQ(arrays[array].second.size(), others[array].second.size()) << arrays[array].first;
      for (std::size_t at = 0; at < arrays[array].second.size(); ++at)
        ASSERT_EQ(arrays[array].second[at], others[array].second[at]) << arrays[array].first << " at " << at;
    }
  });
  expect_equal_arrays(host.values(), back.values(), "values");
}

/// A result on the GPU whose old values must not show through.
template <class Value, class F>
Tensor<Value, F, Cuda> poisoned(const Extents<F::order>& extents) {
  Tensor<Value, F, Cuda> out(extents);
  Kokkos::deep_copy(out.values(), static_cast<Value>(-77));
  return out;
}

/// A copy of a tensor in the GPU's memory.
template <class T>
auto on_device(const T& t) {
  return t.template copy_to<Cuda>();
}

/// Runs a statement, made by `statement(result, operands...)`, in both places.
template <class F, class Value = double, class Make, class... Operands>
void expect_equals_host(const Extents<F::order>& extents, const Make& make, const Operands&... operands) {
  SCOPED_TRACE(F::str());
  const Tensor<Value, F> host(extents);
  make(host, operands...).generic().run();
  const Tensor<Value, F, Cuda> device(extents);
  const auto run = [&](const auto&... moved) { make(device, moved...).generic().run(); };
  run(on_device(operands)...);
  expect_equal_tensors(host, device);
}

}  // namespace sporos::test
