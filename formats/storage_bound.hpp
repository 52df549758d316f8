// SPDX-License-Identifier: Apache-2.0
/// @file storage_bound.hpp
/// How large a tensor of a format can get if it stores a known number of elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "../core/extents.hpp"
#include "../core/format.hpp"
#include "structure.hpp"

namespace sporos {

/// The most that a tensor stores.
struct StorageBound {
  std::int64_t values = 0;  ///< number of values, including padding
  std::int64_t bytes = 0;   ///< bytes of all arrays, including the values
};

namespace detail {

/// Calls visit(number of the level, parents, coordinates, extent) for each level of a tensor that stores at
/// most `count` elements. The number of coordinates is the most that these elements can have in that level.
/// @return the number of values
template <TensorFormat F, class Visit>
std::int64_t for_each_level_bound(const Extents<F::order>& extents, std::int64_t count, const Visit& visit) {
  using shape = Structure<F>;
  [[maybe_unused]] const auto of_level = F::level_extents(extents);
  std::int64_t parents = 1;
  const auto take = [&]<int K>(std::integral_constant<int, K>) {
    constexpr auto k = static_cast<std::size_t>(K);
    const std::int64_t above = parents;
    if constexpr (shape::full(K)) {
      parents = checked_product(above, of_level[k], "the positions of a result");
    } else if constexpr (!shape::branchless(K)) {
      // A level that is not unique has a position for each tuple of the levels that continue it.
      constexpr int last = shape::depth[k];
      constexpr bool repeats = shape::keeps_duplicates && last == F::levels - 1;
      for (int at = K; at <= last && !repeats; ++at) {
        const std::int64_t extent = of_level[static_cast<std::size_t>(at)];
        parents = extent > 0 && parents > count / extent ? count : parents * extent;
      }
      parents = repeats ? count : std::min(parents, count);
    }
    using Level = typename F::template level<K>;
    visit(std::integral_constant<int, K>{}, above, parents, of_level[k]);
    if constexpr (Level::properties.padded)
      parents = Level::template Storage<Kokkos::HostSpace>::most_positions(above, parents, of_level[k]);
  };
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    (take(std::integral_constant<int, static_cast<int>(K)>{}), ...);
  }(std::make_index_sequence<static_cast<std::size_t>(F::levels)>{});
  return parents;
}

/// A bound on the bytes of the segments from which the levels of such a tensor are built.
/// @tparam Kept  whether to count segments that a level keeps as its own arrays
template <TensorFormat F, bool Kept>
std::int64_t segments_bound(const Extents<F::order>& extents, std::int64_t count) {
  std::int64_t bytes = 0;
  for_each_level_bound<F>(
      extents, count,
      [&]<int K>(std::integral_constant<int, K>, std::int64_t parents, std::int64_t coordinates, auto) {
        using Level = typename F::template level<K>;
        if constexpr (!Level::properties.full && (Kept || !StoresCoordinates<Level>)) {
          using Of = SegmentsOf<Level>;
          bytes += coordinates * static_cast<std::int64_t>(sizeof(typename Of::coordinate_type));
          if (!Level::properties.branchless)
            bytes += (parents + 1) * static_cast<std::int64_t>(sizeof(typename Of::position_type));
        }
      });
  return bytes;
}

}  // namespace detail

/// A bound on the arrays of a tensor of format F with values of type Value that stores at most `count`
/// elements. Each level is asked for its bytes with the most coordinates that these elements can have in it.
///
/// @throws RangeError if 64 bits cannot count the values of full levels
template <TensorFormat F, class Value>
StorageBound storage_bound(const Extents<F::order>& extents, std::int64_t count) {
  StorageBound out;
  out.values = detail::for_each_level_bound<F>(
      extents, count,
      [&]<int K>(std::integral_constant<int, K>, auto parents, auto coordinates, auto extent) {
        using Storage = typename F::template level<K>::template Storage<Kokkos::HostSpace>;
        out.bytes += Storage::most_bytes(parents, coordinates, extent);
      });
  out.bytes += out.values * static_cast<std::int64_t>(sizeof(Value));
  return out;
}

}  // namespace sporos
