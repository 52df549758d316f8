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
#include "keys.hpp"

namespace sporos::detail {

/// Keys and the values that go with them, in two arrays.
template <class KeyType, class Value>
struct Items {
  KeyType* keys = nullptr;
  Value* values = nullptr;

  Items operator+(std::int64_t offset) const { return {keys + offset, values + offset}; }
  void set(std::int64_t at, const KeyType& key, const Value& value) const {
    keys[at] = key;
    values[at] = value;
  }
  void copy_to(const Items& to, std::int64_t count) const {
    std::copy(keys, keys + count, to.keys);
    std::copy(values, values + count, to.values);
  }
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

/// The bits in which some keys differ, among those that matter.
template <int Words>
struct VaryingBits {
  Key<Words> bits{};

  VaryingBits() = default;
  VaryingBits(const Key<Words>* keys, std::int64_t count, const Key<Words>& matter) {
    for (int w = 0; w < Words; ++w) {
      const std::uint64_t first = keys[0].word[w];
      std::uint64_t differ = 0;
      for (std::int64_t e = 1; e < count; ++e) differ |= keys[e].word[w] ^ first;
      bits.word[w] = differ & matter.word[w];
    }
  }
  VaryingBits& operator|=(const VaryingBits& other) {
    for (int w = 0; w < Words; ++w) bits.word[w] |= other.bits.word[w];
    return *this;
  }
  bool any() const { return !(bits == Key<Words>{}); }
  int first_word() const {
    int w = 0;
    while (!bits.word[w]) ++w;
    return w;
  }
  bool only_word(int one) const {
    for (int w = 0; w < Words; ++w)
      if (w != one && bits.word[w]) return false;
    return true;
  }
  /// The leading `most` bits, from the most significant one that varies.
  Digit leading(int most) const {
    const int w = first_word();
    const int high = static_cast<int>(std::bit_width(bits.word[w]));
    const int low = std::max(std::countr_zero(bits.word[w]), high - most);
    return {w, low, high - low};
  }
};

/// Items in memory, as `partition` reads them.
template <class KeyType, class Value>
struct ItemRun {
  static constexpr bool exact = true;
  Items<KeyType, Value> items;
  std::int64_t count;

  std::int64_t size() const { return count; }
  template <class Visitor>
  void visit(std::int64_t begin, std::int64_t end, const Visitor& visitor) const {
    for (std::int64_t e = begin; e < end; ++e) visitor(items.keys[e], items.values[e]);
  }
};

/// Writes the items of `source` ordered by `digit`; items with equal digits keep their order.
/// @param source  size(), visit(begin, end, visitor(key, value)); unless it is `exact`, it may visit fewer
///                items than its size
/// @param room    room(count) gives the memory to write `count` items to
/// @return where each bucket begins; the last element is the number of items
template <HostSpace Space, class Source, class Room>
std::vector<std::int64_t> partition(const Space& space, const Source& source, Digit digit, const Room& room) {
  if (Source::exact && digit.bits == 0 && space.concurrency() == 1) {
    const auto out = room(source.size());
    std::int64_t next = 0;
    source.visit(0, source.size(), [&](const auto& key, const auto& value) { out.set(next++, key, value); });
    return {0, source.size()};
  }
  const std::int64_t chunks = chunks_for(space, source.size());
  const std::size_t buckets = digit.buckets();
  std::vector<std::vector<std::int64_t>> at(static_cast<std::size_t>(chunks));
  for (auto& counts : at) counts.assign(buckets, 0);
  for_each_chunk(space, chunks, [&](std::int64_t chunk) {
    std::int64_t* counts = at[static_cast<std::size_t>(chunk)].data();
    const auto [begin, end] = chunk_bounds(source.size(), chunk, chunks);
    if (Source::exact && digit.bits == 0)
      counts[0] = end - begin;
    else
      source.visit(begin, end, [&](const auto& key, const auto&) { ++counts[digit.of(key)]; });
  });
  std::vector<std::int64_t> bounds(buckets + 1);
  std::int64_t sum = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    bounds[bucket] = sum;
    for (auto& counts : at) sum += std::exchange(counts[bucket], sum);
  }
  bounds[buckets] = sum;
  const auto out = room(sum);
  for_each_chunk(space, chunks, [&](std::int64_t chunk) {
    std::int64_t* next = at[static_cast<std::size_t>(chunk)].data();
    const auto [begin, end] = chunk_bounds(source.size(), chunk, chunks);
    source.visit(begin, end,
                 [&](const auto& key, const auto& value) { out.set(next[digit.of(key)]++, key, value); });
  });
  return bounds;
}

/// The varying bits of one word, moved together by leaving out the longest run of constant bits between
/// them.
class CompactBits {
 public:
  explicit CompactBits(std::uint64_t varying) {
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
    low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
    bits_ = low_bits_ + high - high_shift_;
  }

  int bits() const { return bits_; }
  /// The varying bits of a word; higher bits of the result are not meaningful.
  std::uint64_t of(std::uint64_t word) const {
    return (word >> high_shift_) << low_bits_ | ((word >> low_shift_) & low_mask_);
  }

 private:
  int low_shift_ = 0, gap_ = 0, high_shift_ = 0, low_bits_ = 0, bits_ = 0;
  std::uint64_t low_mask_ = 0;
};

/// Sorts parts that fit in a core's cache, on one thread: by enough leading bits that buckets hold about one
/// item, then by insertion, with larger buckets sorted the same way again. Where the leading bits
/// distinguish too few items, it sorts digit by digit from the least significant one instead.
template <class KeyType, class Value>
class CacheSort {
 public:
  using items_type = Items<KeyType, Value>;

  explicit CacheSort(const KeyType& matter) : matter_(matter), next_(std::size_t{1} << most_bits) {}

  /// Sorts `count` items at `from`, and leaves them at `home`, which is `from` or `other`.
  void sort(const items_type& from, const items_type& other, std::int64_t count, bool home_is_from) {
    if (count <= few) {
      insert(from, home_is_from ? from : other, count);
      return;
    }
    const VaryingBits varying(from.keys, count, matter_);
    if (!varying.any()) {
      if (!home_is_from) from.copy_to(other, count);
      return;
    }
    const int word = varying.first_word();
    const CompactBits compact(varying.bits.word[word]);
    const int most = std::min(bits_for(count), most_bits);
    const auto digit = [word, &compact](int shift, int bits) {
      return [word, &compact, shift, mask = (std::uint64_t{1} << bits) - 1](const KeyType& key) {
        return static_cast<std::size_t>(compact.of(key.word[word]) >> shift & mask);
      };
    };
    const int leading = std::min(most, compact.bits());
    const auto leading_digit = digit(compact.bits() - leading, leading);
    const Histogram histogram = this->count(from, count, leading_digit, leading);
    const int low = compact.bits() / 2;
    if (histogram.squares > close * count && compact.bits() <= 2 * std::min(most, 11) && low > 0 &&
        varying.only_word(word)) {
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
  static constexpr std::int64_t few = 24;  ///< items that are sorted by insertion
  static constexpr std::int64_t close =
      4;  ///< average bucket size, weighted by items, up to which insertion is fast
  static constexpr int most_bits = 13;

  struct Histogram {
    std::uint32_t largest = 0;  ///< items of the largest bucket
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
      const KeyType key = from.keys[e];
      const Value value = from.values[e];
      const KeyType place = key & matter_;
      std::int64_t at = e;
      for (; at > 0 && place < (to.keys[at - 1] & matter_); --at)
        to.set(at, to.keys[at - 1], to.values[at - 1]);
      to.set(at, key, value);
    }
  }

  KeyType matter_;
  std::vector<std::uint32_t> next_;
};

/// The items of a source, partitioned by leading bits of their keys.
template <int Words, class Value>
struct Partitioned {
  ScratchArray<Key<Words>> keys;
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

/// Up to this many items one thread sorts as fast as several.
inline constexpr std::int64_t few_items = 1 << 15;

/// @param source      see partition
/// @param first_word  the first word of the keys that is in use
/// @param top_bits    how many bits of it are
/// @param matter      the bits to sort by
template <HostSpace Space, int Words, class Value, class Source>
Partitioned<Words, Value> partition_by_leading_bits(const Space& space, const Source& source, int first_word,
                                                    int top_bits, const Key<Words>& matter) {
  const int ignored = std::countr_zero(matter.word[first_word] | std::uint64_t{1} << top_bits);
  const int bits =
      source.size() <= few_items ? 0 : std::min({top_bits - ignored, 11, bits_for(source.size() / 4096)});
  Partitioned<Words, Value> out;
  out.digit = {first_word, top_bits - bits, bits};
  out.bounds = partition(space, source, out.digit, [&](std::int64_t count) {
    out.keys = ScratchArray<Key<Words>>(count);
    out.values = make_array<Value>("sporos::Tensor values", count);
    return Items<Key<Words>, Value>{out.keys.data(), out.values.data()};
  });
  return out;
}

/// Sorts partitioned items by key, stably.
template <HostSpace Space, int Words, class Value>
class StableSort {
 public:
  using key_type = Key<Words>;
  using items_type = Items<key_type, Value>;

  /// @param matter  the bits to sort by
  StableSort(const Space& space, Partitioned<Words, Value> parts, const key_type& matter)
      : space_(space),
        matter_(matter),
        count_(parts.count()),
        keys_(std::move(parts.keys)),
        values_(parts.values) {
    if (matter == key_type{}) return;
    for (std::size_t bucket = 0; bucket + 1 < parts.bounds.size(); ++bucket)
      add(parts.bounds[bucket], parts.bounds[bucket + 1], false);
    finish();
  }

  std::int64_t size() const { return count_; }
  const key_type& key(std::int64_t e) const { return keys_.data()[e]; }
  /// The sorted values; a tensor that stores exactly these may take the array over.
  const Array<Value>& values() const { return values_; }
  template <class Visitor>
  void visit(std::int64_t begin, std::int64_t end, const Visitor& visitor) const {
    const key_type* keys = keys_.data();
    const Value* values = values_.data();
    for (std::int64_t e = begin; e < end; ++e) visitor(keys[e], values[e]);
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
      spare_keys_ = ScratchArray<key_type>(count_);
      spare_values_ = ScratchArray<Value>(count_);
    }
    const items_type from = (in_spare ? spare() : items()) + begin;
    const items_type to = (in_spare ? items() : spare()) + begin;
    const auto varying = varying_bits(from.keys, end - begin);
    if (!varying.any()) {
      if (in_spare) from.copy_to(to, end - begin);
      return;
    }
    const auto bounds = partition(space_, ItemRun<key_type, Value>{from, end - begin}, varying.leading(11),
                                  [&](std::int64_t) { return to; });
    for (std::size_t bucket = 0; bucket + 1 < bounds.size(); ++bucket)
      add(begin + bounds[bucket], begin + bounds[bucket + 1], !in_spare);
  }

  /// The varying bits of many items.
  VaryingBits<Words> varying_bits(const key_type* keys, std::int64_t count) const {
    const std::int64_t chunks = chunks_for(space_, count);
    std::vector<VaryingBits<Words>> found(static_cast<std::size_t>(chunks));
    for_each_chunk(space_, chunks, [&](std::int64_t chunk) {
      const auto [begin, end] = chunk_bounds(count, chunk, chunks);
      // From the item before, so that differences between two chunks are seen as well.
      const std::int64_t from = std::max<std::int64_t>(begin - 1, 0);
      found[static_cast<std::size_t>(chunk)] = VaryingBits<Words>(keys + from, end - from, matter_);
    });
    for (const auto& part : found) found[0] |= part;
    return found[0];
  }

  /// Sorts the parts, each thread with spare memory of its own, and moves them back to their array.
  void finish() {
    const auto parts = static_cast<std::int64_t>(parts_.size());
    const std::int64_t threads =
        count_ <= few_items ? 1 : std::min<std::int64_t>(space_.concurrency(), parts);
    const ScratchArray<key_type> keys(threads * longest_);
    const ScratchArray<Value> values(threads * longest_);
    std::vector<CacheSort<key_type, Value>> sorts(static_cast<std::size_t>(threads),
                                                  CacheSort<key_type, Value>(matter_));
    std::atomic<std::int64_t> next{0};
    for_each_worker(space_, threads, [&](std::int64_t thread) {
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

  const Space& space_;
  key_type matter_;
  std::int64_t count_ = 0;
  ScratchArray<key_type> keys_;
  Array<Value> values_;
  ScratchArray<key_type> spare_keys_;
  ScratchArray<Value> spare_values_;
  std::vector<Part> parts_;
  std::int64_t longest_ = 0;
};

}  // namespace sporos::detail
