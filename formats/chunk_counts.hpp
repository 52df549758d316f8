// SPDX-License-Identifier: Apache-2.0
/// @file chunk_counts.hpp
/// A stable counting sort on several threads: how many items each row has, and from that where they belong.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "../core/pool.hpp"
#include "chunks.hpp"

namespace sporos::detail {

/// For each chunk, how many of its items belong to each row; later, where the chunk puts its next item of a
/// row, so that the items of a row stay in the order of the chunks:
///
///     items   2 0 2 | 1 2         counts  chunk 0   1 0 2     places   0 1 2
///             chunk 0 | chunk 1           chunk 1   0 1 1              1 1 4
///
/// First each chunk clears its counts and counts its items. Then come sum() and make_places(). Then each
/// chunk puts its items in their places: `place = of(chunk)[row]++`.
class ChunkCounts {
 public:
  ChunkCounts(std::int64_t chunks, std::int64_t rows)
      : chunks_(chunks), rows_(rows), counts_(pool().array<std::int32_t>("sporos::counts", chunks * rows)) {}

  /// Whether there are about two counts for an item at most, and a count can hold the number of items.
  static bool pay(std::int64_t rows, std::int64_t items, std::int64_t chunks) {
    return rows <= 2 * items / chunks + 1024 && items <= std::numeric_limits<std::int32_t>::max();
  }

  std::int64_t chunks() const { return chunks_; }
  /// The counts of a chunk for each row; later, its places.
  std::int32_t* of(std::int64_t chunk) const { return counts_.data() + chunk * rows_; }
  void clear(std::int64_t chunk) const { std::fill_n(of(chunk), rows_, 0); }

  struct Sum {
    std::int64_t rows = 0;   ///< number of rows that have items
    std::int64_t items = 0;  ///< number of items of all rows
  };
  /// Adds up the counts.
  Sum sum(const HostThreads& threads) {
    const std::int64_t parts = chunks_for(threads, rows_);
    begins_.assign(static_cast<std::size_t>(parts) + 1, {});
    for_each_part(threads, rows_, parts, [&](std::int64_t begin, std::int64_t end, std::int64_t part) {
      Sum counted;
      for (std::int64_t row = begin; row < end; ++row) {
        std::int64_t items = 0;
        for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) items += of(chunk)[row];
        counted.rows += items > 0;
        counted.items += items;
      }
      begins_[static_cast<std::size_t>(part) + 1] = counted;
    });
    for (std::size_t part = 1; part < begins_.size(); ++part) {
      begins_[part].rows += begins_[part - 1].rows;
      begins_[part].items += begins_[part - 1].items;
    }
    return begins_.back();
  }

  /// Turns the counts into places, after sum().
  /// @param visit  called as visit(row, before, end) for each row: `before` says how many rows and items
  /// precede it, `end` is the place past its last item
  template <class Visit>
  void make_places(const HostThreads& threads, const Visit& visit) const {
    const auto parts = static_cast<std::int64_t>(begins_.size()) - 1;
    for_each_part(threads, rows_, parts, [&](std::int64_t begin, std::int64_t end, std::int64_t part) {
      Sum at = begins_[static_cast<std::size_t>(part)];
      for (std::int64_t row = begin; row < end; ++row) {
        const Sum before = at;
        for (std::int64_t chunk = 0; chunk < chunks_; ++chunk)
          at.items += std::exchange(of(chunk)[row], static_cast<std::int32_t>(at.items));
        at.rows += at.items > before.items;
        visit(row, before, at.items);
      }
    });
  }

 private:
  std::int64_t chunks_, rows_;
  HostArray<std::int32_t> counts_;  // [chunks][rows]
  std::vector<Sum> begins_;         ///< what precedes each part of the rows that a thread takes
};

}  // namespace sporos::detail
