// SPDX-License-Identifier: Apache-2.0
/// @file coordinate.hpp
/// Insert-sort-merge with an accumulation array that appends components, and sums duplicates when it is
/// sorted.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../core/inline.hpp"
#include "../core/value.hpp"
#include "../formats/chunks.hpp"
#include "accumulation.hpp"
#include "component_keys.hpp"
#include "component_runs.hpp"
#include "component_sort.hpp"
#include "component_table.hpp"
#include "insert_sort_merge.hpp"

namespace sporos {

namespace detail {

/// About how many of `count` keys are distinct, as a share: counted among those that a hash function selects,
/// which selects a key always or never.
/// @param key_of  key_of(n), the n-th key
/// @param spare   memory for `count` items
template <class Payload, class KeyOf>
double share_of_distinct(std::int64_t count, const KeyOf& key_of, SortItem<Payload>* spare) {
  constexpr int one_in = 16, shift = 64 - std::countr_zero(unsigned{one_in});
  const std::int64_t most = count / 2;  // the other half is for sorting
  std::int64_t taken = 0;
  for (std::int64_t n = 0; n < count && taken < most; ++n) {
    const std::uint64_t key = key_of(n);
    spare[taken] = {key, {}};
    taken += hash_of_key(key, shift) == 0;
  }
  if (taken == 0) return 0;
  ComponentSort<Payload>::sort(spare, spare + most, taken);
  std::int64_t distinct = 1;
  for (std::int64_t n = 1; n < taken; ++n) distinct += spare[n].key != spare[n - 1].key;
  return static_cast<double>(distinct) / static_cast<double>(taken);
}

/// Components in the order of insertion, which are moved when they are sorted: for 64-bit keys and small
/// values. If the policy hashes, a list of which less than a quarter were distinct is followed by a hash
/// table in the same memory, and one in which less than half of the components recurred by a list. The first
/// list becomes a table before it is full, if a sample of it says that it would be such a list.
template <class T>
class MovingComponents {
 public:
  template <class Policy, class Keys>
  MovingComponents(const Policy& policy, const Keys&)
      : hashes_(policy.hashes && !policy.settings.pipelined) {}

  template <class Policy, class Keys>
  static std::int64_t bytes(const Policy&, const Keys&, std::int64_t capacity) {
    return 2 * capacity * static_cast<std::int64_t>(sizeof(Item));
  }
  void resize(std::int64_t capacity) {
    const bool is_table = std::exchange(is_table_, false);
    next_ = end_ = nullptr;
    items_ = {};
    spare_ = {};
    items_ = ScratchArray<Item>(capacity);
    spare_ = ScratchArray<Item>(capacity);
    capacity_ = capacity;
    is_table ? be_table(0) : be_list();
    if (hashes_ && !is_table && capacity >= least_sampled && capacity <= largest_sampled)
      end_ = next_ + sampled_after;
  }
  void grow(std::int64_t capacity) {
    ScratchArray<Item> items(capacity), spare(capacity);
    const std::int64_t held = size();
    std::copy_n(items_.data(), held, items.data());
    items_ = std::move(items);
    spare_ = std::move(spare);
    capacity_ = capacity;
    next_ = items_.data() + held;
    end_ = items_.data() + capacity;
  }
  double distinct_share() {
    if (is_table_) return 0;
    return share_of_distinct(size(), [this](std::int64_t n) { return items_.data()[n].key; }, spare_.data());
  }
  SPOROS_HOST_INLINE bool insert(std::uint64_t key, const T& value) {
    if (next_ == end_) return is_table_ ? table_.insert(key, value) : insert_beyond(key, value);
    *next_++ = {key, value};
    return true;
  }
  std::int64_t size() const { return is_table_ ? table_.size() : next_ - items_.data(); }
  ValueRun<T> sort() {
    if (is_table_) return table_.sort();
    const std::int64_t count = size();
    ComponentSort<T>::sort(items_.data(), spare_.data(), count);
    next_ = items_.data() + reduce(items_.data(), count);
    summed_ += count - size();
    return {items_.data(), size()};
  }
  void clear() {
    constexpr std::int64_t few = ComponentTable<T>::least_capacity;
    const std::int64_t distinct = size(), inserted = is_table_ ? table_.inserted() : distinct + summed_;
    if (!hashes_ || capacity_ < few || inserted < few)
      is_table_ ? table_.clear() : be_list();
    else if (is_table_ ? inserted < 2 * distinct : inserted < 4 * distinct)
      be_list();
    else
      be_table(distinct);
  }

 private:
  using Item = SortItem<T>;

  void be_list() {
    is_table_ = false;
    summed_ = 0;
    next_ = items_.data();
    end_ = next_ + capacity_;
  }
  void be_table(std::int64_t expected) {
    is_table_ = true;
    next_ = end_ = nullptr;  // as in a full list, so that insert() has one condition to check
    table_.use(items_.data(), spare_.data(), capacity_, expected);
  }
  /// Inserts into a list that is full, or of which a sample is to be taken.
  [[gnu::noinline]] bool insert_beyond(std::uint64_t key, const T value) {
    if (size() == capacity_) return false;
    end_ = items_.data() + capacity_;
    if (const std::int64_t keys = few_keys(); keys > 0) list_becomes_table(keys);
    return insert(key, value);
  }

  static constexpr std::int64_t sample = 2048;               ///< keys of each of two samples
  static constexpr std::int64_t sampled_after = 4 * sample;  ///< components of a list, sampled at both ends
  static constexpr std::int64_t least_sampled = 4 * sampled_after;  ///< a table takes any so many components
  static constexpr std::int64_t largest_sampled = sample * sample / 16;  ///< fewer than 64 keys would decide

  /// How many different keys are being inserted, estimated from those that two samples of the list have in
  /// common, each counted once: one key that recurs often, or next to itself, says nothing about the others.
  /// @return 0 if it is more than a quarter of the list's capacity
  std::int64_t few_keys() {
    constexpr int words = 4096, shift = 64 - std::countr_zero(unsigned{words} * 64);
    Item* const marks = spare_.data();
    for (int n = 0; n < words; ++n) marks[n].key = 0;
    const auto place = [](const Item& item) { return hash_of_key(item.key, shift); };
    for (const Item* item = items_.data(); item < items_.data() + sample; ++item)
      marks[place(*item) / 64].key |= std::uint64_t{1} << place(*item) % 64;
    std::int64_t common = 0;
    for (const Item* item = next_ - sample; item < next_; ++item) {
      std::uint64_t& word = marks[place(*item) / 64].key;
      const std::uint64_t mark = std::uint64_t{1} << place(*item) % 64;
      common += (word & mark) != 0;
      word &= ~mark;
    }
    return common * capacity_ > 4 * sample * sample ? sample * sample / common : 0;
  }
  void list_becomes_table(std::int64_t expected) {
    // The end of the spare memory is of no use to a table that is nearly empty.
    const std::int64_t count = size();
    Item* const listed = spare_.data() + (capacity_ - count);
    std::copy_n(items_.data(), count, listed);
    be_table(expected);
    for (std::int64_t n = 0; n < count; ++n) {
      const bool is_in = table_.insert(listed[n].key, listed[n].payload);
      ensure(is_in, "a table has room for what a fraction of its memory has listed");
    }
  }

  ScratchArray<Item> items_;
  ScratchArray<Item> spare_;
  std::int64_t capacity_ = 0;
  Item* next_ = nullptr;
  Item* end_ = nullptr;
  std::int64_t summed_ = 0;  ///< components of the list that were added to others
  bool hashes_;
  bool is_table_ = false;
  ComponentTable<T> table_;
};

/// Components in the order of insertion, which stay where they are; their indices are sorted.
template <class Keys, class T>
class IndexedComponents {
 public:
  using key_type = typename Keys::key_type;

  template <class Policy>
  IndexedComponents(const Policy&, const Keys& keys) : keys_(keys) {}

  template <class Policy>
  static std::int64_t bytes(const Policy&, const Keys&, std::int64_t capacity) {
    return capacity * static_cast<std::int64_t>(sizeof(Entry) + 2 * sizeof(Item));
  }
  void resize(std::int64_t capacity) {
    clear();
    end_ = 0;
    components_ = {};
    items_ = {};
    spare_ = {};
    components_ = ScratchArray<Entry>(capacity);
    items_ = ScratchArray<Item>(capacity);
    spare_ = ScratchArray<Item>(capacity);
    end_ = capacity;
  }
  void grow(std::int64_t capacity) {
    ScratchArray<Entry> components(capacity);
    ScratchArray<Item> items(capacity), spare(capacity);
    std::copy_n(components_.data(), size_, components.data());
    std::copy_n(items_.data(), distinct_, items.data());
    components_ = std::move(components);
    items_ = std::move(items);
    spare_ = std::move(spare);
    end_ = capacity;
  }
  double distinct_share() {
    const auto prefix = [this](std::int64_t n) { return keys_.prefix(components_.data()[n].key); };
    return share_of_distinct(size_, prefix, spare_.data());
  }
  SPOROS_HOST_INLINE bool insert(const key_type& key, const T& value) {
    if (size_ == end_) return false;
    components_.data()[size_++] = {key, value};
    return true;
  }
  std::int64_t size() const { return size_; }
  IndexRun<key_type, T, SortItem<std::uint32_t>> sort() {
    Entry* const components = components_.data();
    Item* const items = items_.data();
    if (listed_ < size_) {
      for (; listed_ < size_; ++listed_)
        items[distinct_++] = {keys_.prefix(components[listed_].key), static_cast<std::uint32_t>(listed_)};
      sort_indices<Keys>(components, items, spare_.data(), distinct_);
      std::int64_t last = 0;
      for (std::int64_t n = 1; n < distinct_; ++n) {
        Entry& component = components[items[last].payload];
        const Entry& next = components[items[n].payload];
        if (next.key == component.key)
          component.value = plus(component.value, next.value);
        else
          items[++last] = items[n];
      }
      distinct_ = last + 1;
    }
    return {components, items, distinct_};
  }
  void clear() { size_ = listed_ = distinct_ = 0; }

 private:
  using Entry = KeyedValue<key_type, T>;
  using Item = SortItem<std::uint32_t>;

  Keys keys_;
  ScratchArray<Entry> components_;
  ScratchArray<Item> items_;
  ScratchArray<Item> spare_;
  std::int64_t size_ = 0;
  std::int64_t end_ = 0;
  std::int64_t listed_ = 0;    ///< number of components that have been listed in items
  std::int64_t distinct_ = 0;  ///< number of items: listed components that were not added to others
};

}  // namespace detail

/// Appends components, sorts them by a radix sort and then sums duplicates: the policy for few duplicates
/// (the coordinate sort of section 5.2 of the paper that StagedWorkspace names).
///
/// Indices of the components are sorted, together with their keys, so that the components stay where they
/// are. For 64-bit keys with values of up to 8 bytes, the components themselves are sorted, which takes less
/// memory and is faster.
struct CoordinatePolicy {
  static constexpr std::string_view name = "coordinate workspace";
  /// When the user asks for it, it also takes results that could be appended.
  static constexpr bool lists_everything = true;
  static constexpr bool takes(int order) { return order >= 1; }
  template <class T, int Order>
  using workspace = InsertSortMerge<CoordinatePolicy, T, Order>;

  template <class Keys, class T>
  using accumulation = std::conditional_t<detail::sorts_values<Keys, T>, detail::MovingComponents<T>,
                                          detail::IndexedComponents<Keys, T>>;

  /// Where the workspace spans few cells, the first arrays are small, so that a result of few elements takes
  /// a fraction of a dense one's memory; they grow while their components are nearly distinct. Arrays of more
  /// than a million components take longer to sort than merging smaller ones costs.
  AccumulationSettings settings{.growth = {.second_slope = 0.25, .distinct = true, .of_cells = 1.0 / 128}};
  /// Whether a list of which few components are distinct becomes a hash table in its memory, which adds up
  /// components as they are inserted, for 64-bit keys with values of up to 8 bytes. Not where the workspace
  /// is pipelined.
  bool hashes = false;
};

inline constexpr CoordinatePolicy coordinate_workspace{};

}  // namespace sporos
