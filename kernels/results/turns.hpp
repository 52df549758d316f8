// SPDX-License-Identifier: Apache-2.0
/// @file turns.hpp
/// The pieces of an appended result of bounded size, computed by several threads in an ordered pipeline.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../core/first_touch.hpp"
#include "../../core/function_ref.hpp"
#include "../../core/space.hpp"
#include "../../workspace/pipeline.hpp"
#include "room.hpp"

namespace sporos {

/// Computes pieces of bounded size in buffers, and moves each into the result's room, directly after the
/// previous ones, as drawn at run_pipeline.
template <class Result, class Piece>
class Turns {
  using Room = PieceRoom<Result, Piece>;
  using Positions = typename Room::Positions;

 public:
  using ComputePiece = detail::FunctionRef<void(std::int64_t chunk, Piece& piece)>;

  /// One buffer in which a piece is computed while another piece waits for its place.
  static constexpr std::int64_t buffers_of_thread = 2;
  /// Approximate limits on the number of elements of a piece: enough to be worth its overhead, and few enough
  /// to stay in a core's own cache while it is computed and moved.
  static constexpr std::int64_t least_elements = 4096;
  static constexpr std::int64_t most_elements = 32768;

  /// @param room  the room for all pieces together
  Turns(const detail::HostThreads& threads, std::vector<Piece>& pieces, const Room& room)
      : host_threads_(threads),
        pieces_(pieces),
        room_(room),
        count_(static_cast<std::int64_t>(pieces.size())),
        threads_(std::min<std::int64_t>(threads.concurrency(), count_)),
        buffers_(std::vector<Positions>(static_cast<std::size_t>(threads_ * buffers_of_thread), room.most()),
                 room),
        pages_{room.touch_values(), room.touch_coordinates()} {}

  /// @param compute  compute(chunk, piece) appends to a piece with reserved room and finishes it
  void operator()(const ComputePiece& compute) {
    run_pipeline<Positions>(host_threads_, threads_, count_, *this,
                            [&](std::int64_t number) { return Worker{*this, compute, number}; });
    buffers_.keep_all();
  }

  // The functions that run_pipeline requires of a result.
  Positions end_of(std::int64_t number, Positions place) const {
    for (std::size_t k = 0; k < place.size(); ++k) place[k] += piece(number).positions(static_cast<int>(k));
    return place;
  }
  auto& pages() { return pages_; }
  std::pair<std::int64_t, std::int64_t> bytes(std::size_t array, const Positions& from,
                                              const Positions& end) const {
    return array == 0 ? room_.value_bytes(from, end) : room_.coordinate_bytes(from, end);
  }

 private:
  struct Worker {
    Turns& turns;
    const ComputePiece& compute_piece;
    std::int64_t thread;
    std::int64_t next_buffer = 0;

    bool has_room(std::int64_t /*number*/, std::int64_t waiting) const { return waiting < buffers_of_thread; }
    void compute(std::int64_t number) {
      Piece& piece = turns.piece(number);
      turns.buffers_.lend(piece, static_cast<std::size_t>(thread * buffers_of_thread + next_buffer));
      next_buffer = (next_buffer + 1) % buffers_of_thread;
      compute_piece(number, piece);
    }
    void move(std::int64_t number, const Positions& place) const {
      turns.room_.move_here(turns.piece(number), place);
    }
  };

  Piece& piece(std::int64_t number) const { return pieces_[static_cast<std::size_t>(number)]; }

  detail::HostThreads host_threads_;
  std::vector<Piece>& pieces_;
  const Room& room_;
  std::int64_t count_, threads_;
  Room buffers_;
  std::array<detail::FirstTouch, 2> pages_;  ///< values, coordinates of the last level
};

}  // namespace sporos
