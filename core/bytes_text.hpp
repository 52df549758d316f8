// SPDX-License-Identifier: Apache-2.0
/// @file bytes_text.hpp
/// Numbers of bytes as people read them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace sporos {

/// A number of bytes as people read it: "512 B", "34.1 KiB".
inline std::string bytes_text(std::int64_t bytes) {
  static constexpr std::array<const char*, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 1023.95 && unit + 1 < units.size()) {
    amount /= 1024;
    ++unit;
  }
  char buffer[32];
  const int length =
      std::snprintf(buffer, sizeof buffer, unit == 0 ? "%.0f %s" : "%.1f %s", amount, units[unit]);
  return {buffer, static_cast<std::size_t>(length)};
}

}  // namespace sporos
