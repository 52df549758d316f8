// SPDX-License-Identifier: Apache-2.0
/// @file prune_entries.hpp
/// Prunes a list of entries to an N:M pattern that is known only at run time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

#include "../core/entries.hpp"
#include "../core/error.hpp"
#include "chunks.hpp"
#include "prune.hpp"

namespace sporos {

/// What NM<N, M, L, Along> says in its type: in each window of `window` units along a mode, `kept` units are
/// kept. A unit is `unit` consecutive elements of the other mode.
struct Windows {
  std::int64_t kept = 2, window = 4;
  std::int64_t unit = 1;
  int along = 1;  ///< 0: windows of rows; 1: windows of columns
};

namespace detail {

inline void check_windows(const Windows& windows) {
  if (windows.kept < 1 || windows.kept > windows.window)
    throw RangeError(text("a window keeps at least one and at most all of its units, not ", windows.kept,
                          " of ", windows.window));
  if (windows.unit < 1) throw RangeError(text("a unit has at least one element, not ", windows.unit));
  if (windows.along != 0 && windows.along != 1)
    throw RangeError(text("windows lie along mode 0 or 1 of a matrix, not ", windows.along));
}

}  // namespace detail

/// The entries that an N:M pattern keeps, in their given order: in each window the units of largest
/// magnitude, among equal ones the first. Does what `prune<NM<…>>` does to the matrix, but for any N, M and
/// L, and in memory proportional to the number of entries.
///
/// @param entries  the entries of a matrix, each coordinate at most once
/// @throws RangeError if the windows make no sense; MemoryError
/// Cost: sorts the entries' numbers.
template <TensorValue Value>
Entries<Value, 2> prune(const Entries<Value, 2>& entries, const Windows& windows, PruneOptions options = {}) {
  detail::check_windows(windows);
  const auto& inside = entries.coordinates[static_cast<std::size_t>(windows.along)];
  const auto& across = entries.coordinates[static_cast<std::size_t>(1 - windows.along)];
  const auto count = static_cast<std::size_t>(entries.size());
  const auto window_of = [&](std::size_t q) {
    return std::pair(inside(q) / windows.window, across(q) / windows.unit);
  };
  const detail::ScratchArray<std::size_t> numbers(entries.size());
  std::size_t* const order = numbers.data();
  std::iota(order, order + count, std::size_t{0});
  std::sort(order, order + count, [&](std::size_t a, std::size_t b) {
    return std::tuple(window_of(a), inside(a), a) < std::tuple(window_of(b), inside(b), b);
  });

  struct Unit {
    std::size_t begin, end;  // in `order`
    double weight;
  };
  const detail::ScratchArray<char> flags(entries.size());
  char* const is_kept = flags.data();
  std::fill_n(is_kept, count, char{0});
  const detail::ScratchArray<Unit> of_window(std::min(windows.window, entries.size()));
  Unit* const units = of_window.data();
  for (std::size_t at = 0; at < count;) {
    std::size_t found = 0;
    const auto window = window_of(order[at]);
    while (at < count && window_of(order[at]) == window) {
      const std::size_t begin = at;
      const std::int64_t coordinate = inside(order[at]);
      while (at < count && window_of(order[at]) == window && inside(order[at]) == coordinate) ++at;
      const double weight = detail::size_of_unit(options.by, [&](const auto& visit) {
        for (std::size_t of_unit = begin; of_unit < at; ++of_unit) visit(entries.values(order[of_unit]));
      });
      units[found++] = {begin, at, weight};
    }
    if (static_cast<std::int64_t>(found) > windows.kept) {
      // Among equal ones the first, without the memory of a stable sort.
      std::sort(units, units + found, [](const Unit& a, const Unit& b) {
        return a.weight > b.weight || (a.weight == b.weight && a.begin < b.begin);
      });
      found = static_cast<std::size_t>(windows.kept);
    }
    for (std::size_t unit = 0; unit < found; ++unit)
      for (std::size_t of_unit = units[unit].begin; of_unit < units[unit].end; ++of_unit)
        is_kept[order[of_unit]] = 1;
  }

  const double scale = detail::scale_of(options, windows.kept, windows.window);
  Entries<Value, 2> out(entries.extents, std::count(is_kept, is_kept + count, 1));
  std::int64_t to = 0;
  for (std::size_t q = 0; q < count; ++q)
    if (is_kept[q])
      out.set(to++, entries.coordinate(static_cast<std::int64_t>(q)),
              detail::scaled_by(entries.values(q), scale));
  return out;
}

}  // namespace sporos
