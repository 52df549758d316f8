// SPDX-License-Identifier: Apache-2.0
/// @file in_order.hpp
/// Entries in the order of their coordinates, using as little memory as possible.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <sporos/formats/assemble.hpp>
#include <vector>

#include "assembled.hpp"
#include "sorted.hpp"

namespace sporos::tool {

/// Entries that are already in order, used as they are.
template <class Value, int Order>
class AsGiven {
 public:
  explicit AsGiven(const Entries<Value, Order>& entries) : entries_(entries) {}

  std::int64_t size() const { return entries_.size(); }
  Extents<Order> coordinate(std::int64_t at) const { return entries_.coordinate(at); }
  Value value(std::int64_t at) const { return entries_.values(static_cast<std::size_t>(at)); }

 private:
  const Entries<Value, Order>& entries_;
};

/// Copies of the values, and the coordinates of each entry in one number. This takes two thirds of the memory
/// of a matrix, and sorting takes as much again.
template <class Value, int Order>
class AsKeys {
 public:
  using F = WideCoo<Order>;

  explicit AsKeys(const Entries<Value, Order>& entries)
      : packing_(sporos::detail::largest_coordinates<F>(entries.extents)),
        sorted_(sort(sporos::detail::PackedEntries<F, Value>(entries, packing_))) {}

  static bool fits(const Entries<Value, Order>& entries) {
    return sporos::detail::Packing<F>::fits(sporos::detail::largest_coordinates<F>(entries.extents));
  }

  std::int64_t size() const { return sorted_.size(); }
  Extents<Order> coordinate(std::int64_t at) const { return packing_.unpack(sorted_.keys()[at]); }
  Value value(std::int64_t at) const { return (*sorted_.values())(static_cast<std::size_t>(at)); }

 private:
  sporos::detail::StableSort<Value> sort(const sporos::detail::KeyedEntries<Value>& entries) const {
    const Host space;
    const auto matter = (sporos::detail::Key{1} << packing_.bits()) - 1;
    return {space, sporos::detail::partition_by_leading_bits<Value>(space, entries, packing_.bits(), matter),
            matter};
  }

  sporos::detail::Packing<F> packing_;
  sporos::detail::StableSort<Value> sorted_;
};

/// The numbers of entries, for coordinates that do not fit in one number.
template <class Value, int Order>
class AsNumbers {
 public:
  explicit AsNumbers(const Entries<Value, Order>& entries)
      : entries_(entries), numbers_(sorted_order(coordinates_of(entries))) {}

  std::int64_t size() const { return entries_.size(); }
  Extents<Order> coordinate(std::int64_t at) const { return entries_.coordinate(number(at)); }
  Value value(std::int64_t at) const { return entries_.values(static_cast<std::size_t>(number(at))); }

 private:
  std::int64_t number(std::int64_t at) const { return numbers_[static_cast<std::size_t>(at)]; }

  const Entries<Value, Order>& entries_;
  std::vector<std::int64_t> numbers_;
};

/// Whether entries, in whichever form, are in the order of their coordinates.
template <class Held>
bool is_in_order(const Held& entries) {
  std::atomic<bool> descends{false};
  in_parts(entries.size(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = std::max<std::int64_t>(begin, 1); at < end && !descends; ++at)
      if (entries.coordinate(at) < entries.coordinate(at - 1)) descends = true;
  });
  return !descends;
}

/// Calls body with the entries in the order of their coordinates; entries with equal coordinates keep their
/// order. The order is checked, so that what relies on it does not depend on the sort being correct.
template <class Value, int Order, class Body>
auto in_order(const Entries<Value, Order>& entries, const Body& body) {
  const auto checked = [&](const auto& sorted) {
    ensure(is_in_order(sorted), "entries are in the order of their coordinates once they are sorted");
    return body(sorted);
  };
  const AsGiven<Value, Order> given(entries);
  if (is_in_order(given)) return body(given);
  if (AsKeys<Value, Order>::fits(entries)) return checked(AsKeys<Value, Order>(entries));
  return checked(AsNumbers<Value, Order>(entries));
}

}  // namespace sporos::tool
