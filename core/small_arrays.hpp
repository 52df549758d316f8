// SPDX-License-Identifier: Apache-2.0
/// @file small_arrays.hpp
/// Keeps the memory of small arrays for later ones: allocating and freeing a Kokkos View takes a quarter of a
/// microsecond, most of the time of a small statement.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "array.hpp"

namespace sporos::detail {

/// Whether the memory of small arrays is kept. AddressSanitizer must see each of them allocated and freed.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool keeps_small_arrays = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool keeps_small_arrays = false;
#else
inline constexpr bool keeps_small_arrays = true;
#endif
#else
inline constexpr bool keeps_small_arrays = true;
#endif

/// The small arrays that were handed out last, for each type of element. An array that nobody refers to any
/// more is handed out again for a request of about its size. Used under the lock of the pool, and only where
/// may_free_views(). Arrays in use when this is destroyed are freed with their owners.
class SmallArrays {
 public:
  /// `count` elements, not initialised: the front of an array that may be up to a quarter larger.
  /// @param label      label of an array that has to be allocated
  /// @param forgotten  receives an array that is no longer remembered, to be freed after the lock is released
  template <class T>
  HostArray<T> array(const char* label, std::int64_t count, HostArray<T>& forgotten) {
    SlotsOf<T>& slots = of_type<T>();
    const std::int64_t most = count + count / 4 + line / static_cast<std::int64_t>(sizeof(T));
    std::size_t at = 0;
    while (at < remembered &&
           !(slots.capacity[at] >= count && slots.capacity[at] <= most && slots.arrays[at].use_count() == 1))
      ++at;
    if (at == remembered) {
      const std::int64_t capacity = std::max<std::int64_t>(count, 1);
      auto array = make_array<T>(label, capacity);
      at = std::exchange(slots.next, (slots.next + 1) % remembered);
      forgotten = std::exchange(slots.arrays[at], std::move(array));
      slots.capacity[at] = capacity;
    }
    std::atomic_thread_fence(std::memory_order_acquire);  // after all that its last owner did
    return Kokkos::subview(slots.arrays[at], std::pair(std::int64_t{0}, count));
  }

 private:
  static constexpr std::size_t remembered = 32;  ///< number of arrays of one type
  static constexpr std::int64_t line = 64;       ///< bytes by which the smallest arrays may differ

  /// Its address identifies a type. If two libraries of a program each have their own, their arrays are kept
  /// apart.
  template <class T>
  static inline char type_key = 0;

  struct Slots {
    explicit Slots(const char* of) : type(of) {}
    virtual ~Slots() = default;
    const char* type;
  };
  template <class T>
  struct SlotsOf : Slots {
    SlotsOf() : Slots(&type_key<T>) {}
    std::array<std::int64_t, remembered> capacity{};  ///< elements
    std::array<HostArray<T>, remembered> arrays;
    std::size_t next = 0;  ///< the slot whose array is forgotten next
  };

  template <class T>
  SlotsOf<T>& of_type() {
    for (const auto& slots : types_)
      if (slots->type == &type_key<T>) return static_cast<SlotsOf<T>&>(*slots);
    types_.push_back(std::make_unique<SlotsOf<T>>());
    return static_cast<SlotsOf<T>&>(*types_.back());
  }

  std::vector<std::unique_ptr<Slots>> types_;
};

}  // namespace sporos::detail
