// SPDX-License-Identifier: Apache-2.0
/// @file room.hpp
/// Room for the pieces of an appended result: as much as they can need, where that is known, else a guess.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../core/extents.hpp"
#include "../../core/pool.hpp"
#include "piece.hpp"
#include "size_bound.hpp"

namespace sporos {

/// One array for each array of the result, of which each piece is lent a part, in order. Where every piece
/// but the last fills its parts, they are the result's arrays.
///
/// What is not written takes addresses, not memory, so a guess is generous. It is made for a single piece
/// only, which goes on in memory of its own where it outgrows it.
template <class Result, class Piece>
class PieceRoom {
  using format = typename Result::format;
  using Value = typename Piece::value_type;
  static constexpr auto levels = static_cast<std::size_t>(Piece::levels);
  using Positions = std::array<std::int64_t, levels>;
  /// How many times the values of the largest operand are guessed to be the result's.
  static constexpr std::int64_t guessed_growth = 16;

 public:
  /// @param pieces  the range of the result's outermost level that each piece is of
  template <class Right>
  PieceRoom(const Right& right, const std::vector<Bounds>& pieces, const Extents<format::order>& extents) {
    const auto level_extents = format::level_extents(extents);
    for (std::size_t k = levels; k < level_extents.size(); ++k) block_ *= level_extents[k];
    std::int64_t guess = 0;
    for_each_access(right, [&](const auto& access) { guess = std::max(guess, access.tensor().nnz()); });
    guess *= guessed_growth;
    begin_.resize(pieces.size() + 1);
    // Parts that are filled a little only would each touch large pages of their own.
    if (!Piece::bounded && pieces.size() > 1) return;
    try {
      for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
        const Positions most = positions_of(right, pieces[piece], level_extents, guess, Levels{});
        for (std::size_t k = 0; k < levels; ++k) begin_[piece + 1][k] = begin_[piece][k] + most[k];
      }
      reserve(Levels{});
      lends_ = true;
    } catch (const Error&) {
      // Not even addresses for a guess: pieces grow from nothing.
      if (Piece::bounded) throw;
    }
  }

  /// Whether pieces are lent anything.
  bool lends() const { return lends_; }
  void lend(Piece& piece, std::size_t number) const {
    if (lends_) lend(piece, number, Levels{});
  }

  template <int K>
  const auto& coordinates() const {
    return std::get<static_cast<std::size_t>(K)>(coordinates_);
  }
  /// With one element before those of the first piece.
  template <int K>
  const auto& ends() const {
    return std::get<static_cast<std::size_t>(K)>(ends_);
  }
  const HostArray<Value>& values() const { return values_; }

 private:
  using Levels = std::make_index_sequence<levels>;
  template <std::size_t... K>
  static auto coordinate_arrays(std::index_sequence<K...>)
      -> std::tuple<HostArray<typename Piece::template coordinate_type<static_cast<int>(K)>>...>;
  template <std::size_t... K>
  static auto end_arrays(std::index_sequence<K...>)
      -> std::tuple<HostArray<typename Piece::template position_type<static_cast<int>(K)>>...>;

  template <class Right, class LevelExtents, std::size_t... K>
  static Positions positions_of(const Right& right, const Bounds& outermost, const LevelExtents& extents,
                                std::int64_t guess, std::index_sequence<K...>) {
    Positions most{};
    const auto level = [&]<int L>(std::integral_constant<int, L>) {
      constexpr auto l = static_cast<std::size_t>(L);
      if constexpr (Piece::template full<L>)
        most[l] = L == 0
                      ? outermost.size()
                      : checked_product(most[L == 0 ? 0 : l - 1], extents[l], "positions of a dense level");
      else if constexpr (Piece::bounded)
        most[l] = SizeBound<Result, Right>::template of<(Piece::template repeats<L> ? Piece::levels - 1 : L)>(
            right, outermost);
      else
        most[l] = guess;
    };
    (level(std::integral_constant<int, static_cast<int>(K)>{}), ...);
    return most;
  }

  /// Where the positions begin that are the parents of the level's, for a piece; the root has one for each.
  template <int K>
  std::int64_t parents_begin(std::size_t piece) const {
    if constexpr (K == 0)
      return static_cast<std::int64_t>(piece);
    else
      return begin_[piece][static_cast<std::size_t>(K - 1)];
  }

  template <std::size_t... K>
  void reserve(std::index_sequence<K...>) {
    const std::size_t pieces = begin_.size() - 1;
    const auto level = [&]<int L>(std::integral_constant<int, L>) {
      using Coordinate = typename Piece::template coordinate_type<L>;
      using Position = typename Piece::template position_type<L>;
      constexpr auto l = static_cast<std::size_t>(L);
      if constexpr (!Piece::template full<L>)
        std::get<l>(coordinates_) = pool().reserve<Coordinate>("sporos::coordinates", begin_[pieces][l]);
      if constexpr (Piece::template has_ends<L>)
        std::get<l>(ends_) = pool().reserve<Position>("sporos::positions", parents_begin<L>(pieces) + 1);
    };
    (level(std::integral_constant<int, static_cast<int>(K)>{}), ...);
    values_ = pool().reserve<Value>(
        "sporos::values", checked_product(begin_[pieces][levels - 1], block_, "values of a result"));
  }

  template <std::size_t... K>
  void lend(Piece& piece, std::size_t number, std::index_sequence<K...>) const {
    const auto part = [](auto& array, const auto& room, std::int64_t begin, std::int64_t end) {
      array = std::remove_cvref_t<decltype(array)>(room.data() + begin, end - begin);
    };
    const auto level = [&]<int L>(std::integral_constant<int, L>) {
      constexpr auto l = static_cast<std::size_t>(L);
      if constexpr (!Piece::template full<L>)
        part(piece.template coordinates<L>(), std::get<l>(coordinates_), begin_[number][l],
             begin_[number + 1][l]);
      if constexpr (Piece::template has_ends<L>)
        part(piece.template ends<L>(), std::get<l>(ends_), parents_begin<L>(number) + 1,
             parents_begin<L>(number + 1) + 1);
    };
    (level(std::integral_constant<int, static_cast<int>(K)>{}), ...);
    part(piece.values(), values_, begin_[number][levels - 1] * block_,
         begin_[number + 1][levels - 1] * block_);
  }

  std::vector<Positions> begin_;  ///< of each piece, at each level; and behind the last
  std::int64_t block_ = 1;
  bool lends_ = false;
  decltype(coordinate_arrays(Levels{})) coordinates_;
  decltype(end_arrays(Levels{})) ends_;
  HostArray<Value> values_;
};

}  // namespace sporos
