// SPDX-License-Identifier: Apache-2.0
/// @file modes.cpp
/// Parsing and checking orders of modes.
#include "modes.hpp"

#include <algorithm>

#include "command.hpp"

namespace sporos::tool {

std::vector<int> parse_modes(std::string_view option, const std::string& list) {
  std::vector<int> modes;
  for (std::size_t at = 0; at < list.size(); at += 2) {
    const bool digit = list[at] >= '0' && list[at] <= '9';
    const bool follows = at + 1 == list.size() || (list[at + 1] == ',' && at + 2 < list.size());
    if (!digit || !follows)
      throw UsageError(text(option, " is ", list, ", expected modes with commas between them, as 2,0,1"));
    modes.push_back(list[at] - '0');
  }
  return modes;
}

void expect_permutation(const std::vector<int>& modes, int order) {
  std::vector<int> sorted = modes;
  std::sort(sorted.begin(), sorted.end());
  bool whole = static_cast<int>(sorted.size()) == order;
  for (int mode = 0; whole && mode < order; ++mode) whole = sorted[static_cast<std::size_t>(mode)] == mode;
  if (whole) return;
  throw UsageError(text("the mode order of a tensor of order ", order, " names each of its modes 0 to ",
                        order - 1, " once, as in ",
                        order == 1   ? "0"
                        : order == 2 ? "1,0"
                                     : "2,0,1",
                        order > 3 ? ",3 …" : ""));
}

std::vector<int> inverse(const std::vector<int>& modes) {
  std::vector<int> back(modes.size());
  for (std::size_t k = 0; k < modes.size(); ++k)
    back[static_cast<std::size_t>(modes[k])] = static_cast<int>(k);
  return back;
}

}  // namespace sporos::tool
