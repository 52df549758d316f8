// SPDX-License-Identifier: Apache-2.0
/// @file pattern.hpp
/// Pattern: which coordinates a tensor stores, remembered, to tell later whether they are still the same.
#pragma once

#include <cstddef>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../core/array.hpp"
#include "../core/level.hpp"
#include "../core/tensor.hpp"

namespace sporos::detail {

/// The extents of a tensor and the arrays of its levels, whatever their roles. Holds on to the arrays, not to
/// the values.
template <class TensorType>
class Pattern {
 public:
  explicit Pattern(const TensorType& tensor) : extents_(tensor.extents()), levels_(tensor.levels()) {}

  /// Whether a tensor stores the same coordinates. Free where it has the same arrays; others are compared
  /// byte by byte.
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
