// SPDX-License-Identifier: Apache-2.0
/// @file component_runs.hpp
/// Components of accumulation arrays, and sorted runs of them: in an array of their own, or by their indices.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../core/value.hpp"
#include "component_sort.hpp"

namespace sporos::detail {

/// A value with the key of its coordinates.
template <class Key, class T>
struct KeyedValue {
  Key key;
  T value;
};

/// Whether components are sorted together with their values, which takes less memory and is faster for small
/// values; otherwise their indices are sorted.
template <class Keys, class T>
inline constexpr bool sorts_values = Keys::prefix_is_key && sizeof(T) <= sizeof(std::uint64_t);

/// A ComponentRun of items that hold their values.
template <class T>
struct ValueRun {
  const SortItem<T>* items;
  std::int64_t count;

  std::int64_t size() const { return count; }
  std::uint64_t key(std::int64_t n) const { return items[n].key; }
  const T& value(std::int64_t n) const { return items[n].payload; }
};

inline std::uint32_t index_of(std::uint32_t index) { return index; }
inline std::uint32_t index_of(const SortItem<std::uint32_t>& item) { return item.payload; }

/// A ComponentRun of components that stay where they are, while their indices are in order.
/// @tparam Item  an index, or a SortItem with an index
template <class Key, class T, class Item>
struct IndexRun {
  const KeyedValue<Key, T>* components;
  const Item* items;
  std::int64_t count;

  std::int64_t size() const { return count; }
  const Key& key(std::int64_t n) const { return components[index_of(items[n])].key; }
  const T& value(std::int64_t n) const { return components[index_of(items[n])].value; }
};

/// Sums the values of items with equal keys, which are neighbours.
/// @return the number of items that remain
template <class T>
std::int64_t reduce(SortItem<T>* items, std::int64_t count) {
  if (count == 0) return 0;
  std::int64_t last = 0;
  for (std::int64_t n = 1; n < count; ++n) {
    if (items[n].key == items[last].key)
      items[last].payload = plus(items[last].payload, items[n].payload);
    else
      items[++last] = items[n];
  }
  return last + 1;
}

/// Sorts indices by the keys of their components. Equal keys are in ascending order of their indices.
/// @param items  the indices, with the prefixes of the components' keys
/// @param spare  memory for the same number of items
template <class Keys, class T>
void sort_indices(const KeyedValue<typename Keys::key_type, T>* components, SortItem<std::uint32_t>* items,
                  SortItem<std::uint32_t>* spare, std::int64_t count) {
  using Item = SortItem<std::uint32_t>;
  ComponentSort<std::uint32_t>::sort(items, spare, count);
  if constexpr (!Keys::prefix_is_key) {
    const auto before = [components](const Item& a, const Item& b) {
      const auto& first = components[a.payload].key;
      const auto& second = components[b.payload].key;
      return first < second || (first == second && a.payload < b.payload);
    };
    for (std::int64_t n = 0; n < count;) {
      std::int64_t end = n + 1;
      bool sorted = true;
      for (; end < count && items[end].key == items[n].key; ++end)
        sorted = sorted && before(items[end - 1], items[end]);
      if (!sorted) std::sort(items + n, items + end, before);
      n = end;
    }
  }
}

}  // namespace sporos::detail
