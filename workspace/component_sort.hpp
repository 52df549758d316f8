// SPDX-License-Identifier: Apache-2.0
/// @file component_sort.hpp
/// A stable radix sort of numbers that carry a value or an index, on one thread, in memory that the caller
/// provides.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "../formats/radix_sort.hpp"

namespace sporos::detail {

/// An item to be sorted: the prefix of a component's key, with its value or its index.
template <class Payload>
struct SortItem {
  std::uint64_t key;
  Payload payload;
};

/// Sorts items by their keys, stably. Items are scattered by the leading bits among those in which they
/// differ: first into parts that fit in a core's nearest cache, then each part into about as many cells as it
/// has items. Few items are then out of place, and insertion sort puts these right. If keys are spread
/// unevenly, parts and cells with many items are scattered again.
template <class Payload>
class ComponentSort {
 public:
  using Item = SortItem<Payload>;

  /// Sorts `count` items, fewer than 2^32.
  /// @param spare  memory for the same number of items
  static void sort(Item* items, Item* spare, std::int64_t count) {
    if (!is_sorted(items, count)) sort_into<true>(items, spare, count, unknown);
  }

 private:
  static constexpr std::int64_t few = 24;    ///< number of items up to which insertion sort is used
  static constexpr std::int64_t small = 64;  ///< number of items for which a table of few cells is enough
  static constexpr int part_bits = 10;       ///< bits of the number of items in a part
  static constexpr std::int64_t most_in_part = std::int64_t{1} << 12;
  static constexpr int most_bits = 11;   ///< bits of a digit: as many cells as a core's caches allow
  static constexpr int small_bits = 7;   ///< bits of a digit for up to `small` items
  static constexpr int stream_bits = 6;  ///< bits of a digit for parts that are not in a cache
  static constexpr Key unknown = 0;

  static bool is_sorted(const Item* items, std::int64_t count) {
    for (std::int64_t n = 1; n < count; ++n)
      if (items[n].key < items[n - 1].key) return false;
    return true;
  }

  /// Sorts items at `from`, and leaves them there or at `other`.
  /// @param varying  bits outside of which all keys agree, or `unknown`
  template <bool Stay>
  static void sort_into(Item* from, Item* other, std::int64_t count, Key varying) {
    if (count <= few)
      insert(from, Stay ? from : other, count);
    else if (count <= small)
      scatter<Stay, small_bits>(from, other, count, varying);
    else
      scatter<Stay, most_bits>(from, other, count, varying);
  }

  template <bool Stay, int MostBits>
  static void scatter(Item* from, Item* other, std::int64_t count, Key varying) {
    if (varying == unknown)
      for (std::int64_t n = 0; n < count; ++n) varying |= from[n].key ^ from[0].key;
    if (varying == 0) {
      if (!Stay) std::copy(from, from + count, other);
      return;
    }
    int wanted = std::min(bits_for(count), MostBits);
    if (count > most_in_part) {
      const int excess = bits_for(count) - part_bits, digits = (excess + stream_bits - 1) / stream_bits;
      wanted = (excess + digits - 1) / digits;
    }
    const int high = static_cast<int>(std::bit_width(varying));
    const int bits = std::min(wanted, high), shift = high - bits;
    const Key mask = (Key{1} << bits) - 1;
    if ((varying >> shift & mask) == mask) {
      scatter_by<Stay, MostBits>(
          from, other, count, bits, varying & ((Key{1} << shift) - 1),
          [shift, mask](Key key) { return static_cast<std::size_t>(key >> shift & mask); });
      return;
    }
    const CompactBits compact(varying);
    const int compact_bits = std::min(wanted, compact.bits()), compact_shift = compact.bits() - compact_bits;
    const Key compact_mask = (Key{1} << compact_bits) - 1;
    scatter_by<Stay, MostBits>(from, other, count, compact_bits, unknown, [&](Key key) {
      return static_cast<std::size_t>(compact.of(key) >> compact_shift & compact_mask);
    });
  }

  /// Scatters items to cells, and sorts each cell.
  /// @param varying  bits outside of which the keys of a cell agree, or `unknown`
  template <bool Stay, int MostBits, class CellOf>
  static void scatter_by(Item* from, Item* other, std::int64_t count, int bits, Key varying,
                         const CellOf& cell_of) {
    std::uint32_t ends[std::size_t{1} << MostBits];
    const std::size_t cells = std::size_t{1} << bits;
    std::fill_n(ends, cells, 0u);
    for (std::int64_t n = 0; n < count; ++n) ++ends[cell_of(from[n].key)];
    std::uint32_t sum = 0, largest = 0;
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const std::uint32_t size = ends[cell];
      largest = std::max(largest, size);
      ends[cell] = sum;
      sum += size;
    }
    for (std::int64_t n = 0; n < count; ++n) other[ends[cell_of(from[n].key)]++] = from[n];
    if (largest <= few) {
      insert(other, Stay ? from : other, count);
      return;
    }
    // In cells with many more items than others, all items may share further leading bits.
    const bool even = largest <= 4 * (static_cast<std::uint64_t>(count) >> bits) + few;
    std::int64_t begin = 0;
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const std::int64_t end = ends[cell];
      if (end > begin) sort_into<!Stay>(other + begin, from + begin, end - begin, even ? varying : unknown);
      begin = end;
    }
  }

  /// Sorts by insertion, in place or not.
  static void insert(const Item* from, Item* to, std::int64_t count) {
    std::uint64_t largest = 0;
    for (std::int64_t n = 0; n < count; ++n) {
      const Item item = from[n];
      std::int64_t at = n;
      if (item.key < largest)
        for (; at > 0 && item.key < to[at - 1].key; --at) to[at] = to[at - 1];
      else
        largest = item.key;
      to[at] = item;
    }
  }
};

}  // namespace sporos::detail
