// SPDX-License-Identifier: Apache-2.0
/// @file bounds.hpp
/// The extent of each loop of a statement, and the error if two tensors disagree about it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../../core/extents.hpp"
#include "../../core/statement.hpp"
#include "loop_nest.hpp"

namespace sporos {

namespace detail {

/// Throws the ShapeError that names the two modes with different extents for one variable.
[[noreturn, gnu::cold]] inline void refuse_extents(const StatementText& statement,
                                                   std::span<const AccessView> accesses, char variable) {
  TensorLetters letters;
  std::string first;
  std::int64_t first_extent = 0;
  for (const AccessView& access : accesses) {
    const char letter = letters.of(access.identity());
    for (int mode = 0; mode < access.names().size; ++mode) {
      if (access.names()[mode] != variable) continue;
      const std::int64_t extent = access.extent(mode);
      const std::string what =
          text("index ", variable, ": mode ", mode, " of ", letter, '(', access.modes(), ')');
      if (first.empty()) {
        first = what;
        first_extent = extent;
      } else if (extent != first_extent) {
        throw ShapeError(text(statement.str(), ": ", first, " has extent ", first_extent, ", but ", what,
                              " has extent ", extent, "; an index variable runs over one extent only"));
      }
    }
  }
  throw InternalError(text(statement.str(), ": the extents of index ", variable, " agree after all"));
}

/// Finds the extent of each loop. Throws ShapeError if extents do not match.
inline void find_extents(const StatementText& statement, std::span<const AccessView> accesses,
                         const NameList& loops, std::span<std::int64_t> extents) {
  std::fill(extents.begin(), extents.end(), -1);
  for (const AccessView& access : accesses)
    for (int mode = 0; mode < access.names().size; ++mode) {
      const char variable = access.names()[mode];
      if (variable == no_variable) continue;
      std::int64_t& known = extents[static_cast<std::size_t>(loops.find(variable))];
      const std::int64_t extent = access.extent(mode);
      if (known < 0)
        known = extent;
      else if (known != extent)
        refuse_extents(statement, accesses, variable);
    }
}

/// Throws a ShapeError for an operand that is a part outside its tensor.
template <class S, class A>
[[noreturn, gnu::cold]] void refuse_part_of(const S& statement, const A& access) {
  TensorLetters letters;
  for (const AccessView& tensor : views_of_tensors(statement)) letters.of(tensor.identity());
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
/// @throws ShapeError if extents do not match, or a coordinate is outside its extent
/// @throws ScheduleError if fused loops have more coordinates than 64 bits count
template <class Result, class Right, class Order, class Options>
auto bounds_of(const Statement<Result, Right, Order, Options>& statement) {
  constexpr int strips = Options::loops::stripped.count;
  NestBounds<Order::names.size, strips> out{};
  const auto expect_inside = [&](const auto& access) {
    using A = std::remove_cvref_t<decltype(access)>;
    if constexpr (is_part_v<typename A::tensor_type>)
      if (access.tensor().mode_outside() < A::names.size) detail::refuse_part_of(statement, access);
  };
  expect_inside(statement.result());
  if constexpr (detail::has_parts(accesses_of<Right>{})) for_each_access(statement.right(), expect_inside);
  detail::find_extents(statement, detail::views_of_tensors(statement), Order::names, out.extent);
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
      // end. A GPU has so many threads that one for each is enough.
      constexpr std::int64_t of_thread = HostSpace<typename Result::tensor_type::space_type> ? 16 : 1;
      if (strip.sizes == 0)
        size = std::max<std::int64_t>(1, length / (of_thread * statement.resources().space().concurrency()));
      out.strips[At] = {size, std::max<std::int64_t>(1, length / size + (length % size > 0))};
    };
    [&]<int... At>(std::integer_sequence<int, At...>) {
      (measure(std::integral_constant<int, At>{}), ...);
    }(std::make_integer_sequence<int, strips>{});
  }
  return out;
}

}  // namespace sporos
