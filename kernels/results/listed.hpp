// SPDX-License-Identifier: Apache-2.0
/// @file listed.hpp
/// Results that scatter over several variables: a list of coordinates and values, assembled when the loops
/// are done.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/entries.hpp"
#include "../../workspace/grow_array.hpp"
#include "../nest/loop_nest.hpp"

namespace sporos {

/// The entries that one chunk of the outermost loop makes, in the order of its loops.
template <class Value, int Order>
struct CoordinatePiece {
  std::array<GrowArray<std::int64_t>, static_cast<std::size_t>(Order)> coordinates;
  GrowArray<Value> values;
};

template <class Traits_, class Value>
struct CoordinateOutput {
  static constexpr bool is_scalar = false;
  static constexpr bool is_located = false;
  static constexpr bool is_independent = false;
  static constexpr auto names = Traits_::result::names;

  CoordinatePiece<Value, Traits_::result::format::order>* piece;

  template <class F>
  SPOROS_INLINE void with_copy(const F& f) const {
    f(*this);
  }
  template <class Traits, int Depth, class Env>
  SPOROS_INLINE CoordinateOutput bind(const Env&) const {
    return *this;
  }
  template <int Depth>
  SPOROS_INLINE void leave(std::int64_t) const {}
  SPOROS_MAY_CALL_HOST
  template <class V, class Env>
  SPOROS_INLINE void add(const V& value, const Env& env) const {
    // Copies: nvcc has no static members of class type in what may run on a device.
    constexpr auto variables = names, loops = Traits_::order;
    for (int mode = 0; mode < variables.size; ++mode)
      piece->coordinates[static_cast<std::size_t>(mode)].push(env.at[loops.find(variables[mode])]);
    piece->values.push(static_cast<Value>(value));
  }
};

/// All pieces behind one another, in order.
template <class Value, int Order>
Entries<Value, Order> concatenate(const std::vector<CoordinatePiece<Value, Order>>& pieces,
                                  const Extents<Order>& extents) {
  std::int64_t total = 0;
  for (const auto& piece : pieces) total += piece.values.size();
  Entries<Value, Order> out(extents, total);
  std::int64_t begin = 0;
  for (const auto& piece : pieces) {
    const std::int64_t count = piece.values.size();
    for (std::size_t mode = 0; mode < out.coordinates.size(); ++mode)
      std::copy_n(piece.coordinates[mode].data(), count, out.coordinates[mode].data() + begin);
    std::copy_n(piece.values.data(), count, out.values.data() + begin);
    begin += count;
  }
  return out;
}

}  // namespace sporos
