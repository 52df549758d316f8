// SPDX-License-Identifier: Apache-2.0
/// @file few_steps.hpp
/// How much work is too little to share among threads: one thread finishes it sooner than the others wake up.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "space.hpp"

namespace sporos::detail {

/// Steps of a loop nest that are run by one thread if there are no more: at a nanosecond or so for a step,
/// they take about as long as it takes to wake the other threads. Tests set it to 0, so that several threads
/// compute small operands as well.
inline double most_unshared_steps = 16384;
/// The same limit for the elements of an array.
inline constexpr std::int64_t most_unshared_elements = 16384;

/// Calls body(at) for 0 <= at < count on a space.
/// @param body  a function for host and device that does little work in each call
template <class Space, class Body>
void for_each_element(const Space& space, const char* label, std::int64_t count, const Body& body) {
  if constexpr (HostSpace<Space>)
    if (count <= most_unshared_elements) {
      for (std::int64_t at = 0; at < count; ++at) body(at);
      return;
    }
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, count),
                       body);
}

}  // namespace sporos::detail
