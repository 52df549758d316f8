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

namespace detail {

/// Calls visit(role, level, name, array) for each array of a tensor.
template <AnyTensor T, class Visit>
void for_each_component(const T& t, const Visit& visit) {
  t.for_each_level([&](auto k, const auto& storage) {
    storage.for_each_array(
        [&](Role role, const char* name, const auto& array) { visit(role, int{k}, name, array); });
  });
  visit(T::format_type::is_dense ? Role::dense : Role::values, -1, "values", t.values());
}

}  // namespace detail

/// The arrays of `t`: the levels from outermost to innermost, then the values. A dense tensor has only one
/// array, whose role is `dense`.
///
/// Kernels that multiply on tensor cores take the arrays by their roles, and choose by role how each lies in
/// shared memory (`kernels/cuda/operand_layout.hpp`).
template <AnyTensor T>
std::vector<Component> components(const T& t) {
  std::vector<Component> out;
  detail::for_each_component(t, [&](Role role, int level, const char* name, const auto& array) {
    using element = typename std::decay_t<decltype(array)>::value_type;
    const auto count = static_cast<std::int64_t>(array.extent(0));
    out.push_back({role, level, level < 0 ? name : text("level ", level, ' ', name), value_name<element>(),
                   array.data(), count, count * static_cast<std::int64_t>(sizeof(element))});
  });
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

/// The array of `t` with role R and elements of type E, or one of several in the order of `components`: its
/// first element, in the tensor's memory space. It allocates nothing, so that kernels can call it in each
/// run.
/// @param number  which of several such arrays
/// @throws FormatError  if the tensor has no such array
template <Role R, class E, AnyTensor T>
const E* component(const T& t, int number = 0) {
  const E* data = nullptr;
  bool is_found = false;
  detail::for_each_component(t, [&](Role role, int, const char*, const auto& array) {
    if constexpr (std::is_same_v<typename std::decay_t<decltype(array)>::non_const_value_type, E>)
      if (role == R && number-- == 0) {
        data = array.data();
        is_found = true;
      }
  });
  if (!is_found)
    throw FormatError(text("a tensor of levels ", T::format_type::str(), " has too few arrays of ",
                           value_name<E>(), " whose role is ", to_string(R)));
  return data;
}

}  // namespace sporos
