// SPDX-License-Identifier: Apache-2.0
/// @file component_table.hpp
/// A hash table of components in memory that it does not own: what a list becomes whose coordinates recur.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../core/inline.hpp"
#include "../core/value.hpp"
#include "component_keys.hpp"
#include "component_runs.hpp"
#include "component_sort.hpp"

namespace sporos::detail {

/// Components with different keys, by open addressing: each is in the first free slot at or after the one
/// that its key names. Few slots are used at first, so that they stay in the caches, and more as these fill.
/// Insertion is delayed until a few more components have arrived, so that its slot has been fetched by then.
template <class T>
class ComponentTable {
 public:
  using Item = SortItem<T>;

  /// Uses other memory, in which there are no components yet.
  /// @param items     memory for the slots
  /// @param spare     memory of the same size, for sorting
  /// @param capacity  how many items that is, at least `least_capacity`
  /// @param expected  the number of components that are expected
  void use(Item* items, Item* spare, std::int64_t capacity, std::int64_t expected) {
    items_ = items;
    spare_ = spare;
    most_slots_ = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(capacity)));
    empty(expected);
  }
  static constexpr std::int64_t least_capacity = 1024;

  /// @return false if there may be no room for another component
  SPOROS_HOST_INLINE bool insert(std::uint64_t key, const T& value) {
    if (size_ >= limit_ && !use_more_slots()) [[unlikely]]
      return false;
    Item& waiting = waiting_[turn_];
    turn_ = (turn_ + 1) % delay;
    const Item longest_waiting = waiting;
    waiting = {key, value};
    SPOROS_PREFETCH(first_slot(key));
    put(longest_waiting);
    ++inserted_;
    return true;
  }
  /// The number of components, of which those that wait may have the same keys as others.
  std::int64_t size() const {
    return size_ + std::count_if(waiting_.begin(), waiting_.end(),
                                 [](const Item& item) { return item.key != free_key; });
  }
  /// The number of insertions since it was empty.
  std::int64_t inserted() const { return inserted_; }

  /// The components in the order of their keys, until the next insertion.
  ValueRun<T> sort() {
    for (std::size_t n = 0; n < delay; ++n)
      put(std::exchange(waiting_[(turn_ + n) % delay], Item{free_key, T{}}));
    compact();
    ComponentSort<T>::sort(spare_, spare_ + size_, size_);
    return {spare_, size_};
  }
  /// Forgets all components, and expects as many again.
  void clear() { empty(size_); }

 private:
  /// Number of components that wait while their slots are fetched.
  static constexpr std::size_t delay = 8;
  static constexpr std::uint64_t free_key = key_after_all<std::uint64_t>();
  static constexpr std::int64_t slots_of_component = 4;

  static std::array<Item, delay> all_free() {
    std::array<Item, delay> out;
    out.fill(Item{free_key, T{}});
    return out;
  }
  void empty(std::int64_t expected) {
    const auto wanted = std::bit_ceil(static_cast<std::uint64_t>(slots_of_component * expected));
    use_slots(std::clamp(static_cast<std::int64_t>(wanted), least_capacity, most_slots_));
    waiting_ = all_free();
    inserted_ = 0;
  }
  /// A part of the slots takes a quarter of their number: most components are then found in their first slot,
  /// which the processor predicts. All of them take less than half, with those that wait when they are full,
  /// so that there is room to sort.
  void use_slots(std::int64_t slots) {
    slots_ = slots;
    shift_ = 64 - std::countr_zero(static_cast<std::uint64_t>(slots));
    limit_ = slots == most_slots_ ? slots / 2 - static_cast<std::int64_t>(delay) : slots / slots_of_component;
    size_ = 0;
    std::fill(items_, items_ + slots, Item{free_key, T{}});
  }
  Item* first_slot(std::uint64_t key) const { return items_ + hash_of_key(key, shift_); }
  /// Adds a component, unless it is a free slot.
  SPOROS_HOST_INLINE void put(const Item& component) {
    if (component.key == free_key) [[unlikely]]
      return;
    Item* slot = first_slot(component.key);
    for (; slot->key != free_key; slot = slot + 1 == items_ + slots_ ? items_ : slot + 1) {
      if (slot->key == component.key) {
        slot->payload = plus(slot->payload, component.payload);
        return;
      }
    }
    *slot = component;
    ++size_;
  }
  /// Copies the components to the beginning of the spare memory.
  void compact() {
    std::int64_t count = 0;
    for (const Item* slot = items_; slot != items_ + slots_; ++slot) {
      // Written for a free slot as well, and then overwritten: whether a slot is free cannot be predicted.
      spare_[count] = *slot;
      count += slot->key != free_key;
    }
  }
  /// Moves the components to more slots.
  /// @return false if all are in use
  [[gnu::noinline]] bool use_more_slots() {
    if (slots_ == most_slots_) return false;
    compact();
    const std::int64_t count = size_;
    use_slots(std::min(slots_of_component * slots_, most_slots_));
    for (std::int64_t n = 0; n < count; ++n) put(spare_[n]);
    return true;
  }

  Item* items_ = nullptr;  ///< [most_slots_]
  Item* spare_ = nullptr;  ///< [most_slots_]
  std::int64_t most_slots_ = 0;
  std::int64_t slots_ = 0;  ///< number of slots in use
  int shift_ = 0;
  std::int64_t limit_ = 0;  ///< number of components that the slots in use take
  std::int64_t size_ = 0;   ///< number of components in slots
  std::int64_t inserted_ = 0;
  std::array<Item, delay> waiting_ = all_free();  ///< from turn_ on, the longest waiting first
  std::size_t turn_ = 0;
};

}  // namespace sporos::detail
