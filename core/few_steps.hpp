// SPDX-License-Identifier: Apache-2.0
/// @file few_steps.hpp
/// How much work is too little to share among threads: one thread finishes it sooner than the others wake up.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "space.hpp"

namespace sporos::detail {

/// Loop nests of at most this many steps run on one thread. Tests set it to 0, so that several threads
/// compute small operands as well.
inline double most_unshared_steps = 16384;

/// Calls body(at) for 0 <= at < count on a space.
/// @param body  a function for host and device that does little work in each call
template <class Space, class Body>
void for_each_element(const Space& space, const char* label, std::int64_t count, const Body& body) {
  constexpr std::int64_t most_unshared = 16384;
  if constexpr (HostSpace<Space>)
    if (count <= most_unshared) {
      for (std::int64_t at = 0; at < count; ++at) body(at);
      return;
    }
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, count),
                       body);
}

}  // namespace sporos::detail
