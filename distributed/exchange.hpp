// SPDX-License-Identifier: Apache-2.0
/// @file exchange.hpp
/// Lists of items, each sent to the ranks that need it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/entries.hpp"
#include "agree.hpp"
#include "communicator.hpp"

namespace sporos::detail {

/// Which items go to which rank: items[first of rank r, …] to rank r, sends[r] of them. An item may go to
/// several ranks.
struct Routes {
  std::vector<std::int64_t> items;
  std::vector<std::int64_t> sends;

  /// Sends item e to every rank that each(e, f) calls f with, in the order of the items.
  template <class Each>
  static Routes of(int ranks, std::int64_t count, const Each& each) {
    Routes out;
    out.sends.assign(static_cast<std::size_t>(ranks), 0);
    for (std::int64_t e = 0; e < count; ++e)
      each(e, [&](int rank) { ++out.sends[static_cast<std::size_t>(rank)]; });
    std::vector<std::int64_t> at(out.sends.size());
    std::exclusive_scan(out.sends.begin(), out.sends.end(), at.begin(), std::int64_t{0});
    out.items.resize(static_cast<std::size_t>(at.empty() ? 0 : at.back() + out.sends.back()));
    for (std::int64_t e = 0; e < count; ++e)
      each(e,
           [&](int rank) { out.items[static_cast<std::size_t>(at[static_cast<std::size_t>(rank)]++)] = e; });
    return out;
  }
};

inline std::int64_t total(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/// What arrives, from rank 0, then from rank 1, …
template <class T>
struct Arrived {
  T items;
  std::vector<std::int64_t> counts;  ///< from each rank
};

/// Sends `sent`, grouped by rank as `sends` says. Collective; agrees on errors before anything moves.
template <Sendable T>
Arrived<std::vector<T>> exchange(const Communicator& ranks, const std::vector<T>& sent,
                                 const std::vector<std::int64_t>& sends, std::string_view what) {
  agree(ranks, what);
  Arrived<std::vector<T>> out{{}, ranks.transpose(sends)};
  const Said said = jointly(ranks, [&] {
    out.items.resize(static_cast<std::size_t>(total(out.counts)));
    return agree(ranks, what, std::max(std::ssize(sent), std::ssize(out.items)));
  });
  ranks.exchange(sent.data(), sends, out.items.data(), out.counts, said.largest > ranks.largest_count());
  return out;
}

/// Sends entries. Collective; agrees on errors before anything moves.
template <class Value, int Order>
Arrived<Entries<Value, Order>> exchange(const Communicator& ranks, const Entries<Value, Order>& entries,
                                        const Routes& routes, std::string_view what) {
  agree(ranks, what);
  Arrived<Entries<Value, Order>> out{{}, ranks.transpose(routes.sends)};
  const auto count = static_cast<std::int64_t>(routes.items.size());
  Entries<Value, Order> sent;
  const Said said = jointly(ranks, [&] {
    sent = Entries<Value, Order>(entries.extents, count);
    out.items = Entries<Value, Order>(entries.extents, total(out.counts));
    return agree(ranks, what, std::max(count, out.items.size()));
  });
  const bool any_large = said.largest > ranks.largest_count();
  const auto move = [&](const auto* from, auto* packed, auto* to) {
    for (std::int64_t at = 0; at < count; ++at) packed[at] = from[routes.items[static_cast<std::size_t>(at)]];
    ranks.exchange(packed, routes.sends, to, out.counts, any_large);
  };
  for (std::size_t mode = 0; mode < static_cast<std::size_t>(Order); ++mode)
    move(entries.coordinates[mode].data(), sent.coordinates[mode].data(), out.items.coordinates[mode].data());
  move(entries.values.data(), sent.values.data(), out.items.values.data());
  return out;
}

}  // namespace sporos::detail
