// SPDX-License-Identifier: Apache-2.0
/// @file room.hpp
/// Reserved room for the pieces of an appended result: enough if a bound on its size is known, else a guess.
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
#include "../../core/first_touch.hpp"
#include "../../core/pool.hpp"
#include "../../core/stream_copy.hpp"
#include "piece.hpp"
#include "size_bound.hpp"

namespace sporos {

/// Memory for each array of the result; every piece gets a part of each, in order. If all pieces but the last
/// fill their parts, these arrays become the result's.
///
/// Pages that are never written take address space but no memory, so a guess may be generous. A guess is made
/// only for a result of a single piece, which moves to memory of its own if it outgrows the guess.
template <class Result, class Piece>
class PieceRoom {
  using format = typename Result::format;
  using Value = typename Piece::value_type;
  static constexpr auto levels = static_cast<std::size_t>(Piece::levels);
  /// The guess is this many times the number of values of the largest operand.
  static constexpr std::int64_t guessed_growth = 16;

 public:
  /// A number of positions for each level.
  using Positions = std::array<std::int64_t, levels>;

  /// The guessed number of positions of a piece whose size the operands do not bound.
  template <class Right>
  static std::int64_t guessed_positions(const Right& right) {
    std::int64_t guess = 0;
    for (const detail::AccessView& operand : detail::views_of(right)) guess = std::max(guess, operand.nnz());
    return guessed_growth * guess;
  }
  /// An upper bound on the bytes that count as room for such a piece: all of a small array, and nothing of a
  /// larger one, of which only what is written counts.
  template <class Right>
  static std::int64_t guess_bytes(const Right& right, const Bounds& outermost,
                                  const Extents<format::order>& extents) {
    const auto level_extents = format::level_extents(extents);
    const std::int64_t block = values_in_block(level_extents, Piece::levels);
    const auto counted = [](std::int64_t elements, std::size_t bytes) {
      const auto size = static_cast<std::int64_t>(bytes);
      return elements < Pool::smallest_block / size ? elements * size : 0;
    };
    try {
      const Positions most =
          positions_of<false>(right, outermost, level_extents, guessed_positions(right), Levels{});
      std::int64_t sum =
          counted(checked_product(most[levels - 1], block, "values of a result"), sizeof(Value));
      std::int64_t parents = 1;
      const auto level = [&]<int L>(std::integral_constant<int, L>) {
        if constexpr (!Piece::template full<L>)
          sum += counted(most[L], sizeof(typename Piece::template coordinate_type<L>));
        if constexpr (Piece::template has_ends<L>)
          sum += counted(parents + 1, sizeof(typename Piece::template position_type<L>));
        parents = most[L];
      };
      [&]<std::size_t... K>(std::index_sequence<K...>) {
        (level(std::integral_constant<int, static_cast<int>(K)>{}), ...);
      }(Levels{});
      return sum;
    } catch (const RangeError&) {
      return 0;  // no room is reserved then
    }
  }

  /// @param pieces  for each piece, the range of the result's outermost level that it covers
  template <class Right>
  PieceRoom(const Right& right, const std::vector<Bounds>& pieces, const Extents<format::order>& extents) {
    const auto level_extents = format::level_extents(extents);
    block_ = values_in_block(level_extents, Piece::levels);
    const std::int64_t guess = guessed_positions(right);
    begin_.resize(pieces.size() + 1);
    // Parts that are filled only a little would each touch large pages of their own.
    if (!Piece::bounded && pieces.size() > 1) return;
    try {
      for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
        const Positions most = positions_of<false>(right, pieces[piece], level_extents, guess, Levels{});
        const Positions least = positions_of<true>(right, pieces[piece], level_extents, 0, Levels{});
        for (std::size_t k = 0; k < levels; ++k) {
          begin_[piece + 1][k] = begin_[piece][k] + most[k];
          least_[k] += least[k];
        }
      }
      reserve(Levels{});
      lends_ = true;
    } catch (const Error&) {
      // If the guess cannot be reserved, the piece grows from nothing instead.
      if (Piece::bounded) throw;
    }
  }

  /// Room for pieces of the given sizes, for the same result as `other`.
  PieceRoom(const std::vector<Positions>& most, const PieceRoom& other) : block_(other.block_) {
    begin_.resize(most.size() + 1);
    for (std::size_t piece = 0; piece < most.size(); ++piece)
      for (std::size_t k = 0; k < levels; ++k) begin_[piece + 1][k] = begin_[piece][k] + most[piece][k];
    reserve(Levels{});
    lends_ = true;
  }

  /// The largest number of positions of a piece at each level.
  Positions most() const {
    Positions out{};
    for (std::size_t piece = 0; piece + 1 < begin_.size(); ++piece)
      for (std::size_t k = 0; k < levels; ++k)
        out[k] = std::max(out[k], begin_[piece + 1][k] - begin_[piece][k]);
    return out;
  }

  /// Whether any room was reserved.
  bool lends() const { return lends_; }
  void lend(Piece& piece, std::size_t number) const {
    if (lends_) lend(piece, number, Levels{});
  }

  template <int K>
  const auto& coordinates() const {
    return std::get<static_cast<std::size_t>(K)>(coordinates_);
  }
  /// The array has one more element, before those of the first piece.
  template <int K>
  const auto& ends() const {
    return std::get<static_cast<std::size_t>(K)>(ends_);
  }
  const HostArray<Value>& values() const { return values_; }

  /// Moves a piece from elsewhere to its place, which begins at the positions `begin`.
  void move_here(Piece& piece, const Positions& begin) const { move_here(piece, begin, Levels{}); }

  /// Tells the pool that all of the room may have been written.
  void keep_all() const { keep_all(Levels{}); }

  /// First touch of the values and of the last level's coordinates, from the front, and the bytes of these
  /// arrays that belong to a piece.
  detail::FirstTouch touch_values() const { return pages_of(values_); }
  detail::FirstTouch touch_coordinates() const { return pages_of(std::get<levels - 1>(coordinates_)); }
  std::pair<std::int64_t, std::int64_t> value_bytes(const Positions& from, const Positions& end) const {
    const auto bytes = block_ * static_cast<std::int64_t>(sizeof(Value));
    return {from[levels - 1] * bytes, end[levels - 1] * bytes};
  }
  std::pair<std::int64_t, std::int64_t> coordinate_bytes(const Positions& from, const Positions& end) const {
    const auto bytes =
        static_cast<std::int64_t>(sizeof(typename Piece::template coordinate_type<Piece::levels - 1>));
    return {from[levels - 1] * bytes, end[levels - 1] * bytes};
  }

 private:
  template <class T>
  static detail::FirstTouch pages_of(const HostArray<T>& array) {
    return {reinterpret_cast<std::byte*>(array.data()),
            static_cast<std::int64_t>(array.extent(0) * sizeof(T))};
  }

  template <std::size_t... K>
  void move_here(Piece& piece, const Positions& begin, std::index_sequence<K...>) const {
    const auto move = [](auto& from, const auto& room, std::int64_t at) {
      using Array = std::remove_cvref_t<decltype(from)>;
      auto* const to = room.data() + at;
      const std::int64_t count = from.size();
      // Arrays too large for the caches are written with stores that bypass them.
      if (static_cast<std::int64_t>(room.extent(0) * sizeof(*to)) > streamed_bytes)
        detail::stream_copy(from.data(), count, to);
      else
        std::copy_n(from.data(), count, to);
      from = Array(to, count);
      from.resize(count);
    };
    const auto level = [&]<int L>(std::integral_constant<int, L>) {
      constexpr auto l = static_cast<std::size_t>(L);
      if constexpr (!Piece::template full<L>)
        move(piece.template coordinates<L>(), std::get<l>(coordinates_), begin[l]);
      // The root level has a single end.
      if constexpr (Piece::template has_ends<L> && L > 0)
        move(piece.template ends<L>(), std::get<l>(ends_), begin[l - 1] + 1);
    };
    (level(std::integral_constant<int, static_cast<int>(K)>{}), ...);
    move(piece.values(), values_, begin[levels - 1] * block_);
  }
  template <std::size_t... K>
  void keep_all(std::index_sequence<K...>) const {
    const auto keep = [](const auto& array) {
      pool().keep(array, static_cast<std::int64_t>(array.extent(0)));
    };
    (keep(std::get<K>(coordinates_)), ...);
    (keep(std::get<K>(ends_)), ...);
    keep(values_);
  }

  /// Arrays larger than this have left the caches before they are read again.
  static constexpr std::int64_t streamed_bytes = std::int64_t{8} << 20;

  using Levels = std::make_index_sequence<levels>;
  template <std::size_t... K>
  static auto coordinate_arrays(std::index_sequence<K...>)
      -> std::tuple<HostArray<typename Piece::template coordinate_type<static_cast<int>(K)>>...>;
  template <std::size_t... K>
  static auto end_arrays(std::index_sequence<K...>)
      -> std::tuple<HostArray<typename Piece::template position_type<static_cast<int>(K)>>...>;

  /// The most positions that a piece can have, or, with `Least`, the fewest to expect.
  /// @param guess  used if the operands give no bound
  template <bool Least, class Right, class LevelExtents, std::size_t... K>
  static Positions positions_of(const Right& right, const Bounds& outermost, const LevelExtents& extents,
                                std::int64_t guess, std::index_sequence<K...>) {
    using Bound = SizeBound<Result, Right>;
    Positions out{};
    const auto level = [&]<int L>(std::integral_constant<int, L>) {
      constexpr auto l = static_cast<std::size_t>(L);
      if constexpr (Piece::template full<L>)
        out[l] = L == 0 ? outermost.size()
                        : checked_product(out[L == 0 ? 0 : l - 1], extents[l], "positions of a dense level");
      else if constexpr (Piece::bounded && Least)
        out[l] =
            Bound::template least<(Piece::template repeats<L> ? Piece::levels - 1 : L)>(right, outermost);
      else if constexpr (Piece::bounded)
        out[l] = Bound::template of<(Piece::template repeats<L> ? Piece::levels - 1 : L)>(right, outermost);
      else
        out[l] = guess;
    };
    (level(std::integral_constant<int, static_cast<int>(K)>{}), ...);
    return out;
  }

  /// Where the parents of level K begin for a piece. At the root level each piece has a single parent.
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
        std::get<l>(coordinates_) =
            pool().reserve<Coordinate>("sporos::coordinates", begin_[pieces][l], least_[l]);
      if constexpr (Piece::template has_ends<L>)
        std::get<l>(ends_) = pool().reserve<Position>("sporos::positions", parents_begin<L>(pieces) + 1,
                                                      L == 0 ? 0 : least_[L == 0 ? 0 : l - 1]);
    };
    (level(std::integral_constant<int, static_cast<int>(K)>{}), ...);
    values_ = pool().reserve<Value>("sporos::values",
                                    checked_product(begin_[pieces][levels - 1], block_, "values of a result"),
                                    least_[levels - 1] * block_);
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

  std::vector<Positions> begin_;  ///< where each piece begins at each level; last, the end of the last piece
  Positions least_{};             ///< sum over all pieces
  std::int64_t block_ = 1;
  bool lends_ = false;
  decltype(coordinate_arrays(Levels{})) coordinates_;
  decltype(end_arrays(Levels{})) ends_;
  HostArray<Value> values_;
};

}  // namespace sporos
