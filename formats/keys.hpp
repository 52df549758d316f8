// SPDX-License-Identifier: Apache-2.0
/// @file keys.hpp
/// The coordinates of all levels of an entry, packed into 64-bit words that compare as the coordinates do.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../core/extents.hpp"
#include "../core/format.hpp"

namespace sporos::detail {

/// Level coordinates packed from the most significant bit of word 0: keys compare as the coordinates do,
/// level by level.
template <int Words>
struct Key {
  std::uint64_t word[static_cast<std::size_t>(Words)];

  friend bool operator==(const Key&, const Key&) = default;
  friend bool operator<(const Key& a, const Key& b) {
    for (int w = 0; w < Words - 1; ++w)
      if (a.word[w] != b.word[w]) return a.word[w] < b.word[w];
    return a.word[Words - 1] < b.word[Words - 1];
  }

  friend Key operator&(Key a, const Key& b) {
    for (int w = 0; w < Words; ++w) a.word[w] &= b.word[w];
    return a;
  }

  /// A key that differs from this one in every level.
  Key opposite() const {
    Key out;
    for (int w = 0; w < Words; ++w) out.word[w] = ~word[w];
    return out;
  }
};

/// The number of bits that coordinates 0 to `largest` need.
constexpr int bits_for(std::int64_t largest) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(largest)));
}

/// Bits of a word in use: one stays free, because a shift by all 64 bits would be undefined.
inline constexpr int word_bits = 63;

/// Which bits of which word hold the coordinate of each level of F.
template <TensorFormat F, int Words>
class Packing {
 public:
  using key_type = Key<Words>;
  static constexpr int levels = F::levels;

  /// @param largest  the largest coordinate of each level
  explicit Packing(const Extents<levels>& largest) {
    int word = Words - 1;
    int shift = 0;
    for (int k = levels - 1; k >= 0; --k) {
      const int width = bits_for(largest[static_cast<std::size_t>(k)]);
      if (shift + width > word_bits) {
        --word;
        shift = 0;
      }
      ensure(word >= 0, "the key has words enough for all levels");
      fields_[static_cast<std::size_t>(k)] = {word, shift, width, (std::uint64_t{1} << width) - 1};
      shift += width;
    }
    first_word_ = levels == 0 ? 0 : word;
    top_bits_ = shift;
  }

  /// Whether one word holds the coordinates of all levels.
  static bool fits_one_word(const Extents<levels>& largest) {
    int bits = 0;
    for (const auto coordinate : largest) bits += bits_for(coordinate);
    return bits <= word_bits;
  }

  key_type pack(const Extents<F::order>& coordinate) const {
    return pack_levels(F::level_coordinates(coordinate));
  }

  key_type pack_levels(const Extents<levels>& at) const {
    key_type key{};
    for (std::size_t k = 0; k < at.size(); ++k)
      key.word[word_of(k)] |= static_cast<std::uint64_t>(at[k]) << fields_[k].shift;
    return key;
  }

  /// The coordinate of level K.
  template <int K>
  std::int64_t coordinate(const key_type& key) const {
    constexpr auto k = static_cast<std::size_t>(K);
    return static_cast<std::int64_t>((key.word[word_of(k)] >> fields_[k].shift) & fields_[k].mask);
  }

  /// Bits of the coordinate of level K.
  template <int K>
  int bits() const {
    return fields_[static_cast<std::size_t>(K)].width;
  }

  /// The coordinate of the tensor's modes.
  Extents<F::order> unpack(const key_type& key) const {
    Extents<levels> at{};
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      ((at[K] = coordinate<static_cast<int>(K)>(key)), ...);
    }(std::make_index_sequence<static_cast<std::size_t>(levels)>{});
    return F::coordinate(at);
  }

  /// Whether the coordinates of levels 0 to K differ.
  template <int K>
  bool differ(const key_type& a, const key_type& b) const {
    constexpr auto k = static_cast<std::size_t>(K);
    if constexpr (Words > 1)
      for (std::size_t w = 0; w < word_of(k); ++w)
        if (a.word[w] != b.word[w]) return true;
    return ((a.word[word_of(k)] ^ b.word[word_of(k)]) >> fields_[k].shift) != 0;
  }

  /// A key with all bits of the outermost `count` levels set.
  key_type outermost(int count) const {
    key_type bits{};
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k)
      bits.word[word_of(k)] |= fields_[k].mask << fields_[k].shift;
    return bits;
  }

  /// The first word in use, and how many of its bits are used.
  int first_word() const { return first_word_; }
  int top_bits() const { return top_bits_; }

 private:
  struct Field {
    int word = 0;
    int shift = 0;
    int width = 0;
    std::uint64_t mask = 0;
  };

  std::size_t word_of(std::size_t k) const {
    if constexpr (Words == 1)
      return 0;
    else
      return static_cast<std::size_t>(fields_[k].word);
  }

  std::array<Field, static_cast<std::size_t>(levels)> fields_{};
  int first_word_ = 0;
  int top_bits_ = 0;
};

}  // namespace sporos::detail
