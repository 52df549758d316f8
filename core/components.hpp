// SPDX-License-Identifier: Apache-2.0
/// @file components.hpp
/// A tensor decomposed into plain arrays, each with a role: how I/O, MPI and other libraries see it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "level.hpp"
#include "tensor.hpp"
#include "value.hpp"

namespace sporos {

/// One array of a tensor. It refers to the tensor's memory and is valid as long as the tensor is.
struct Component {
  Role role = Role::values;
  int level = -1;              ///< the level it belongs to; -1 for the values
  std::string name;            ///< "level 1 positions", "values"
  std::string_view type;       ///< element type: "int32", "double"
  const void* data = nullptr;  ///< address, in the tensor's memory space
  std::int64_t count = 0;      ///< number of elements
  std::int64_t bytes = 0;
};

/// The arrays of `t`: the levels from outermost to innermost, then the values. A dense tensor has only one
/// array, whose role is `dense`.
template <AnyTensor T>
std::vector<Component> components(const T& t) {
  std::vector<Component> out;
  const auto add = [&](Role role, int level, std::string name, const auto& array) {
    using element = typename std::decay_t<decltype(array)>::value_type;
    const auto count = static_cast<std::int64_t>(array.extent(0));
    out.push_back({role, level, std::move(name), value_name<element>(), array.data(), count,
                   count * static_cast<std::int64_t>(sizeof(element))});
  };
  t.for_each_level([&](auto k, const auto& storage) {
    storage.for_each_array([&](Role role, const char* name, const auto& array) {
      add(role, k, text("level ", static_cast<int>(k), ' ', name), array);
    });
  });
  add(T::format_type::is_dense ? Role::dense : Role::values, -1, "values", t.values());
  return out;
}

/// The name of a role: "dense", "values", "positions", "coordinates", "metadata".
constexpr std::string_view to_string(Role role) {
  switch (role) {
    case Role::dense:
      return "dense";
    case Role::values:
      return "values";
    case Role::positions:
      return "positions";
    case Role::coordinates:
      return "coordinates";
    case Role::metadata:
      return "metadata";
  }
  return "unknown";
}

}  // namespace sporos
