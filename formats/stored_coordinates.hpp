// SPDX-License-Identifier: Apache-2.0
/// @file stored_coordinates.hpp
/// The coordinates of a level by position, for loops that go through them one after another.
#pragma once

#include <cstdint>

#include "../core/level.hpp"

namespace sporos::detail {

/// Coordinates that a level's View is asked for one at a time; used like a pointer to them.
template <class View>
struct AskedCoordinates {
  View view;
  std::int64_t position = 0;

  std::int64_t operator[](std::int64_t at) const { return view.coord_at(position + at); }
  AskedCoordinates operator+(std::int64_t count) const { return {view, position + count}; }
  AskedCoordinates& operator+=(std::int64_t count) {
    position += count;
    return *this;
  }
};

/// The coordinates of a level that is not full, from position 0 on: a pointer if the level has them in an
/// array, else AskedCoordinates.
template <class Storage>
auto stored_coordinates(const Storage& storage) {
  const auto view = storage.view();
  if constexpr (requires { view.coordinates + std::int64_t{1}; })
    return view.coordinates;
  else
    return AskedCoordinates<decltype(storage.view())>{view};
}

}  // namespace sporos::detail
