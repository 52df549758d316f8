// SPDX-License-Identifier: Apache-2.0
/// @file extents.hpp
/// Shapes: 64-bit extents, one per mode.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "error.hpp"

namespace sporos {

/// The number of coordinates along each of the `Order` modes of a tensor.
template <int Order>
using Extents = std::array<std::int64_t, static_cast<std::size_t>(Order)>;

/// "497 x 3478 x 2"; "scalar" for order 0.
template <std::size_t Order>
std::string to_string(const std::array<std::int64_t, Order>& extents) {
  if constexpr (Order == 0) return "scalar";
  std::string out;
  for (std::size_t mode = 0; mode < Order; ++mode) {
    if (mode) out += " x ";
    out += std::to_string(extents[mode]);
  }
  return out;
}

/// A coordinate as messages and printed tensors show it: "(2, 1)".
template <std::size_t Order>
std::string coordinate_text(const std::array<std::int64_t, Order>& coordinate) {
  std::string out = "(";
  for (std::size_t mode = 0; mode < Order; ++mode) {
    if (mode) out += ", ";
    out += std::to_string(coordinate[mode]);
  }
  return out + ")";
}

/// Throws ShapeError if an extent is negative.
template <std::size_t Order>
void expect_valid_extents(const std::array<std::int64_t, Order>& extents) {
  for (std::size_t mode = 0; mode < Order; ++mode)
    if (extents[mode] < 0)
      throw ShapeError(text("extent ", extents[mode], " of mode ", mode, " is negative: extents are counts"));
}

/// Converts extents of an unsigned type, such as the sizes of containers.
/// @throws RangeError if a signed 64-bit integer cannot hold one of them
template <int Order, std::unsigned_integral Extent>
Extents<Order> narrow_extents(const Extent (&extents)[static_cast<std::size_t>(Order)]) {
  Extents<Order> out{};
  for (std::size_t mode = 0; mode < out.size(); ++mode) {
    if (!std::in_range<std::int64_t>(extents[mode]))
      throw RangeError(
          text("extent ", extents[mode], " of mode ", mode, " does not fit in 64 bits with a sign"));
    out[mode] = static_cast<std::int64_t>(extents[mode]);
  }
  return out;
}

/// a * b for non-negative a and b.
/// @throws RangeError naming `what` if 64 bits cannot hold the product
inline std::int64_t checked_product(std::int64_t a, std::int64_t b, std::string_view what) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product))
    throw RangeError(text(what, ": ", a, " x ", b, " does not fit in 64 bits: use a sparse level here"));
  return product;
}

/// parents + 1: where the coordinates of each parent begin, and where those of the last one end.
/// @throws RangeError if 64 bits cannot hold it
inline std::int64_t count_of_positions(std::int64_t parents) {
  if (parents == std::numeric_limits<std::int64_t>::max())
    throw RangeError(text("a compressed level stores one position more than the ", parents,
                          " coordinates above it, which does not fit in 64 bits: use a smaller extent, or a "
                          "sparse level above it"));
  return parents + 1;
}

/// a * b, or the largest 64-bit integer if the product is larger. Neither factor is negative.
constexpr std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return b > 0 && a > most / b ? most : a * b;
}

/// The number of coordinates that there are within the extents, or 2^62 if there are more.
template <std::size_t Order>
constexpr std::int64_t cells_of(const std::array<std::int64_t, Order>& extents) {
  std::int64_t cells = 1;
  for (const std::int64_t extent : extents) cells = saturated_product(cells, extent);
  return cells < (std::int64_t{1} << 62) ? cells : std::int64_t{1} << 62;
}

}  // namespace sporos
