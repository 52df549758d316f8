// SPDX-License-Identifier: Apache-2.0
/// @file grow_array.hpp
/// GrowArray: a host array to append to, which does not initialise new memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "../core/memory_use.hpp"

namespace sporos {

/// Like std::vector for trivially copyable elements, but growing neither initialises memory nor, where the
/// system can move pages, copies it. It may start in memory that the caller lends.
template <class T>
class GrowArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  GrowArray() = default;
  /// Starts in `room`, which has space for `capacity` elements, and allocates its own memory when it outgrows
  /// that.
  GrowArray(T* room, std::int64_t capacity) : data_(room), capacity_(capacity), lent_(true) {}
  GrowArray(GrowArray&& other) noexcept { swap(other); }
  GrowArray& operator=(GrowArray&& other) noexcept {
    swap(other);
    return *this;
  }
  ~GrowArray() {
    if (lent_ || !data_) return;
    detail::count_memory(-bytes(capacity_));
    std::free(data_);
  }

  std::int64_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::int64_t at) { return data_[at]; }
  const T& operator[](std::int64_t at) const { return data_[at]; }

  void push(const T& value) {
    if (size_ == capacity_) [[unlikely]]
      grow(size_ + 1);
    data_[size_++] = value;
  }
  /// Appends `count` elements, all equal to `value`.
  void extend(std::int64_t count, const T& value) {
    if (size_ + count > capacity_) grow(size_ + count);
    for (std::int64_t at = 0; at < count; ++at) data_[size_ + at] = value;
    size_ += count;
  }
  void resize(std::int64_t size) { size_ = size; }
  /// Gives back the memory behind the last element.
  void shrink() {
    if (lent_ || size_ == 0 || size_ == capacity_) return;
    void* const moved = std::realloc(static_cast<void*>(data_), static_cast<std::size_t>(size_) * sizeof(T));
    if (!moved) return;
    detail::count_memory(bytes(size_) - bytes(capacity_));
    data_ = static_cast<T*>(moved);
    capacity_ = size_;
  }

 private:
  void swap(GrowArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(lent_, other.lent_);
  }
  static std::int64_t bytes(std::int64_t count) { return count * static_cast<std::int64_t>(sizeof(T)); }
  [[gnu::noinline]] void grow(std::int64_t needed) {
    const std::int64_t capacity = needed > 2 * capacity_ ? needed : 2 * capacity_;
    void* const own = lent_ ? nullptr : static_cast<void*>(data_);
    void* const moved = std::realloc(own, static_cast<std::size_t>(capacity) * sizeof(T));
    if (!moved) throw std::bad_alloc();
    if (lent_ && size_ > 0) std::memcpy(moved, data_, static_cast<std::size_t>(size_) * sizeof(T));
    detail::count_memory(bytes(capacity) - (lent_ ? 0 : bytes(capacity_)));
    lent_ = false;
    data_ = static_cast<T*>(moved);
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  std::int64_t size_ = 0;
  std::int64_t capacity_ = 0;
  bool lent_ = false;
};

}  // namespace sporos
