// SPDX-License-Identifier: Apache-2.0
/// @file exchange.hpp
/// Sends each item of a list to the ranks that need it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/entries.hpp"
#include "agree.hpp"
#include "communicator.hpp"

namespace sporos::detail {

/// Which items go to which rank: `items` lists them by rank, rank 0 first, sends[r] of them for rank r. An
/// item may go to several ranks.
struct Routes {
  std::vector<std::int64_t> items;
  std::vector<std::int64_t> sends;

  /// Sends item e to every rank with which each(e, f) calls f, in the order of the items.
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

/// What has arrived, from rank 0 first, then from rank 1, …
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

/// Calls move(from, to) for the arrays of the coordinates of each mode and that of the values.
template <class Value, int Order, class Move>
void move_arrays(const Entries<Value, Order>& from, const Entries<Value, Order>& to, const Move& move) {
  for (std::size_t mode = 0; mode < static_cast<std::size_t>(Order); ++mode)
    move(from.coordinates[mode].data(), to.coordinates[mode].data());
  move(from.values.data(), to.values.data());
}

/// The entries that the routes send, in the order of the routes.
template <class Value, int Order>
Entries<Value, Order> packed(const Entries<Value, Order>& entries, const Routes& routes) {
  Entries<Value, Order> out(entries.extents, std::ssize(routes.items));
  move_arrays(entries, out, [&](const auto* from, auto* to) {
    for (const std::int64_t e : routes.items) *to++ = from[e];
  });
  return out;
}

/// Sends entries. Collective; agrees on errors before anything moves.
template <class Value, int Order>
Arrived<Entries<Value, Order>> exchange(const Communicator& ranks, const Entries<Value, Order>& entries,
                                        const Routes& routes, std::string_view what) {
  agree(ranks, what);
  Arrived<Entries<Value, Order>> out{{}, ranks.transpose(routes.sends)};
  Entries<Value, Order> sent;
  const Said said = jointly(ranks, [&] {
    sent = packed(entries, routes);
    out.items = Entries<Value, Order>(entries.extents, total(out.counts));
    return agree(ranks, what, std::max(sent.size(), out.items.size()));
  });
  move_arrays(sent, out.items, [&](const auto* from, auto* to) {
    ranks.exchange(from, routes.sends, to, out.counts, said.largest > ranks.largest_count());
  });
  return out;
}

/// The entries of all ranks, those of rank 0 first, on every rank; or only on `root`, and none on the others.
/// Collective; agrees on errors before anything moves.
template <class Value, int Order>
Entries<Value, Order> gathered(const Communicator& ranks, const Entries<Value, Order>& mine,
                               std::string_view what, std::optional<int> root = {}) {
  agree(ranks, what);
  const std::vector<std::int64_t> counts = ranks.all(mine.size());
  const bool any_large = total(counts) > ranks.largest_count();
  Entries<Value, Order> out;
  jointly(ranks, [&] {
    const bool is_here = !root || *root == ranks.rank();
    out = Entries<Value, Order>(mine.extents, is_here ? total(counts) : 0);
    agree(ranks, what);
  });
  move_arrays(mine, out, [&](const auto* from, auto* to) {
    root ? ranks.gather(from, to, counts, *root, any_large) : ranks.gather_all(from, to, counts, any_large);
  });
  return out;
}

/// Gives each rank the entries that rank `root` has for it according to its routes. Collective; agrees on
/// errors before anything moves.
template <class Value, int Order>
Entries<Value, Order> scattered(const Communicator& ranks, const Entries<Value, Order>& entries,
                                const Routes& routes, int root, std::string_view what) {
  agree(ranks, what);
  std::vector<std::int64_t> counts = routes.sends;
  ranks.broadcast(counts.data(), ranks.size(), root);
  Entries<Value, Order> sent, out;
  jointly(ranks, [&] {
    sent = packed(entries, routes);
    out = Entries<Value, Order>(entries.extents, counts[static_cast<std::size_t>(ranks.rank())]);
    agree(ranks, what);
  });
  move_arrays(sent, out, [&](const auto* from, auto* to) {
    ranks.scatter(from, to, counts, root, total(counts) > ranks.largest_count());
  });
  return out;
}

}  // namespace sporos::detail
