// SPDX-License-Identifier: Apache-2.0
/// @file wide_keys.hpp
/// Sorts entries whose coordinates take more bits than a key has: first by the outermost levels that fit in a
/// key, then each run of equal keys by the next levels. Sorted entries are identified by their numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "../core/array.hpp"
#include "chunks.hpp"
#include "keyed_entries.hpp"
#include "keys.hpp"
#include "radix_sort.hpp"

namespace sporos::detail {

/// The coordinates of all entries, in an array for each level.
class LevelCoordinates {
 public:
  LevelCoordinates(int levels, std::int64_t count) : count_(count) {
    for (int k = 0; k < levels; ++k) arrays_.emplace_back(count);
  }

  std::int64_t count() const { return count_; }
  std::int64_t* of_level(std::size_t k) const { return arrays_[k].data(); }
  /// The array of each level, for Packing.
  template <int Levels>
  std::array<const std::int64_t*, static_cast<std::size_t>(Levels)> arrays() const {
    std::array<const std::int64_t*, static_cast<std::size_t>(Levels)> out;
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = of_level(k);
    return out;
  }

  /// Makes entry e the one that was numbers[e].
  void reorder(const HostThreads& threads, std::span<const std::int64_t> numbers) {
    const std::int64_t chunks = chunks_for(threads, count_);
    for (auto& array : arrays_) {
      ScratchArray<std::int64_t> reordered(count_);
      for_each_chunk(threads, chunks, [&](std::int64_t chunk) {
        const auto [begin, end] = chunk_bounds(count_, chunk, chunks);
        for (std::int64_t e = begin; e < end; ++e)
          reordered.data()[e] = array.data()[numbers[static_cast<std::size_t>(e)]];
      });
      array = std::move(reordered);
    }
  }

 private:
  std::int64_t count_;
  std::vector<ScratchArray<std::int64_t>> arrays_;
};

/// Numbers of entries, with a key for each that holds the coordinates of some levels.
class EntriesBySomeLevels final : public KeyedEntries<std::int64_t> {
 public:
  /// @param bits   number of bits of the coordinates of each level
  /// @param first  the levels [first, last) make the key
  EntriesBySomeLevels(const LevelCoordinates& coordinates, std::span<const int> bits, std::size_t first,
                      std::size_t last, std::span<const std::int64_t> numbers)
      : coordinates_(coordinates), bits_(bits), first_(first), last_(last), numbers_(numbers) {}

  std::int64_t size() const override { return std::ssize(numbers_); }
  Block read(std::int64_t begin, std::int64_t end, Buffer& buffer) const override {
    const std::int64_t count = std::min(end - begin, most);
    const std::int64_t* const numbers = numbers_.data() + begin;
    std::fill_n(buffer.keys, count, Key{0});
    for (std::size_t k = first_; k < last_; ++k) {
      const std::int64_t* const coordinates = coordinates_.of_level(k);
      for (std::int64_t e = 0; e < count; ++e)
        buffer.keys[e] = buffer.keys[e] << bits_[k] | static_cast<Key>(coordinates[numbers[e]]);
    }
    return {buffer.keys, numbers, count};
  }

 private:
  const LevelCoordinates& coordinates_;
  std::span<const int> bits_;
  std::size_t first_, last_;
  std::span<const std::int64_t> numbers_;
};

/// Sorts numbers of entries by the entries' coordinates, ascending; those with equal coordinates keep their
/// order.
class WideSort {
 public:
  /// @param largest  the largest coordinate of each level
  WideSort(const HostThreads& threads, const LevelCoordinates& coordinates,
           std::span<const std::int64_t> largest)
      : threads_(threads), coordinates_(coordinates) {
    for (const std::int64_t coordinate : largest) bits_.push_back(bits_for(coordinate));
  }

  /// Sorts by the levels from `first` on.
  void sort(std::span<std::int64_t> numbers, std::size_t first = 0) const {
    std::size_t last = first;
    int together = 0;
    while (last < bits_.size() && together + bits_[last] <= key_bits) together += bits_[last++];
    const std::int64_t count = std::ssize(numbers);
    const std::int64_t chunks = chunks_for(threads_, count);
    std::vector<std::vector<std::span<std::int64_t>>> long_runs(static_cast<std::size_t>(chunks));
    {
      const EntriesBySomeLevels by_levels(coordinates_, bits_, first, last, numbers);
      const KeyedEntries<std::int64_t>& entries = by_levels;
      const Key matter = (Key{1} << together) - 1;
      const StableSort<std::int64_t> sorted(
          threads_, partition_by_leading_bits<std::int64_t>(threads_, entries, together, matter), matter);
      for_each_chunk(threads_, chunks, [&](std::int64_t chunk) {
        const auto [begin, end] = chunk_bounds(count, chunk, chunks);
        std::copy(sorted.values()->data() + begin, sorted.values()->data() + end, numbers.data() + begin);
      });
      if (last == bits_.size()) return;
      // Each chunk takes the runs that begin in it.
      const Key* const keys = sorted.keys();
      for_each_chunk(threads_, chunks, [&](std::int64_t chunk) {
        auto [begin, end] = chunk_bounds(count, chunk, chunks);
        while (begin > 0 && begin < end && keys[begin] == keys[begin - 1]) ++begin;
        while (begin < end) {
          std::int64_t next = begin + 1;
          while (next < count && keys[next] == keys[begin]) ++next;
          const auto run =
              numbers.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(next - begin));
          if (next - begin > short_run)
            long_runs[static_cast<std::size_t>(chunk)].push_back(run);
          else if (next - begin > 1)
            compare_and_sort(run, last);
          begin = next;
        }
      });
    }
    for (const auto& runs : long_runs)
      for (const auto run : runs) sort(run, last);
  }

 private:
  static constexpr std::int64_t short_run = 512;  ///< entries up to which a run is sorted by comparison

  void compare_and_sort(std::span<std::int64_t> numbers, std::size_t first) const {
    std::stable_sort(numbers.begin(), numbers.end(), [&](std::int64_t a, std::int64_t b) {
      for (std::size_t k = first; k < bits_.size(); ++k) {
        const std::int64_t* const of_level = coordinates_.of_level(k);
        if (of_level[a] != of_level[b]) return of_level[a] < of_level[b];
      }
      return false;
    });
  }

  HostThreads threads_;
  const LevelCoordinates& coordinates_;
  std::vector<int> bits_;
};

/// Sorted entries, whose keys are their numbers.
template <class Value>
class NumberedEntries final : public KeyedEntries<Value> {
 public:
  explicit NumberedEntries(const Array<Value>& values) : values_(values) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(values_.extent(0)); }
  const Array<Value>* values() const override { return &values_; }
  typename KeyedEntries<Value>::Block read(std::int64_t begin, std::int64_t end,
                                           typename KeyedEntries<Value>::Buffer& buffer) const override {
    const std::int64_t count = std::min(end - begin, KeyedEntries<Value>::most);
    std::iota(buffer.keys, buffer.keys + count, static_cast<Key>(begin));
    return {buffer.keys, values_.data() + begin, count};
  }

 private:
  Array<Value> values_;
};

}  // namespace sporos::detail
