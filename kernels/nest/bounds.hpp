// SPDX-License-Identifier: Apache-2.0
/// @file bounds.hpp
/// The extent of each loop of a statement, and the error if two tensors disagree about it.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "../../core/statement.hpp"
#include "loop_nest.hpp"

namespace sporos {

namespace detail {

/// A tensor's letter, and the variable and the extent of each mode.
struct AccessExtents {
  char letter;
  NameList names;
  std::vector<std::int64_t> extents;
};

/// Throws the ShapeError that names the two modes with different extents for one variable.
[[noreturn, gnu::cold]] inline void refuse_extents(const std::string& statement,
                                                   const std::vector<AccessExtents>& accesses,
                                                   char variable) {
  std::string first;
  std::int64_t first_extent = 0;
  for (const auto& [letter, names, extents] : accesses)
    for (int mode = 0; mode < names.size; ++mode) {
      if (names[mode] != variable) continue;
      const std::int64_t extent = extents[static_cast<std::size_t>(mode)];
      const std::string what =
          text("index ", variable, ": mode ", mode, " of ", letter, '(', names.str(), ')');
      if (first.empty()) {
        first = what;
        first_extent = extent;
      } else if (extent != first_extent) {
        throw ShapeError(text(statement, ": ", first, " has extent ", first_extent, ", but ", what,
                              " has extent ", extent, "; an index variable runs over one extent only"));
      }
    }
  throw InternalError(text(statement, ": the extents of index ", variable, " agree after all"));
}

template <class S>
[[noreturn, gnu::cold]] void refuse_extents(const S& statement, char variable) {
  TensorLetters letters;
  std::vector<AccessExtents> accesses;
  const auto look = [&](const auto& access) {
    const auto& extents = access.tensor().extents();
    accesses.push_back({letters.of(access.tensor()),
                        std::remove_cvref_t<decltype(access)>::names,
                        {extents.begin(), extents.end()}});
  };
  look(statement.result());
  for_each_access(statement.right(), look);
  refuse_extents(statement.str(), accesses, variable);
}

}  // namespace detail

/// The extent of each loop of a statement, outermost first.
/// @throws ShapeError if a variable stands at modes of different extents
template <class Result, class Right, class Order, class Options>
NestBounds<Order::names.size> bounds_of(const Statement<Result, Right, Order, Options>& statement) {
  NestBounds<Order::names.size> out{};
  for (auto& extent : out.extent) extent = -1;
  const auto take = [&](const auto& access) {
    using A = std::remove_cvref_t<decltype(access)>;
    for (int mode = 0; mode < A::names.size; ++mode) {
      std::int64_t& known = out.extent[Order::names.find(A::names[mode])];
      const std::int64_t extent = access.tensor().extent(mode);
      if (known < 0)
        known = extent;
      else if (known != extent)
        detail::refuse_extents(statement, A::names[mode]);
    }
  };
  take(statement.result());
  for_each_access(statement.right(), take);
  out.outermost = {0, Order::names.size > 0 ? out.extent[0] : 1};
  return out;
}

}  // namespace sporos
