// SPDX-License-Identifier: Apache-2.0
/// @file radix_sort.hpp
/// A parallel stable sort of keys with values: partition by the leading bits, then finish each part in cache.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../core/array.hpp"
#include "chunks.hpp"
#include "keyed_entries.hpp"
#include "keys.hpp"

namespace sporos::detail {

/// Some bits of a key: (key >> shift) & mask.
struct Digit {
  int shift = 0;
  int bits = 0;

  std::size_t buckets() const { return std::size_t{1} << bits; }
  std::size_t of(Key key) const { return static_cast<std::size_t>(key >> shift) & (buckets() - 1); }
};

/// The bits in which some keys differ, restricted to those that matter.
inline Key varying_bits(const Key* keys, std::int64_t count, Key matter) {
  const Key first = keys[0];
  Key differ = 0;
  for (std::int64_t e = 1; e < count; ++e) differ |= keys[e] ^ first;
  return differ & matter;
}

/// Writes the entries of `source` ordered by `digit`; entries with equal digits keep their order.
/// @param source  KeyedEntries, or a type with the same members but without virtual functions
/// @param room    room(count) returns the memory to write `count` items to
/// @return where each bucket begins; the last element is the number of items
template <class Value, class Source, class Room>
std::vector<std::int64_t> partition(const HostThreads& threads, const Source& source, Digit digit,
                                    const Room& room) {
  const bool counts_are_known = Source::is_exact && digit.bits == 0;
  const std::int64_t chunks = chunks_for(threads, source.size());
  const std::size_t buckets = digit.buckets();
  std::vector<std::vector<std::int64_t>> at(static_cast<std::size_t>(chunks));
  for (auto& counts : at) counts.assign(buckets, 0);
  for_each_chunk(threads, chunks, [&](std::int64_t chunk) {
    std::int64_t* counts = at[static_cast<std::size_t>(chunk)].data();
    const auto [begin, end] = chunk_bounds(source.size(), chunk, chunks);
    if (counts_are_known)
      counts[0] = end - begin;
    else
      source.visit(begin, end, [=](Key key, const Value&) { ++counts[digit.of(key)]; });
  });
  std::vector<std::int64_t> bounds(buckets + 1);
  std::int64_t sum = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    bounds[bucket] = sum;
    for (auto& counts : at) sum += std::exchange(counts[bucket], sum);
  }
  bounds[buckets] = sum;
  const Items<Value> out = room(sum);
  for_each_chunk(threads, chunks, [&](std::int64_t chunk) {
    std::int64_t* next = at[static_cast<std::size_t>(chunk)].data();
    const auto [begin, end] = chunk_bounds(source.size(), chunk, chunks);
    if (counts_are_known) {
      std::int64_t to = next[0];
      source.visit(begin, end, [&](Key key, const Value& value) { out.set(to++, key, value); });
    } else {
      source.visit(begin, end,
                   [=](Key key, const Value& value) { out.set(next[digit.of(key)]++, key, value); });
    }
  });
  return bounds;
}

/// The varying bits of keys, moved together by leaving out the longest run of constant bits between them.
class CompactBits {
 public:
  explicit CompactBits(Key varying) {
    const int high = static_cast<int>(std::bit_width(varying));
    low_shift_ = std::countr_zero(varying);
    gap_ = low_shift_;
    int skipped = 0;
    for (int bit = low_shift_; bit < high;) {
      const int zeros = std::countr_zero(~varying >> bit) + bit;  // the end of a run of ones
      const int ones = zeros < high ? std::countr_zero(varying >> zeros) + zeros : high;
      if (ones - zeros > skipped) {
        skipped = ones - zeros;
        gap_ = zeros;
      }
      bit = ones;
    }
    high_shift_ = gap_ + skipped;
    low_bits_ = gap_ - low_shift_;
    low_mask_ = (Key{1} << low_bits_) - 1;
    bits_ = low_bits_ + high - high_shift_;
  }

  int bits() const { return bits_; }
  /// The varying bits of a key; higher bits of the result are not meaningful.
  Key of(Key key) const { return (key >> high_shift_) << low_bits_ | ((key >> low_shift_) & low_mask_); }

 private:
  int low_shift_ = 0, gap_ = 0, high_shift_ = 0, low_bits_ = 0, bits_ = 0;
  Key low_mask_ = 0;
};

/// Sorts parts that fit in a core's cache, on one thread: first by enough leading bits that buckets hold
/// about one item, then by insertion; larger buckets are sorted the same way again. If the leading bits
/// distinguish too few items, it sorts digit by digit from the least significant one instead.
template <class Value>
class CacheSort {
 public:
  using items_type = Items<Value>;

  explicit CacheSort(Key matter) : matter_(matter), next_(std::size_t{1} << most_bits) {}

  /// Sorts `count` items at `from`, and leaves them at `home`, which is `from` or `other`.
  void sort(const items_type& from, const items_type& other, std::int64_t count, bool home_is_from) {
    if (count <= few) {
      insert(from, home_is_from ? from : other, count);
      return;
    }
    const Key varying = varying_bits(from.keys, count, matter_);
    if (varying == 0) {
      if (!home_is_from) from.copy_to(other, count);
      return;
    }
    const CompactBits compact(varying);
    const int most = std::min(bits_for(count), most_bits);
    const auto digit = [&compact](int shift, int bits) {
      return [&compact, shift, mask = (Key{1} << bits) - 1](Key key) {
        return static_cast<std::size_t>(compact.of(key) >> shift & mask);
      };
    };
    const int leading = std::min(most, compact.bits());
    const auto leading_digit = digit(compact.bits() - leading, leading);
    const Histogram histogram = this->count(from, count, leading_digit, leading);
    const int low = compact.bits() / 2;
    if (histogram.squares > close * count && compact.bits() <= 2 * std::min(most, 11) && low > 0) {
      const auto low_digit = digit(0, low);
      this->count(from, count, low_digit, low);
      scatter(from, other, count, low_digit);
      const auto high_digit = digit(low, compact.bits() - low);
      this->count(other, count, high_digit, compact.bits() - low);
      scatter(other, from, count, high_digit);
      if (!home_is_from) from.copy_to(other, count);
      return;
    }
    scatter(from, other, count, leading_digit);
    if (histogram.largest <= few) {
      insert(other, home_is_from ? from : other, count);
      return;
    }
    const std::vector<std::uint32_t> ends(next_.begin(), next_.begin() + (std::ptrdiff_t{1} << leading));
    std::int64_t begin = 0;
    for (const std::uint32_t end : ends) {
      if (end > begin) sort(other + begin, from + begin, end - begin, !home_is_from);
      begin = end;
    }
  }

 private:
  static constexpr std::int64_t few = 24;   ///< items up to which insertion sort is used
  static constexpr std::int64_t close = 4;  ///< item-weighted mean bucket size up to which insertion is fast
  static constexpr int most_bits = 13;

  struct Histogram {
    std::uint32_t largest = 0;  ///< number of items in the largest bucket
    std::int64_t squares = 0;   ///< sum of the squares of all buckets' sizes
  };

  /// Sets next_ to where the buckets of a digit begin.
  template <class DigitOf>
  Histogram count(const items_type& items, std::int64_t count, const DigitOf& digit_of, int bits) {
    const std::size_t buckets = std::size_t{1} << bits;
    std::uint32_t* const next = next_.data();
    std::fill_n(next, buckets, 0);
    for (std::int64_t e = 0; e < count; ++e) ++next[digit_of(items.keys[e])];
    Histogram out;
    std::uint32_t sum = 0;
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
      const std::uint32_t size = next[bucket];
      out.largest = std::max(out.largest, size);
      out.squares += static_cast<std::int64_t>(size) * size;
      next[bucket] = sum;
      sum += size;
    }
    return out;
  }

  /// Orders the items by the digit counted last; leaves the ends of the buckets in next_.
  template <class DigitOf>
  void scatter(const items_type& from, const items_type& to, std::int64_t count, const DigitOf& digit_of) {
    std::uint32_t* const next = next_.data();
    for (std::int64_t e = 0; e < count; ++e)
      to.set(next[digit_of(from.keys[e])]++, from.keys[e], from.values[e]);
  }

  /// Sorts by insertion, out of place or in place.
  void insert(const items_type& from, const items_type& to, std::int64_t count) const {
    for (std::int64_t e = 0; e < count; ++e) {
      const Key key = from.keys[e];
      const Value value = from.values[e];
      const Key place = key & matter_;
      std::int64_t at = e;
      for (; at > 0 && place < (to.keys[at - 1] & matter_); --at)
        to.set(at, to.keys[at - 1], to.values[at - 1]);
      to.set(at, key, value);
    }
  }

  Key matter_;
  std::vector<std::uint32_t> next_;
};

/// Entries partitioned by leading bits of their keys.
template <class Value>
struct Partitioned {
  ScratchArray<Key> keys;
  Array<Value> values;
  Digit digit;
  std::vector<std::int64_t> bounds;  ///< where the items of each bucket begin; last, the number of items

  std::int64_t count() const { return bounds.back(); }
  std::int64_t largest() const {
    std::int64_t out = 0;
    for (std::size_t bucket = 0; bucket + 1 < bounds.size(); ++bucket)
      out = std::max(out, bounds[bucket + 1] - bounds[bucket]);
    return out;
  }
};

/// Up to this many items, one thread sorts as fast as several.
inline constexpr std::int64_t few_items = 1 << 15;

/// Partitions entries by the leading bits of their keys.
/// @param used_bits  how many bits of the keys are in use
/// @param matter     the bits to sort by
template <class Value, class Source>
Partitioned<Value> partition_by_leading_bits(const HostThreads& threads, const Source& source, int used_bits,
                                             Key matter) {
  const int ignored = std::countr_zero(matter | Key{1} << used_bits);
  const int bits =
      source.size() <= few_items ? 0 : std::min({used_bits - ignored, 11, bits_for(source.size() / 4096)});
  Partitioned<Value> out;
  out.digit = {used_bits - bits, bits};
  out.bounds = partition<Value>(threads, source, out.digit, [&](std::int64_t count) {
    out.keys = ScratchArray<Key>(count);
    out.values = make_array<Value>("sporos::Tensor values", count);
    return Items<Value>{out.keys.data(), out.values.data()};
  });
  return out;
}

/// Sorts partitioned items by key, stably.
template <class Value>
class StableSort final : public KeyedEntries<Value> {
 public:
  using items_type = Items<Value>;

  /// @param matter  the bits to sort by
  StableSort(const HostThreads& threads, Partitioned<Value> parts, Key matter)
      : threads_(threads),
        matter_(matter),
        count_(parts.count()),
        keys_(std::move(parts.keys)),
        values_(parts.values) {
    if (matter == 0) return;
    for (std::size_t bucket = 0; bucket + 1 < parts.bounds.size(); ++bucket)
      add(parts.bounds[bucket], parts.bounds[bucket + 1], false);
    finish();
    spare_keys_ = {};  // building from the items needs the memory
    spare_values_ = {};
  }

  std::int64_t size() const override { return count_; }
  const Key* keys() const { return keys_.data(); }
  const Array<Value>* values() const override { return &values_; }
  typename KeyedEntries<Value>::Block read(std::int64_t begin, std::int64_t end,
                                           typename KeyedEntries<Value>::Buffer&) const override {
    return {keys_.data() + begin, values_.data() + begin, end - begin};
  }

 private:
  static constexpr std::int64_t many = 1 << 16;  ///< more items than this do not fit in a core's cache

  struct Part {
    std::int64_t begin, end;
    bool in_spare;
  };

  items_type items() const { return {keys_.data(), values_.data()}; }
  items_type spare() const { return {spare_keys_.data(), spare_values_.data()}; }

  /// Adds a part to the list of those still to be sorted, splitting it while it is large.
  void add(std::int64_t begin, std::int64_t end, bool in_spare) {
    if (begin == end) return;
    if (end - begin <= many) {
      parts_.push_back({begin, end, in_spare});
      if (!in_spare) longest_ = std::max(longest_, end - begin);
      return;
    }
    if (!spare_keys_.data()) {  // pages that are never touched cost nothing
      spare_keys_ = ScratchArray<Key>(count_);
      spare_values_ = ScratchArray<Value>(count_);
    }
    const items_type from = (in_spare ? spare() : items()) + begin;
    const items_type to = (in_spare ? items() : spare()) + begin;
    const Key varying = varying_bits_of_many(from.keys, end - begin);
    if (varying == 0) {
      if (in_spare) from.copy_to(to, end - begin);
      return;
    }
    const int high = bits_for(static_cast<std::int64_t>(varying));
    const int low = std::max(std::countr_zero(varying), high - 11);
    const auto bounds = partition<Value>(threads_, ItemRun<Value>(from, end - begin), Digit{low, high - low},
                                         [&](std::int64_t) { return to; });
    for (std::size_t bucket = 0; bucket + 1 < bounds.size(); ++bucket)
      add(begin + bounds[bucket], begin + bounds[bucket + 1], !in_spare);
  }

  /// The varying bits, found by all threads together.
  Key varying_bits_of_many(const Key* keys, std::int64_t count) const {
    const std::int64_t chunks = chunks_for(threads_, count);
    std::vector<Key> found(static_cast<std::size_t>(chunks));
    for_each_chunk(threads_, chunks, [&](std::int64_t chunk) {
      const auto [begin, end] = chunk_bounds(count, chunk, chunks);
      // Begins with the item before, so that differences between chunks are seen as well.
      const std::int64_t from = std::max<std::int64_t>(begin - 1, 0);
      found[static_cast<std::size_t>(chunk)] = varying_bits(keys + from, end - from, matter_);
    });
    for (const Key part : found) found[0] |= part;
    return found[0];
  }

  /// Sorts the parts, each thread with its own spare memory, and moves them back to their array.
  void finish() {
    const auto parts = static_cast<std::int64_t>(parts_.size());
    const std::int64_t threads =
        count_ <= few_items ? 1 : std::min<std::int64_t>(threads_.concurrency(), parts);
    const ScratchArray<Key> keys(threads * longest_);
    const ScratchArray<Value> values(threads * longest_);
    std::vector<CacheSort<Value>> sorts(static_cast<std::size_t>(threads), CacheSort<Value>(matter_));
    std::atomic<std::int64_t> next{0};
    for_each_worker(threads_, threads, [&](std::int64_t thread) {
      const items_type own{keys.data() + thread * longest_, values.data() + thread * longest_};
      for (std::int64_t at = next++; at < parts; at = next++) {
        const Part& part = parts_[static_cast<std::size_t>(at)];
        const items_type home = items() + part.begin;
        if (part.in_spare)
          sorts[static_cast<std::size_t>(thread)].sort(spare() + part.begin, home, part.end - part.begin,
                                                       false);
        else
          sorts[static_cast<std::size_t>(thread)].sort(home, own, part.end - part.begin, true);
      }
    });
  }

  HostThreads threads_;
  Key matter_;
  std::int64_t count_ = 0;
  ScratchArray<Key> keys_;
  Array<Value> values_;
  ScratchArray<Key> spare_keys_;
  ScratchArray<Value> spare_values_;
  std::vector<Part> parts_;
  std::int64_t longest_ = 0;
};

}  // namespace sporos::detail
