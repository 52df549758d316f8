// SPDX-License-Identifier: Apache-2.0
/// @file merge_sorted.hpp
/// The parallel merge of several sorted lists of components into one, for the workspaces of several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../core/memory_use.hpp"
#include "../core/pool.hpp"
#include "../core/value.hpp"
#include "../formats/chunks.hpp"
#include "component_keys.hpp"

namespace sporos {

/// Keys in ascending order, each once, and their values, in memory that it does not own.
template <class Key, class T>
struct SortedList {
  const Key* keys = nullptr;
  const T* values = nullptr;
  std::int64_t count = 0;
};

/// Keys in ascending order, each once, and their values, in memory that it owns.
template <class Key, class T>
struct MergedList {
  detail::ScratchArray<Key> keys;
  HostArray<T> values;
  std::int64_t count = 0;
};

namespace detail {

/// Where a part of a list begins and ends.
struct MergeRange {
  std::int64_t begin;
  std::int64_t end;
};

/// A tournament of sorted lists: the winner is the list with the least next key, the first of them if there
/// are several. Taking a component costs log2(lists) comparisons.
template <class Key, class T>
class ListTournament {
 public:
  /// @param ranges  for each list, the part that is merged
  ListTournament(std::span<const SortedList<Key, T>> lists, const MergeRange* ranges) {
    std::size_t leaves = 1;
    while (leaves < lists.size()) leaves *= 2;
    players_.resize(leaves, Player{key_after_all<Key>(), nullptr, nullptr, nullptr});
    for (std::size_t list = 0; list < lists.size(); ++list) {
      const auto [begin, end] = ranges[list];
      const Key* const keys = lists[list].keys;
      players_[list] = {begin < end ? keys[begin] : key_after_all<Key>(), keys + begin, keys + end,
                        lists[list].values + begin};
    }
    losers_.resize(leaves);
    std::vector<std::uint32_t> winners(2 * leaves);
    for (std::size_t leaf = 0; leaf < leaves; ++leaf)
      winners[leaves + leaf] = static_cast<std::uint32_t>(leaf);
    for (std::size_t match = leaves - 1; match > 0; --match) {
      const std::uint32_t a = winners[2 * match], b = winners[2 * match + 1];
      winners[match] = beats(a, b) ? a : b;
      losers_[match] = beats(a, b) ? b : a;
    }
    winner_ = winners[1];
  }

  bool has_next() const { return players_[winner_].next != players_[winner_].end; }
  const Key& key() const { return players_[winner_].key; }
  const T& value() const { return *players_[winner_].value; }
  /// Goes on to the next component.
  void advance() {
    Player& player = players_[winner_];
    ++player.value;
    player.key = ++player.next != player.end ? *player.next : key_after_all<Key>();
    for (std::size_t match = (players_.size() + winner_) / 2; match > 0; match /= 2)
      if (beats(losers_[match], winner_)) std::swap(losers_[match], winner_);
  }

 private:
  struct Player {
    Key key;  ///< the next key, or one after all others if the list has ended
    const Key* next;
    const Key* end;
    const T* value;
  };

  bool beats(std::uint32_t a, std::uint32_t b) const {
    return players_[a].key < players_[b].key || (!(players_[b].key < players_[a].key) && a < b);
  }

  std::vector<Player> players_;
  std::vector<std::uint32_t> losers_;
  std::uint32_t winner_ = 0;
};

/// Merges a part of each list.
/// @return the number of components written
template <class Key, class T>
std::int64_t merge_part(std::span<const SortedList<Key, T>> lists, const MergeRange* ranges, Key* keys,
                        T* values) {
  if (lists.size() == 2) {
    const auto [a, b] = std::pair(lists[0], lists[1]);
    std::int64_t n = ranges[0].begin, m = ranges[1].begin, count = 0;
    for (; n < ranges[0].end && m < ranges[1].end; ++count) {
      const bool first = !(b.keys[m] < a.keys[n]), second = !(a.keys[n] < b.keys[m]);
      keys[count] = first ? a.keys[n] : b.keys[m];
      values[count] = !first ? b.values[m] : !second ? a.values[n] : plus(a.values[n], b.values[m]);
      n += first;
      m += second;
    }
    const auto copy_rest = [&](const SortedList<Key, T>& list, std::int64_t from, std::int64_t end) {
      std::copy(list.keys + from, list.keys + end, keys + count);
      std::copy(list.values + from, list.values + end, values + count);
      count += end - from;
    };
    copy_rest(a, n, ranges[0].end);
    copy_rest(b, m, ranges[1].end);
    return count;
  }
  std::int64_t count = 0;
  for (ListTournament<Key, T> next(lists, ranges); next.has_next(); next.advance()) {
    if (count > 0 && keys[count - 1] == next.key()) {
      values[count - 1] = plus(values[count - 1], next.value());
    } else {
      keys[count] = next.key();
      values[count++] = next.value();
    }
  }
  return count;
}

/// Keys that cut the lists into `parts` parts of about equal size, from a sample of each list.
template <class Key, class T>
std::vector<Key> splitters(std::span<const SortedList<Key, T>> lists, std::int64_t total,
                           std::int64_t parts) {
  constexpr std::int64_t samples_of_part = 64;
  const std::int64_t distance = std::max<std::int64_t>(total / (parts * samples_of_part), 1);
  std::vector<Key> sample;
  sample.reserve(static_cast<std::size_t>(total / distance) + lists.size());
  for (const auto& list : lists)
    for (std::int64_t at = distance / 2; at < list.count; at += distance) sample.push_back(list.keys[at]);
  std::sort(sample.begin(), sample.end());
  std::vector<Key> out;
  for (std::int64_t part = 1; part < parts && !sample.empty(); ++part)
    out.push_back(sample[sample.size() * static_cast<std::size_t>(part) / static_cast<std::size_t>(parts)]);
  return out;
}

}  // namespace detail

/// Merges sorted lists: the value of a key is the sum of its values in all lists, in the order of the lists,
/// so that the result does not depend on the number of threads.
///
///     lists      a ......|......|.....      cut at the same keys, chosen from a sample
///                b ..|..........|...
///     parts       [  0  ][  1   ][ 2 ]      each merged by one thread, to where it begins if all keys differ
///     result     ....... ....... ...        parts moved together, if some were the same
///
/// Takes O(n log(lists)) time for n components in total, and memory for n components, in addition to the
/// result if keys are in several lists.
/// @throws MemoryError if there is no memory for the result
template <class Key, class T>
MergedList<Key, T> merge_sorted(const detail::HostThreads& threads,
                                std::span<const SortedList<Key, T>> lists) {
  std::vector<SortedList<Key, T>> filled;
  for (const auto& list : lists)
    if (list.count > 0) filled.push_back(list);
  const std::span<const SortedList<Key, T>> all(filled);
  std::int64_t total = 0;
  for (const auto& list : filled) total += list.count;
  const auto allocate = [](std::int64_t count) {
    return MergedList<Key, T>{detail::ScratchArray<Key>(count),
                              pool().array<T>("sporos::merged values", count), count};
  };
  const auto copy = [&](const Key* keys, const T* values, std::int64_t count, const MergedList<Key, T>& to,
                        std::int64_t at) {
    std::copy(keys, keys + count, to.keys.data() + at);
    std::copy(values, values + count, to.values.data() + at);
  };
  if (filled.size() <= 1) {
    MergedList<Key, T> out = allocate(total);
    const std::int64_t chunks = detail::chunks_for(threads, total);
    detail::for_each_chunk(threads, filled.empty() ? 0 : chunks, [&](std::int64_t chunk) {
      const auto [begin, end] = detail::chunk_bounds(total, chunk, chunks);
      copy(filled[0].keys + begin, filled[0].values + begin, end - begin, out, begin);
    });
    return out;
  }

  // A few parts for each thread, since a sample cuts them only about equally.
  const std::vector<Key> cuts = detail::splitters<Key, T>(all, total, detail::chunks_for(threads, total, 4));
  const std::size_t parts = cuts.size() + 1, width = filled.size();
  std::vector<detail::MergeRange> ranges(parts * width);
  std::vector<std::int64_t> begins(parts + 1), counts(parts);
  for (std::size_t list = 0; list < width; ++list) {
    std::int64_t begin = 0;
    for (std::size_t part = 0; part < parts; ++part) {
      const Key* const keys = filled[list].keys;
      const std::int64_t end =
          part == cuts.size() ? filled[list].count
                              : std::lower_bound(keys + begin, keys + filled[list].count, cuts[part]) - keys;
      ranges[part * width + list] = {begin, end};
      begins[part + 1] += end - begin;
      begin = end;
    }
  }
  for (std::size_t part = 0; part < parts; ++part) begins[part + 1] += begins[part];

  MergedList<Key, T> merged = allocate(total);
  detail::for_each_chunk(threads, static_cast<std::int64_t>(parts), [&](std::int64_t chunk) {
    const auto part = static_cast<std::size_t>(chunk);
    counts[part] =
        detail::merge_part<Key, T>(all, ranges.data() + part * width, merged.keys.data() + begins[part],
                                   merged.values.data() + begins[part]);
  });
  std::vector<std::int64_t> places(parts + 1);
  for (std::size_t part = 0; part < parts; ++part) places[part + 1] = places[part] + counts[part];
  merged.count = places[parts];
  if (parts == 1 || merged.count == total) return merged;
  MergedList<Key, T> out = allocate(merged.count);
  detail::for_each_chunk(threads, static_cast<std::int64_t>(parts), [&](std::int64_t chunk) {
    const auto part = static_cast<std::size_t>(chunk);
    copy(merged.keys.data() + begins[part], merged.values.data() + begins[part], counts[part], out,
         places[part]);
  });
  return out;
}

}  // namespace sporos
