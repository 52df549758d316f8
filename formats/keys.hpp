// SPDX-License-Identifier: Apache-2.0
/// @file keys.hpp
/// The coordinates of all levels of an entry as one number, which compares as the coordinates do.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../core/error.hpp"
#include "../core/extents.hpp"
#include "../core/format.hpp"
#include "../core/inline.hpp"

namespace sporos::detail {

/// The coordinates of all levels of an entry as one number, the outermost level in the most significant bits:
/// keys compare as the coordinates do, level by level.
using Key = std::uint64_t;

/// Number of bits of a key in use: one stays free, because a shift by all 64 bits would be undefined.
inline constexpr int key_bits = 63;

/// Differs from every key in every level: takes the place of the key before the first one.
inline constexpr Key no_key = ~Key{0};

/// The number of bits that coordinates 0 to `largest` need.
constexpr int bits_for(std::int64_t largest) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(largest)));
}

/// The largest coordinate of each level of a tensor with these extents; 0 if a level has none.
template <TensorFormat F>
Extents<F::levels> largest_coordinates(const Extents<F::order>& extents) {
  auto out = F::level_extents(extents);
  for (auto& extent : out) extent = std::max<std::int64_t>(extent - 1, 0);
  return out;
}

/// The bits of a key that hold the coordinate of one level.
struct KeyBits {
  int shift = 0;
  int width = 0;
  Key mask = 0;

  std::int64_t of(Key key) const { return static_cast<std::int64_t>((key >> shift) & mask); }
};

/// Which bits of a key hold the coordinate of each level of F. If the coordinates of all levels together need
/// more bits than a key has, keys are wide: each is the number of an entry in sorted order, by which its
/// coordinates are looked up.
template <TensorFormat F>
class Packing {
 public:
  static constexpr int levels = F::levels;
  static constexpr auto level_count = static_cast<std::size_t>(levels);

  /// @param largest  the largest coordinate of each level; they fit in a key
  explicit Packing(const Extents<levels>& largest) {
    int shift = 0;
    for (std::size_t k = level_count; k-- > 0;) {
      const int width = bits_for(largest[k]);
      ensure(shift + width <= key_bits, "a key has bits for the coordinates of all levels");
      fields_[k] = {shift, width, (Key{1} << width) - 1};
      shift += width;
    }
    bits_ = shift;
  }

  /// @param coordinates  for each level, the coordinates of all entries, in ascending order of the entries
  explicit Packing(const std::array<const std::int64_t*, level_count>& coordinates)
      : is_wide_(true), wide_(coordinates) {}

  /// Whether a key holds the coordinates of all levels.
  static bool fits(const Extents<levels>& largest) {
    int bits = 0;
    for (const auto coordinate : largest) bits += bits_for(coordinate);
    return bits <= key_bits;
  }

  /// Whether keys are numbers of entries.
  bool is_wide() const { return is_wide_; }

  Key pack(const Extents<F::order>& coordinate) const {
    return pack_levels(F::level_coordinates(coordinate));
  }

  SPOROS_INLINE Key pack_levels(const Extents<levels>& at) const {
    Key key = 0;
    for (std::size_t k = 0; k < at.size(); ++k) key |= static_cast<Key>(at[k]) << fields_[k].shift;
    return key;
  }

  /// The coordinate of level K.
  /// @tparam MayBeWide  if false, code for keys that are numbers of entries is left out
  template <int K, bool MayBeWide = true>
  SPOROS_HOST_INLINE std::int64_t coordinate(Key key) const {
    constexpr auto k = static_cast<std::size_t>(K);
    if constexpr (MayBeWide && levels > 1)
      if (is_wide_) return wide_[k][key];
    return fields_[k].of(key);
  }

  /// The bits of level K, if keys are not wide.
  template <int K>
  const KeyBits& bits_of() const {
    return fields_[static_cast<std::size_t>(K)];
  }
  /// Number of bits of all levels together.
  int bits() const { return bits_; }

  /// The coordinate in the tensor's modes.
  Extents<F::order> unpack(Key key) const {
    Extents<levels> at{};
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      ((at[K] = coordinate<static_cast<int>(K)>(key)), ...);
    }(std::make_index_sequence<level_count>{});
    return F::coordinate(at);
  }

  /// Whether the coordinates of levels 0 to K differ from those of the previous key, or of `no_key`.
  template <int K, bool MayBeWide = true>
  SPOROS_HOST_INLINE bool differ(Key key, Key before) const {
    if constexpr (MayBeWide && levels > 1)
      if (is_wide_) return differ_wide(static_cast<std::size_t>(K), key, before);
    return ((key ^ before) >> fields_[static_cast<std::size_t>(K)].shift) != 0;
  }

  /// A key with all bits of the outermost `count` levels set.
  Key outermost(int count) const {
    Key bits = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k)
      bits |= fields_[k].mask << fields_[k].shift;
    return bits;
  }

 private:
  bool differ_wide(std::size_t k, Key key, Key before) const {
    if (before == no_key) return true;
    for (std::size_t at = 0; at <= k; ++at)
      if (wide_[at][key] != wide_[at][before]) return true;
    return false;
  }

  std::array<KeyBits, level_count> fields_{};
  int bits_ = 0;
  bool is_wide_ = false;
  std::array<const std::int64_t*, level_count> wide_{};
};

}  // namespace sporos::detail
