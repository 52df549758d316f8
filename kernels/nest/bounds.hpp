// SPDX-License-Identifier: Apache-2.0
/// @file bounds.hpp
/// The extent of each loop of a statement, and the error if two tensors disagree about it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../core/extents.hpp"
#include "../../core/statement.hpp"
#include "loop_nest.hpp"

namespace sporos {

namespace detail {

/// A tensor's letter, and the variable and the extent of each mode.
struct AccessExtents {
  char letter;
  NameList names;
  std::string modes;
  std::vector<std::int64_t> extents;
};

/// Throws the ShapeError that names the two modes with different extents for one variable.
[[noreturn, gnu::cold]] inline void refuse_extents(const std::string& statement,
                                                   const std::vector<AccessExtents>& accesses,
                                                   char variable) {
  std::string first;
  std::int64_t first_extent = 0;
  for (const auto& [letter, names, modes, extents] : accesses)
    for (int mode = 0; mode < names.size; ++mode) {
      if (names[mode] != variable) continue;
      const std::int64_t extent = extents[static_cast<std::size_t>(mode)];
      const std::string what = text("index ", variable, ": mode ", mode, " of ", letter, '(', modes, ')');
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
                        text_of_modes(access.tensor(), std::remove_cvref_t<decltype(access)>::names),
                        {extents.begin(), extents.end()}});
  };
  look(statement.result());
  for_each_access(statement.right(), look);
  refuse_extents(statement.str(), accesses, variable);
}

/// Throws the ShapeError for an operand that is a part which its tensor does not have.
template <class S, class A>
[[noreturn, gnu::cold]] void refuse_part_of(const S& statement, const A& access) {
  TensorLetters letters;
  letters.of(statement.result().tensor());
  for_each_access(statement.right(), [&](const auto& one) { letters.of(one.tensor()); });
  refuse_part(statement.str() + ": ",
              text(letters.of(access.tensor()), '(', text_of_modes(access.tensor(), A::names), ')'),
              access.tensor());
}

}  // namespace detail

namespace detail {

/// The number of positions of a level of a tensor.
template <int Level, class T>
std::int64_t positions_of(const T& tensor) {
  std::int64_t positions = 1;
  [&]<int... K>(std::integer_sequence<int, K...>) {
    ((positions = tensor.template level<K>().size(positions)), ...);
  }(std::make_integer_sequence<int, Level + 1>{});
  return positions;
}

/// The access whose positions the strips of loop `At` count.
template <class S, int At>
using StripOperand = std::remove_cvref_t<decltype(*std::get<S::schedule::loops::stripped.strips[At].operand>(
    typename S::schedule::loops::operands{}))>;

/// The number of coordinates, or positions, that the strips of loop `At` cut.
template <int At, class S, class NestBounds_>
std::int64_t length_of_strips(const S& statement, const NestBounds_& bounds) {
  constexpr Strip strip = S::schedule::loops::stripped.strips[At];
  if constexpr (strip.operand >= 0) {
    using A = StripOperand<S, At>;
    constexpr int level = A::level_names.find(strip.variables[strip.variables.size - 1]);
    std::int64_t positions = -1;
    for_each_access(statement.right(), [&](const auto& access) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(access)>, A>)
        if (positions < 0) positions = positions_of<level>(access.tensor());
    });
    return positions;
  } else {
    std::int64_t coordinates = 1;
    bool are_too_many = false;
    for (int at = 0; at < strip.variables.size; ++at) {
      const std::int64_t extent = bounds.extent[S::order::names.find(strip.variables[at])];
      are_too_many = __builtin_mul_overflow(coordinates, extent, &coordinates) || are_too_many;
    }
    if (are_too_many)
      throw ScheduleError(text(statement.str(), ": the fused loops over ", strip.variables.str(),
                               " have more coordinates than 64 bits count: run them over the positions of an "
                               "operand with .pos(...)"));
    return coordinates;
  }
}

}  // namespace detail

/// The extent of each loop of a statement, outermost first, and the sizes of strips.
/// @throws ShapeError if a variable stands at modes of different extents, or a coordinate outside of one
/// @throws ScheduleError if fused loops have more coordinates than 64 bits count
template <class Result, class Right, class Order, class Options>
auto bounds_of(const Statement<Result, Right, Order, Options>& statement) {
  constexpr int strips = Options::loops::stripped.count;
  NestBounds<Order::names.size, strips> out{};
  for (auto& extent : out.extent) extent = -1;
  const auto take = [&](const auto& access) {
    using A = std::remove_cvref_t<decltype(access)>;
    if constexpr (is_part_v<typename A::tensor_type>)
      if (access.tensor().mode_outside() < A::names.size) detail::refuse_part_of(statement, access);
    for (int mode = 0; mode < A::names.size; ++mode) {
      if (A::names[mode] == no_variable) continue;
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
  if constexpr (strips > 0) {
    const auto measure = [&]<int At>(std::integral_constant<int, At>) {
      constexpr Strip strip = Options::loops::stripped.strips[At];
      const std::int64_t length = detail::length_of_strips<At>(statement, out);
      std::int64_t size = 1;
      const auto given = statement.options().scheduled_loops();
      for (int relation = 0; relation < LoopSchedule::capacity; ++relation)
        if (strip.sizes >> relation & 1u)
          size = saturated_product(size, given.sizes[static_cast<std::size_t>(relation)]);
      // Strips that are made for threads to share: on the host several for each, so that all are busy to the
      // end.
      constexpr std::int64_t each = HostSpace<typename Result::tensor_type::space_type> ? 16 : 1;
      if (strip.sizes == 0)
        size = std::max<std::int64_t>(1, length / (each * statement.resources().space().concurrency()));
      out.strips[At] = {size, std::max<std::int64_t>(1, length / size + (length % size > 0))};
    };
    [&]<int... At>(std::integer_sequence<int, At...>) {
      (measure(std::integral_constant<int, At>{}), ...);
    }(std::make_integer_sequence<int, strips>{});
  }
  return out;
}

}  // namespace sporos
