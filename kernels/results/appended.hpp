// SPDX-License-Identifier: Apache-2.0
/// @file appended.hpp
/// Results whose levels are written in ascending order: each chunk of the outermost loop appends to a piece
/// of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../../workspace/dense.hpp"
#include "../nest/loop_nest.hpp"
#include "piece.hpp"

namespace sporos {

/// Adds into the dense workspace that gathers the innermost result variable.
template <class T, int Loop>
struct WorkspaceOutput {
  static constexpr bool is_scalar = false;
  static constexpr bool is_located = true;
  static constexpr bool is_independent = false;  // neighbours share a word of the workspace's bitmap
  DenseWorkspace<T>* workspace;

  template <class Traits, int Depth, class Env>
  SPOROS_INLINE WorkspaceOutput bind(const Env&) const {
    return *this;
  }
  SPOROS_MAY_CALL_HOST
  template <int Depth>
  SPOROS_INLINE void leave(std::int64_t) const {}
  SPOROS_MAY_CALL_HOST
  template <class V, class Env>
  SPOROS_INLINE void add(const V& value, const Env& env) const {
    workspace->add(env.at[Loop], static_cast<T>(value));
  }
};

/// Appends to a piece of the result.
template <class Traits_, class Piece_, class Accumulate>
struct AppendedOutput {
  static constexpr bool is_scalar = false;
  static constexpr bool is_located = false;
  static constexpr bool is_independent = false;
  using Piece = Piece_;
  using Value = typename Piece::value_type;
  using format = typename Piece::format;
  static constexpr auto level_names = Traits_::result::level_names;
  /// The depth of the loop over the innermost result variable.
  static constexpr int innermost = Traits_::order.find(level_names[level_names.size - 1]);

  Piece* piece;
  DenseWorkspace<Accumulate>* scatter;

  /// Calls f with an output to a copy of the piece in the caller's own frame, where that copies no elements.
  SPOROS_MAY_CALL_HOST
  template <class F>
  SPOROS_INLINE void with_copy(const F& f) const {
    if constexpr (Piece::bounded) {
      Piece mine = *piece;
      f(AppendedOutput{&mine, scatter, level_extents});
      *piece = mine;
    } else {
      f(*this);
    }
  }
  SPOROS_MAY_CALL_HOST
  template <class Traits, int Depth, class Env>
  SPOROS_INLINE AppendedOutput bind(const Env& bound) const {
    if constexpr (Depth > 0 && Depth <= Traits::classification.prefix && Depth <= Piece::levels)
      piece->template enter<Depth - 1>(bound.at[Depth - 1]);
    return *this;
  }
  SPOROS_MAY_CALL_HOST
  template <int Depth>
  SPOROS_INLINE void leave(std::int64_t c) const {
    if constexpr (Depth < Traits_::classification.prefix && Depth < Piece::levels)
      piece->template leave<Depth>(c);
  }
  SPOROS_MAY_CALL_HOST
  template <class V, class Env>
  SPOROS_INLINE void add(const V& value, const Env& bound) const {
    if constexpr (Piece::has_block)
      piece->add_to_block(
          block_offset(bound, std::make_index_sequence<static_cast<std::size_t>(format::levels)>{}),
          static_cast<Value>(value));
    else
      piece->push(bound, bound.at[innermost], static_cast<Value>(value));
  }

  WorkspaceOutput<Accumulate, innermost> workspace() const { return {scatter}; }
  template <class Workspace, class Env>
  void drain(const Workspace&, const Env& bound) const {
    scatter->drain(
        [&](std::int64_t c, const Accumulate& value) { piece->push(bound, c, static_cast<Value>(value)); });
  }

  std::array<std::int64_t, static_cast<std::size_t>(format::levels)> level_extents;

 private:
  template <class Env, std::size_t... K>
  std::int64_t block_offset(const Env& bound, std::index_sequence<K...>) const {
    std::int64_t offset = 0;
    ((offset =
          static_cast<int>(K) < Piece::levels
              ? 0
              : offset * level_extents[K] + bound.at[Traits_::order.find(level_names[static_cast<int>(K)])]),
     ...);
    return offset;
  }
};

}  // namespace sporos
