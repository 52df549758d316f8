// SPDX-License-Identifier: Apache-2.0
/// @file append_output.hpp
/// The output of a chunk that appends to a piece of the result, through a workspace if its results scatter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../core/memory_use.hpp"
#include "../nest/loop_nest.hpp"
#include "append_block.hpp"
#include "piece.hpp"

namespace sporos {

/// Adds to the workspace that gathers the levels below the loops that both orders share.
template <class Traits_, class W, class T>
struct WorkspaceOutput : EachValue<WorkspaceOutput<Traits_, W, T>> {
  W* workspace;

  SPOROS_INLINE explicit WorkspaceOutput(W* gathers) : workspace(gathers) {}
  SPOROS_MAY_CALL_HOST
  template <class V, class Env>
  SPOROS_INLINE void add(const V& value, const Env& env) const {
    constexpr auto levels = Traits_::result::level_names, loops = Traits_::order;
    constexpr int prefix = Traits_::classification.prefix;
    Extents<levels.size - prefix> at{};
    for (int k = prefix; k < levels.size; ++k)
      at[static_cast<std::size_t>(k - prefix)] = env.at[loops.find(levels[k])];
    workspace->add(at, static_cast<T>(value));
  }
};

/// Takes the place of the workspace if nothing scatters.
struct NoWorkspace {};

/// Appends to a piece of the result.
/// @tparam W           the workspace for results that scatter inside the loops that both orders share; or
///                     NoWorkspace
/// @tparam Accumulate  the type in which it sums
template <class Traits_, class Piece_, class W, class Accumulate>
struct AppendedOutput {
  static constexpr bool is_scalar = false;
  static constexpr bool is_independent = false;
  using Piece = Piece_;
  using Value = typename Piece::value_type;
  using format = typename Piece::format;
  static constexpr auto level_names = Traits_::result::level_names;
  /// The depth of the loop over the innermost result variable.
  static constexpr int innermost = Traits_::order.find(level_names[level_names.size - 1]);

  Piece* piece;
  W* gathered;
  detail::CountedVector<std::int64_t>* rows;  ///< receives the number of values of each gathered row; or null
  std::array<std::int64_t, static_cast<std::size_t>(format::levels)> level_extents;

  /// Calls f with an output to a local copy of the piece, if copying it copies no elements.
  SPOROS_MAY_CALL_HOST
  template <class F>
  SPOROS_INLINE void with_copy(const F& f) const {
    if constexpr (Piece::bounded) {
      Piece mine = *piece;
      f(AppendedOutput{&mine, gathered, rows, level_extents});
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
      piece->add_to_block(place_in_block<Traits_, Piece::levels>(bound, level_extents),
                          static_cast<Value>(value));
    else
      piece->push(bound, bound.at[innermost], static_cast<Value>(value));
  }

  WorkspaceOutput<Traits_, W, Accumulate> workspace() const
    requires(!std::is_same_v<W, NoWorkspace>)
  {
    return WorkspaceOutput<Traits_, W, Accumulate>(gathered);
  }
  template <class Output, class Env>
  void drain(const Output&, const Env& bound) const {
    if constexpr (Traits_::classification.prefix + 1 == level_names.size) {
      const std::int64_t before = piece->size();
      gathered->drain([&](const Extents<1>& c, const Accumulate& value) {
        piece->push(bound, c[0], static_cast<Value>(value));
      });
      if (rows) rows->push_back(piece->size() - before);
    } else {
      BlockAppender<Traits_, Piece> block(*piece, bound, level_extents);
      gathered->drain(
          [&](const auto& at, const Accumulate& value) { block.append(at, static_cast<Value>(value)); });
      block.finish();
    }
  }
};

}  // namespace sporos
