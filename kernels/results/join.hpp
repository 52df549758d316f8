// SPDX-License-Identifier: Apache-2.0
/// @file join.hpp
/// Joins the pieces of an appended result into the result.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/pool.hpp"
#include "../../core/tensor.hpp"
#include "../../formats/chunks.hpp"
#include "room.hpp"

namespace sporos {

/// Joins the pieces in order: a running sum gives their offsets, and copies run in parallel. Pieces that
/// already follow each other in the room that was reserved for them are not copied.
template <class Result, class Piece, class Space>
class Join {
  using Room = PieceRoom<InAnyHostSpace<Result>, Piece>;
  using Tensor = typename Result::tensor_type;
  using Storage = typename Tensor::level_storage;
  using format = typename Piece::format;
  using Places = std::vector<std::int64_t>;

 public:
  /// @param room  the room in which the pieces were made
  Join(const Space& space, const Result& result, std::vector<Piece>& pieces, const Room& room)
      : space_(space), result_(result), pieces_(pieces), room_(room), parents_begin_(pieces.size(), 0) {}

  void operator()() { join(std::make_index_sequence<static_cast<std::size_t>(format::levels)>{}); }

 private:
  template <std::size_t... K>
  void join(std::index_sequence<K...>) {
    const Extents<format::order> extents = result_.tensor().extents();
    const auto level_extents = format::level_extents(extents);
    Storage levels;
    (join_level<static_cast<int>(K)>(std::get<K>(levels), level_extents[K]), ...);

    Places begin(pieces_.size());
    const std::int64_t total =
        running_sum(begin, [&](std::size_t piece) { return pieces_[piece].values().size(); });
    ensure(total == parents_, "the pieces of a result hold one value for each position of its last level");
    auto values = behind_one_another<typename Tensor::value_type>(
        "sporos::values", begin, total, [](auto& from) -> auto& { return from.values(); },
        [](const auto& room) -> const auto& { return room.values(); });
    result_.tensor().replace(extents, std::move(levels), std::move(values));
  }

  template <int K>
  void join_level(std::tuple_element_t<static_cast<std::size_t>(K), Storage>& storage, std::int64_t extent) {
    using Stored = std::tuple_element_t<static_cast<std::size_t>(K), Storage>;
    if constexpr (K >= Piece::levels) {
      storage = Stored::empty(parents_, extent);
      parents_ *= extent;
    } else {
      Places begin(pieces_.size());
      const std::int64_t total =
          running_sum(begin, [&](std::size_t piece) { return pieces_[piece].positions(K); });
      if constexpr (Piece::template full<K>) {
        storage = Stored::empty(parents_, extent);
      } else {
        SegmentsOf<typename format::template level<K>> segments;
        using Coordinate = typename Piece::template coordinate_type<K>;
        segments.coordinates = behind_one_another<Coordinate>(
            "sporos::coordinates", begin, total,
            [](auto& from) -> auto& { return from.template coordinates<K>(); },
            [](const auto& room) -> const auto& { return room.template coordinates<K>(); });
        if constexpr (Piece::template has_ends<K>) segments.positions = positions<K>(begin, total);
        storage = Stored::template from_segments<Space>(std::move(segments), parents_, extent);
      }
      parents_begin_ = begin;
      parents_ = total;
    }
  }

  /// The positions of a level: 0, then the end of the coordinates below each parent.
  template <int K>
  auto positions(const Places& begin, std::int64_t total) {
    using Position = typename Piece::template position_type<K>;
    narrow<Position>(total, "the number of stored coordinates of a level");
    if constexpr (K == 0) {
      auto out = make_array<Position>("sporos::positions", 2);
      out(0) = 0;
      out(1) = static_cast<Position>(total);
      return out;
    } else {
      const auto ends_of = [](auto& from) -> auto& { return from.template ends<K>(); };
      const auto [out, in_place] =
          place<Position>("sporos::positions", 1, parents_begin_, parents_, ends_of,
                          [](const auto& room) -> const auto& { return room.template ends<K>(); });
      Position* const ends = out.data() + 1;
      ends[-1] = 0;
      each_piece([&, stays = in_place](std::size_t piece) {
        const auto& from = ends_of(pieces_[piece]);
        if (stays && begin[piece] == 0) return;
        for (std::int64_t at = 0; at < from.size(); ++at)
          ends[parents_begin_[piece] + at] = static_cast<Position>(begin[piece] + from[at]);
      });
      return out;
    }
  }

  /// The pieces' arrays, stored contiguously: `array_of(piece)` begins at begin[piece].
  template <class To, class ArrayOf, class RoomOf>
  HostArray<To> behind_one_another(const char* label, const Places& begin, std::int64_t total,
                                   const ArrayOf& array_of, const RoomOf& room_of) {
    const auto [out, in_place] = place<To>(label, 0, begin, total, array_of, room_of);
    if (!in_place) {
      To* const to = out.data();
      each_piece([&](std::size_t piece) {
        const auto& from = array_of(pieces_[piece]);
        for (std::int64_t at = 0; at < from.size(); ++at) to[begin[piece] + at] = static_cast<To>(from[at]);
      });
    }
    return out;
  }

  /// An array for `front` + `total` elements, and whether it is the room itself, in which the pieces' arrays
  /// are already in place.
  template <class To, class ArrayOf, class RoomOf>
  std::pair<HostArray<To>, bool> place(const char* label, std::int64_t front, const Places& begin,
                                       std::int64_t total, const ArrayOf& array_of, const RoomOf& room_of) {
    const auto& room = room_of(room_);
    if (room_.lends()) {
      constexpr bool same_type = std::is_same_v<std::remove_cvref_t<decltype(room)>, HostArray<To>>;
      // A result that fills little of a large room must not keep the room alive.
      bool in_place =
          same_type && (front + total) * static_cast<std::int64_t>(sizeof(To)) >= Pool::smallest_block;
      std::int64_t written = front;
      for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
        const auto& from = array_of(pieces_[piece]);
        if (from.size() == 0) continue;
        const bool moved = from.data() < room.data() || from.data() >= room.data() + room.extent(0);
        in_place = in_place && !moved && from.data() == room.data() + front + begin[piece];
        if (!moved) written = from.data() + from.size() - room.data();
      }
      const auto kept = pool().keep(room, written);
      if constexpr (same_type)
        if (in_place) return {kept, true};
    }
    return {pool().array<To>(label, front + total), false};
  }

  template <class SizeOf>
  std::int64_t running_sum(Places& begin, const SizeOf& size_of) const {
    std::int64_t total = 0;
    for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
      begin[piece] = total;
      total += size_of(piece);
    }
    return total;
  }

  template <class Body>
  void each_piece(const Body& body) const {
    detail::for_each_chunk(space_, static_cast<std::int64_t>(pieces_.size()),
                           [&](std::int64_t piece) { body(static_cast<std::size_t>(piece)); });
  }

  const Space& space_;
  const Result& result_;
  std::vector<Piece>& pieces_;
  const Room& room_;
  Places parents_begin_;  ///< where each piece's positions of the level above begin; all 0 at the root
  std::int64_t parents_ = 1;
};

}  // namespace sporos
