// SPDX-License-Identifier: Apache-2.0
/// @file append_block.hpp
/// Appends what a workspace over several levels has gathered inside the loops over the levels above.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "../../core/extents.hpp"
#include "../../core/inline.hpp"

namespace sporos {

/// Takes components of the levels below the loops that both orders share, in ascending order, and enters and
/// leaves the levels of a piece as loops over these levels would.
template <class Traits_, class Piece>
class BlockAppender {
  static constexpr int levels = Piece::format::levels;
  static constexpr int prefix = Traits_::classification.prefix;
  /// The end of the levels that are entered: the coordinates of the level below come with the values.
  static constexpr int entered = Piece::has_block ? Piece::levels : Piece::levels - 1;
  static_assert(prefix <= entered);

 public:
  using Value = typename Piece::value_type;

  /// @param bound  coordinates of the loops, of which the outermost are those of the piece's levels
  template <class Env>
  BlockAppender(Piece& piece, const Env& bound, const std::array<std::int64_t, std::size_t{levels}>& extents)
      : piece_(piece), extents_(extents) {
    std::copy_n(std::begin(bound.at), prefix, coordinates_.at.begin());
  }

  SPOROS_HOST_INLINE void append(const Extents<levels - prefix>& at, const Value& value) {
    const int first = first_that_differs(at);
    if (first < entered) {
      if (any_) leave_down_to<entered - 1>(first);
      for (int k = first; k < entered; ++k) coordinates_.at[level(k)] = at[level(k - prefix)];
      enter_from<prefix>(first);
      any_ = true;
    }
    if constexpr (Piece::has_block) {
      std::int64_t place = 0;
      for (int k = Piece::levels; k < levels; ++k) place = place * extents_[level(k)] + at[level(k - prefix)];
      piece_.add_to_block(place, value);
    } else {
      any_ = true;
      piece_.push(coordinates_, at[level(levels - 1 - prefix)], value);
    }
  }

  /// Leaves the levels that have been entered.
  void finish() {
    if (any_) leave_down_to<entered - 1>(prefix);
  }

 private:
  struct Coordinates {
    std::array<std::int64_t, std::size_t{levels}> at{};
  };
  static constexpr std::size_t level(int k) { return static_cast<std::size_t>(k); }

  /// The first level that has to be entered for a component.
  SPOROS_HOST_INLINE int first_that_differs(const Extents<levels - prefix>& at) const {
    int k = prefix;
    if (any_)
      while (k < entered && coordinates_.at[level(k)] == at[level(k - prefix)]) ++k;
    return k;
  }
  template <int K>
  SPOROS_HOST_INLINE void leave_down_to(int first) {
    if constexpr (K >= prefix) {
      if (K < first) return;
      piece_.template leave<K>(coordinates_.at[level(K)]);
      leave_down_to<K - 1>(first);
    }
  }
  template <int K>
  SPOROS_HOST_INLINE void enter_from(int first) {
    if constexpr (K < entered) {
      if (K >= first) piece_.template enter<K>(coordinates_.at[level(K)]);
      enter_from<K + 1>(first);
    }
  }

  Piece& piece_;
  std::array<std::int64_t, std::size_t{levels}> extents_;
  Coordinates coordinates_;
  bool any_ = false;  ///< whether something has been appended
};

}  // namespace sporos
