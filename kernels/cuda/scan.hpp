// SPDX-License-Identifier: Apache-2.0
/// @file scan.hpp
/// Sizes of segments to where they start.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace sporos::cuda {

namespace detail {

/// positions[at + 1] = the sum of the sizes up to `at`.
template <class Size, class Position>
struct SumSizes {
  using value_type = std::int64_t;
  const Size* sizes;
  Position* positions;
  std::int64_t count;
  std::int64_t* total;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at, std::int64_t& sum, bool last_pass) const {
    if (at < count) sum += static_cast<std::int64_t>(sizes[at]);
    if (!last_pass) return;
    if (at == 0) positions[0] = 0;
    if (at < count) positions[at + 1] = static_cast<Position>(sum);
    if (at + 1 >= count && total) *total = sum;
  }
};

}  // namespace detail

/// positions[p] = the sum of the first p sizes, for p = 0 to count; *total that of all.
template <class Size, class Position>
void sizes_to_positions(const Kokkos::Cuda& space, std::int64_t count, const Size* sizes, Position* positions,
                        std::int64_t* total) {
  Kokkos::parallel_scan("sporos::sizes to positions",
                        Kokkos::RangePolicy<Kokkos::Cuda>(space, 0, count > 0 ? count : 1),
                        detail::SumSizes<Size, Position>{sizes, positions, count, total});
}

}  // namespace sporos::cuda
