// SPDX-License-Identifier: Apache-2.0
/// @file turns.hpp
/// Several threads append to one result: each computes a chunk in its cache, then puts it where it belongs.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "../../core/first_touch.hpp"
#include "../../core/stream_copy.hpp"
#include "../../formats/chunks.hpp"
#include "../../workspace/places.hpp"
#include "room.hpp"

namespace sporos {

/// Computes the pieces of a result whose sizes are bounded, and moves each to the front of the result's room,
/// behind those before it.
///
/// A thread takes the next chunk, computes it in a buffer of its own that stays in its caches, and copies it
/// once the sizes of all chunks before it are known: chunks are taken in order, so that is soon. Until then
/// it computes others, as far as it has buffers. Whoever has the first chunk that is not computed yet does
/// not wait, so nobody waits for ever.
template <class Result, class Piece, class Space>
class Turns {
  using Room = PieceRoom<Result, Piece>;
  using Positions = typename Room::Positions;
  static constexpr int buffers_of_thread = 2;

 public:
  /// Elements of a chunk, about: what is worth taking, and what stays in a core's own cache while it is made
  /// and copied.
  static constexpr std::int64_t least_elements = 4096;
  static constexpr std::int64_t most_elements = 32768;

  /// @param room  of all pieces together
  Turns(std::vector<Piece>& pieces, const Room& room)
      : pieces_(pieces),
        room_(room),
        count_(static_cast<std::int64_t>(pieces.size())),
        threads_(std::min<std::int64_t>(Space().concurrency(), count_)),
        buffers_(std::vector<Positions>(static_cast<std::size_t>(threads_ * buffers_of_thread), room.most()),
                 room),
        places_(pieces.size()),
        values_(room.touch_values()),
        coordinates_(room.touch_coordinates()) {}

  /// @param compute  compute(chunk, piece) appends to a piece that was lent room, and finishes it
  template <class Compute>
  void operator()(const Compute& compute) {
    detail::for_each_chunk<Space>(static_cast<int>(threads_), [&](int thread) { run(thread, compute); });
    buffers_.keep_all();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  template <class Compute>
  void run(int thread, const Compute& compute) {
    std::deque<std::int64_t> waiting;
    int buffer = 0;
    const auto move_known = [&](bool all) {
      while (!waiting.empty() && !failed_) {
        const std::int64_t number = waiting.front();
        if (!places_.is_known(number)) {
          if (!all) return;
          std::this_thread::yield();
          continue;
        }
        touch(number);
        if (failed_) return;
        room_.move_here(pieces_[static_cast<std::size_t>(number)], places_[number]);
        waiting.pop_front();
      }
    };
    try {
      for (std::int64_t number = next_++; number < count_ && !failed_; number = next_++) {
        Piece& piece = pieces_[static_cast<std::size_t>(number)];
        buffers_.lend(piece, static_cast<std::size_t>(thread * buffers_of_thread + buffer));
        buffer = (buffer + 1) % buffers_of_thread;
        compute(number, piece);
        places_.publish(number, [&](std::int64_t chunk, Positions place) {
          for (std::size_t k = 0; k < place.size(); ++k)
            place[k] += pieces_[static_cast<std::size_t>(chunk)].positions(static_cast<int>(k));
          return place;
        });
        waiting.push_back(number);
        move_known(waiting.size() == buffers_of_thread);
      }
      move_known(true);
    } catch (...) {
      const std::lock_guard lock(guard_);
      if (!failure_) failure_ = std::current_exception();
      failed_ = true;
    }
    detail::finish_stream_copies();
  }

  /// Sees to it that the large pages in which a chunk will stand are there, each touched by one thread.
  void touch(std::int64_t number) {
    const auto pages = [&](detail::FirstTouch& touched, std::int64_t from, std::int64_t end) {
      while (touched.touch_next(end)) {
      }
      // While another thread has a page cleared, the next one can be, if it is likely to be needed.
      while (!touched.is_touched(from, end) && !failed_)
        if (!touched.touch_next(end + std::min(end / 4, detail::FirstTouch::page))) std::this_thread::yield();
    };
    const auto [values_from, values_end] = room_.value_bytes(places_[number], places_[number + 1]);
    pages(values_, values_from, values_end);
    const auto [from, end] = room_.coordinate_bytes(places_[number], places_[number + 1]);
    pages(coordinates_, from, end);
  }

  std::vector<Piece>& pieces_;
  const Room& room_;
  std::int64_t count_, threads_;
  Room buffers_;
  ChunkPlaces<Positions> places_;  ///< of each piece, at each level
  std::atomic<std::int64_t> next_{0};
  detail::FirstTouch values_, coordinates_;
  std::mutex guard_;
  std::exception_ptr failure_;
  std::atomic<bool> failed_{false};
};

}  // namespace sporos
