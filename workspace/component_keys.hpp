// SPDX-License-Identifier: Apache-2.0
/// @file component_keys.hpp
/// The key of a component: a workspace compares it in place of the coordinates when it sorts and merges.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "../core/extents.hpp"
#include "../core/inline.hpp"
#include "../formats/keys.hpp"

namespace sporos {

/// The keys of components over some extents.
///
///     key_type                what components are compared by; ordered like their coordinates
///     pack(at), unpack(key)   from coordinates to the key, and back
///     prefix(key)             the leading bits of the coordinates of all levels in one number; keys with
///                             a < b have prefix(a) <= prefix(b)
///     prefix_bits()           prefixes are less than 2^prefix_bits(), which is at most 63
///     leading_bits()          bits of a prefix that hold the coordinate of the first level
///     number(key)             the coordinates of all levels in one number, modulo 2^64: equal for equal keys
///     prefix_is_key           whether prefixes differ where keys differ
template <class Keys>
concept ComponentKeys = std::copyable<Keys> && std::totally_ordered<typename Keys::key_type> &&
                        requires(const Keys& keys, const typename Keys::key_type& key) {
                          { keys.pack(keys.unpack(key)) } -> std::convertible_to<typename Keys::key_type>;
                          { keys.prefix(key) } -> std::same_as<std::uint64_t>;
                          { keys.prefix_bits() } -> std::same_as<int>;
                          { keys.leading_bits() } -> std::same_as<int>;
                          { keys.number(key) } -> std::same_as<std::uint64_t>;
                          { Keys::prefix_is_key } -> std::convertible_to<bool>;
                        };

/// Coordinates of all levels in one 64-bit number, the first level in the most significant place: each level
/// in bits of its own if 63 bits are enough, otherwise as in the place of a dense array, if there are less
/// than 2^62 of these.
template <int Order>
class PackedKeys {
 public:
  using key_type = detail::Key;
  static constexpr int order = Order;
  static constexpr bool prefix_is_key = true;

  /// Whether coordinates below these extents fit.
  static bool fit(const Extents<Order>& extents) {
    const std::int64_t cells = cells_of(extents);
    return fit_in_bits(extents) || (cells > 0 && cells < most_cells);
  }

  /// @param extents  the extents of the levels, which fit
  explicit PackedKeys(const Extents<Order>& extents) : in_bits_(fit_in_bits(extents)) {
    ensure(fit(extents), "a packed key holds the coordinates of all levels");
    key_type stride = 1;
    for (std::size_t level = extents.size(); level-- > 0;) {
      strides_[level] = stride;
      if (in_bits_) {
        const int width = width_for(extents[level]);
        shifts_[level] = bits_;
        masks_[level] = (key_type{1} << width) - 1;
        bits_ += width;
        stride <<= width;
      } else {
        stride *= static_cast<key_type>(extents[level]);
      }
    }
    leading_bits_ = width_for(extents[0]);
    if (!in_bits_) {
      bits_ = width_for(static_cast<std::int64_t>(stride));
      leading_bits_ = bits_ - width_for(static_cast<std::int64_t>(strides_[0]));
    }
  }

  /// Whether each level has bits of its own in a key.
  bool in_bits() const { return in_bits_; }

  SPOROS_HOST_INLINE key_type pack(const Extents<Order>& at) const {
    key_type key = static_cast<key_type>(at.back());
    for (std::size_t level = 0; level + 1 < at.size(); ++level)
      key += static_cast<key_type>(at[level]) * strides_[level];
    return key;
  }
  SPOROS_HOST_INLINE Extents<Order> unpack(key_type key) const {
    Extents<Order> at{};
    if (in_bits_) {
      for (std::size_t level = 0; level < at.size(); ++level)
        at[level] = static_cast<std::int64_t>((key >> shifts_[level]) & masks_[level]);
    } else {
      for (std::size_t level = 0; level < at.size(); ++level) {
        at[level] = static_cast<std::int64_t>(key / strides_[level]);
        key %= strides_[level];
      }
    }
    return at;
  }

  std::uint64_t prefix(key_type key) const { return key; }
  int prefix_bits() const { return bits_; }
  /// About as many, where levels have no bits of their own.
  int leading_bits() const { return leading_bits_; }
  std::uint64_t number(key_type key) const { return key; }

 private:
  static constexpr std::int64_t most_cells = std::int64_t{1} << 62;

  static int width_for(std::int64_t extent) {
    return detail::bits_for(std::max<std::int64_t>(extent - 1, 0));
  }
  static bool fit_in_bits(const Extents<Order>& extents) {
    int bits = 0;
    for (const std::int64_t extent : extents) bits += width_for(extent);
    return bits <= detail::key_bits;
  }

  std::array<key_type, static_cast<std::size_t>(Order)> strides_{};
  std::array<int, static_cast<std::size_t>(Order)> shifts_{};
  std::array<key_type, static_cast<std::size_t>(Order)> masks_{};
  bool in_bits_;
  int bits_ = 0;
  int leading_bits_ = 0;
};

/// Coordinates that are compared level by level, for extents with more cells than there are packed keys.
template <int Order>
class LevelKeys {
 public:
  using key_type = Extents<Order>;
  static constexpr int order = Order;
  static constexpr bool prefix_is_key = false;

  explicit LevelKeys(const Extents<Order>& extents) : extents_(extents) {
    for (std::size_t level = 0; level < extents.size(); ++level) {
      const int width = detail::bits_for(std::max<std::int64_t>(extents[level] - 1, 0));
      const int kept = std::min(width, detail::key_bits - bits_);
      dropped_[level] = width - kept;
      kept_[level] = kept;
      bits_ += kept;
      if (level == 0) leading_bits_ = kept;
    }
  }

  const key_type& pack(const Extents<Order>& at) const { return at; }
  const Extents<Order>& unpack(const key_type& key) const { return key; }

  std::uint64_t prefix(const key_type& key) const {
    std::uint64_t bits = 0;
    for (std::size_t level = 0; level < key.size(); ++level)
      bits = bits << kept_[level] | static_cast<std::uint64_t>(key[level]) >> dropped_[level];
    return bits;
  }
  int prefix_bits() const { return bits_; }
  int leading_bits() const { return leading_bits_; }
  std::uint64_t number(const key_type& key) const {
    std::uint64_t number = 0;
    for (std::size_t level = 0; level < key.size(); ++level)
      number = number * static_cast<std::uint64_t>(extents_[level]) + static_cast<std::uint64_t>(key[level]);
    return number;
  }

 private:
  Extents<Order> extents_;
  std::array<int, static_cast<std::size_t>(Order)> dropped_{};  ///< low bits of a level not in the prefix
  std::array<int, static_cast<std::size_t>(Order)> kept_{};     ///< bits of a level in the prefix
  int bits_ = 0;
  int leading_bits_ = 0;
};

namespace detail {

/// A hash of a key: the leading bits of its product by 2^64 / golden ratio, which depend on all its bits.
/// @param shift  64 less the number of bits
constexpr std::uint64_t hash_of_key(std::uint64_t key, int shift) {
  return key * 0x9e3779b97f4a7c15u >> shift;
}

/// A key that comes after the key of any component.
template <class Key>
constexpr Key key_after_all() {
  if constexpr (std::integral<Key>) {
    return std::numeric_limits<Key>::max();
  } else {
    Key key{};
    key[0] = std::numeric_limits<std::int64_t>::max();
    return key;
  }
}

}  // namespace detail

}  // namespace sporos
