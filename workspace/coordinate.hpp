// SPDX-License-Identifier: Apache-2.0
/// @file coordinate.hpp
/// The coordinate workspace: a list of coordinates and values in the order in which they are added.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../core/extents.hpp"
#include "../core/inline.hpp"
#include "grow_array.hpp"
#include "policy.hpp"

namespace sporos {

struct CoordinatePolicy;

/// Lists values with their coordinates in the order in which they are added. Assembling the result sorts the
/// list and sums values with equal coordinates.
template <class T, int Order>
class CoordinateList {
 public:
  static constexpr bool in_order = false;

  CoordinateList() = default;
  CoordinateList(const CoordinatePolicy&, const Extents<Order>&) {}

  SPOROS_HOST_INLINE void add(const Extents<Order>& at, const T& value) {
    for (std::size_t mode = 0; mode < at.size(); ++mode) coordinates_[mode].push(at[mode]);
    values_.push(value);
  }
  std::int64_t size() const { return values_.size(); }
  std::int64_t coordinate(std::size_t mode, std::int64_t at) const { return coordinates_[mode][at]; }
  const T* values() const { return values_.data(); }
  const std::int64_t* coordinates(std::size_t mode) const { return coordinates_[mode].data(); }

  /// Calls take(coordinates, value) for each entry, in the order in which they were added, and empties the
  /// list.
  template <class Take>
  void drain(const Take& take) {
    for (std::int64_t entry = 0; entry < size(); ++entry) {
      Extents<Order> at{};
      for (std::size_t mode = 0; mode < at.size(); ++mode) at[mode] = coordinates_[mode][entry];
      take(at, values_[entry]);
    }
    clear();
  }
  void clear() {
    for (auto& mode : coordinates_) mode.resize(0);
    values_.resize(0);
  }

  /// An upper bound in bytes: the arrays double as they grow, and an old array exists until it has been
  /// copied.
  static std::int64_t most_bytes(const CoordinatePolicy&, const Extents<Order>&, std::int64_t adds) {
    return 3 * adds * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int64_t) * Order);
  }

 private:
  std::array<GrowArray<std::int64_t>, static_cast<std::size_t>(Order)> coordinates_;
  GrowArray<T> values_;
};

/// Gathers in coordinate lists, over any number of variables.
struct CoordinatePolicy {
  static constexpr std::string_view name = "coordinate workspace";
  /// When the user asks for it, it also takes results that could be appended.
  static constexpr bool lists_everything = true;
  static constexpr bool takes(int) { return true; }
  template <class T, int Order>
  using workspace = CoordinateList<T, Order>;
};

inline constexpr CoordinatePolicy coordinate_workspace{};

}  // namespace sporos
