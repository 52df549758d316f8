// SPDX-License-Identifier: Apache-2.0
/// @file entry_store.hpp
/// Entries gathered block by block while a file is read, without trusting the number that a header announces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <new>

#include "../../core/entries.hpp"

namespace sporos::io {

/// Uninitialised memory for elements of type `T`.
template <class T>
class Scratch {
 public:
  T* data() const { return data_.get(); }
  /// Makes room for `count` elements; the old contents are lost.
  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    data_.reset(static_cast<T*>(std::malloc(count * sizeof(T))));
    capacity_ = data_ ? count : 0;
    if (!data_) throw std::bad_alloc();
  }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t capacity_ = 0;
};

/// Entries in segments. The size of the first segment is extrapolated from the first block, so that it
/// usually becomes the result without a copy. Memory is never allocated just because a header announces
/// entries.
template <class Value, int Order>
class EntryStore {
 public:
  /// A contiguous place for some entries: write them there while other threads reserve their own places.
  struct Slot {
    std::array<std::int64_t*, static_cast<std::size_t>(Order)> coordinates;
    Value* values;
  };

  /// @param most  the largest possible number of entries, according to the header
  explicit EntryStore(std::int64_t most = std::numeric_limits<std::int64_t>::max()) : most_(most) {}

  std::int64_t size() const { return size_; }

  /// Reserves room for the next `count` entries; called by one thread at a time, in file order.
  /// @param read_part  the fraction of the file, 0 to 1, up to the end of these entries; 0 if unknown
  Slot reserve(std::int64_t count, double read_part) {
    if (segments_.empty() || segments_.back().capacity - segments_.back().used < count)
      grow(count, read_part);
    Segment& segment = segments_.back();
    Slot slot{};
    for (std::size_t mode = 0; mode < slot.coordinates.size(); ++mode)
      slot.coordinates[mode] = segment.entries.coordinates[mode].data() + segment.used;
    slot.values = segment.entries.values.data() + segment.used;
    segment.used += count;
    size_ += count;
    return slot;
  }

  /// All entries, in the order of the reservations; the store is empty afterwards.
  Entries<Value, Order> take(const Extents<Order>& extents) {
    Entries<Value, Order> all;
    if (segments_.size() == 1) {
      all = front_part(segments_.front().entries, size_);
    } else {
      all = Entries<Value, Order>(extents, size_);
      std::size_t at = 0;
      for (const Segment& segment : segments_) {
        const auto used = static_cast<std::size_t>(segment.used);
        if (used == 0) continue;
        for (std::size_t mode = 0; mode < all.coordinates.size(); ++mode)
          std::memcpy(all.coordinates[mode].data() + at, segment.entries.coordinates[mode].data(),
                      used * sizeof(std::int64_t));
        std::memcpy(static_cast<void*>(all.values.data() + at), segment.entries.values.data(),
                    used * sizeof(Value));
        at += used;
      }
    }
    all.extents = extents;
    segments_.clear();
    size_ = 0;
    return all;
  }

 private:
  struct Segment {
    Entries<Value, Order> entries;
    std::int64_t capacity = 0;
    std::int64_t used = 0;
  };

  void grow(std::int64_t count, double read_part) {
    double guess = static_cast<double>(size_);  // as many more as there are
    const double entries = static_cast<double>(size_ + count);
    if (read_part > 0) guess = entries * (1 / read_part - 1) * 1.05;
    const double left = std::min(static_cast<double>(most_ - size_), 4e18);
    const auto capacity =
        std::max(count, static_cast<std::int64_t>(std::min(static_cast<double>(count) + guess, left)));
    try {
      add_segment(capacity);
    } catch (const std::exception&) {
      // The extrapolation may be far too large (for a file with a huge hole), while the memory that is
      // certainly needed may still fit.
      if (capacity == count) throw;
      add_segment(count);
    }
  }

  void add_segment(std::int64_t capacity) {
    segments_.push_back({Entries<Value, Order>(Extents<Order>{}, capacity), capacity, 0});
  }

  /// The first `count` entries, in the same memory.
  static Entries<Value, Order> front_part(Entries<Value, Order>& entries, std::int64_t count) {
    if (count == entries.size()) return entries;
    const std::pair<std::size_t, std::size_t> range(0, static_cast<std::size_t>(count));
    Entries<Value, Order> part;
    for (std::size_t mode = 0; mode < part.coordinates.size(); ++mode)
      part.coordinates[mode] = Kokkos::subview(entries.coordinates[mode], range);
    part.values = Kokkos::subview(entries.values, range);
    return part;
  }

  std::int64_t most_;
  std::int64_t size_ = 0;
  std::deque<Segment> segments_;
};

}  // namespace sporos::io
