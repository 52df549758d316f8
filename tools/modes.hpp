// SPDX-License-Identifier: Apache-2.0
/// @file modes.hpp
/// Orders of a tensor's modes, as given by options, and entries with their modes in such an order.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "input.hpp"

namespace sporos::tool {

/// Parses a list of modes such as "2,0,1"; an empty list gives an empty result.
/// @param option  name of the option, for messages
/// @throws UsageError
std::vector<int> parse_modes(std::string_view option, const std::string& list);

/// Throws UsageError unless the list names each mode of a tensor of this order once.
void expect_permutation(const std::vector<int>& modes, int order);

/// The permutation that undoes another one.
std::vector<int> inverse(const std::vector<int>& modes);

/// The entries with modes in another order: mode k of the result is mode modes[k]. The arrays are shared, not
/// copied.
template <class Value, int Order>
Entries<Value, Order> permuted(const Entries<Value, Order>& entries, const std::vector<int>& modes) {
  Entries<Value, Order> out;
  out.values = entries.values;
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const auto mode = static_cast<std::size_t>(modes[k]);
    out.extents[k] = entries.extents[mode];
    out.coordinates[k] = entries.coordinates[mode];
  }
  return out;
}

}  // namespace sporos::tool
