// SPDX-License-Identifier: Apache-2.0
/// @file bucket.hpp
/// Insert-sort-merge with an accumulation array in buckets of neighbouring coordinates, which sums duplicates
/// when they are inserted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "../core/inline.hpp"
#include "../core/value.hpp"
#include "../formats/chunks.hpp"
#include "accumulation.hpp"
#include "component_runs.hpp"
#include "insert_sort_merge.hpp"

namespace sporos {

namespace detail {

/// Components in the order of insertion, and for each bucket a list of the indices of its components. Buckets
/// are in the order of their keys, so that sorting each sorts all.
template <class Keys, class T>
class BucketedComponents {
 public:
  using key_type = typename Keys::key_type;

  template <class Policy>
  BucketedComponents(const Policy&, const Keys& keys) : keys_(keys) {}

  template <class Policy>
  static std::int64_t bytes(const Policy&, const Keys& keys, std::int64_t capacity) {
    constexpr auto index = static_cast<std::int64_t>(sizeof(std::uint32_t));
    return capacity * (static_cast<std::int64_t>(sizeof(Entry)) + 2 * index) +
           buckets_for(keys, shift_for(keys, capacity)) * index;
  }
  void resize(std::int64_t capacity) {
    size_ = capacity_ = buckets_ = 0;
    components_ = {};
    newest_ = {};
    before_ = {};
    order_ = {};
    shift_ = shift_for(keys_, capacity);
    components_ = ScratchArray<Entry>(capacity);
    newest_ = ScratchArray<std::uint32_t>(buckets_for(keys_, shift_));
    before_ = ScratchArray<std::uint32_t>(capacity);
    order_ = ScratchArray<std::uint32_t>(capacity);
    buckets_ = buckets_for(keys_, shift_);
    capacity_ = capacity;
    std::fill_n(newest_.data(), buckets_, none);
  }
  SPOROS_HOST_INLINE bool insert(const key_type& key, const T& value) {
    if (capacity_ == 0) [[unlikely]]
      return false;
    Entry* const components = components_.data();
    const std::uint32_t* const before = before_.data();
    std::uint32_t& newest = newest_.data()[bucket_of(key)];
    int searched = 0;
    for (std::uint32_t at = newest; at != none && searched < most_searched; at = before[at], ++searched) {
      if (components[at].key == key) {
        components[at].value = plus(components[at].value, value);
        return true;
      }
    }
    if (size_ == capacity_) return false;
    components[size_] = {key, value};
    before_.data()[size_] = newest;
    newest = static_cast<std::uint32_t>(size_++);
    return true;
  }
  std::int64_t size() const { return size_; }

  IndexRun<key_type, T, std::uint32_t> sort() {
    std::uint32_t* const order = order_.data();
    std::int64_t count = 0;
    const auto add_bucket = [&](std::int64_t bucket) {
      const std::int64_t begin = count;
      for (std::uint32_t at = newest_.data()[bucket]; at != none; at = before_.data()[at])
        order[count++] = at;
      // The newest comes first in a list: reversed, components that were inserted in order are in order.
      std::reverse(order + begin, order + count);
      const auto ascends = [components = components_.data()](std::uint32_t a, std::uint32_t b) {
        return components[a].key < components[b].key;
      };
      const auto does_not_ascend = [&](std::uint32_t a, std::uint32_t b) { return !ascends(a, b); };
      if (std::adjacent_find(order + begin, order + count, does_not_ascend) != order + count)
        count = begin + sort_bucket(bucket, order + begin, count - begin);
    };
    if (are_few()) {
      // The buckets in use, which sorting them finds, at the end of the array.
      std::uint32_t* const end = order + capacity_;
      std::uint32_t* used = end;
      for (std::int64_t n = 0; n < size_; ++n) {
        const auto bucket = static_cast<std::uint32_t>(bucket_of(components_.data()[n].key));
        if (newest_.data()[bucket] == n) *--used = bucket;
      }
      std::sort(used, end);
      for (; used != end; ++used) add_bucket(*used);
    } else {
      for (std::int64_t bucket = 0; bucket < buckets_ && count < size_; ++bucket) add_bucket(bucket);
    }
    return {components_.data(), order, count};
  }
  void clear() {
    if (are_few())
      for (std::int64_t n = 0; n < size_; ++n) newest_.data()[bucket_of(components_.data()[n].key)] = none;
    else
      std::fill_n(newest_.data(), buckets_, none);
    size_ = 0;
  }

 private:
  using Entry = KeyedValue<key_type, T>;

  /// How many components of a bucket an insertion looks at, newest first. The limit bounds its time if many
  /// are in one bucket; duplicates that it misses are summed when the bucket is sorted.
  static constexpr int most_searched = 8;

  /// Whether so few buckets are in use that it takes less time to find them than to look at all; and whether
  /// there is room for their numbers behind those of the components.
  bool are_few() const {
    constexpr std::int64_t in_a_row =
        8;  // buckets that are looked at in the time of one that has to be found
    return size_ < buckets_ / in_a_row && 2 * size_ <= capacity_ &&
           buckets_ <= std::numeric_limits<std::uint32_t>::max();
  }

  /// Sorts the components of a bucket, sums duplicates, and makes the bucket's list of those that remain.
  /// @return how many remain
  std::int64_t sort_bucket(std::int64_t bucket, std::uint32_t* order, std::int64_t count) {
    Entry* const components = components_.data();
    std::sort(order, order + count, [components](std::uint32_t a, std::uint32_t b) {
      return components[a].key < components[b].key || (components[a].key == components[b].key && a < b);
    });
    std::int64_t kept = 0;
    for (std::int64_t n = 0; n < count; ++n) {
      if (kept > 0 && components[order[kept - 1]].key == components[order[n]].key) {
        T& sum = components[order[kept - 1]].value;
        sum = plus(sum, components[order[n]].value);
      } else {
        order[kept++] = order[n];
      }
    }
    std::uint32_t& newest = newest_.data()[bucket];
    newest = none;
    for (std::int64_t n = 0; n < kept; ++n) before_.data()[order[n]] = std::exchange(newest, order[n]);
    return kept;
  }

  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  /// The bits of a key's prefix that do not select its bucket.
  static int shift_for(const Keys& keys, std::int64_t capacity) {
    // There are at most four times as many buckets as components, most of which would be empty, and at least
    // a quarter as many, so that lists stay shorter than `most_searched` unless coordinates crowd.
    constexpr int bits_of_four = 2;
    const int most = bits_for(capacity << bits_of_four), least = bits_for(capacity) - bits_of_four;
    return std::max(keys.prefix_bits() - std::clamp(keys.leading_bits(), least, std::max(most, least)), 0);
  }
  static std::int64_t buckets_for(const Keys& keys, int shift) {
    return std::int64_t{1} << (keys.prefix_bits() - shift);
  }
  std::uint64_t bucket_of(const key_type& key) const { return keys_.prefix(key) >> shift_; }

  Keys keys_;
  int shift_ = 0;
  std::int64_t buckets_ = 0;
  ScratchArray<Entry> components_;
  ScratchArray<std::uint32_t> newest_;  ///< the index of each bucket's last component
  ScratchArray<std::uint32_t> before_;  ///< the previous component in the same bucket
  ScratchArray<std::uint32_t> order_;
  std::int64_t size_ = 0;
  std::int64_t capacity_ = 0;
};

}  // namespace detail

/// Lists the components of each leading coordinate in a bucket, sums duplicates when they are inserted, and
/// sorts each bucket: the bucket sort of section 5.2 of the paper that StagedWorkspace names, where L is the
/// leading extent, rounded up to a power of two, and h the leading coordinate.
///
/// If the leading extent is more than about four times the capacity of the accumulation array, neighbouring
/// leading coordinates share a bucket, which bounds the memory. If it is less than about a quarter, the
/// leading bits of the next coordinates help to select the bucket, which keeps buckets short. An insertion
/// searches only the newest components of its bucket: the policy suits components that are spread evenly over
/// the buckets, and sums duplicates later if many are in one.
struct BucketPolicy {
  static constexpr std::string_view name = "bucket workspace";
  static constexpr bool takes(int order) { return order >= 1; }
  template <class T, int Order>
  using workspace = InsertSortMerge<BucketPolicy, T, Order>;

  template <class Keys, class T>
  using accumulation = detail::BucketedComponents<Keys, T>;

  AccumulationSettings settings{};
};

inline constexpr BucketPolicy bucket_workspace{};

}  // namespace sporos
