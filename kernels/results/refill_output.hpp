// SPDX-License-Identifier: Apache-2.0
/// @file refill_output.hpp
/// Output for results with a known pattern: the loops produce values in the order in which they were
/// appended, so only the values are written, one after another.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "../nest/loop_nest.hpp"
#include "piece.hpp"

namespace sporos {

/// Passes what the loops append to a sink, without coordinates: values, dense blocks, or rows of a workspace.
template <class Traits_, class Sink>
struct RefillOutput {
  static constexpr bool is_scalar = false;
  static constexpr bool is_independent = false;
  using format = typename Traits_::result::format;
  static constexpr int appended = Traits_::classification.appended_levels;
  static constexpr int prefix = Traits_::classification.prefix;
  static constexpr bool has_block = adds_to_pieces<typename Traits_::result>;
  static constexpr auto level_names = Traits_::result::level_names;
  /// The depth of the loop over the innermost result variable.
  static constexpr int innermost = Traits_::order.find(level_names[level_names.size - 1]);

  Sink* sink;
  std::array<std::int64_t, static_cast<std::size_t>(format::levels)> level_extents;

  template <class F>
  SPOROS_INLINE void with_copy(const F& f) const {
    f(*this);
  }
  template <class Traits, int Depth, class Env>
  SPOROS_INLINE RefillOutput bind(const Env&) const {
    if constexpr (has_block && Depth == appended && Depth <= prefix) sink->begin_block();
    return *this;
  }
  template <int Depth>
  SPOROS_INLINE void leave(std::int64_t) const {
    if constexpr (has_block && Depth + 1 == appended && Depth < prefix) sink->end_block();
  }
  SPOROS_MAY_CALL_HOST
  template <class V, class Env>
  SPOROS_INLINE void add(const V& value, const Env& bound) const {
    if constexpr (has_block)
      sink->add_to_block(place_in_block<Traits_, appended>(bound, level_extents), value);
    else
      sink->push(value);
  }
  SPOROS_MAY_CALL_HOST
  SPOROS_INLINE auto workspace() const
    requires(Traits_::classification.gathers_at() >= 0)
  {
    return sink->template workspace<innermost>();
  }
  SPOROS_MAY_CALL_HOST
  template <class Workspace, class Env>
  SPOROS_INLINE void drain(const Workspace&, const Env&) const {
    sink->drain();
  }
};

/// Adds to the sums of a row whose coordinates are known.
/// @tparam Coordinates  see RefillSink
template <class T, class Coordinates, int Loop>
struct SumsOutput {
  static constexpr bool is_scalar = false;
  static constexpr bool is_independent = true;
  T* sums;
  Coordinates coordinates;  ///< coordinates of the row, ascending
  std::int64_t count;       ///< sums, one per stored coordinate; 0 if every coordinate of the extent has one

  template <class Traits, int Depth, class Env>
  SPOROS_INLINE SumsOutput bind(const Env&) const {
    return *this;
  }
  template <int Depth>
  SPOROS_INLINE void leave(std::int64_t) const {}
  template <class V, class Env>
  SPOROS_INLINE void add(const V& value, const Env& env) const {
    T& sum = sums[count == 0 ? env.at[Loop] : place(env.at[Loop])];
    sum = plus(sum, static_cast<T>(value));
  }
  std::int64_t place(std::int64_t c) const {
    std::int64_t low = 0;
    for (std::int64_t high = count; low < high;) {
      const std::int64_t middle = low + (high - low) / 2;
      if (coordinates[middle] < c)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

/// The sink that writes values, starting at `at`.
/// @tparam Coordinates  a pointer to coordinates, or something that behaves like one
template <class Value, class Coordinates, class Compute>
struct RefillSink {
  Value* at;
  Coordinates coordinates;  ///< coordinates of the values from `at` on, if rows are gathered
  const std::int64_t* row;  ///< the number of values of the next row
  Compute* sums;            ///< sums of one row, zero between rows
  bool sums_whole_rows;     ///< whether each coordinate of the extent has a sum, not only those of the row
  Compute* block_sums;      ///< sums of one block
  std::int64_t block;
  bool written = false;

  SPOROS_HOST_INLINE void push(const Compute& value) { *at++ = static_cast<Value>(value); }
  void begin_block() {
    std::fill_n(block_sums, block, Compute{});
    written = false;
  }
  void add_to_block(std::int64_t offset, const Compute& value) {
    block_sums[offset] = plus(block_sums[offset], value);
    written = true;
  }
  void end_block() {
    if (!written) return;
    for (std::int64_t of = 0; of < block; ++of) *at++ = static_cast<Value>(block_sums[of]);
  }
  template <int Loop>
  SumsOutput<Compute, Coordinates, Loop> workspace() const {
    return {sums, coordinates, sums_whole_rows ? 0 : *row};
  }
  void drain() {
    const std::int64_t count = *row++;
    for (std::int64_t of = 0; of < count; ++of) {
      Compute& sum = sums[sums_whole_rows ? static_cast<std::int64_t>(coordinates[of]) : of];
      at[of] = static_cast<Value>(sum);
      sum = Compute{};
    }
    at += count;
    coordinates += count;
  }
};

}  // namespace sporos
