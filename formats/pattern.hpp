// SPDX-License-Identifier: Apache-2.0
/// @file pattern.hpp
/// Pattern: remembers which coordinates a tensor stores, to tell later whether they are still the same.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../core/array.hpp"
#include "../core/level.hpp"
#include "../core/tensor.hpp"

namespace sporos::detail {

/// Adds up hashes of the elements of an array, each hashed with its place.
template <class ArrayType>
struct HashElements {
  ArrayType array;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at, std::uint64_t& sum) const {
    const auto q = static_cast<std::size_t>(at);
    std::uint64_t h =
        static_cast<std::uint64_t>(array(q)) + 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(at + 1);
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;  // splitmix64
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    sum += h ^ (h >> 31);
  }
};

/// A hash of the coordinates that a tensor stores and of their number. Cost: reads the arrays of the levels.
template <class TensorType>
std::uint64_t fingerprint(const TensorType& tensor) {
  using Space = typename TensorType::space_type;
  std::uint64_t out = 0;
  const auto add = [&](Role, const char*, const auto& array) {
    std::uint64_t sum = 0;
    Kokkos::parallel_reduce("sporos::fingerprint",
                            Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(
                                0, static_cast<std::int64_t>(array.extent(0))),
                            HashElements<std::remove_cvref_t<decltype(array)>>{array}, sum);
    out = out * 0x9e3779b97f4a7c15u + sum + array.extent(0);
  };
  std::apply([&](const auto&... level) { (level.for_each_array(add), ...); }, tensor.levels());
  return out;
}

/// The extents of a tensor and the arrays of its levels, whatever their roles. Holds on to the arrays, not to
/// the values.
template <class TensorType>
class Pattern {
 public:
  explicit Pattern(const TensorType& tensor) : extents_(tensor.extents()), levels_(tensor.levels()) {}

  /// Whether a tensor stores the same coordinates. Free if it has the same arrays; others are compared byte
  /// by byte.
  bool is_of(const TensorType& tensor) const {
    if (tensor.extents() != extents_) return false;
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return (same_arrays(std::get<K>(levels_), std::get<K>(tensor.levels())) && ...);
    }(std::make_index_sequence<std::tuple_size_v<typename TensorType::level_storage>>{});
  }

 private:
  template <class Storage>
  static bool same_arrays(const Storage& a, const Storage& b) {
    bool same = true;
    int number = 0;
    a.for_each_array([&](Role, const char*, const auto& mine) {
      int other = 0;
      b.for_each_array([&](Role, const char*, const auto& theirs) {
        if constexpr (std::is_same_v<decltype(mine), decltype(theirs)>)
          if (other == number) same = same && same_array(mine, theirs);
        ++other;
      });
      ++number;
    });
    return same;
  }
  template <class ArrayType>
  static bool same_array(const ArrayType& a, const ArrayType& b) {
    if (a.extent(0) != b.extent(0)) return false;
    if (a.data() == b.data() || a.extent(0) == 0) return true;
    const std::size_t bytes = a.extent(0) * sizeof(*a.data());
    if constexpr (HostSpace<typename TensorType::space_type>) {
      return std::memcmp(a.data(), b.data(), bytes) == 0;
    } else {
      const auto here = copy_array<Kokkos::HostSpace>(a);
      const auto there = copy_array<Kokkos::HostSpace>(b);
      return std::memcmp(here.data(), there.data(), bytes) == 0;
    }
  }

  Extents<TensorType::order> extents_;
  typename TensorType::level_storage levels_;
};

}  // namespace sporos::detail
