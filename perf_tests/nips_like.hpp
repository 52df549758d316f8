// SPDX-License-Identifier: Apache-2.0
/// @file nips_like.hpp
/// A made tensor of order 3 for the benchmarks of sparse results.
#pragma once

#include <cstdint>
#include <random>
#include <sporos/sporos.hpp>

namespace sporos::perf {

/// A tensor with the extents of FROSTT's NIPS (paper, author, word), skewed as its words are.
inline Entries<double, 3> nips_like(std::int64_t count) {
  const Extents<3> extents{2482, 2862, 14036};
  std::mt19937_64 draw(7);
  const auto part = [&] { return static_cast<double>(draw() >> 11) / 9007199254740992.0; };
  Entries<double, 3> out(extents, count);
  for (std::int64_t e = 0; e < count; ++e) {
    const auto paper = static_cast<std::int64_t>(part() * 2482);
    out.set(e,
            {paper, (paper + static_cast<std::int64_t>(part() * 3)) % 2862,
             static_cast<std::int64_t>(part() * part() * 14036)},
            0.5 + part());
  }
  return out;
}

}  // namespace sporos::perf
