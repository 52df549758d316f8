// SPDX-License-Identifier: Apache-2.0
/// @file hash.hpp
/// Insert-sort-merge with an accumulation array that is a hash table, in which duplicates are summed when
/// they are inserted.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "../core/inline.hpp"
#include "../core/value.hpp"
#include "../formats/chunks.hpp"
#include "accumulation.hpp"
#include "component_runs.hpp"
#include "component_sort.hpp"
#include "insert_sort_merge.hpp"

namespace sporos {

struct HashPolicy;

namespace detail {

/// A hash table with open addressing: a component is in the first free slot at or after the one that its key
/// names.
template <class Keys, class T>
class HashedComponents {
 public:
  using key_type = typename Keys::key_type;

  template <class Policy>
  HashedComponents(const Policy& policy, const Keys& keys) : keys_(keys), length_(policy.length) {
    if (length_ < 0 || length_ > AccumulationSettings::largest_capacity)
      throw ScheduleError(text("the length of a hash table is ", length_, " slots: choose one from 1 to ",
                               AccumulationSettings::largest_capacity,
                               ", or 0 for one that fits the capacity"));
  }

  template <class Policy>
  static std::int64_t bytes(const Policy& policy, const Keys&, std::int64_t capacity) {
    return slots_for(policy.length, capacity) * static_cast<std::int64_t>(sizeof(Slot)) +
           2 * items_for(capacity) * static_cast<std::int64_t>(sizeof(Item));
  }
  void resize(std::int64_t capacity) {
    size_ = limit_ = capacity_ = 0;
    slots_ = {};
    items_ = {};
    spare_ = {};
    slots_ = ScratchArray<Slot>(slots_for(length_, capacity));
    items_ = ScratchArray<Item>(items_for(capacity));
    spare_ = ScratchArray<Item>(items_for(capacity));
    capacity_ = capacity;
    use(items_hold_values && length_ == 0 ? std::min(first_slots, slots_for(length_, capacity))
                                          : slots_for(length_, capacity));
    clear();
  }
  SPOROS_HOST_INLINE bool insert(const key_type& key, const T& value) {
    if (capacity_ == 0) [[unlikely]]
      return false;
    Slot* slot = first_slot(key);
    for (; slot->key != free_key; slot = slot + 1 == end_ ? slots_.data() : slot + 1) {
      if (slot->key == key) {
        slot->value = plus(slot->value, value);
        return true;
      }
    }
    if (size_ == limit_) [[unlikely]] {
      if (!use_more_slots()) return false;
      return insert_in_larger(key, value);
    }
    *slot = {key, value};
    ++size_;
    return true;
  }
  std::int64_t size() const { return size_; }

  auto sort() {
    Slot* const slots = slots_.data();
    Item* const items = items_.data();
    std::int64_t count = 0;
    if (size_ > 0)
      for (Slot* slot = slots; slot != end_; ++slot) {
        // Written for a free slot as well, and then overwritten: whether one is free cannot be predicted.
        if constexpr (items_hold_values)
          items[count] = {slot->key, slot->value};
        else if (slot->key != free_key)
          items[count] = {keys_.prefix(slot->key), static_cast<std::uint32_t>(slot - slots)};
        count += slot->key != free_key;
      }
    if constexpr (items_hold_values) {
      ComponentSort<T>::sort(items, spare_.data(), count);
      return ValueRun<T>{items, count};
    } else {
      sort_indices<Keys>(slots, items, spare_.data(), count);
      return IndexRun<key_type, T, Item>{slots, items, count};
    }
  }
  void clear() {
    size_ = 0;
    for (Slot* slot = slots_.data(); slot != end_; ++slot) *slot = Slot{free_key, T{}};
  }

 private:
  /// Whether components are copied out of the table to be sorted; otherwise their indices are sorted.
  static constexpr bool items_hold_values = sorts_values<Keys, T>;
  using Slot = KeyedValue<key_type, T>;
  using Item = SortItem<std::conditional_t<items_hold_values, T, std::uint32_t>>;

  static constexpr std::int64_t first_slots = 1024;
  static constexpr key_type free_key = key_after_all<key_type>();

  /// Slots of a table: with one free slot at least, at which a search ends.
  static std::int64_t slots_for(std::int64_t length, std::int64_t capacity) {
    if (length > 0) return std::max(length, capacity + 1);
    return 2 * static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(capacity)));
  }
  /// One more than there are components, since a free slot may be written as well.
  static std::int64_t items_for(std::int64_t capacity) { return capacity + 1; }

  Slot* first_slot(const key_type& key) const {
    const std::uint64_t number = keys_.number(key);
    // The leading bits of a product by 2^64 / golden ratio depend on all bits of the number.
    const std::uint64_t at =
        length_ > 0 ? number % static_cast<std::uint64_t>(length_) : number * 0x9e3779b97f4a7c15u >> shift_;
    return slots_.data() + at;
  }
  /// Uses the first `slots` slots, for up to half as many components where this is not the whole table.
  void use(std::int64_t slots) {
    end_ = slots_.data() + slots;
    shift_ = 64 - std::countr_zero(static_cast<std::uint64_t>(slots));
    limit_ = slots == slots_for(length_, capacity_) ? capacity_ : std::min(capacity_, slots / 2);
  }
  /// Moves the components to a larger part of the table.
  /// @return false if the array is full
  [[gnu::noinline]] bool use_more_slots() {
    if (limit_ == capacity_) return false;
    if constexpr (items_hold_values) {
      Item* const items = items_.data();
      std::int64_t count = 0;
      for (const Slot* slot = slots_.data(); slot != end_; ++slot)
        if (slot->key != free_key) items[count++] = {slot->key, slot->value};
      use(std::min(4 * (end_ - slots_.data()), slots_for(length_, capacity_)));
      clear();
      for (std::int64_t n = 0; n < count; ++n) insert(items[n].key, items[n].payload);
    }
    return true;
  }
  [[gnu::noinline]] bool insert_in_larger(const key_type key, const T value) { return insert(key, value); }

  Keys keys_;
  std::int64_t length_;
  ScratchArray<Slot> slots_;
  ScratchArray<Item> items_;
  ScratchArray<Item> spare_;
  Slot* end_ = nullptr;
  int shift_ = 0;
  std::int64_t size_ = 0;
  std::int64_t limit_ = 0;  ///< components up to which the part of the table in use is enough
  std::int64_t capacity_ = 0;
};

}  // namespace detail

/// Sums duplicates in a hash table when they are inserted, and sorts the distinct components: the policy for
/// many duplicates (the bucket sort of section 5.2 of the paper that StagedWorkspace names, with h = the
/// number of the coordinates modulo L).
///
/// Where the user does not choose the length of the table, it is the capacity rounded up to a power of two,
/// with twice as many slots, and the number is multiplied by a constant that spreads it over them. Small
/// tables are used first, up to the whole table.
struct HashPolicy {
  static constexpr std::string_view name = "hash workspace";
  static constexpr bool takes(int order) { return order >= 1; }
  template <class T, int Order>
  using workspace = InsertSortMerge<HashPolicy, T, Order>;

  template <class Keys, class T>
  using accumulation = detail::HashedComponents<Keys, T>;

  AccumulationSettings settings{};
  /// L: a component is searched for from slot h = number modulo L on; 0 for what is described above. With few
  /// slots or a common factor of L and the numbers, searches are long.
  std::int64_t length = 0;
};

inline constexpr HashPolicy hash_workspace{};

}  // namespace sporos
