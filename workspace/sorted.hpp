// SPDX-License-Identifier: Apache-2.0
/// @file sorted.hpp
/// The sorted workspace of order 1: a list that is sorted when its contents are handed out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "../core/extents.hpp"
#include "../core/memory_use.hpp"
#include "../core/value.hpp"
#include "policy.hpp"

namespace sporos {

struct SortedPolicy;

/// Gathers values by coordinate, in any order, and hands them out in ascending order. Its memory is
/// proportional to what is added, whatever the extent.
///
/// Values are listed as they come. Before a full list grows, it is sorted, and values with equal coordinates
/// are summed, so that it holds at most about twice as many entries as there are coordinates. Values of one
/// coordinate are summed in the order in which they were added.
template <class T>
class SortedWorkspace {
 public:
  static constexpr bool in_order = true, sums_in_order = true;

  SortedWorkspace() = default;
  SortedWorkspace(const SortedPolicy&, const Extents<1>&) {}

  /// values[c] += value
  void add(const Extents<1>& c, const T& value) {
    if (entries_.size() == limit_) make_room();
    entries_.push_back({c[0], value});
  }

  /// Calls take(coordinate, value) for each coordinate, ascending, and empties the workspace.
  template <class Take>
  void drain(const Take& take) {
    reduce();
    for (const Entry& entry : entries_) take(Extents<1>{entry.coordinate}, entry.value);
    entries_.clear();
  }

  /// An upper bound in bytes: the list doubles as it grows, the old one exists until it has been copied, and
  /// sorting takes at most as much again.
  static std::int64_t most_bytes(const SortedPolicy&, const Extents<1>&, std::int64_t adds) {
    return 4 * std::max(adds, smallest) * static_cast<std::int64_t>(sizeof(Entry));
  }

 private:
  static constexpr std::int64_t smallest = 64;  ///< number of entries
  struct Entry {
    std::int64_t coordinate;
    T value;
  };

  /// Sorts the entries by coordinate, and sums those of one coordinate.
  void reduce() {
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.coordinate < b.coordinate; });
    auto last = entries_.begin();
    for (auto next = entries_.begin(); next != entries_.end(); ++next) {
      if (next == entries_.begin()) continue;
      if (next->coordinate == last->coordinate)
        last->value = plus(last->value, next->value);
      else
        *++last = *next;
    }
    if (!entries_.empty()) entries_.erase(last + 1, entries_.end());
  }
  void make_room() {
    reduce();
    if (2 * entries_.size() >= limit_) limit_ = std::max<std::size_t>(2 * limit_, smallest);
    entries_.reserve(limit_);
  }

  detail::CountedVector<Entry> entries_;
  std::size_t limit_ = 0;  ///< the number of entries at which to sort
};

/// Gathers over one variable, of any extent, in a list that is sorted.
struct SortedPolicy {
  static constexpr std::string_view name = "sorted workspace";
  static constexpr bool takes(int order) { return order == 1; }
  template <class T, int Order>
  using workspace = SortedWorkspace<T>;
};

inline constexpr SortedPolicy sorted_workspace{};

}  // namespace sporos
