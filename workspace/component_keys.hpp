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

/// Coordinates of all levels in the bits of one 64-bit number, the first level in the most significant ones.
template <int Order>
class PackedKeys {
 public:
  using key_type = detail::Key;
  static constexpr int order = Order;
  static constexpr bool prefix_is_key = true;

  /// Whether coordinates below these extents fit in one number.
  static bool fit(const Extents<Order>& extents) {
    int bits = 0;
    for (const std::int64_t extent : extents) bits += width_for(extent);
    return bits <= detail::key_bits;
  }

  /// @param extents  the extents of the levels, which fit
  explicit PackedKeys(const Extents<Order>& extents) {
    for (std::size_t level = extents.size(); level-- > 0;) {
      const int width = width_for(extents[level]);
      shifts_[level] = bits_;
      masks_[level] = (key_type{1} << width) - 1;
      bits_ += width;
    }
    ensure(bits_ <= detail::key_bits, "a packed key has bits for the coordinates of all levels");
    leading_bits_ = width_for(extents[0]);
  }

  SPOROS_HOST_INLINE key_type pack(const Extents<Order>& at) const {
    key_type key = static_cast<key_type>(at.back());
    for (std::size_t level = 0; level + 1 < at.size(); ++level)
      key |= static_cast<key_type>(at[level]) << shifts_[level];
    return key;
  }
  SPOROS_HOST_INLINE Extents<Order> unpack(key_type key) const {
    Extents<Order> at{};
    for (std::size_t level = 0; level < at.size(); ++level)
      at[level] = static_cast<std::int64_t>((key >> shifts_[level]) & masks_[level]);
    return at;
  }

  std::uint64_t prefix(key_type key) const { return key; }
  int prefix_bits() const { return bits_; }
  int leading_bits() const { return leading_bits_; }
  std::uint64_t number(key_type key) const { return key; }

 private:
  static int width_for(std::int64_t extent) {
    return detail::bits_for(std::max<std::int64_t>(extent - 1, 0));
  }

  std::array<int, static_cast<std::size_t>(Order)> shifts_{};
  std::array<key_type, static_cast<std::size_t>(Order)> masks_{};
  int bits_ = 0;
  int leading_bits_ = 0;
};

/// Coordinates that are compared level by level, for extents whose coordinates do not fit in the
/// 63 bits of a packed key, each level in bits of its own.
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
