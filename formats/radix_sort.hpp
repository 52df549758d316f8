// SPDX-License-Identifier: Apache-2.0
/// @file radix_sort.hpp
/// A parallel stable sort of (key, value) items: partition by the leading bits, then finish each part in
/// cache.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "chunks.hpp"
#include "keys.hpp"

namespace sporos::detail {

template <class KeyType, class Value>
struct Item {
  KeyType key;
  Value value;
};

/// Some bits of a key: (word >> shift) & mask.
struct Digit {
  int word = 0;
  int shift = 0;
  int bits = 0;

  std::size_t buckets() const { return std::size_t{1} << bits; }
  template <int Words>
  std::size_t of(const Key<Words>& key) const {
    return static_cast<std::size_t>(key.word[word] >> shift) & (buckets() - 1);
  }
};

/// The bits in which the keys of some items differ, among those that matter.
template <int Words>
struct VaryingBits {
  Key<Words> bits{};

  VaryingBits() = default;
  template <class ItemType>
  VaryingBits(const ItemType* items, std::int64_t count, const Key<Words>& matter) {
    for (int w = 0; w < Words; ++w) {
      const std::uint64_t first = items[0].key.word[w];
      std::uint64_t differ = 0;
      for (std::int64_t e = 1; e < count; ++e) differ |= items[e].key.word[w] ^ first;
      bits.word[w] = differ & matter.word[w];
    }
  }
  VaryingBits& operator|=(const VaryingBits& other) {
    for (int w = 0; w < Words; ++w) bits.word[w] |= other.bits.word[w];
    return *this;
  }
  bool any() const {
    for (int w = 0; w < Words; ++w)
      if (bits.word[w]) return true;
    return false;
  }
  /// The leading `most` bits, from the most significant one that varies.
  Digit leading(int most) const {
    int w = 0;
    while (!bits.word[w]) ++w;
    const int high = static_cast<int>(std::bit_width(bits.word[w]));
    const int low = std::max(std::countr_zero(bits.word[w]), high - most);
    return {w, low, high - low};
  }
};

/// A run of items in memory, as `partition` reads it.
template <class ItemType>
struct ItemRun {
  const ItemType* items;
  std::int64_t count;

  std::int64_t size() const { return count; }
  template <class Visitor>
  void visit(std::int64_t begin, std::int64_t end, const Visitor& visitor) const {
    for (std::int64_t e = begin; e < end; ++e) visitor(items[e].key, items[e].value);
  }
};

/// Writes the items of `source`, ordered by `digit`, in their own order where it is equal.
/// @param source  size(), visit(begin, end, visitor(key, value)); it may visit fewer items than its size
/// @param room    room(count) gives the memory to write `count` items to
/// @return where each bucket begins, and the number of items as last element
template <HostSpace Space, class ItemType, class Source, class Room>
std::vector<std::int64_t> partition(const Source& source, Digit digit, const Room& room) {
  const int chunks = chunks_for<Space>(source.size());
  const std::size_t buckets = digit.buckets();
  std::vector<std::vector<std::int64_t>> at(static_cast<std::size_t>(chunks));
  for (auto& counts : at) counts.assign(buckets, 0);
  for_each_chunk<Space>(chunks, [&](int chunk) {
    std::int64_t* counts = at[static_cast<std::size_t>(chunk)].data();
    const auto [begin, end] = chunk_bounds(source.size(), chunk, chunks);
    source.visit(begin, end, [&](const auto& key, const auto&) { ++counts[digit.of(key)]; });
  });
  std::vector<std::int64_t> bounds(buckets + 1);
  std::int64_t sum = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    bounds[bucket] = sum;
    for (auto& counts : at) sum += std::exchange(counts[bucket], sum);
  }
  bounds[buckets] = sum;
  ItemType* const out = room(sum);
  for_each_chunk<Space>(chunks, [&](int chunk) {
    std::int64_t* next = at[static_cast<std::size_t>(chunk)].data();
    const auto [begin, end] = chunk_bounds(source.size(), chunk, chunks);
    source.visit(begin, end, [&](const auto& key, const auto& value) {
      out[next[digit.of(key)]++] = ItemType{key, value};
    });
  });
  return bounds;
}

/// Sorts few items by insertion.
template <class ItemType, int Words>
void insertion_sort(ItemType* items, std::int64_t count, const Key<Words>& matter) {
  for (std::int64_t e = 1; e < count; ++e) {
    const ItemType item = items[e];
    const auto key = item.key & matter;
    std::int64_t to = e;
    for (; to > 0 && key < (items[to - 1].key & matter); --to) items[to] = items[to - 1];
    items[to] = item;
  }
}

/// Sorts items[0, count) on one thread, least significant digit first; `spare` is as long. Returns where the
/// sorted items are: `items` or `spare`.
template <class ItemType, int Words>
ItemType* sort_in_cache(ItemType* items, ItemType* spare, std::int64_t count,
                        const VaryingBits<Words>& varying) {
  for (int w = Words - 1; w >= 0; --w) {
    const std::uint64_t bits = varying.bits.word[w];
    if (!bits) continue;
    const int high = static_cast<int>(std::bit_width(bits));
    int low = std::countr_zero(bits);
    const int passes = (high - low + 7) / 8;
    for (int pass = 0; pass < passes; ++pass) {
      const Digit digit{w, low, (high - low + (passes - pass) - 1) / (passes - pass)};
      low += digit.bits;
      std::array<std::uint32_t, 256> next{};
      for (std::int64_t e = 0; e < count; ++e) ++next[digit.of(items[e].key)];
      std::uint32_t sum = 0;
      for (std::size_t bucket = 0; bucket < digit.buckets(); ++bucket)
        sum += std::exchange(next[bucket], sum);
      for (std::int64_t e = 0; e < count; ++e) spare[next[digit.of(items[e].key)]++] = items[e];
      std::swap(items, spare);
    }
  }
  return items;
}

/// Sorts the items of a source by key, stably.
template <HostSpace Space, class ItemType, int Words>
class StableSort {
 public:
  /// @param source      see partition
  /// @param first_word  the first word of the keys that is in use
  /// @param top_bits    how many bits of it are
  /// @param matter      the bits to sort by
  template <class Source>
  StableSort(const Source& source, int first_word, int top_bits, const Key<Words>& matter) : matter_(matter) {
    const int ignored = std::countr_zero(matter.word[first_word] | std::uint64_t{1} << top_bits);
    const int bits = std::min({top_bits - ignored, 11, bits_for(source.size() / few)});
    const auto bounds =
        partition<Space, ItemType>(source, Digit{first_word, top_bits - bits, bits}, [&](std::int64_t count) {
          items_ = Scratch<ItemType>(count);
          return items_.data();
        });
    count_ = bounds.back();
    if (matter == Key<Words>{}) return;
    spare_ = Scratch<ItemType>(count_);
    for (std::size_t bucket = 0; bucket + 1 < bounds.size(); ++bucket)
      add(bounds[bucket], bounds[bucket + 1], false);
    for_each_chunk<Space>(static_cast<int>(parts_.size()),
                          [&](int part) { finish(parts_[static_cast<std::size_t>(part)]); });
  }

  const ItemType* items() const { return items_.data(); }
  std::int64_t count() const { return count_; }

 private:
  static constexpr std::int64_t few = 4096;  ///< items that are sorted without a partition
  static constexpr std::int64_t many = std::int64_t{1}
                                       << 17;  ///< items that are not sorted in cache any more

  struct Part {
    std::int64_t begin, end;
    bool in_spare;
  };

  /// Takes a part on the list of what is still to be sorted, split while it is large.
  void add(std::int64_t begin, std::int64_t end, bool in_spare) {
    if (begin == end) return;
    if (end - begin <= many) {
      parts_.push_back({begin, end, in_spare});
      return;
    }
    ItemType* from = (in_spare ? spare_ : items_).data() + begin;
    ItemType* to = (in_spare ? items_ : spare_).data() + begin;
    const auto varying = varying_bits(from, end - begin);
    if (!varying.any()) {
      if (in_spare) std::copy(from, from + (end - begin), to);
      return;
    }
    const auto bounds = partition<Space, ItemType>(ItemRun<ItemType>{from, end - begin}, varying.leading(11),
                                                   [to](std::int64_t) { return to; });
    for (std::size_t bucket = 0; bucket + 1 < bounds.size(); ++bucket)
      add(begin + bounds[bucket], begin + bounds[bucket + 1], !in_spare);
  }

  /// The varying bits of many items.
  VaryingBits<Words> varying_bits(const ItemType* items, std::int64_t count) const {
    const int chunks = chunks_for<Space>(count);
    std::vector<VaryingBits<Words>> found(static_cast<std::size_t>(chunks));
    for_each_chunk<Space>(chunks, [&](int chunk) {
      const auto [begin, end] = chunk_bounds(count, chunk, chunks);
      // The item in front stands for all of them, so that a difference between two chunks is seen as well.
      const std::int64_t from = std::max<std::int64_t>(begin - 1, 0);
      found[static_cast<std::size_t>(chunk)] = VaryingBits<Words>(items + from, end - from, matter_);
    });
    for (const auto& part : found) found[0] |= part;
    return found[0];
  }

  /// Sorts a part, and brings it home to items_.
  void finish(const Part& part) {
    const std::int64_t count = part.end - part.begin;
    ItemType* home = items_.data() + part.begin;
    ItemType* from = part.in_spare ? spare_.data() + part.begin : home;
    ItemType* other = part.in_spare ? home : spare_.data() + part.begin;
    ItemType* sorted = from;
    if (count <= 32) {
      insertion_sort(from, count, matter_);
    } else {
      const VaryingBits<Words> varying(from, count, matter_);
      sorted = sort_in_cache(from, other, count, varying);
    }
    if (sorted != home) std::copy(sorted, sorted + count, home);
  }

  Key<Words> matter_;
  Scratch<ItemType> items_;
  Scratch<ItemType> spare_;
  std::int64_t count_ = 0;
  std::vector<Part> parts_;
};

}  // namespace sporos::detail
