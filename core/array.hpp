// SPDX-License-Identifier: Apache-2.0
/// @file array.hpp
/// One-dimensional arrays in a memory space: what levels and values are stored in.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <string>
#include <type_traits>

#include "error.hpp"
#include "large_pages.hpp"
#include "space.hpp"

namespace sporos {

/// A reference-counted array. Constructed from a raw pointer, it refers to memory that it does not own and
/// never frees it.
template <class T, class MemorySpace = Kokkos::HostSpace>
using Array = Kokkos::View<T*, MemorySpace>;

/// A host array.
template <class T>
using HostArray = Array<T, Kokkos::HostSpace>;

/// `count` elements, not initialised.
/// @throws MemoryError if the memory cannot be allocated
template <class T, class MemorySpace = Kokkos::HostSpace>
Array<T, MemorySpace> make_array(const std::string& label, std::int64_t count) {
  expect_kokkos();
  const auto refuse = [&](std::string reason) {
    while (reason.ends_with('.')) reason.pop_back();
    throw MemoryError(text(label, ": ", count, " elements of ", sizeof(T), " bytes cannot be allocated: ",
                           reason, ". If few of them are nonzero, use a sparse level"));
  };
  if (count < 0 || count > std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(sizeof(T)))
    refuse("the size in bytes does not fit in 64 bits");
  try {
    Array<T, MemorySpace> array(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                                static_cast<std::size_t>(count));
    if constexpr (std::is_same_v<MemorySpace, Kokkos::HostSpace>)
      prefer_large_pages(array.data(), sizeof(T) * static_cast<std::size_t>(count));
    return array;
  } catch (const std::exception& failure) {
    refuse(failure.what());
    throw;
  }
}

/// `count` elements, all zero.
/// @throws MemoryError if the memory cannot be allocated
template <class T, class MemorySpace = Kokkos::HostSpace>
Array<T, MemorySpace> zeroed_array(const std::string& label, std::int64_t count) {
  auto array = make_array<T, MemorySpace>(label, count);
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
