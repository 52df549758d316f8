// SPDX-License-Identifier: Apache-2.0
/// @file reference.hpp
/// The oracle for tensors and formats: lists of (coordinate, value), obvious and slow; and random entries.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <sporos/core/entries.hpp>
#include <sporos/core/tensor.hpp>
#include <sporos/formats/duplicates.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sporos::test {

/// The values of a tensor with their coordinates, in the order of the coordinates.
template <class Value, int Order>
using Table = std::vector<std::pair<Extents<Order>, Value>>;

/// Sorts a list and merges values at the same coordinate.
template <class Value, std::size_t Order>
auto merged(std::vector<std::pair<std::array<std::int64_t, Order>, Value>> list, Duplicates duplicates) {
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  decltype(list) out;
  for (std::size_t e = 0; e < list.size();) {
    auto sum = static_cast<accumulate_t<Value>>(list[e].second);
    std::size_t next = e + 1;
    for (; next < list.size() && list[next].first == list[e].first; ++next) {
      const auto x = static_cast<accumulate_t<Value>>(list[next].second);
      if (duplicates == Duplicates::sum) sum = plus(sum, x);
      if (duplicates == Duplicates::last) sum = x;
      if constexpr (!is_complex_v<Value>)
        if (duplicates == Duplicates::max) sum = std::max(sum, x);
      if (duplicates == Duplicates::keep) {
        out.emplace_back(list[e].first, static_cast<Value>(sum));
        sum = x;
      }
    }
    out.emplace_back(list[e].first, static_cast<Value>(sum));
    e = next;
  }
  return out;
}

/// What entries become once they are assembled.
template <class Value, int Order>
Table<Value, Order> table(const Entries<Value, Order>& entries, Duplicates duplicates = Duplicates::sum) {
  Table<Value, Order> list;
  for (std::int64_t e = 0; e < entries.size(); ++e)
    list.emplace_back(entries.coordinate(e), entries.values(static_cast<std::size_t>(e)));
  return merged(std::move(list), duplicates);
}

/// Whether a format stores values that no entry stands for.
template <TensorFormat F>
inline constexpr bool stores_padding = [] {
  if constexpr (F::levels == 0)
    return true;
  else
    return F::properties[static_cast<std::size_t>(F::levels - 1)].full || F::stores_padding;
}();

/// Descends the levels of a tensor using only the capabilities that they have.
template <int K, class View, class F, class List>
void collect(const View& view, const Extents<F::order>& extents, Extents<F::levels>& at, std::int64_t p,
             List& list) {
  if constexpr (K == F::levels) {
    const auto coordinate = F::coordinate(at);
    for (std::size_t mode = 0; mode < coordinate.size(); ++mode)
      if (coordinate[mode] >= extents[mode]) return;
    list.emplace_back(coordinate, view.values[p]);
  } else {
    const auto& level = view.template level<K>();
    auto& i = at[static_cast<std::size_t>(K)];
    if constexpr (CoordinateIterable<std::decay_t<decltype(level)>>) {
      const Bounds bounds = level.coord_bounds(p);
      for (i = bounds.begin; i < bounds.end; ++i)
        if (const Located q = level.locate(p, i); q.found)
          collect<K + 1, View, F>(view, extents, at, q.position, list);
    } else {
      const Bounds bounds = level.pos_bounds(p);
      for (std::int64_t q = bounds.begin; q < bounds.end; ++q) {
        i = static_cast<std::int64_t>(level.coord_at(q));
        collect<K + 1, View, F>(view, extents, at, q, list);
      }
    }
  }
}

/// What a tensor stores, without the zeros of dense levels and blocks; values at the same coordinate are
/// added unless `duplicates` says otherwise.
template <class Value, class F, class Space>
Table<Value, F::order> table(const Tensor<Value, F, Space>& t, Duplicates duplicates = Duplicates::sum) {
  Table<Value, F::order> list;
  Extents<F::levels> at{};
  const auto view = t.view();
  collect<0, decltype(view), F>(view, t.extents(), at, 0, list);
  if (stores_padding<F>) std::erase_if(list, [](const auto& entry) { return entry.second == Value{}; });
  return merged(std::move(list), duplicates);
}

/// Whether two tables are the same; otherwise, where they first differ.
template <class Value, std::size_t Order>
testing::AssertionResult same(const std::vector<std::pair<std::array<std::int64_t, Order>, Value>>& a,
                              const std::vector<std::pair<std::array<std::int64_t, Order>, Value>>& b) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t e = 0; e < common; ++e) {
    if (a[e].first != b[e].first)
      return testing::AssertionFailure() << "entry " << e << " stands at " << coordinate_text(a[e].first)
                                         << " and at " << coordinate_text(b[e].first);
    if (!(a[e].second == b[e].second))
      return testing::AssertionFailure() << "values at " << coordinate_text(a[e].first) << " differ";
  }
  if (a.size() != b.size())
    return testing::AssertionFailure() << a.size() << " entries and " << b.size() << " entries";
  return testing::AssertionSuccess();
}

/// A value from 1 to 9, or 1 for types without others: sums of a hundred of them are exact in every type.
template <class Value, class Random>
Value random_value(Random& random) {
  const int x = 1 + static_cast<int>(random() % 9);
  if constexpr (std::is_same_v<Value, bool>)
    return true;
  else if constexpr (is_complex_v<Value>)
    return Value(static_cast<typename Value::value_type>(x),
                 static_cast<typename Value::value_type>(random() % 5));
  else
    return static_cast<Value>(x);
}

/// Unsorted entries at random coordinates, some of which coincide.
template <class Value, int Order>
Entries<Value, Order> random_entries(const Extents<Order>& extents, std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (const auto extent : extents)
    if (extent == 0) count = 0;
  Entries<Value, Order> entries(extents, count);
  for (std::int64_t e = 0; e < count; ++e) {
    Extents<Order> coordinate{};
    for (std::size_t mode = 0; mode < coordinate.size(); ++mode)
      coordinate[mode] = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extents[mode]));
    entries.set(e, coordinate, random_value<Value>(random));
  }
  return entries;
}

/// Unsorted entries at distinct coordinates.
template <class Value, int Order>
Entries<Value, Order> random_unique_entries(const Extents<Order>& extents, std::int64_t count,
                                            std::uint64_t seed) {
  auto list = table(random_entries<Value, Order>(extents, count, seed), Duplicates::last);
  std::shuffle(list.begin(), list.end(), std::mt19937_64(seed + 1));
  Entries<Value, Order> entries(extents, static_cast<std::int64_t>(list.size()));
  for (std::size_t e = 0; e < list.size(); ++e)
    entries.set(static_cast<std::int64_t>(e), list[e].first, list[e].second);
  return entries;
}

/// The message of the error of type `Expected` that `run` throws; the test fails if it throws none.
template <class Expected, class Run>
std::string message_of(const Run& run) {
  try {
    run();
  } catch (const Expected& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another error: " << error.what();
    return {};
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

/// Whether a text contains another.
inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << '"' << text << "\" does not hold \"" << part << '"';
}

}  // namespace sporos::test
