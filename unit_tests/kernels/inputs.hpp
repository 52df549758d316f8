// SPDX-License-Identifier: Apache-2.0
/// @file inputs.hpp
/// Random operands of shapes that tend to break kernels: empty, thin, wide, skewed, with blocks cut off at
/// the edge.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <sporos/core/entries.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sporos::test {

/// The extent of each index variable.
class Sizes {
 public:
  Sizes(std::string_view variables, std::int64_t extent) {
    for (const char variable : variables) (*this)[variable] = extent;
  }
  std::int64_t operator[](char variable) const { return extents_[static_cast<unsigned char>(variable)]; }
  std::int64_t& operator[](char variable) { return extents_[static_cast<unsigned char>(variable)]; }

  template <int Order>
  Extents<Order> extents(std::string_view modes) const {
    Extents<Order> out{};
    for (std::size_t mode = 0; mode < out.size(); ++mode) out[mode] = (*this)[modes[mode]];
    return out;
  }

 private:
  std::array<std::int64_t, 128> extents_{};
};

/// A set of extents, and how densely the operands are filled.
struct Case {
  std::string name;
  Sizes sizes;
  double density = 0.4;  ///< entries drawn, as a fraction of all coordinates; some coincide
  bool skewed =
      false;  ///< all entries have the first coordinate 1 in their first mode, or 0 where it is alone
};

/// The cases that every statement over these variables has to pass.
inline std::vector<Case> cases(std::string_view variables) {
  std::vector<Case> out;
  Sizes mixed(variables, 5);
  std::int64_t extent = 7;  // rarely a multiple of the block sizes 2 and 3
  for (const char variable : variables) {
    mixed[variable] = extent;
    extent = extent == 7 ? 8 : extent == 8 ? 5 : 4;
  }
  out.push_back({"mixed extents", mixed});
  out.push_back({"mixed extents, few entries", mixed, 0.1});
  out.push_back({"mixed extents, one slice", mixed, 0.6, true});
  out.push_back({"no entries", mixed, 0.0});
  out.push_back({"extents 1", Sizes(variables, 1), 1.0});
  for (const char variable : variables) {
    Sizes wide(variables, variables.size() > 4 ? 2 : 3);
    wide[variable] = 150;  // more than two words of a bitmap
    out.push_back({text("extent 150 of ", variable), wide});
    Sizes empty = mixed;
    empty[variable] = 0;
    out.push_back({text("extent 0 of ", variable), empty});
  }
  return out;
}

/// A nonzero value, small enough that sums of products are exact in every type.
template <class Value>
Value small_value(std::mt19937_64& draw) {
  const int magnitude = 1 + static_cast<int>(draw() % 3);
  const int sign = draw() % 2 ? 1 : -1;
  if constexpr (std::is_same_v<Value, bool>)
    return true;
  else if constexpr (std::is_unsigned_v<Value>)
    return static_cast<Value>(magnitude);
  else if constexpr (is_complex_v<Value>)
    return Value(sign * magnitude, static_cast<int>(draw() % 5) - 2);
  else
    return static_cast<Value>(static_cast<float>(sign * magnitude));
}

/// Unsorted entries with repeated coordinates; every third slice of the first mode stays empty.
template <class Value, int Order>
Entries<Value, Order> random_entries(const Extents<Order>& extents, double density, bool skewed,
                                     std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  std::int64_t total = 1;
  for (const std::int64_t extent : extents) total *= extent;
  auto count = static_cast<std::int64_t>(density * static_cast<double>(total));
  if (density > 0 && total > 0 && count == 0) count = 1;
  Entries<Value, Order> out(extents, count);
  for (std::int64_t at = 0; at < count; ++at) {
    Extents<Order> coordinate{};
    for (std::size_t mode = 0; mode < coordinate.size(); ++mode)
      coordinate[mode] = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(extents[mode]));
    if constexpr (Order > 0) {
      if (skewed)
        coordinate[0] = extents[0] > 1 ? 1 : 0;
      else if (coordinate[0] % 3 == 2)
        coordinate[0] -= 1;
    }
    out.set(at, coordinate, small_value<Value>(draw));
  }
  return out;
}

}  // namespace sporos::test
