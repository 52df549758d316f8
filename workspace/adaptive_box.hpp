// SPDX-License-Identifier: Apache-2.0
/// @file adaptive_box.hpp
/// The workspace over several variables that gathers a block of a result inside the loops over its outer
/// variables, unless the user of a statement chooses one: dense if the block is small and well filled, a list
/// that is sorted if not.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../core/extents.hpp"
#include "coordinate.hpp"
#include "dense.hpp"
#include "dense_box.hpp"
#include "dense_or_list.hpp"
#include "insert_sort_merge.hpp"

namespace sporos {

/// Gathers over several variables of any extents, many times.
struct AdaptiveBoxPolicy {
  static constexpr std::string_view name = "dense or coordinate workspace";
  static constexpr bool takes(int order) { return order >= 1; }
  template <class T, int Order>
  using workspace = detail::DenseOrList<AdaptiveBoxPolicy, T, Order, DenseBox<T, Order>,
                                        InsertSortMerge<CoordinatePolicy, T, Order>>;

  AccumulationSettings settings = CoordinatePolicy{}.settings;  ///< of the list
  std::int64_t most_dense = bytes_of_caches;                    ///< bytes of an array over the extents
  double values_each = 0;  ///< number of values that are expected between two drains

  /// The policy if every thread may use at most `bytes` bytes. An array that takes no more than the first
  /// accumulation array of a list stays dense.
  AdaptiveBoxPolicy within(std::int64_t bytes) const {
    AdaptiveBoxPolicy out = *this;
    out.most_dense = std::min(most_dense, std::max(bytes, settings.capacity * bytes_of_component));
    return out;
  }
  /// The policy if this many values are expected between two drains.
  AdaptiveBoxPolicy expecting(double values) const {
    AdaptiveBoxPolicy out = *this;
    out.values_each = values;
    return out;
  }
  /// The policy whose accumulation arrays do not grow, so that values are added up in the same order whatever
  /// was gathered before: they hold a few of the blocks that are expected.
  AdaptiveBoxPolicy without_growth() const {
    constexpr double blocks = 4;
    constexpr std::int64_t most_fixed = std::int64_t{1} << 20;
    AdaptiveBoxPolicy out = *this;
    out.settings.growth = AccumulationGrowth::none();
    out.settings.capacity =
        static_cast<std::int64_t>(std::clamp(blocks * values_each, static_cast<double>(settings.capacity),
                                             static_cast<double>(std::max(settings.capacity, most_fixed))));
    return out;
  }
  CoordinatePolicy of_list() const { return {settings}; }
  template <class T, std::size_t Order>
  bool is_dense_over(const std::array<std::int64_t, Order>& extents) const {
    using Box = DenseBox<T, static_cast<int>(Order)>;
    return Box::most_bytes(dense_workspace, extents, 0) <= most_dense &&
           static_cast<double>(cells_of(extents)) <= values_each * cells_of_value;
  }
  /// The name of the workspace that gathers values of type T.
  template <class T, std::size_t Order>
  std::string_view name_over(const std::array<std::int64_t, Order>& extents) const {
    return is_dense_over<T>(extents) ? DensePolicy::name : CoordinatePolicy::name;
  }

  static constexpr std::int64_t bytes_of_component = 16;  ///< of a list: a key and a value
  /// Arrays that stay in the processor's caches from one drain to the next.
  static constexpr std::int64_t bytes_of_caches = std::int64_t{16} << 20;
  /// The number of empty cells that are passed over in the time by which sorting a value takes longer than
  /// adding it to its cell.
  static constexpr double cells_of_value = 128;
};

}  // namespace sporos
