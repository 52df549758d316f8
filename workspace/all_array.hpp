// SPDX-License-Identifier: Apache-2.0
/// @file all_array.hpp
/// AllArray: the sorted components of a workspace, into which sorted accumulation arrays are merged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "../core/value.hpp"
#include "../formats/chunks.hpp"
#include "accumulation.hpp"
#include "memory_budget.hpp"

namespace sporos {

/// Keys in ascending order, each once, and their values, in two arrays. Merging writes to a second pair of
/// arrays, which then takes the place of the first. The second pair is either kept for the next merge (double
/// buffering, as in section 5.3 of the paper that AccumulationGrowth names), or allocated for each merge.
template <class Key, class T>
class AllArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_copyable_v<Key>);

 public:
  explicit AllArray(bool double_buffered) : double_buffered_(double_buffered) {}

  std::int64_t size() const { return size_; }
  std::span<const Key> keys() const { return {now_.keys.data(), static_cast<std::size_t>(size_)}; }
  std::span<const T> values() const { return {now_.values.data(), static_cast<std::size_t>(size_)}; }

  /// Adds the components of a run, in time linear in its size and that of the array. The value of a key that
  /// is in both is plus(value here, value of the run).
  /// @param budget  the budget from which its memory is taken, the same for each merge
  /// @throws MemoryError if there is no memory for the result; the array is then as before
  template <class Run>
  void merge(const Run& run, MemoryBudget& budget) {
    const std::int64_t count = run.size();
    if (count == 0) return;
    const bool follows = size_ == 0 || now_.keys.data()[size_ - 1] < run.key(0);
    if (follows && size_ + count <= now_.capacity) {
      append(run, 0, now_, size_);
      size_ += count;
      return;
    }
    std::int64_t needed = size_ + count;
    if (needed > next_.capacity && !follows) needed = merged_size(run);
    if (needed > next_.capacity) grow_next(needed, budget);
    size_ = merge_to_next(run);
    std::swap(now_, next_);
    if (!double_buffered_) {
      budget.give_back(bytes(next_.capacity));
      next_ = Buffer{};
    }
  }

  /// Forgets the components, and keeps the memory.
  void clear() { size_ = 0; }

  /// An upper bound in bytes on an array into which runs of `adds` components in total are merged: a pair of
  /// arrays may have room for half as many again as it needs, and there are two pairs.
  static std::int64_t most_bytes(std::int64_t adds) { return 2 * bytes(adds + adds / 2 + 1); }

 private:
  struct Buffer {
    detail::ScratchArray<Key> keys;
    detail::ScratchArray<T> values;
    std::int64_t capacity = 0;
  };

  static std::int64_t bytes(std::int64_t capacity) {
    return capacity * static_cast<std::int64_t>(sizeof(Key) + sizeof(T));
  }

  /// Makes room for `needed` components in the next buffer: half as much again as before if it is kept, so
  /// that it does not grow with every merge, and if the budget allows.
  void grow_next(std::int64_t needed, MemoryBudget& budget) {
    std::int64_t capacity = needed;
    if (double_buffered_) {
      const std::int64_t affordable = (budget.left() + bytes(next_.capacity)) / bytes(1);
      capacity = std::max(needed, std::min(next_.capacity + next_.capacity / 2, affordable));
    }
    budget.take(bytes(capacity), bytes(next_.capacity), "all components merged");
    next_ = Buffer{};
    try {
      Buffer grown;
      grown.keys = detail::ScratchArray<Key>(capacity);
      grown.values = detail::ScratchArray<T>(capacity);
      grown.capacity = capacity;
      next_ = std::move(grown);
    } catch (...) {
      budget.give_back(bytes(capacity));
      throw;
    }
  }

  /// The number of different keys in the array and the run together.
  template <class Run>
  std::int64_t merged_size(const Run& run) const {
    const Key* const keys = now_.keys.data();
    const std::int64_t count = run.size();
    std::int64_t here = std::lower_bound(keys, keys + size_, run.key(0)) - keys;
    std::int64_t both = 0;
    for (std::int64_t n = 0; n < count && here < size_;) {
      const Key key = run.key(n);
      const bool is_first = !(keys[here] < key), is_second = !(key < keys[here]);
      both += is_first && is_second;
      here += is_second;
      n += is_first;
    }
    return size_ + count - both;
  }

  template <class Run>
  static void append(const Run& run, std::int64_t from, const Buffer& to, std::int64_t at) {
    Key* const keys = to.keys.data() + at;
    T* const values = to.values.data() + at;
    const std::int64_t count = run.size() - from;
    for (std::int64_t n = 0; n < count; ++n) {
      keys[n] = run.key(from + n);
      values[n] = run.value(from + n);
    }
  }

  /// @return the number of components in the next buffer
  template <class Run>
  std::int64_t merge_to_next(const Run& run) {
    const Key* const keys = now_.keys.data();
    const T* const values = now_.values.data();
    Key* const merged_keys = next_.keys.data();
    T* const merged_values = next_.values.data();
    const std::int64_t count = run.size();
    std::int64_t here = size_ ? std::lower_bound(keys, keys + size_, run.key(0)) - keys : 0;
    std::copy(keys, keys + here, merged_keys);
    std::copy(values, values + here, merged_values);
    std::int64_t n = 0, to = here;
    for (; here < size_ && n < count; ++to) {
      const Key key = run.key(n);
      const T value = run.value(n);
      const bool takes_here = !(key < keys[here]), takes_run = !(keys[here] < key);
      if constexpr (std::is_floating_point_v<T>) {
        // Which of the two comes next is as good as random: selections cost less than mispredicted branches.
        const T sum = plus(values[here], value);
        const T one = takes_here ? values[here] : value;
        merged_values[to] = (takes_here & takes_run) ? sum : one;
      } else {
        merged_values[to] = !takes_here ? value : !takes_run ? values[here] : plus(values[here], value);
      }
      merged_keys[to] = takes_here ? keys[here] : key;
      here += takes_here;
      n += takes_run;
    }
    std::copy(keys + here, keys + size_, merged_keys + to);
    std::copy(values + here, values + size_, merged_values + to);
    append(run, n, next_, to + size_ - here);
    return to + size_ - here + count - n;
  }

  bool double_buffered_;
  std::int64_t size_ = 0;
  Buffer now_;
  Buffer next_;
};

}  // namespace sporos
