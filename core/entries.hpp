// SPDX-License-Identifier: Apache-2.0
/// @file entries.hpp
/// Entries: an unordered list of (coordinate, value) pairs on the host, which files hold and `assemble`
/// takes.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "array.hpp"
#include "error.hpp"
#include "extents.hpp"
#include "space.hpp"
#include "value.hpp"

namespace sporos {
namespace detail {

/// A sequence of numbers whose length is known: std::vector, std::array, std::span, a vector of Eigen.
template <class A, class Number>
concept ArrayOf = requires(const A& array) {
  { std::size(array) } -> std::integral;
  { *std::begin(array) } -> std::convertible_to<Number>;
};

template <class Value, class Arrays, std::size_t... Mode>
constexpr bool are_coordinates_and_values(std::index_sequence<Mode...>) {
  return (ArrayOf<std::tuple_element_t<Mode, Arrays>, std::int64_t> && ...) &&
         ArrayOf<std::tuple_element_t<sizeof...(Mode), Arrays>, Value>;
}

/// Whether the arrays can hold entries: an array of coordinates for each mode, then one of values.
template <class Value, int Order, class... Arrays>
inline constexpr bool are_arrays_of_entries = false;
template <class Value, int Order, class... Arrays>
  requires(sizeof...(Arrays) == static_cast<std::size_t>(Order) + 1)
inline constexpr bool are_arrays_of_entries<Value, Order, Arrays...> =
    are_coordinates_and_values<Value, std::tuple<Arrays...>>(
        std::make_index_sequence<static_cast<std::size_t>(Order)>{});

}  // namespace detail

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
    constexpr std::string_view cure = "Free some memory, or assemble parts and add them";
    for (auto& mode : coordinates)
      mode = make_array<std::int64_t>("sporos::Entries coordinates", count, cure);
    values = make_array<Value>("sporos::Entries values", count, cure);
  }

  /// Room for `count` entries, with extents of an unsigned type, such as the sizes of containers.
  template <std::unsigned_integral Extent>
    requires(Order > 0)
  Entries(const Extent (&shape)[static_cast<std::size_t>(Order > 0 ? Order : 1)], std::int64_t count)
      : Entries(narrow_extents<Order>(shape), count) {}

  /// The given entries: `Entries<double, 2>({3, 4}, {{{2, 1}, 5.0}, {{0, 3}, 7.0}})`.
  Entries(const Extents<Order>& shape, std::initializer_list<std::pair<Extents<Order>, Value>> list)
      : Entries(shape, static_cast<std::int64_t>(list.size())) {
    std::int64_t at = 0;
    for (const auto& [coordinate, value] : list) set(at++, coordinate, value);
  }

  /// Copies an array of coordinates for each mode, and one of values, which is what SciPy's coo_array takes:
  /// `Entries<double, 2>({3, 4}, rows, columns, values)`.
  /// @throws ShapeError if the arrays differ in length; MemoryError
  template <class... Arrays>
    requires(Order > 0 && detail::are_arrays_of_entries<Value, Order, Arrays...>)
  Entries(const Extents<Order>& shape, const Arrays&... arrays)
      : Entries(shape, std::min({static_cast<std::int64_t>(std::size(arrays))...})) {
    expect_same_lengths({static_cast<std::int64_t>(std::size(arrays))...});
    copy_arrays(std::tie(arrays...), std::make_index_sequence<static_cast<std::size_t>(Order)>{});
  }

  std::int64_t size() const { return static_cast<std::int64_t>(values.extent(0)); }

  /// Iterates over the entries: `for (const auto& [coordinate, value] : entries)`.
  class Iterator {
   public:
    Iterator(const Entries& entries, std::int64_t at) : entries_(&entries), at_(at) {}
    std::pair<Extents<Order>, Value> operator*() const {
      return {entries_->coordinate(at_), entries_->values(static_cast<std::size_t>(at_))};
    }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const Entries* entries_;
    std::int64_t at_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

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

 private:
  static void expect_same_lengths(std::initializer_list<std::int64_t> lengths) {
    int mode = 0;
    for (const std::int64_t length : lengths) {
      if (length != *(lengths.end() - 1))
        throw ShapeError(text("there are ", length, " coordinates of mode ", mode, ", but ",
                              *(lengths.end() - 1), " values: every entry has one of each"));
      ++mode;
    }
  }

  template <class All, std::size_t... Mode>
  void copy_arrays(const All& all, std::index_sequence<Mode...>) {
    const auto copy = [](const auto& from, auto* to) {
      for (const auto& element : from) *to++ = static_cast<std::remove_pointer_t<decltype(to)>>(element);
    };
    (copy(std::get<Mode>(all), coordinates[Mode].data()), ...);
    copy(std::get<static_cast<std::size_t>(Order)>(all), values.data());
  }
};

}  // namespace sporos
