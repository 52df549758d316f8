// SPDX-License-Identifier: Apache-2.0
/// @file bitmap.hpp
/// The bitmap level, made outside the library: a bit for each coordinate below each parent.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <sporos/core/array.hpp>
#include <sporos/core/error.hpp>
#include <sporos/core/extents.hpp>
#include <sporos/core/level.hpp>
#include <string>

namespace sporos::test {

/// Coordinate i below parent p is there where its bit is set: bit i % 64 of word p * W + i / 64, with W words
/// of 64 bits for each parent. Positions number the bits that are set, so ranks[w], the number of bits set
/// before word w, makes positions of bits and back.
///
///     columns of a matrix               root
///         . 5 .                         ├─ 0
///         . . .                         │  └─ 1: 5          bits   010 000 101 (lowest bit first)
///         7 . 9                         ├─ 1                ranks  0 1 1 3
///                                       └─ 2
///                                          ├─ 0: 7
///                                          └─ 2: 9
///
/// @tparam Position    integer type of `ranks`
/// @tparam Coordinate  integer type in which coordinates are handed over
/// @tparam Anywhere    whether it is built in any execution space, or by the host alone
template <std::integral Position = std::int64_t, std::integral Coordinate = std::int32_t,
          bool Anywhere = true>
struct Bitmap {
  using position_type = Position;
  using coordinate_type = Coordinate;
  using Word = std::uint64_t;
  static constexpr std::int64_t word_bits = 64;
  static constexpr LevelProperties properties{
      .ordered = true, .unique = true, .full = false, .branchless = false};
  static constexpr bool builds_anywhere = Anywhere;

  static std::string name() { return "Bitmap"; }
  static void check_extent(std::int64_t extent) {
    if (extent > 0) narrow<Coordinate>(extent - 1, "the last coordinate of a bitmap level");
  }
  /// Words for each parent.
  static std::int64_t words_for(std::int64_t extent) { return (extent + word_bits - 1) / word_bits; }

  struct View {
    const Word* bits = nullptr;
    const Position* ranks = nullptr;
    std::int64_t width = 0;  ///< words for each parent
    std::int64_t words = 0;  ///< of all parents

    KOKKOS_INLINE_FUNCTION Bounds pos_bounds(std::int64_t p) const {
      return {static_cast<std::int64_t>(ranks[p * width]), static_cast<std::int64_t>(ranks[(p + 1) * width])};
    }
    /// Select: the word by bisection of the ranks, then the bit in it. O(log of the words).
    KOKKOS_INLINE_FUNCTION std::int64_t coord_at(std::int64_t q) const {
      std::int64_t low = 0;  // ranks[low] <= q < ranks[high]
      std::int64_t high = words;
      while (low + 1 < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (static_cast<std::int64_t>(ranks[middle]) <= q)
          low = middle;
        else
          high = middle;
      }
      Word rest = bits[low];
      for (std::int64_t before = q - static_cast<std::int64_t>(ranks[low]); before > 0; --before)
        rest &= rest - 1;  // without its lowest bit
      return low % width * word_bits + Kokkos::popcount((rest & (~rest + 1)) - 1);
    }
    KOKKOS_INLINE_FUNCTION Located locate(std::int64_t p, std::int64_t i) const {
      const std::int64_t at = p * width + i / word_bits;
      const Word bit = Word{1} << (i % word_bits);
      return {static_cast<std::int64_t>(ranks[at]) + Kokkos::popcount(bits[at] & (bit - 1)),
              (bits[at] & bit) != 0};
    }
  };

  /// Sets the bits below parent p, and says how many are set before each of their words; for p = parents,
  /// how many are set in all.
  struct SetBits {
    const Position* positions;
    const Coordinate* coordinates;
    std::int64_t parents, width;
    Word* bits;
    Position* ranks;

    KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
      Position rank = positions[p];
      if (p == parents) {
        ranks[parents * width] = rank;
        return;
      }
      for (Position q = rank; q < positions[p + 1]; ++q) {
        const auto i = static_cast<std::int64_t>(coordinates[q]);
        bits[p * width + i / word_bits] |= Word{1} << (i % word_bits);
      }
      for (std::int64_t word = p * width; word < (p + 1) * width; ++word) {
        ranks[word] = rank;
        rank = static_cast<Position>(rank + Kokkos::popcount(bits[word]));
      }
    }
  };

  template <class MemorySpace>
  struct Storage {
    Array<Word, MemorySpace> bits;       // [parents * width]
    Array<Position, MemorySpace> ranks;  // [parents * width + 1]
    std::int64_t width = 0;
    std::int64_t stored = 0;  ///< bits that are set

    View view() const {
      return {bits.data(), ranks.data(), width, static_cast<std::int64_t>(bits.extent(0))};
    }
    std::int64_t size(std::int64_t /*parents*/) const { return stored; }
    static Storage empty(std::int64_t parents, std::int64_t extent) {
      check_extent(extent);
      const std::int64_t words = words_of(parents, extent);
      return {zeroed_array<Word, MemorySpace>("bits", words),
              zeroed_array<Position, MemorySpace>("ranks", words + 1), words_for(extent), 0};
    }

    template <class Space>
    static Storage from_segments(const Segments<Position, Coordinate, MemorySpace>& segments,
                                 std::int64_t parents, std::int64_t extent) {
      static_assert(Anywhere || HostSpace<Space>);
      Storage out = empty(parents, extent);
      out.stored = static_cast<std::int64_t>(segments.coordinates.extent(0));
      Kokkos::parallel_for("bitmap",
                           Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, parents + 1),
                           SetBits{segments.positions.data(), segments.coordinates.data(), parents, out.width,
                                   out.bits.data(), out.ranks.data()});
      Space().fence("bitmap");
      return out;
    }

    template <class Visitor>
    void for_each_array(Visitor&& visit) const {
      visit(Role::metadata, "bits", bits);
      visit(Role::metadata, "ranks", ranks);
    }
    template <class OtherSpace>
    Storage<OtherSpace> copy_to() const {
      return {copy_array<OtherSpace>(bits), copy_array<OtherSpace>(ranks), width, stored};
    }
    static std::int64_t most_bytes(std::int64_t parents, std::int64_t /*count*/, std::int64_t extent) {
      const std::int64_t words = words_of(parents, extent);
      return words * static_cast<std::int64_t>(sizeof(Word)) +
             (words + 1) * static_cast<std::int64_t>(sizeof(Position));
    }

    static constexpr int array_count = 2;
    template <class Arrays>
    static Storage from_arrays(const Arrays& arrays, std::int64_t parents, std::int64_t extent) {
      const std::int64_t words = words_of(parents, extent);
      Storage out{arrays.template get<0, Word>(words), arrays.template get<1, Position>(words + 1),
                  words_for(extent), 0};
      out.stored = arrays.last(out.ranks);
      return out;
    }
    template <class First>
    std::string fault(std::int64_t parents, std::int64_t extent, const First& first) const {
      const std::int64_t words = words_of(parents, extent);
      const auto held = static_cast<std::int64_t>(bits.extent(0));
      if (width != words_for(extent) || held != words)
        return text("it has ", held, " words, but ", parents, " parents of extent ", extent, " take ", words);
      if (static_cast<std::int64_t>(ranks.extent(0)) != words + 1)
        return text("it has ", ranks.extent(0), " ranks, but ", words, " words: it must have one more");
      const auto word = [&](std::int64_t w) { return bits.data()[w]; };
      const auto rank = [&](std::int64_t w) { return static_cast<std::int64_t>(ranks.data()[w]); };
      if (rank(0) != 0) return text("ranks[0] is ", rank(0), ", but must be 0");
      const std::int64_t w = first(
          words, [&](std::int64_t at) { return rank(at + 1) - rank(at) != Kokkos::popcount(word(at)); });
      if (w >= 0)
        return text("word ", w, " has ", Kokkos::popcount(word(w)), " bits set, but its ranks go from ",
                    rank(w), " to ", rank(w + 1));
      const std::int64_t rest = extent % word_bits;
      const std::int64_t p = first(rest == 0 ? 0 : parents,
                                   [&](std::int64_t at) { return word((at + 1) * width - 1) >> rest != 0; });
      if (p >= 0) return text("below parent ", p, " a bit is set that is not less than the extent ", extent);
      if (rank(words) != stored) return text("it has ", rank(words), " bits set, but ", stored, " positions");
      return "";
    }

   private:
    static std::int64_t words_of(std::int64_t parents, std::int64_t extent) {
      return checked_product(parents, words_for(extent), "words of a bitmap level");
    }
  };
};

}  // namespace sporos::test
