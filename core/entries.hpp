// SPDX-License-Identifier: Apache-2.0
/// @file entries.hpp
/// Entries: an unordered list of (coordinate, value) pairs on the host, what files hold and `assemble` takes.
#pragma once

#include <Kokkos_Core.hpp>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "array.hpp"
#include "error.hpp"
#include "extents.hpp"
#include "space.hpp"
#include "value.hpp"

namespace sporos {

/// An unordered list of (coordinate, value) pairs, stored as a structure of arrays. A coordinate may occur
/// more than once. Copies share the arrays.
///
///     entries of a 3 x 4 matrix:   coordinates[0]  2 0 2
///                                  coordinates[1]  1 3 1
///                                  values          5 7 1     (5 + 1 at (2, 1) once assembled)
///
/// @tparam Value  type of a value
/// @tparam Order  number of modes, 0 to 8
template <TensorValue Value, int Order>
struct Entries {
  using value_type = Value;
  static constexpr int order = Order;

  Extents<Order> extents{};
  std::array<HostArray<std::int64_t>, static_cast<std::size_t>(Order)>
      coordinates;  ///< 0-based, one array per mode
  HostArray<Value> values;

  Entries() = default;

  /// Room for `count` entries, not initialised.
  /// @throws ShapeError for a negative extent, MemoryError if the memory cannot be allocated
  Entries(const Extents<Order>& shape, std::int64_t count) : extents(shape) {
    expect_valid_extents(shape);
    for (auto& mode : coordinates) mode = make_array<std::int64_t>("sporos::Entries coordinates", count);
    values = make_array<Value>("sporos::Entries values", count);
  }

  /// The given entries: `Entries<double, 2>({3, 4}, {{{2, 1}, 5.0}, {{0, 3}, 7.0}})`.
  Entries(const Extents<Order>& shape, std::initializer_list<std::pair<Extents<Order>, Value>> list)
      : Entries(shape, static_cast<std::int64_t>(list.size())) {
    std::int64_t at = 0;
    for (const auto& [coordinate, value] : list) set(at++, coordinate, value);
  }

  std::int64_t size() const { return static_cast<std::int64_t>(values.extent(0)); }

  void set(std::int64_t at, const Extents<Order>& coordinate, Value value) {
    const auto q = static_cast<std::size_t>(at);
    for (std::size_t mode = 0; mode < coordinate.size(); ++mode) coordinates[mode](q) = coordinate[mode];
    values(q) = value;
  }

  Extents<Order> coordinate(std::int64_t at) const {
    Extents<Order> out{};
    for (std::size_t mode = 0; mode < out.size(); ++mode)
      out[mode] = coordinates[mode](static_cast<std::size_t>(at));
    return out;
  }
};

}  // namespace sporos
