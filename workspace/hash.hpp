// SPDX-License-Identifier: Apache-2.0
/// @file hash.hpp
/// Insert-sort-merge with an accumulation array that is a hash table, which sums duplicates when they are
/// inserted.
#pragma once

#include <algorithm>
#include <array>
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
#include "component_runs.hpp"
#include "component_sort.hpp"
#include "insert_sort_merge.hpp"

namespace sporos {

struct HashPolicy;

namespace detail {

/// A hash table with open addressing: a component is in the first free slot at or after the one that its key
/// names. Insertion is delayed until a few more components have arrived, so that its slot has been fetched
/// into the cache by then.
template <class Keys, class T>
class HashedComponents {
 public:
  using key_type = typename Keys::key_type;

  template <class Policy>
  HashedComponents(const Policy& policy, const Keys& keys) : keys_(keys), length_(policy.length) {}

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
    if (size_ >= limit_ && !use_more_slots()) [[unlikely]]
      return false;
    Slot& waiting = waiting_[turn_];
    turn_ = (turn_ + 1) % delay;
    const Slot longest_waiting = waiting;
    waiting = {key, value};
    SPOROS_PREFETCH(first_slot(key));
    put(longest_waiting);
    return true;
  }
  std::int64_t size() const {
    return size_ + std::count_if(waiting_.begin(), waiting_.end(),
                                 [](const Slot& slot) { return slot.key != free_key; });
  }

  auto sort() {
    for (std::size_t n = 0; n < delay; ++n)
      put(std::exchange(waiting_[(turn_ + n) % delay], Slot{free_key, T{}}));
    Slot* const slots = slots_.data();
    Item* const items = items_.data();
    std::int64_t count = 0;
    if (size_ > 0)
      for (Slot* slot = slots; slot != end_; ++slot) {
        // Written for a free slot as well, and then overwritten: whether a slot is free cannot be predicted.
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
    waiting_ = all_free();
    std::fill(slots_.data(), end_, Slot{free_key, T{}});
    // A workspace that is filled and drained many times looks through the slots in use each time.
    if constexpr (items_hold_values) {
      constexpr std::int64_t nearly_empty = 64;  // slots for each component
      const std::int64_t slots = end_ - slots_.data();
      if (length_ == 0 && slots > first_slots && size_ < slots / nearly_empty) use(slots / 4);
    }
    size_ = 0;
  }

 private:
  /// Whether components are copied out of the table to be sorted; otherwise their indices are sorted.
  static constexpr bool items_hold_values = sorts_values<Keys, T>;
  using Slot = KeyedValue<key_type, T>;
  using Item = SortItem<std::conditional_t<items_hold_values, T, std::uint32_t>>;

  /// Number of components that wait while their slots are fetched.
  static constexpr std::size_t delay = 8;
  /// Slots that are used first where the table is larger: so few that they are in a core's first cache.
  static constexpr std::int64_t first_slots = 1024;
  static constexpr key_type free_key = key_after_all<key_type>();

  /// The most components, including those that wait when the table has become full, and one more: a search
  /// ends at a free slot, and a free slot may be written as an item as well.
  static std::int64_t items_for(std::int64_t capacity) {
    return capacity + static_cast<std::int64_t>(delay) + 1;
  }
  static std::int64_t slots_for(std::int64_t length, std::int64_t capacity) {
    constexpr std::int64_t least = 4 * delay;
    if (length > 0) return std::max(length, items_for(capacity));
    return std::max(least,
                    2 * static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(capacity))));
  }

  Slot* first_slot(const key_type& key) const {
    const std::uint64_t number = keys_.number(key);
    const std::uint64_t at =
        length_ > 0 ? number % static_cast<std::uint64_t>(length_) : hash_of_key(number, shift_);
    return slots_.data() + at;
  }
  /// Uses the first `slots` slots. If these are not the whole table, they take only a quarter of that number
  /// of components: most of them are then found in their first slot, which the processor predicts. In large
  /// tables, which are not in the caches, they take half of it.
  void use(std::int64_t slots) {
    constexpr std::int64_t large = std::int64_t{1} << 18;  // slots, of 16 bytes or more: four megabytes
    const std::int64_t slots_of_component = slots < large ? 4 : 2;
    end_ = slots_.data() + slots;
    shift_ = 64 - std::countr_zero(static_cast<std::uint64_t>(slots));
    limit_ =
        slots == slots_for(length_, capacity_) ? capacity_ : std::min(capacity_, slots / slots_of_component);
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
      size_ = 0;
      std::fill(slots_.data(), end_, Slot{free_key, T{}});
      for (std::int64_t n = 0; n < count; ++n) put({items[n].key, items[n].payload});
    }
    return true;
  }
  static std::array<Slot, delay> all_free() {
    std::array<Slot, delay> out;
    out.fill(Slot{free_key, T{}});
    return out;
  }
  /// Adds a component to the table, unless it is a free slot.
  SPOROS_HOST_INLINE void put(const Slot& component) {
    if (component.key == free_key) [[unlikely]]
      return;
    Slot* slot = first_slot(component.key);
    for (; slot->key != free_key; slot = slot + 1 == end_ ? slots_.data() : slot + 1) {
      if (slot->key == component.key) {
        slot->value = plus(slot->value, component.value);
        return;
      }
    }
    *slot = component;
    ++size_;
  }

  Keys keys_;
  std::int64_t length_;
  ScratchArray<Slot> slots_;
  ScratchArray<Item> items_;
  ScratchArray<Item> spare_;
  std::array<Slot, delay> waiting_ = all_free();  ///< from turn_ on, the longest waiting first
  std::size_t turn_ = 0;
  Slot* end_ = nullptr;
  int shift_ = 0;
  std::int64_t size_ = 0;   ///< number of components in the table
  std::int64_t limit_ = 0;  ///< number of components for which the part of the table in use is enough
  std::int64_t capacity_ = 0;
};

}  // namespace detail

/// Sums duplicates in a hash table when they are inserted, and sorts the distinct components: the policy for
/// many duplicates (the bucket sort of section 5.2 of the paper that StagedWorkspace names, where h is the
/// number of the coordinates modulo L).
///
/// Unless the user chooses the length of the table, it has twice as many slots as the capacity rounded up to
/// a power of two, and the number is multiplied by a constant that spreads it over them. At first only a
/// small part of the table is used, and more of it as it fills. (The paper has a list for each of
/// 2^ceil(log2 nnz) slots, of an operand with nnz nonzeros.)
struct HashPolicy {
  static constexpr std::string_view name = "hash workspace";
  static constexpr bool takes(int order) { return order >= 1; }
  template <class T, int Order>
  using workspace = InsertSortMerge<HashPolicy, T, Order>;

  template <class Keys, class T>
  using accumulation = detail::HashedComponents<Keys, T>;

  /// Even of few elements: all slots of the small table are looked at, and emptied.
  static constexpr double seconds_of_drain = 1e-6;

  AccumulationSettings settings{};
  /// L: the search for a component begins at slot h = number modulo L; 0 for the default described above.
  /// With few slots, or a common factor of L and the numbers, searches are long.
  std::int64_t length = 0;

  /// @throws ScheduleError if a setting makes no sense
  void validate() const {
    settings.validate();
    if (length < 0 || length > AccumulationSettings::largest_capacity)
      throw ScheduleError(text("the length of a hash table is ", length, " slots: choose one from 1 to ",
                               AccumulationSettings::largest_capacity,
                               ", or 0 for one that fits the capacity"));
  }
};

inline constexpr HashPolicy hash_workspace{};

}  // namespace sporos
