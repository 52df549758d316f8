// SPDX-License-Identifier: Apache-2.0
/// @file places.hpp
/// Where the chunks of a result stand that several threads compute.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace sporos {

/// The places of a result's chunks, each known once all chunks before it are computed.
/// @tparam Place  where a chunk begins; Place{} for the first
template <class Place>
class ChunkPlaces {
 public:
  explicit ChunkPlaces(std::size_t chunks) : places_(chunks + 1), computed_(chunks, 0) {}

  /// A chunk's size is known: and with it, it may be, the places of others.
  /// @param end  end(chunk, place) is where a published chunk ends that begins there
  template <class End>
  void publish(std::int64_t chunk, const End& end) {
    const std::lock_guard lock(guard_);
    computed_[static_cast<std::size_t>(chunk)] = 1;
    auto known = static_cast<std::size_t>(known_.load(std::memory_order_relaxed));
    for (; known < computed_.size() && computed_[known]; ++known)
      places_[known + 1] = end(static_cast<std::int64_t>(known), places_[known]);
    known_.store(static_cast<std::int64_t>(known), std::memory_order_release);
  }

  bool is_known(std::int64_t chunk) const { return chunk <= known_.load(std::memory_order_acquire); }

  /// Where a chunk begins whose place is known; of the number of chunks, where the last ends.
  const Place& operator[](std::int64_t chunk) const { return places_[static_cast<std::size_t>(chunk)]; }

 private:
  std::vector<Place> places_;           // [chunks + 1]
  std::vector<std::uint8_t> computed_;  // [chunks]
  std::atomic<std::int64_t> known_{0};  ///< chunks whose places are known, besides the first
  std::mutex guard_;
};

}  // namespace sporos
