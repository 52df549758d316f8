// SPDX-License-Identifier: Apache-2.0
/// @file fixed_array.hpp
/// FixedArray: an array to append to, in memory that is known to be large enough.
#pragma once

#include <cstdint>

#include "../core/inline.hpp"

namespace sporos {

/// The counterpart of GrowArray for a size with a known bound. It owns nothing, checks nothing, and is copied
/// like a pointer, so that its size stays in a register while a loop appends.
template <class T>
class FixedArray {
 public:
  FixedArray() = default;
  /// @param room  memory for all elements that will ever be appended
  FixedArray(T* room, std::int64_t /*capacity*/) : data_(room) {}

  std::int64_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::int64_t at) { return data_[at]; }
  const T& operator[](std::int64_t at) const { return data_[at]; }

  SPOROS_HOST_INLINE void push(const T& value) { data_[size_++] = value; }
  /// Appends `count` elements, all equal to `value`.
  SPOROS_HOST_INLINE void extend(std::int64_t count, const T& value) {
    for (std::int64_t at = 0; at < count; ++at) data_[size_ + at] = value;
    size_ += count;
  }
  SPOROS_HOST_INLINE void resize(std::int64_t size) { size_ = size; }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace sporos
