// SPDX-License-Identifier: Apache-2.0
/// @file coordinate_arrays.hpp
/// The arrays in which a tensor's levels store the coordinates of a mode: reading, copying and renumbering
/// them.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../core/format.hpp"
#include "../core/level.hpp"

namespace sporos::detail {

/// Whether the coordinates of a mode are stored in an array of a level, where they can be renumbered.
template <TensorFormat F>
constexpr bool has_coordinate_array(int mode) {
  for (std::size_t k = 0; k < F::mode_of_level.size(); ++k)
    if (F::mode_of_level[k] == mode)
      return !F::is_blocked && !F::properties[k].full && !F::properties[k].padded;
  return false;
}

/// Calls visit(array) with the coordinates stored by the levels of one mode.
template <TensorFormat F, class Levels, class Visit>
void for_each_coordinate_array(const Levels& levels, int mode, const Visit& visit) {
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    [[maybe_unused]] const auto look = [&](const auto& storage) {
      storage.for_each_array([&](Role role, const char*, const auto& array) {
        if (role == Role::coordinates) visit(array);
      });
    };
    ((F::mode_of_level[K] == mode ? look(std::get<K>(levels)) : void()), ...);
  }(std::make_index_sequence<static_cast<std::size_t>(F::levels)>{});
}

/// Replaces c by number(c) in the coordinates stored by the levels of one mode. Nothing else may use their
/// arrays.
template <TensorFormat F, class Levels, class Number>
void renumber_mode(const Levels& levels, int mode, const Number& number) {
  for_each_coordinate_array<F>(levels, mode, [&](const auto& array) {
    const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), array);
    for (std::size_t q = 0; q < here.extent(0); ++q)
      here(q) =
          static_cast<std::remove_cvref_t<decltype(here(q))>>(number(static_cast<std::int64_t>(here(q))));
    Kokkos::deep_copy(array, here);
  });
}

/// Deep copies of the levels of a tensor.
template <class T>
typename T::level_storage copied_levels(const T& tensor) {
  return std::apply(
      [](const auto&... storage) {
        return typename T::level_storage(storage.template copy_to<typename T::memory_space>()...);
      },
      tensor.levels());
}

}  // namespace sporos::detail
