// SPDX-License-Identifier: Apache-2.0
/// @file sorted.cpp
/// Sorts the numbers of entries with the library's radix sort.
#include "sorted.hpp"

#include <algorithm>
#include <atomic>
#include <sporos/formats/wide_keys.hpp>

namespace sporos::tool {
namespace {

bool ascends(const CoordinateList& coordinates, const std::vector<std::int64_t>& order) {
  std::atomic<bool> descends{false};
  in_parts(coordinates.count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = std::max<std::int64_t>(begin, 1); at < end && !descends; ++at)
      if (!coordinates.before(order[static_cast<std::size_t>(at - 1)], order[static_cast<std::size_t>(at)]))
        descends = true;
  });
  return !descends;
}

void radix_sort(const CoordinateList& coordinates, std::vector<std::int64_t>& order) {
  sporos::detail::LevelCoordinates copies(static_cast<int>(coordinates.modes.size()), coordinates.count);
  std::vector<std::int64_t> largest;
  for (std::size_t k = 0; k < coordinates.modes.size(); ++k) {
    const std::int64_t* const from = coordinates.modes[k];
    std::int64_t* const to = copies.of_level(k);
    std::atomic<std::int64_t> most{0};
    in_parts(coordinates.count, [&](std::int64_t begin, std::int64_t end) {
      std::copy(from + begin, from + end, to + begin);
      const std::int64_t here = *std::max_element(from + begin, from + end);
      for (std::int64_t seen = most; seen < here && !most.compare_exchange_weak(seen, here);) {
      }
    });
    largest.push_back(most);
  }
  const Host space;
  sporos::detail::WideSort(space, copies, largest).sort(order);
}

}  // namespace

std::vector<std::int64_t> sorted_order(const CoordinateList& coordinates) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(coordinates.count));
  in_parts(coordinates.count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; ++at) order[static_cast<std::size_t>(at)] = at;
  });
  if (ascends(coordinates, order)) return order;
  radix_sort(coordinates, order);
  ensure(ascends(coordinates, order), "entries are in the order of their coordinates once they are sorted");
  return order;
}

}  // namespace sporos::tool
