// SPDX-License-Identifier: Apache-2.0
/// @file sorted.hpp
/// Entries in the order of their coordinates, sorted by all threads.
#pragma once

#include <cstdint>
#include <vector>

#include <sporos/formats/chunks.hpp>

#include "input.hpp"

namespace sporos::tool {

/// The coordinates of a list of entries, one array for each mode, in the order in which modes are compared.
struct CoordinateList {
  std::vector<const std::int64_t*> modes;
  std::int64_t count = 0;

  /// Whether entries a and b have the same coordinate.
  bool same(std::int64_t a, std::int64_t b) const {
    for (const std::int64_t* const mode : modes)
      if (mode[a] != mode[b]) return false;
    return true;
  }
  /// Whether entry a comes before b; if their coordinates are equal, the one with the lower number comes
  /// first.
  bool before(std::int64_t a, std::int64_t b) const {
    for (const std::int64_t* const mode : modes)
      if (mode[a] != mode[b]) return mode[a] < mode[b];
    return a < b;
  }
};

template <class Value, int Order>
CoordinateList coordinates_of(const Entries<Value, Order>& entries) {
  CoordinateList out;
  out.count = entries.size();
  for (const auto& mode : entries.coordinates) out.modes.push_back(mode.data());
  return out;
}

/// The numbers of the entries in the order of their coordinates. The order is checked, so that what relies on
/// it does not depend on the sort being correct.
std::vector<std::int64_t> sorted_order(const CoordinateList& coordinates);

/// Calls body(begin, end) for parts of [0, count), on all threads.
template <class Body>
void in_parts(std::int64_t count, const Body& body) {
  const Host space;
  sporos::detail::for_each_part(
      space, count, sporos::detail::chunks_for(space, count),
      [&](std::int64_t begin, std::int64_t end, std::int64_t) { body(begin, end); });
}

}  // namespace sporos::tool
