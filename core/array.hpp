// SPDX-License-Identifier: Apache-2.0
/// @file array.hpp
/// One-dimensional arrays in a memory space: what levels and values are stored in.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "device_pool.hpp"
#include "error.hpp"
#include "large_pages.hpp"
#include "space.hpp"
#include "value.hpp"

namespace sporos {

/// A reference-counted array. Constructed from a raw pointer, it refers to memory that it does not own and
/// never frees it.
template <class T, class MemorySpace = Kokkos::HostSpace>
using Array = Kokkos::View<T*, MemorySpace>;

/// A host array.
template <class T>
using HostArray = Array<T, Kokkos::HostSpace>;

namespace detail {

[[noreturn]] inline void refuse_array(const std::string& label, std::int64_t count, std::size_t element,
                                      std::string reason, std::string_view cure) {
  while (reason.ends_with('.')) reason.pop_back();
  throw MemoryError(
      text(label, ": ", count, " elements of ", element, " bytes cannot be allocated: ", reason, ". ", cure));
}

}  // namespace detail

/// `count` elements, not initialised. Those in a device's memory, which the host cannot read, come from its
/// pool.
/// @param cure  what to do where there is no memory for them: the end of the error's message
/// @throws MemoryError if the memory cannot be allocated
template <class T, class MemorySpace = Kokkos::HostSpace>
Array<T, MemorySpace> make_array(const std::string& label, std::int64_t count,
                                 std::string_view cure = "If few of them are nonzero, use a sparse level") {
  expect_kokkos();
  if (count < 0 || count > std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(sizeof(T)))
    detail::refuse_array(label, count, sizeof(T), "the size in bytes does not fit in 64 bits", cure);
  try {
    if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible) {
      Array<T, MemorySpace> array(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                                  static_cast<std::size_t>(count));
      if constexpr (std::is_same_v<MemorySpace, Kokkos::HostSpace>)
        prefer_large_pages(array.data(), sizeof(T) * static_cast<std::size_t>(count));
      return array;
    } else {
      return detail::pool_of_memory<MemorySpace>().template array<T>(label, count);
    }
  } catch (const std::exception& failure) {
    detail::refuse_array(label, count, sizeof(T), failure.what(), cure);
  }
}

/// Bytes that an array of `count` elements takes; Kokkos allocates in units of eight.
template <class T>
constexpr std::int64_t array_bytes(std::int64_t count) {
  return (count * static_cast<std::int64_t>(sizeof(T)) + 7) / 8 * 8;
}

namespace detail {

/// Zeros part number `at` of some host memory.
struct ZeroPart {
  static constexpr std::size_t size = std::size_t{1} << 18;  ///< bytes of a part

  std::byte* memory;
  std::size_t bytes;

  void operator()(std::size_t at) const {
    std::memset(memory + at * size, 0, std::min(size, bytes - at * size));
  }
};

/// Zeros host memory on the threads of a space. One function for every type of element compiles much faster
/// than Kokkos::deep_copy of a value.
template <HostSpace Space>
void zero_memory(const Space& space, void* memory, std::size_t bytes) {
  const ZeroPart part{static_cast<std::byte*>(memory), bytes};
  const std::size_t parts = (bytes + ZeroPart::size - 1) / ZeroPart::size;
  if (parts == 1)
    part(0);
  else if (parts > 1)
    Kokkos::parallel_for("sporos::zero", Kokkos::RangePolicy<Space>(space, 0, parts), part);
}

}  // namespace detail

/// Sets every element to 0, or to the zero of a semiring, on the threads of a space.
template <class Space, class T>
void zero(const Space& space, const Array<T, typename Space::memory_space>& array) {
  static_assert(std::is_trivially_copyable_v<T>);
  if constexpr (HostSpace<Space> && !is_semiring_element_v<T>)  // zeros are zero bytes
    detail::zero_memory(space, array.data(), array.extent(0) * sizeof(T));
  else
    Kokkos::deep_copy(space, array, T{});
}

/// An array of `count` zeros.
/// @throws MemoryError if the memory cannot be allocated
template <class T, class MemorySpace = Kokkos::HostSpace>
Array<T, MemorySpace> zeroed_array(const std::string& label, std::int64_t count) {
  auto array = make_array<T, MemorySpace>(label, count);
  if constexpr (std::is_same_v<MemorySpace, Kokkos::HostSpace>)
    zero(Host(), array);
  else
    Kokkos::deep_copy(array, T{});
  return array;
}

/// A deep copy of `from` in another (or the same) memory space.
template <class MemorySpace, class T, class FromSpace>
Array<T, MemorySpace> copy_array(const Array<T, FromSpace>& from) {
  auto to = make_array<T, MemorySpace>("sporos copy", static_cast<std::int64_t>(from.extent(0)));
  Kokkos::deep_copy(to, from);
  return to;
}

}  // namespace sporos
