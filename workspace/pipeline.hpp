// SPDX-License-Identifier: Apache-2.0
/// @file pipeline.hpp
/// The ordered pipeline: threads compute chunks of a result in private buffers and move each chunk to its
/// place once the sizes of all chunks before it are known.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/first_touch.hpp"
#include "../core/space.hpp"
#include "../core/stream_copy.hpp"
#include "../formats/chunks.hpp"

namespace sporos {

/// Where each chunk of a result begins: known as soon as all chunks before it have been computed.
/// @tparam Place  where a chunk begins; Place{} for the first
template <class Place>
class ChunkPlaces {
 public:
  explicit ChunkPlaces(std::int64_t chunks)
      : places_(static_cast<std::size_t>(chunks) + 1), computed_(static_cast<std::size_t>(chunks), 0) {}

  /// Marks a chunk as computed. With its size, the places of later chunks may become known.
  /// @param end_of  end_of(chunk, place) is where a computed chunk ends if it begins at `place`
  template <class EndOf>
  void publish(std::int64_t chunk, const EndOf& end_of) {
    const std::lock_guard lock(guard_);
    computed_[static_cast<std::size_t>(chunk)] = 1;
    auto known = static_cast<std::size_t>(known_.load(std::memory_order_relaxed));
    for (; known < computed_.size() && computed_[known]; ++known)
      places_[known + 1] = end_of(static_cast<std::int64_t>(known), places_[known]);
    known_.store(static_cast<std::int64_t>(known), std::memory_order_release);
  }

  /// Whether the place of a chunk is known. If the chunk is published, its end is then known as well.
  bool is_known(std::int64_t chunk) const { return chunk <= known_.load(std::memory_order_acquire); }

  /// Where a chunk begins, if its place is known; for the number of chunks, where the last one ends.
  const Place& operator[](std::int64_t chunk) const { return places_[static_cast<std::size_t>(chunk)]; }

  /// Bytes that the places of `chunks` chunks take.
  static std::int64_t bytes(std::int64_t chunks) {
    return (chunks + 1) * static_cast<std::int64_t>(sizeof(Place)) + chunks;
  }

 private:
  std::vector<Place> places_;           // [chunks + 1]
  std::vector<std::uint8_t> computed_;  // [chunks]
  std::atomic<std::int64_t> known_{0};  ///< chunks whose places are known, not counting the first
  std::mutex guard_;
};

/// A result into which run_pipeline moves chunks.
template <class Result, class Place>
concept PipelineResult =
    requires(Result& result, std::size_t array, std::int64_t chunk, const Place& from, const Place& end) {
      // end_of(chunk, from): where a computed chunk ends if it begins at `from`; called under a lock
      { result.end_of(chunk, from) } -> std::convertible_to<Place>;
      // pages()[array]: the detail::FirstTouch of each large array into which chunks are moved
      { result.pages()[array].touch_next(std::int64_t{}) } -> std::same_as<bool>;
      result.pages()[array].touch_to(std::int64_t{});
      // bytes(array, from, end): the half-open range of bytes of an array that a chunk takes
      { result.bytes(array, from, end) } -> std::convertible_to<std::pair<std::int64_t, std::int64_t>>;
    };

/// A worker of run_pipeline, with buffers of its own.
template <class Worker, class Place>
concept PipelineWorker =
    requires(Worker& worker, std::int64_t chunk, std::int64_t waiting, const Place& place) {
      // has_room(chunk, waiting): whether the buffers can take a chunk while they still hold the last
      // `waiting` chunks of this worker; always true if `waiting` is 0
      { worker.has_room(chunk, waiting) } -> std::same_as<bool>;
      // compute(chunk): computes a chunk in the buffers
      worker.compute(chunk);
      // move(chunk, place): moves a computed chunk from the buffers to the result
      worker.move(chunk, place);
    };

/// An upper bound on the bytes that run_pipeline needs for itself.
template <class Place>
std::int64_t pipeline_bytes(std::int64_t workers, std::int64_t chunks) {
  constexpr std::int64_t empty_queue = 1024;  // bytes of a worker's std::deque of waiting chunks
  return ChunkPlaces<Place>::bytes(chunks) + workers * empty_queue +
         2 * chunks * static_cast<std::int64_t>(sizeof(std::int64_t));
}

/// Computes the chunks of a result on several threads and places each after the previous one, although their
/// sizes are known only once they have been computed.
///
///     thread 0   [ compute 0           ][ move 0 ][ compute 5 …
///     thread 1   [ compute 1    ][ compute 4        ][ move 1 ][ …
///     thread 2   [ compute 2 ][ compute 3   ][ move 2 and 3 ][ …
///                                      ^ the size of 0 makes the places of 1, 2 and 3 known
///
///     result     |  0       |  1    |  2          |  3      |  4 …       written from front to back
///     pages      |   thread 0     |   thread 2     |   thread 0 …        each touched first by one thread
///
/// Chunks are taken in order, so none waits long for its place; meanwhile its thread computes further chunks,
/// as long as its buffers have room. No thread waits forever: the thread with the first chunk that is not
/// computed yet holds only chunks before it, whose places are known, so it can move them and go on. Each
/// large page of the result is first touched by a single thread while others compute (FirstTouch says why).
///
/// If a worker throws, the first exception is rethrown here once the other workers have stopped; the contents
/// of the result are then unspecified.
///
/// @tparam Place       a position in the result, or one for each of its levels
/// @param workers      the number of workers, at most the number of threads of `space`
/// @param make_worker  make_worker(number) creates a worker; called on the thread that runs it
template <class Place, PipelineResult<Place> Result, class MakeWorker>
  requires PipelineWorker<std::invoke_result_t<const MakeWorker&, std::int64_t>, Place>
void run_pipeline(const detail::HostThreads& threads, std::int64_t workers, std::int64_t chunks,
                  Result& result, const MakeWorker& make_worker) {
  ChunkPlaces<Place> places(chunks);
  detail::ChunkQueue queue(chunks);

  // Touches the unclaimed pages of a chunk and returns whether all of its pages have been touched. With
  // `ahead`, it also touches a page that is likely to be needed next while another thread is busy with one of
  // these.
  const auto have_pages = [&](const Place& from, const Place& end, bool ahead) {
    auto& pages = result.pages();
    bool touched = true;
    for (std::size_t array = 0; array < pages.size(); ++array) {
      const auto [first, last] = result.bytes(array, from, end);
      pages[array].touch_to(last);
      touched = touched && pages[array].is_touched(first, last);
    }
    for (std::size_t array = 0; ahead && !touched && array < pages.size(); ++array) {
      const std::int64_t last = result.bytes(array, from, end).second;
      ahead = !pages[array].touch_next(last + std::min(last / 4, detail::large_page));
    }
    return touched;
  };

  detail::for_each_worker(threads, workers, queue, [&](std::int64_t number) {
    const detail::StreamCopies copies;
    auto worker = make_worker(number);
    std::deque<std::int64_t> waiting;
    const auto move_known = [&](bool ahead) {
      for (; !waiting.empty() && places.is_known(waiting.front()); waiting.pop_front()) {
        const std::int64_t chunk = waiting.front();
        if (!have_pages(places[chunk], places[chunk + 1], ahead)) return;
        worker.move(chunk, places[chunk]);
      }
    };
    const auto wait = [&](bool ahead) {
      std::this_thread::yield();
      move_known(ahead);
      return !queue.stopped();
    };
    for (std::int64_t chunk = 0; queue.take(chunk);) {
      while (!worker.has_room(chunk, static_cast<std::int64_t>(waiting.size())))
        if (!wait(true)) return;
      worker.compute(chunk);
      places.publish(chunk, [&](std::int64_t computed, const Place& from) -> Place {
        return result.end_of(computed, from);
      });
      waiting.push_back(chunk);
      move_known(false);
    }
    while (!waiting.empty())
      if (!wait(false)) return;
  });
}

}  // namespace sporos
