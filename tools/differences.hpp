// SPDX-License-Identifier: Apache-2.0
/// @file differences.hpp
/// Where two lists of entries differ, and by how much.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "input.hpp"

namespace sporos::tool {

/// How much values may differ: by at most `absolute`, or `relative` times the larger modulus.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
  bool missing_is_zero = false;  ///< an entry that one list lacks is compared with 0

  /// Whether values at this distance count as equal; `modulus` is the larger of their moduli.
  bool allows(long double distance, long double modulus) const;
};

struct Differences {
  /// A coordinate at which the lists differ.
  struct Place {
    std::vector<std::int64_t> coordinate;  ///< counted from 0
    Cell a = Absent{}, b = Absent{};       ///< the values there; Absent if a list has none
    std::string text_a = "no entry", text_b = "no entry";
  };
  struct Greatest {
    double amount = 0;
    std::vector<std::int64_t> coordinate;  ///< counted from 0; empty if all values are equal
  };

  std::int64_t in_both = 0;                   ///< coordinates that both lists have
  std::int64_t only_in_a = 0, only_in_b = 0;  ///< coordinates that only one has
  std::int64_t beyond = 0;                    ///< coordinates whose values differ beyond the tolerance
  std::int64_t total = 0;                     ///< all coordinates at which the lists differ
  std::optional<Place> first;                 ///< the first of these, in the order of the coordinates
  Greatest absolute, relative;                ///< over all values compared
};

/// Compares two lists with the same extents, sorted by their coordinates, each of which occurs once. Values
/// are compared in long double whatever their types; NaN equals NaN.
Differences differences(const AnyEntries& a, const AnyEntries& b, const Tolerance& tolerance);

}  // namespace sporos::tool
